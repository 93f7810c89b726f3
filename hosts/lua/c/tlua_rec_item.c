/*
** Elements of the array part, as the recording reads and writes them.
**
** Problem: an element is a value and a tag, and where they are is not the same in all versions of Lua.
**
** Design: for 5.4, by the library's operations on the indexed part of a record, which can tell one element
** from another, keep whole arrays virtual and test bounds once for a loop. For 5.5 there is another file of
** this name.
**
** Invariant: the index is known to lie in the array part now; a guard sees to it that it does then.
**
** Example, 't[i]':   x = get_item Table float t i
*/

#include "lprefix.h"

#include <stddef.h>

#include "tlua_rec.h"

/* '#t' without metamethod. It may move the hint in 'alimit'. */
static int64_t length (Table *t) {
  return (int64_t)luaH_getn(t);
}

static int describe_length (tl_vm *vm, TluaSchema *schema) {
  const tl_class reads[] = {
    tl_alias_class(vm, "table.count"), tl_alias_class(vm, "table.array"), tl_alias_class(vm, "table.flags"),
    tl_alias_class(vm, "table.nodes"), tl_alias_class(vm, "table.log_size"), tl_alias_class(vm, "array.tag"),
    tl_alias_class(vm, "node.tag"), tl_alias_class(vm, "node.key"), tl_alias_class(vm, "node.key_tag"),
    tl_alias_class(vm, "node.next"), 0 };
  const tl_class writes[] = { tl_alias_class(vm, "table.count"), tl_alias_class(vm, "table.flags"), 0 };
  schema->table.length = tl_add_func(vm, "length", (const void *)length, "r>i", 0, reads, writes);
  return schema->table.length != 0;
}

/*
** The array may be longer than 'alimit' says. As 'luaH_getint' does, this moves the hint to an element that
** is there; NULL if there is none.
*/
static TValue *reach_item (Table *t, int64_t index) {
  lua_Unsigned place = l_castS2U(index) - 1u;
  if (place >= t->alimit) {
    if (isrealasize(t) || (place & ~(t->alimit - (lua_Unsigned)1u)) >= t->alimit)
      return NULL;
    t->alimit = cast_uint(index);
  }
  return &t->array[place];
}

static int describe_reach (tl_vm *vm, TluaSchema *schema) {
  const tl_class reads[] = { tl_alias_class(vm, "table.count"), tl_alias_class(vm, "table.array"),
                             tl_alias_class(vm, "table.flags"), 0 };
  const tl_class writes[] = { tl_alias_class(vm, "table.count"), 0 };
  schema->table.reach_item = tl_add_func(vm, "reach_item", (const void *)reach_item, "ri>a", 0, reads,
                                         writes);
  return schema->table.reach_item != 0;
}

int tlua_describe_items (tl_vm *vm, TluaSchema *schema) {
  TluaTableIds *table = &schema->table;
  static const char *const names[4] = { "array.int", "array.float", "array.ref", "array.addr" };
  tl_element element = { .stride = sizeof(TValue), .absent = schema->tag_of[LUA_VEMPTY] };
  /* As a bound 'alimit' may be too small (it is a hint when the flag says so) but never too large. */
  tl_cell count = tl_add_cell(vm, "table.count", TLUA_COUNT_OFFSET, sizeof(unsigned int), TL_INT,
                              tl_alias_class(vm, "table.count"), 0);
  tl_class values = tl_alias_class(vm, "array.value");
  table->array = tl_add_cell(vm, "table.array", offsetof(Table, array), 8, TL_ADDR,
                             tl_alias_class(vm, "table.array"), 0);
  for (int type = 0; type < 4; type++)
    table->array_value[type] = element.value[type] =
        tl_add_cell(vm, names[type], offsetof(TValue, value_), 8, (tl_type)type, values, 0);
  table->array_tag = element.tag = tl_add_cell(vm, "array.tag", offsetof(TValue, tt_), 1, TL_INT,
                                               tl_alias_class(vm, "array.tag"), 0);
  return count != 0 && table->array != 0 && element.value[TL_ADDR] != 0 && element.tag != 0
      && tl_set_items(vm, table->layout, count, table->array, 1, &element) == TL_OK
      && describe_reach(vm, schema) && describe_length(vm, schema);
}

tl_value tlua_rec_border (TluaRecorder *rec, tl_value t) {
  return tl_call(rec->vm, rec->schema.table.length, &t, 1);
}

static void reach (TluaRecorder *rec, Operand t, tl_value index) {
  tl_value arguments[2] = { t.value, index };
  tl_try_call(rec->vm, rec->schema.table.reach_item, arguments, 2);
  tlua_rec_resume_here(rec);
}

/* Arrays that are appended to lie beyond the hint that '#' leaves in 'alimit'. */
const TValue *tlua_rec_item_now (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now) {
  Table *h = hvalue(t.now);
  lua_Unsigned place = (lua_Unsigned)index_now - 1u;
  if (place < h->alimit)
    return &h->array[place];
  if (place < tlua_array_size(h)) {
    reach(rec, t, index);
    return &h->array[place];
  }
  tlua_rec_give_up(rec, "integer key outside the array part");  /* the callers have looked */
  return NULL;
}

tl_value tlua_rec_load_item (TluaRecorder *rec, tl_value t, tl_value index, tl_tag tag) {
  return tl_get_item(rec->vm, rec->schema.table.layout, tag, t, index);
}

void tlua_rec_store_item (TluaRecorder *rec, tl_value t, tl_value index, Operand value) {
  tl_put_item(rec->vm, rec->schema.table.layout, value.tag, t, index, value.value);
}

tl_value tlua_rec_new_table (TluaRecorder *rec, uint32_t items, uint32_t keys) {
  return tl_new_record(rec->vm, rec->schema.table.layout, items, keys);
}

/* The tag lies beside the value. */
void tlua_rec_item_places (TluaRecorder *rec, tl_value t, tl_value index, tl_value places[2]) {
  tl_vm *vm = rec->vm;
  tl_value array = tl_load(vm, rec->schema.table.array, t);
  places[0] = places[1] = tl_item_addr(vm, array, index, sizeof(TValue), -(int32_t)sizeof(TValue));
}
