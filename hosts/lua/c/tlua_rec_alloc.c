/*
** Tables that compiled code makes and fills.
**
** Problem: 'luaH_new', a new key and a longer array go through Lua's allocator, which may collect, run
** finalizers, and throw. All three would find the registers of a compiled loop in a state that only a
** snapshot can put right.
**
** Design: compiled code calls the functions below instead. They take memory from the state's allocator, on
** its accounts, and answer NULL when there is none, or when Lua would have to build a table anew; the trace
** is then left before the instruction, and the interpreter does it. The collector gets its turn once per
** iteration, at the loop's head, where a loop that makes tables looks at 'GCdebt' and leaves when there is
** one. An exit that makes tables may take memory that is held for it. A table that a trace makes, and that
** grows in it for a string, gets its block with room for that (tlua_room.c): then no new key needs memory.
**
** Invariant: no function here throws, collects, or runs Lua code; each either does exactly what the
** interpreter does, or nothing. A table has the same number of nodes, and its keys in the same order, as if
** no loop had been compiled: what 'pairs' prints depends on it.
**
** Example, 'p = { x = i }' in a loop:
**   guard_true(int_le(load global.debt g, 0)) -- collect;  p = new Table 0 1;  guard_key_absent Table p "x"
**   insert_key Table integer p "x" i          -- finds a free node, or leaves
*/

#include "lprefix.h"

#include <stddef.h>
#include <string.h>

#include "tlua_node.h"
#include "tlua_rec.h"

#include "lgc.h"
#include "ltable.h"

/* --- making a table --- */

/* Where the host's bits begin. */
#define HOST_SHIFT 24
/* Keys of a table that gets room for them. */
#define MOST_KEYS_GIVEN 16

/*
** A table that the trace makes and lets grow: it is made with all the room for nodes that it comes to, and
** with the nodes that its constructor asks for. How many these are is in the host's bits of the room: 1 and
** the instruction's operand B.
*/
static uint32_t with_room (uint32_t nodes, uint32_t room) {
  int log = nodes == 0 ? 0 : luaO_ceillog2(nodes) + 1;
  return room | (uint32_t)(log + 1) << HOST_SHIFT;
}

static uint32_t nodes_of (uint32_t keys) {
  uint32_t log = keys >> HOST_SHIFT;
  return log <= 1 ? 0 : 1u << (log - 2);
}

static Table *new_table (lua_State *L, int64_t layout, int64_t items, int64_t keys) {
  uint32_t room = (uint32_t)keys & ~TL_HOST_BITS, nodes = room;
  if (keys != (int64_t)room)
    nodes = nodes_of((uint32_t)keys);
  Table *t = tlua_new_whole(L, (size_t)items, nodes, room);
  if (t != NULL)
    return t;
  keys = room;  /* memory is short, and nodes must not need more of it: the table has them all at once */
  const TluaShape shape = { .layout = (tl_layout)layout, .items = (uint32_t)items, .keys = (uint32_t)keys };
  void *blocks[TLUA_PARTS] = { NULL, NULL, NULL };
  for (int part = 0; part < TLUA_PARTS; part++) {
    if ((part == TLUA_PART_NODES && keys == 0) || (part == TLUA_PART_ARRAY && items == 0))
      continue;
    blocks[part] = tlua_rec_block(L, &shape, part);
    if (blocks[part] == NULL) {
      while (part-- > 0)
        tlua_rec_free_block(L, &shape, part, blocks[part]);
      return NULL;
    }
  }
  t = (Table *)blocks[TLUA_PART_TABLE];
  tlua_link_table(L, t);  /* nothing can fail any more */
  tlua_set_nodes(L, t, blocks[TLUA_PART_NODES], (size_t)keys);
  tlua_set_array(t, blocks[TLUA_PART_ARRAY], (size_t)items);
  return t;
}

/* --- new keys --- */

static Node *main_position (const Table *t, const TString *key) {
  return gnode(t, lmod(key->hash, sizenode(t)));
}

/*
** Whether 'luaH_newkey' will find a place. Its own search gives nodes up as it goes; this one looks at them
** only.
*/
static int has_place (const Table *t, const TString *key) {
  if (isdummy(t))
    return 0;
  if (isempty(gval(main_position(t, key))))
    return 1;
  for (const Node *n = tlua_last_free(t); n > t->node; ) {
    if (keyisnil(--n))
      return 1;
  }
  return 0;
}

/*
** Puts the key into its own place, a node that has never had a key. A search would begin and end there, so
** the table lacks the key.
*/
static Node *use_place (lua_State *L, Table *t, Node *place, const TValue *name) {
  tlua_set_key(L, place, name);
  luaC_barrierback(L, obj2gco(t), name);
  return place;
}

