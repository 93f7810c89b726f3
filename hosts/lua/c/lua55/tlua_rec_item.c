/*
** Elements of the array part, as the recording reads and writes them: for Lua 5.5.
**
** Problem: values and tags of an array lie apart, the values below the address that the table holds and in
** reverse order, the tags above it. The library's operations on the indexed part of a record know elements
** that have both.
**
** Design: an element is two loads or two stores, under a guard that the index is within the array's size. The
** library knows that values and tags have nothing to do with one another, or with the hint for '#' between
** them. A table with room for items is made where the program makes it; only those without are virtual.
**
** Invariant: the index is known to lie in the array part now.
**
** Example, 't[i]':
**   guard_true(uint_lt(int_sub(i, 1), load table.count t)); a = load table.array t
**   guard_value(load array.tag (item_addr a i 1 3), float)
**   x = load array.float (item_addr a (int_neg i) 8 0)
*/

#include "lprefix.h"

#include <stddef.h>

#include "tlua_rec.h"

/* '#t' without metamethod. It moves the hint that lies with the elements. */
static int64_t length (lua_State *L, Table *t) {
  return (int64_t)luaH_getn(L, t);
}

/* A table with room for items, as 'tlua_rec_alloc.c' makes those without; NULL without memory. */
static Table *new_list (lua_State *L, int64_t items, int64_t keys) {
  Table *t = (Table *)tlua_realloc(L, NULL, LUA_TTABLE, sizeof(Table));
  if (t == NULL)
    return NULL;
  void *nodes = keys > 0 ? tlua_realloc(L, NULL, 0, tlua_nodes_bytes((unsigned)keys)) : NULL;
  t->array = NULL;
  t->asize = 0;
  if ((keys > 0 && nodes == NULL) || !tlua_grow_array(L, t, (unsigned)items)) {
    if (nodes != NULL)
      tlua_realloc(L, nodes, tlua_nodes_bytes((unsigned)keys), 0);
    tlua_realloc(L, t, sizeof(Table), 0);
    return NULL;
  }
  tlua_link_table(L, t);
  tlua_set_nodes(L, t, nodes, (size_t)keys);
  return t;
}

static tl_cell cell (tl_vm *vm, const char *name, size_t offset, size_t width, tl_type type,
                     const char *alias) {
  return tl_add_cell(vm, name, (int32_t)offset, (uint32_t)width, type, tl_alias_class(vm, alias), 0);
}

static int describe_functions (tl_vm *vm, TluaTableIds *table) {
  const tl_class reads[] = {
    tl_alias_class(vm, "table.count"), tl_alias_class(vm, "table.array"), tl_alias_class(vm, "table.flags"),
    tl_alias_class(vm, "table.nodes"), tl_alias_class(vm, "table.log_size"), tl_alias_class(vm, "array.tag"),
    tl_alias_class(vm, "array.hint"), tl_alias_class(vm, "node.tag"), tl_alias_class(vm, "node.key"),
    tl_alias_class(vm, "node.key_tag"), tl_alias_class(vm, "node.next"), 0 };
  const tl_class writes[] = { tl_alias_class(vm, "array.hint"), 0 };
  const tl_class nothing[] = { 0 }, account[] = { tl_alias_class(vm, "global.debt"), 0 };
  table->length = tl_add_func(vm, "length", (const void *)(uintptr_t)length, "ar>i", 0, reads, writes);
  table->new_list = tl_add_func(vm, "new_list", (const void *)(uintptr_t)new_list, "aii>r",
                                TL_EFFECT_ALLOCATES, nothing, account);
  return table->length != 0 && table->new_list != 0;
}

int tlua_describe_items (tl_vm *vm, TluaSchema *schema) {
  TluaTableIds *table = &schema->table;
  static const char *const names[4] = { "array.int", "array.float", "array.ref", "array.addr" };
  table->array_count = cell(vm, "table.count", TLUA_COUNT_OFFSET, sizeof(unsigned), TL_INT, "table.count");
  table->array = cell(vm, "table.array", offsetof(Table, array), 8, TL_ADDR, "table.array");
  for (int type = 0; type < 4; type++)
    table->array_value[type] = cell(vm, names[type], 0, 8, (tl_type)type, "array.value");
  table->array_tag = cell(vm, "array.tag", 0, 1, TL_INT, "array.tag");
  return table->array_count != 0 && table->array != 0 && table->array_value[TL_ADDR] != 0
      && table->array_tag != 0 && describe_functions(vm, table);
}

