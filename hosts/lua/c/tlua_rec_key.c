/*
** Lowering of table accesses whose key is known only when they run, or is no part of a record.
**
** Problem: 't[k]' with a string in a variable, an integer beyond the array part, a float, a boolean or an
** object as key: the library's operations on records want constant keys, and the trace cannot guard a key
** that differs each time.
**
** Design: the entry is searched by a function of Lua's own, which answers its place or NULL; the trace
** guards that answer, then the tag of what is there, and reads or writes it directly. A new key takes a free
** node, or leaves the trace. Where the recording sees that there is none, or an integer next to a short
** array part, whose table grows with every other key, the whole store is a call that does what the
** interpreter does: it builds the table anew if need be, and stores the value too, whichever part the key is
** in then. So it leaves neither at the next growth nor where the array part has room again. Without memory
** it changes nothing and leaves; the interpreter collects, tries again, and raises the error.
**
** Invariant: no search moves the hint in 'alimit', and none answers a place in the array part, whose cells
** have other alias classes than the nodes. An entry that was found has a value that is not nil. The whole
** store moves the hint where the interpreter does. Nothing here throws or collects.
**
** Example, 'n = count[word]':   a = try_call find_key(context, layout, count, word)   -- leaves if absent
**                               guard_value(load(a, node.tag), integer); n = load(a, node.int)
**   'row[j] = x' in a new row:  try_call set(context, row, j, integer, float, x)  -- leaves without memory
*/

#include "lprefix.h"

#include <stddef.h>

#include "tlua_rec.h"

#include "tlua_node.h"

#include "lgc.h"
#include "ltable.h"
#include "lvm.h"

/* --- functions that compiled code calls --- */

static int is_in_array (const Table *t, int64_t index) {
  return tlua_is_reached(t, l_castS2U(index) - 1u) || l_castS2U(index) - 1u < tlua_array_size(t);
}

static const TValue *found (const TValue *slot) {
  return isempty(slot) ? NULL : slot;
}

static const TValue *find_in_nodes (const Table *t, int64_t index) {
  Node *place, *node = isdummy(t) ? NULL : tlua_integer_node(t, index, &place);
  return node == NULL ? NULL : found(gval(node));
}

static const TValue *find_integer (Table *t, int64_t index) {
  return is_in_array(t, index) ? NULL : find_in_nodes(t, index);
}

/*
** Whether there is no value, in the array part or elsewhere. Not answered for the array part beyond the hint
** in 'alimit': there the interpreter's search moves the hint, which decides what '#' makes of an array with
** holes, so it is left to it.
*/
static int64_t lacks_integer (Table *t, int64_t index) {
  if (is_in_array(t, index))
    return tlua_is_reached(t, l_castS2U(index) - 1u) && tlua_item_is_empty(t, index - 1);
  return find_in_nodes(t, index) == NULL;
}

/* A float that stands for an integer is that integer as a key. */
static const TValue *find_float (Table *t, double number) {
  TValue key, store;
  lua_Integer index;
  if (luaV_flttointeger(number, &index, F2Ieq))
    return find_integer(t, index);
  setfltvalue(&key, number);
  return found(tlua_slot(t, &key, &store));
}

static int64_t lacks_float (Table *t, double number) {
  TValue key, store;
  lua_Integer index;
  if (luaV_flttointeger(number, &index, F2Ieq))
    return lacks_integer(t, index);
  setfltvalue(&key, number);
  return isempty(tlua_slot(t, &key, &store));
}

/* No string. */
static const TValue *find_object (Table *t, GCObject *object, int64_t tt) {
  const Node *n = tlua_place_of_object(t, object);
  while (!(keytt(n) == tt && gcvalueraw(keyval(n)) == object)) {
    if (gnext(n) == 0)
      return NULL;
    n += gnext(n);
  }
  return found(gval(n));
}

static const TValue *find_long_string (Table *t, TString *key) {
  TValue name, store;
  settt_(&name, ctb(key->tt));
  val_(&name).gc = obj2gco(key);
  return found(tlua_slot(t, &name, &store));
}

static const TValue *find_string (Table *t, TString *key) {
  const TValue *slot = tlua_field(t, key);
  return slot == NULL ? NULL : found(slot);
}

static const TValue *find_boolean (Table *t, int64_t tt) {
  TValue key, store;
  settt_(&key, cast_byte(tt));
  return found(tlua_slot(t, &key, &store));
}