/* As 'insert_key', whatever lies in the key's place. */
static l_noinline Node *insert_somewhere (lua_State *L, Table *t, TString *key) {
  Node *place = main_position(t, key);
  TValue name, any;
  setsvalue(L, &name, key);
  if (keyisnil(place) && !isdummy(t))
    return use_place(L, t, place, &name);
  const TValue *slot = tlua_slot_of_short(t, key);
  if (!isabstkey(slot))
    return nodefromval(slot);
  TValue *added = tlua_add_string(L, t, &name);
  if (added != NULL)
    return nodefromval(added);
  if (!has_place(t, key)) {
    added = tlua_grow_by_string(L, t, &name);
    return added == NULL ? NULL : nodefromval(added);
  }
  setbfvalue(&any);
  tlua_finish_set(L, t, &name, slot, &any);
  return nodefromval(tlua_slot_of_short(t, key));
}

/*
** The node for a key that has no value, with whatever value: the trace writes the real one at once. A key
** that lost its value may still have its node, which then serves again. The nodes may grow in their block.
** Most keys of new tables find their place free: that case saves no registers. All others stand apart.
*/
static Node *insert_key (lua_State *L, int64_t layout, Table *t, TString *key) {
  Node *place = main_position(t, key);
  (void)layout;
  invalidateTMcache(t);
  if (luai_likely(keyisnil(place)) && luai_likely(!isdummy(t)) && luai_likely(!isblack(t))) {
    TValue name;
    setsvalue(L, &name, key);
    tlua_set_key(L, place, &name);
    return place;
  }
  return insert_somewhere(L, t, key);
}

/* --- lists --- */

/*
** The array part, without nodes beside it, gets as many items as a list has, as 'luaH_resizearray' does it;
** NULL without memory.
*/
static Table *grow_list (lua_State *L, Table *t, int64_t last) {
  if (last <= (int64_t)tlua_array_size(t))
    return t;
  return isdummy(t) && tlua_grow_array(L, t, (unsigned)last) ? t : NULL;
}

/* --- what the library is told --- */

#define CLASSES 13

/* The alias classes with these names, ended by 0. */
static const tl_class *classes (tl_vm *vm, tl_class store[CLASSES], const char *const *names) {
  int n = 0;
  for (; names[n] != NULL; n++)
    store[n] = tl_alias_class(vm, names[n]);
  store[n] = 0;
  return store;
}

/* Before the table's parts are described; sets 'insert'. */
int tlua_describe_alloc (tl_vm *vm, TluaSchema *schema, tl_func *insert, lua_State *main_thread) {
  TluaStateIds *state = &schema->state;
  TluaTableIds *table = &schema->table;
  static const char *const nothing[] = { NULL };
  static const char *const account[] = { "global.debt", NULL };
  static const char *const searched[] =
      { "table.log_size", "table.nodes", "table.last_free", "table.flags", "node.key", "node.key_tag",
                                          "node.tag", "node.value", "node.next", "object.marked", NULL };
  static const char *const moved[] =
      { "table.log_size", "table.nodes", "table.last_free", "table.flags", "node.key", "node.key_tag",
        "node.tag", "node.value", "node.next", "object.marked", "global.debt", NULL };
  static const char *const grows[] = { "table.count", "table.array", "table.flags", "table.nodes", NULL };
  static const char *const grown[] =
      { "table.count", "table.array", "table.flags", "array.tag", "array.value", "global.debt", NULL };
  tl_class reads[CLASSES], writes[CLASSES];
  table->new_table = tl_add_func(vm, "new_table", (const void *)new_table, "aiii>r", TL_EFFECT_ALLOCATES,
                                 classes(vm, reads, nothing), classes(vm, writes, account));
  *insert = tl_add_func(vm, "insert_key", (const void *)insert_key, "airr>a", 0, classes(vm, reads, searched),
                        classes(vm, writes, moved));
  table->grow_list = tl_add_func(vm, "grow_list", (const void *)grow_list, "ari>a", TL_EFFECT_ALLOCATES,
                                 classes(vm, reads, grows), classes(vm, writes, grown));
  state->global = tl_add_cell(vm, "thread.global", offsetof(lua_State, l_G), 8, TL_ADDR,
                              tl_alias_class(vm, "thread.global"),
                              TL_IMMUTABLE);
  state->debt = tl_add_cell(vm, "global.debt", offsetof(global_State, GCdebt), 8, TL_INT,
                            tl_alias_class(vm, "global.debt"), 0);
  return table->new_table != 0 && *insert != 0 && table->grow_list != 0 && state->global != 0
      && state->debt != 0
      && tl_set_alloc(vm, table->layout, table->new_table) == TL_OK
      && tl_set_reserve(vm, table->layout, tlua_rec_reserve, main_thread) == TL_OK;
}

/* --- lowering --- */

void tlua_rec_guard_no_debt (TluaRecorder *rec) {
  tl_vm *vm = rec->vm;
  tl_value debt = tl_load(vm, rec->schema.state.debt, tl_load(vm, rec->schema.state.global, tl_context(vm)));
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TLUA_OWES_NOT, debt, tl_const_int(vm, 0)), 0, TL_EXIT_COLLECT);
}