tl_value tlua_rec_border (TluaRecorder *rec, tl_value t) {
  const tl_value arguments[2] = { tl_context(rec->vm), t };
  return tl_call(rec->vm, rec->schema.table.length, arguments, 2);
}

/* The value's copy lives as long as the instruction is lowered. */
const TValue *tlua_rec_item_now (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now) {
  const Table *h = hvalue(t.now);
  (void)index;
  if (l_castS2U(index_now) - 1u >= tlua_array_size(h) || rec->at.seen_count == TLUA_MOST_SEEN) {
    tlua_rec_give_up(rec, "integer key outside the array part");  /* the callers have looked */
    return NULL;
  }
  return tlua_item(h, (size_t)index_now - 1, &rec->at.seen[rec->at.seen_count++]);
}

/* The first tag lies behind the hint, at the address that the table holds. */
void tlua_rec_item_places (TluaRecorder *rec, tl_value t, tl_value index, tl_value places[2]) {
  tl_vm *vm = rec->vm;
  tl_value array = tl_load(vm, rec->schema.table.array, t);
  places[0] = tl_item_addr(vm, array, index, 1, (int32_t)sizeof(unsigned) - 1);
  places[1] = tl_item_addr(vm, array, tl_op1(vm, TL_INT_NEG, index), sizeof(Value), 0);
}

/* The same under a guard that the index is within the array. */
static void find_places (TluaRecorder *rec, tl_value t, tl_value index, tl_value places[2]) {
  tl_vm *vm = rec->vm;
  tl_value place = tl_op2(vm, TL_INT_SUB, index, tl_const_int(vm, 1));
  tl_value is_inside = tl_op2(vm, TL_UINT_LT, place, tl_load(vm, rec->schema.table.array_count, t));
  tl_guard(vm, TL_GUARD_TRUE, is_inside, 0, TL_EXIT_GUARD);
  tlua_rec_item_places(rec, t, index, places);
}

/* The tag byte that the library's tag stands for. */
static int tag_byte (const TluaRecorder *rec, tl_tag tag) {
  int tt = 0;
  while (rec->schema.tag_of[tt] != tag)
    tt++;
  return tt;
}

tl_value tlua_rec_load_item (TluaRecorder *rec, tl_value t, tl_value index, tl_tag tag) {
  tl_vm *vm = rec->vm;
  const TluaTableIds *table = &rec->schema.table;
  tl_value places[2];
  int tt = tag_byte(rec, tag);
  tl_type type = tlua_payload(tt);
  find_places(rec, t, index, places);
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, table->array_tag, places[0]), tl_const_int(vm, tt), TL_EXIT_GUARD);
  return type != TL_VOID ? tl_load(vm, table->array_value[type], places[1]) : 0;
}

void tlua_rec_store_item (TluaRecorder *rec, tl_value t, tl_value index, Operand value) {
  tl_vm *vm = rec->vm;
  const TluaTableIds *table = &rec->schema.table;
  tl_value places[2];
  tl_type type = tlua_payload(value.tt);
  find_places(rec, t, index, places);
  tlua_rec_barrier(rec, t, 0, value);
  tl_store(vm, table->array_tag, places[0], tl_const_int(vm, value.tt));
  if (type != TL_VOID)
    tl_store(vm, table->array_value[type], places[1], value.value);
}

tl_value tlua_rec_new_table (TluaRecorder *rec, uint32_t items, uint32_t keys) {
  tl_vm *vm = rec->vm;
  if (items == 0)
    return tl_new_record(vm, rec->schema.table.layout, 0, keys);
  const tl_value arguments[3] = { tl_context(vm), tl_const_int(vm, items), tl_const_int(vm, keys) };
  return tl_try_call(vm, rec->schema.table.new_list, arguments, 3);
}