/*
** So far is looked for a free node: each look begins anew, and all of them together should not take longer
** than a growing table does.
*/
#define NODES_SEEN 16

/*
** Whether 'luaH_newkey' will find a place for whatever key, near where it begins to search. Its own search
** gives nodes up as it goes; this one only looks.
*/
static int has_free_node (const Table *t) {
  if (isdummy(t))
    return 0;
  const Node *last = tlua_last_free(t);
  for (const Node *n = last; n > t->node && last - n < NODES_SEEN; ) {
    if (keyisnil(--n))
      return 1;
  }
  return 0;
}

/* The place of a key that the table lacks, with whatever value: the trace writes the real one at once. */
static const TValue *add_key (lua_State *L, Table *t, const TValue *key, const TValue *absent) {
  TValue any, store;
  if (!has_free_node(t))
    return NULL;
  setbfvalue(&any);
  tlua_finish_set(L, t, key, absent, &any);
  return tlua_slot(t, key, &store);
}

/* The place of an integer in the hash part, whether it has a value or not. */
static const TValue *place_integer (lua_State *L, Table *t, int64_t index) {
  TValue key, store;
  Node *place, *node;
  if (is_in_array(t, index))
    return NULL;
  node = tlua_integer_node(t, index, &place);
  if (node != NULL && !isempty(gval(node)))
    return gval(node);
  if (node == NULL)
    node = tlua_add_integer(t, index, place);
  invalidateTMcache(t);
  if (node != NULL)
    return gval(node);
  setivalue(&key, index);
  return add_key(L, t, &key, tlua_slot_of_integer(t, index, &store));
}

/* The place of an object, whether it has a value or not. */
static const TValue *place_object (lua_State *L, Table *t, GCObject *object, int64_t tt) {
  TValue key, store;
  const TValue *slot;
  val_(&key).gc = object;
  settt_(&key, cast_byte(tt));
  slot = tlua_slot(t, &key, &store);
  if (!isempty(slot))
    return slot;
  if (tlua_is_external(&key))
    return NULL;
  if (isabstkey(slot)) {
    const TValue *added = ttisshrstring(&key) ? tlua_add_string(L, t, &key) : NULL;
    slot = added != NULL ? added : add_key(L, t, &key, slot);
  }
  invalidateTMcache(t);
  return slot;
}

/* --- stores that may build the table anew --- */

/* Far from where Lua says that a table cannot be larger, which is an error with a message. */
#define MOST_ENTRIES ((size_t)1 << 28)

typedef struct NewKey {
  Table *t;
  const TValue *key;
  const TValue *slot;
  TValue *value;
} NewKey;

static void do_add (lua_State *L, void *data) {
  NewKey *job = (NewKey *)data;
  tlua_finish_set(L, job->t, job->key, job->slot, job->value);
}

static int add (lua_State *L, Table *t, const TValue *key, const TValue *slot, TValue *value) {
  if (has_free_node(t)) {
    tlua_finish_set(L, t, key, slot, value);
    return 1;
  }
  if (tlua_array_size(t) > MOST_ENTRIES || (size_t)sizenode(t) > MOST_ENTRIES)
    return 0;
  NewKey job = { t, key, slot, value };
  return tlua_protected(L, do_add, &job);
}

/* As the interpreter searches for a key: beyond the hint in 'alimit' with a function that may move it. */
static const TValue *slot_of (Table *t, const TValue *key, TValue *store) {
  if (ttisinteger(key) && tlua_is_reached(t, l_castS2U(ivalue(key)) - 1u))
    return tlua_item(t, ivalue(key) - 1, store);
  return tlua_slot(t, key, store);
}

/* 't[key] = value' without metamethods; the table, or NULL if there is no memory for it. */
static Table *set (lua_State *L, Table *t, const TValue *key, TValue *value) {
  TValue store;
  const TValue *slot = slot_of(t, key, &store);
  int is_new = isempty(slot), is_absent = isabstkey(slot);
  if (is_absent && tlua_is_external(key))
    return NULL;
  if (is_absent && !add(L, t, key, slot, value))
    return NULL;
  if (!is_absent && slot == &store) {
    lua_Integer index;
    luaV_tointegerns(key, &index, F2Ieq);
    tlua_put_item(L, t, index - 1, value);
  }
  else if (!is_absent) {
    setobj2t(L, cast(TValue *, slot), value);
  }
  if (is_new)
    invalidateTMcache(t);
  luaC_barrierback(L, obj2gco(t), value);
  return t;
}