/* Larger tables are not worth a thought, and a size that overflows is the interpreter's error to raise. */
#define MOST_ITEMS (1 << 20)
#define MOST_KEYS_LOG 20

/* A longer list is filled by one call. */
#define MOST_LISTED 50

void tlua_lower_new_table (TluaRecorder *rec, Instruction i) {
  int log = TLUA_NEW_LOG(i);  /* of the number of nodes, and 1 more; 0: none */
  int64_t items = TLUA_NEW_ITEMS(i);
  if (TESTARG_k(i))
    items += (int64_t)GETARG_Ax(rec->at.pc[1]) * TLUA_LIST_UNIT;
  if (items > MOST_ITEMS || log > MOST_KEYS_LOG) {
    tlua_rec_give_up(rec, "large table constructor");
    return;
  }
  uint32_t keys = log > 0 ? (uint32_t)1 << (log - 1) : 0;
  tlua_rec_write(rec, GETARG_A(i), ctb(LUA_VTABLE), tlua_rec_new_table(rec, (uint32_t)items, keys));
  rec->trace.next = rec->at.pc + 2;
}

/*
** The array part of the table in a register is to hold so many items; returns the table, or 0 if the
** recording is given up. A table that the recording has made, and that nobody has seen since, is made here
** instead, with the room that it is to have: an exit before leaves one as the interpreter makes it, since '#'
** depends on the room.
*/
static tl_value secure_items (TluaRecorder *rec, Operand t, int a, int64_t last) {
  tl_vm *vm = rec->vm;
  const Table *now = hvalue(t.now);
  if (last > 0 && tlua_is_reached(now, (lua_Unsigned)last - 1u))
    return t.value;
  if (!isdummy(now)) {
    tlua_rec_give_up(rec, "list longer than the array part");
    return 0;
  }
  if (TLUA_HAS_WHOLE_TABLES && tl_is_made(vm, t.value) && !tl_is_in_use(vm, t.value, a))
    return tlua_rec_new_table(rec, (uint32_t)last, 0);
  const tl_value arguments[3] = { tl_context(vm), t.value, tl_const_int(vm, last) };
  tl_try_call(vm, rec->schema.table.grow_list, arguments, 3);
  tlua_rec_resume_here(rec);
  return rec->at.reason == NULL ? t.value : 0;
}

/*
** The interpreter can do the whole instruction again wherever it stopped, so that each item may leave by
** itself. How many values an open list has is the same whenever the trace comes here.
*/
void tlua_lower_set_list (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i), count = TLUA_LIST_COUNT(i);
  int64_t before = TLUA_LIST_BEFORE(i);
  if (TESTARG_k(i)) {
    before += (int64_t)GETARG_Ax(rec->at.pc[1]) * TLUA_LIST_UNIT;
    rec->trace.next = rec->at.pc + 2;
  }
  Operand t = tlua_rec_register(rec, a);
  if (count == 0)
    count = (int)(rec->trace.thread->top.p - rec->at.base) - a - 1;
  if (count > MOST_LISTED) {
    tlua_rec_give_up(rec, "long list");
    return;
  }
  tl_value table = count > 0 ? secure_items(rec, t, a, before + count) : t.value;
  for (int n = 1; n <= count && rec->at.reason == NULL; n++) {
    if (n > 1)
      tlua_rec_resume_here(rec);
    Operand value = tlua_rec_register(rec, a + n);
    tlua_rec_store_item(rec, table, tl_const_int(rec->vm, before + n), value);
  }
  if (table != t.value && rec->at.reason == NULL)
    tlua_rec_write(rec, a, ctb(LUA_VTABLE), table);
}

/*
** A key for which the table grows: if the recording has made the table, and all its keys are strings, the
** table gets the room from the start.
*/
static int gives_room (TluaRecorder *rec, Operand t) {
  const Table *now = hvalue(t.now);
  uint32_t keys = tl_key_room(rec->vm, t.value), count = 1;
  if (!TLUA_HAS_WHOLE_TABLES || keys == TL_NO_ROOM || tlua_has_array(now)
      || G(rec->trace.thread)->frealloc != tlua_allocate)
    return 0;
  for (int n = 0; n < (int)sizenode(now); n++) {
    if (isempty(gval(gnode(now, n))))
      continue;
    if (!keyisshrstr(gnode(now, n)))
      return 0;
    count++;
  }
  if (count > MOST_KEYS_GIVEN)
    return 0;
  uint32_t nodes = keys & TL_HOST_BITS ? nodes_of(keys) : keys, room = 1u << luaO_ceillog2(count);
  if (room > (keys & ~TL_HOST_BITS))
    tl_set_key_room(rec->vm, t.value, with_room(nodes, room));
  return 1;
}

int tlua_rec_can_insert (TluaRecorder *rec, Operand t, const TString *key) {
  return has_place(hvalue(t.now), key) || gives_room(rec, t);
}