/*
** A value of any type but float. Integers and pointers go through the same registers, so that one function
** serves for all.
*/
static TValue word_value (int64_t word, int64_t tt) {
  TValue v;
  val_(&v).i = word;
  settt_(&v, cast_byte(tt));
  return v;
}

static TValue float_value (double number) {
  TValue v;
  setfltvalue(&v, number);
  return v;
}

static Table *set_word (lua_State *L, Table *t, int64_t word, int64_t key_tt, int64_t tt, int64_t payload) {
  TValue key = word_value(word, key_tt), value = word_value(payload, tt);
  return set(L, t, &key, &value);
}

static Table *set_float (lua_State *L, Table *t, int64_t word, int64_t key_tt, double payload) {
  TValue key = word_value(word, key_tt), value = float_value(payload);
  return set(L, t, &key, &value);
}

/* What is no number is no key either: an error. */
static Table *set_word_at_float (lua_State *L, Table *t, double number, int64_t tt, int64_t payload) {
  TValue key = float_value(number), value = word_value(payload, tt);
  return luai_numisnan(number) ? NULL : set(L, t, &key, &value);
}

static Table *set_float_at_float (lua_State *L, Table *t, double number, double payload) {
  TValue key = float_value(number), value = float_value(payload);
  return luai_numisnan(number) ? NULL : set(L, t, &key, &value);
}

/* --- what the library is told --- */

/* Whatever a table consists of. */
static int describe_sets (tl_vm *vm, TluaSchema *schema) {
  const tl_class table[] = {
    tl_alias_class(vm, "table.count"), tl_alias_class(vm, "table.array"),
    tl_alias_class(vm, "table.log_size"),
    tl_alias_class(vm, "table.nodes"), tl_alias_class(vm, "table.last_free"),
    tl_alias_class(vm, "table.flags"),
    tl_alias_class(vm, "array.tag"), tl_alias_class(vm, "array.value"), tl_alias_class(vm, "node.key"),
    tl_alias_class(vm, "node.key_tag"), tl_alias_class(vm, "node.tag"), tl_alias_class(vm, "node.value"),
    tl_alias_class(vm, "node.next"), tl_alias_class(vm, "object.marked"), tl_alias_class(vm, "global.debt"),
    0 };
  const void *word = (const void *)set_word, *number = (const void *)set_float;
  const void *word_at_float = (const void *)set_word_at_float,
      *number_at_float = (const void *)set_float_at_float;
  const struct { const char *name; const void *address; const char *signature; } rows[3][4] = {
    [TL_INT] = { [TL_INT] = { "set_int", word, "ariiii>a" }, [TL_FLOAT] = { "set_float", number, "ariif>a" },
                 [TL_REF] = { "set_ref", word, "ariiir>a" }, [TL_ADDR] = { "set_addr", word, "ariiia>a" } },
    [TL_FLOAT] = { [TL_INT] = { "set_int_at_float", word_at_float, "arfii>a" },
                   [TL_FLOAT] = { "set_float_at_float", number_at_float, "arff>a" },
                   [TL_REF] = { "set_ref_at_float", word_at_float, "arfir>a" },
                   [TL_ADDR] = { "set_addr_at_float", word_at_float, "arfia>a" } },
    [TL_REF] = { [TL_INT] = { "set_int_at_ref", word, "arriii>a" },
                 [TL_FLOAT] = { "set_float_at_ref", number, "arrif>a" },
                 [TL_REF] = { "set_ref_at_ref", word, "arriir>a" },
                 [TL_ADDR] = { "set_addr_at_ref", word, "arriia>a" } }
  };
  for (int key = TL_INT; key <= TL_REF; key++) {
    for (int value = TL_INT; value <= TL_ADDR; value++) {
      schema->key.set[key][value] = tl_add_func(vm, rows[key][value].name, rows[key][value].address,
                                                rows[key][value].signature,
                                                TL_EFFECT_ALLOCATES, table, table);
      if (schema->key.set[key][value] == 0)
        return 0;
    }
  }
  return 1;
}

int tlua_describe_keys (tl_vm *vm, TluaSchema *schema) {
  const tl_class reads[] = {
    tl_alias_class(vm, "table.log_size"), tl_alias_class(vm, "table.nodes"),
    tl_alias_class(vm, "table.last_free"),
    tl_alias_class(vm, "table.count"), tl_alias_class(vm, "table.array"), tl_alias_class(vm, "table.flags"),
    tl_alias_class(vm, "array.tag"), tl_alias_class(vm, "node.key"), tl_alias_class(vm, "node.key_tag"),
    tl_alias_class(vm, "node.tag"), tl_alias_class(vm, "node.value"), tl_alias_class(vm, "node.next"),
    tl_alias_class(vm, "object.marked"), 0 };
  const tl_class writes[] = {
    tl_alias_class(vm, "table.last_free"), tl_alias_class(vm, "table.flags"), tl_alias_class(vm, "node.key"),
    tl_alias_class(vm, "node.key_tag"), tl_alias_class(vm, "node.tag"), tl_alias_class(vm, "node.value"),
    tl_alias_class(vm, "node.next"), tl_alias_class(vm, "object.marked"), 0 };
  struct {
    tl_func *id;
    const char *name;
    const void *address;
    const char *signature;
    int adds;
  } const rows[] = {
    { &schema->key.find_integer, "find_integer", (const void *)find_integer, "ri>a", 0 },
    { &schema->key.lacks_integer, "lacks_integer", (const void *)lacks_integer, "ri>i", 0 },
    { &schema->key.find_float, "find_float", (const void *)find_float, "rf>a", 0 },
    { &schema->key.lacks_float, "lacks_float", (const void *)lacks_float, "rf>i", 0 },
    { &schema->key.find_object, "find_object", (const void *)find_object, "rri>a", 0 },
    { &schema->key.find_string, "find_string", (const void *)find_string, "rr>a", 0 },
    { &schema->key.find_long_string, "find_long_string", (const void *)find_long_string, "rr>a", 0 },
    { &schema->key.find_boolean, "find_boolean", (const void *)find_boolean, "ri>a", 0 },
    { &schema->key.place_integer, "place_integer", (const void *)place_integer, "ari>a", 1 },
    { &schema->key.place_object, "place_object", (const void *)place_object, "arri>a", 1 }
  };
  for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
    *rows[n].id = tl_add_func(vm, rows[n].name, rows[n].address, rows[n].signature, 0, reads,
                              rows[n].adds ? writes : NULL);
    if (*rows[n].id == 0)
      return 0;
  }
  return describe_sets(vm, schema);
}

/* --- lowering --- */

/* A search for a key: the function, its arguments, and what it finds now (absent: an empty value). */
typedef struct Search {
  tl_func find;
  tl_func place;              /* 0: new keys of this kind are left to the interpreter */
  tl_value arguments[3];      /* the last one, 0 if there is none, is the type of key */
  uint32_t count;             /* of those that 'find' takes; 'place' takes them all */
  const TValue *now;
  TValue store;
} Search;

/* Returns 0 if the recording is given up. */
static int search (TluaRecorder *rec, Operand t, Operand key, Search *s) {
  tl_vm *vm = rec->vm;
  const TluaSchema *schema = &rec->schema;
  s->arguments[0] = t.value;
  s->arguments[1] = key.value;
  s->arguments[2] = 0;
  s->count = 2;
  s->place = 0;
  switch (key.tt) {
    case LUA_VNUMINT: s->find = schema->key.find_integer; s->place = schema->key.place_integer; break;
    case LUA_VNUMFLT: s->find = schema->key.find_float; break;
    case LUA_VFALSE: case LUA_VTRUE:
      s->find = schema->key.find_boolean;
      s->arguments[1] = tl_const_int(vm, key.tt);
      break;
    case ctb(LUA_VSHRSTR): case ctb(LUA_VLNGSTR):
      s->find = key.tt == ctb(LUA_VSHRSTR) ? schema->key.find_string : schema->key.find_long_string;
      s->place = schema->key.place_object;
      s->arguments[2] = tl_const_int(vm, key.tt);
      break;
    case ctb(LUA_VTABLE): case ctb(LUA_VLCL):
    case ctb(LUA_VCCL):
    case ctb(LUA_VUSERDATA): case ctb(LUA_VTHREAD):
      s->find = schema->key.find_object;
      s->place = schema->key.place_object;
      s->arguments[2] = tl_const_int(vm, key.tt);
      s->count = 3;
      break;
    default: tlua_rec_give_up(rec, "key of another type"); return 0;
  }
  s->now = tlua_slot(hvalue(t.now), key.now, &s->store);
  return 1;
}

/* Guards that there is no such key. */
static void guard_lacks (TluaRecorder *rec, Operand key, const Search *s) {
  tl_vm *vm = rec->vm;
  const TluaKeyIds *ids = &rec->schema.key;
  switch (key.tt) {
    case LUA_VNUMFLT:
      tl_guard(vm, TL_GUARD_TRUE, tl_call(vm, ids->lacks_float, s->arguments, 2), 0, TL_EXIT_GUARD);
      return;
    case LUA_VNUMINT:
      tl_guard(vm, TL_GUARD_TRUE, tl_call(vm, ids->lacks_integer, s->arguments, 2), 0, TL_EXIT_GUARD);
      return;
    default:
      tl_guard(vm, TL_GUARD_NULL, tl_call(vm, s->find, s->arguments, s->count), 0, TL_EXIT_GUARD);
      return;
  }
}

/* Guards that there is no such key, and no metamethod that would be asked for it (TM_N: none is). */
static int guard_absent (TluaRecorder *rec, Operand t, Operand key, const Search *s, TMS event) {
  if (event != TM_N && !tlua_rec_guard_no_metamethod(rec, t, event))
    return 0;
  guard_lacks(rec, key, s);
  return 1;
}

Operand tlua_rec_find_entry (TluaRecorder *rec, Operand t, Operand key, TMS event) {
  tl_vm *vm = rec->vm;
  Operand o = { .tag = 0 };
  Search s;
  if (!search(rec, t, key, &s))
    return o;
  if (isempty(s.now)) {
    if (guard_absent(rec, t, key, &s, event)) {
      o.tt = LUA_VNIL;
      o.tag = rec->schema.tag_of[LUA_VNIL];
    }
    return o;
  }
  o.tt = rawtt(s.now);
  o.now = s.now;
  tl_type type = tlua_payload(o.tt);
  if (rec->schema.tag_of[o.tt] == 0) {
    tlua_rec_give_up(rec, "value of an unknown type");
    return o;
  }
  o.tag = rec->schema.tag_of[o.tt];
  tl_value place = tl_try_call(vm, s.find, s.arguments, s.count);
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, rec->schema.table.node_tag, place), tl_const_int(vm, o.tt),
           TL_EXIT_GUARD);
  o.value = type != TL_VOID ? tl_load(vm, rec->schema.table.node_value[type], place) : 0;
  return o;
}

Operand tlua_rec_get_entry (TluaRecorder *rec, int result, Operand t, Operand key) {
  Search s;
  if (!search(rec, t, key, &s))
    return (Operand){ .tag = 0 };
  if (isempty(s.now) && tlua_rec_has_metamethod(rec, t, TM_INDEX)) {
    guard_lacks(rec, key, &s);
    return tlua_rec_ask_index(rec, result, t, key);
  }
  tlua_rec_write_operand(rec, result, tlua_rec_find_entry(rec, t, key, TM_INDEX));
  return (Operand){ .tag = 0 };
}

static void store (TluaRecorder *rec, tl_value place, Operand value) {
  tl_type type = tlua_payload(value.tt);
  if (type != TL_VOID)
    tl_store(rec->vm, rec->schema.table.node_value[type], place, value.value);
  tl_store(rec->vm, rec->schema.table.node_tag, place, tl_const_int(rec->vm, value.tt));
}

/* No metamethod is asked for; the value takes the key's place in whatever part the table has for it then. */
void tlua_rec_set_growing (TluaRecorder *rec, Operand t, Operand key, Operand value) {
  tl_vm *vm = rec->vm;
  tl_type key_type = tlua_payload(key.tt), type = tlua_payload(value.tt);
  tl_value arguments[6] = { tl_context(vm), t.value, key_type != TL_VOID ? key.value : tl_const_int(vm, 0) };
  uint32_t count = 3;
  if (key_type != TL_FLOAT)
    arguments[count++] = tl_const_int(vm, key.tt);
  if (type != TL_FLOAT)
    arguments[count++] = tl_const_int(vm, value.tt);
  arguments[count++] = type != TL_VOID ? value.value : tl_const_int(vm, 0);
  const tl_func *set = rec->schema.key.set[key_type != TL_VOID ? key_type : TL_INT];
  tl_try_call(vm, set[type != TL_VOID ? type : TL_INT], arguments, count);
}

/* A longer array grows so seldom that the other iterations should not pay for it. */
#define SHORT_ARRAY 16

static int is_beyond_array (Operand t, Operand key) {
  return key.tt == LUA_VNUMINT && l_castS2U(ivalue(key.now)) == (lua_Unsigned)tlua_array_size(hvalue(t.now))
      + 1u;
}

/* Whether the new key is about to change the shape of the table, or always is where it is a neighbour. */
static int is_growing (Operand t, Operand key, const Search *s) {
  const Table *h = hvalue(t.now);
  return s->place == 0 || (isabstkey(s->now) && !has_free_node(h))
      || (is_beyond_array(t, key) && tlua_array_size(h) < SHORT_ARRAY);
}

/*
** A loop that was met just when its long array grows is recorded another time, so that its usual iterations
** store directly and this one becomes a side trace; but only once, as there may be no others.
*/
static int is_better_put_off (TluaRecorder *rec, Operand t, Operand key) {
  if (rec->trace.is_side || !is_beyond_array(t, key) || tlua_array_size(hvalue(t.now)) < SHORT_ARRAY
      || rec->put_off == rec->trace.loop.head)
    return 0;
  rec->put_off = rec->trace.loop.head;
  rec->at.is_for_now = 1;
    tlua_rec_give_up(rec, "long array that grows just now");
  return 1;
}

static void set_growing (TluaRecorder *rec, Operand t, Operand key, Operand value) {
  if (key.tt == LUA_VNUMFLT && luai_numisnan(fltvalue(key.now)))
    tlua_rec_give_up(rec, "key that is no number");
  else if (!is_better_put_off(rec, t, key) && tlua_rec_guard_no_metamethod(rec, t, TM_NEWINDEX))
    tlua_rec_set_growing(rec, t, key, value);
}

/* A nil for an absent key changes nothing, but the key may be an error. */
static void set_absent_to_nil (TluaRecorder *rec, Operand t, Operand key, const Search *s) {
  if (key.tt == LUA_VNUMFLT) {
    if (luai_numisnan(fltvalue(key.now))) {
      tlua_rec_give_up(rec, "key that is no number");
      return;
    }
    tl_value is_number = tl_op2(rec->vm, TL_FLOAT_EQ, key.value, key.value);
    tl_guard(rec->vm, TL_GUARD_TRUE, is_number, 0, TL_EXIT_GUARD);
  }
  guard_absent(rec, t, key, s, TM_NEWINDEX);
}

static void set_new (TluaRecorder *rec, Operand t, Operand key, const Search *s, Operand value) {
  tl_vm *vm = rec->vm;
  if (novariant(value.tt) == LUA_TNIL) {
    set_absent_to_nil(rec, t, key, s);
    return;
  }
  if (is_growing(t, key, s)) {
    set_growing(rec, t, key, value);
    return;
  }
  /* without metamethods a store does the same whether the key is there or not */
  if (!tlua_rec_guard_no_metamethod(rec, t, TM_NEWINDEX))
    return;
  tlua_rec_barrier(rec, t.value, 0, value);
  tl_value arguments[4] = { tl_context(vm), s->arguments[0], s->arguments[1], s->arguments[2] };
  store(rec, tl_try_call(vm, s->place, arguments, s->arguments[2] != 0 ? 4 : 3), value);
}

Operand tlua_rec_set_entry (TluaRecorder *rec, Operand t, Operand key, Operand value) {
  Operand none = { .tag = 0 };
  Search s;
  if (!search(rec, t, key, &s) || value.tag == 0)
    return none;
  if (isempty(s.now) && tlua_rec_has_metamethod(rec, t, TM_NEWINDEX)) {
    guard_lacks(rec, key, &s);
    return tlua_rec_ask_newindex(rec, t, key, value);
  }
  if (isempty(s.now)) {
    set_new(rec, t, key, &s, value);
    return none;
  }
  tl_value place = tl_try_call(rec->vm, s.find, s.arguments, s.count);
  tlua_rec_barrier(rec, t.value, 0, value);
  store(rec, place, value);
  return none;
}
