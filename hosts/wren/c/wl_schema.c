/* wl_schema.c: what Wren's memory looks like.
**
** Problem: the library knows nothing of Wren. Design: a value is 16 bytes, a tag and a payload; null, false
** and true are their tags. An instance's fields are items of a record, which hold tags too, and begin as
** null; a list's items lie elsewhere and have no such beginning. Each kind of place has an alias class of
** its own. Invariant: what is called immutable is written by whoever makes the object, before anybody sees
** it. Example: 'point.x = 1.5' writes item 0 of a record with the layout "instance".
*/
#include <stddef.h>

#include "wl_internal.h"

static wl_views views(tl_vm *jit, const char *const names[5], uint32_t flags) {
  /* names: of the payload as int, float, ref and addr, and of the tag; the classes have the first and last */
  wl_views made;
  tl_class payload = tl_alias_class(jit, names[0]), tag = tl_alias_class(jit, names[4]);
  for (int type = 0; type < 4; type++)
    made.payload[type] = tl_add_cell(jit, names[type], offsetof(Value, as), 8, (tl_type)type, payload, flags);
  made.tag = tl_add_cell(jit, names[4], offsetof(Value, type), 4, TL_INT, tag, flags);
  return made;
}

#define VIEWS(jit, name) \
  views(jit, (const char *const[5]){name ".int", name ".float", name ".ref", name ".addr", name ".tag"}, 0)

static tl_element element(const wl_views *views) {
  tl_element made = {.stride = sizeof(Value), .tag = views->tag};
  for (int type = 0; type < 4; type++) made.value[type] = views->payload[type];
  return made;
}

static tl_cell cell(tl_vm *jit, const char *name, size_t offset, uint32_t width, tl_type type,
                    const char *alias, uint32_t flags) {
  return tl_add_cell(jit, name, (int32_t)offset, width, type, tl_alias_class(jit, alias), flags);
}

static void describe_values(tl_vm *jit, wl_ids *ids) {
  ids->tag[VAL_FALSE] = tl_add_tag(jit, "false", VAL_FALSE, TL_VOID);
  ids->tag[VAL_NULL] = tl_add_tag(jit, "null", VAL_NULL, TL_VOID);
  ids->tag[VAL_NUM] = tl_add_tag(jit, "num", VAL_NUM, TL_FLOAT);
  ids->tag[VAL_TRUE] = tl_add_tag(jit, "true", VAL_TRUE, TL_VOID);
  ids->tag[VAL_UNDEFINED] = tl_add_tag(jit, "undefined", VAL_UNDEFINED, TL_VOID);
  ids->tag[VAL_OBJ] = tl_add_tag(jit, "obj", VAL_OBJ, TL_REF);
  tl_set_slots(jit, sizeof(Value), offsetof(Value, as), offsetof(Value, type), 4);
  tl_set_frame_words(jit, WL_WORDS);
  ids->slot = VIEWS(jit, "slot");
  ids->variable = VIEWS(jit, "variable");
  ids->entry = VIEWS(jit, "entry");
  tl_set_slot_cells(jit, ids->slot.payload, ids->slot.tag);
}

static tl_func add(tl_vm *jit, const char *name, void (*function)(void), const char *signature,
                   uint32_t effects, const tl_class *reads, const tl_class *writes) {
  return tl_add_func(jit, name, (const void *)(uintptr_t)function, signature, effects, reads, writes);
}
#define ADD(jit, name, signature, effects, reads, writes) \
  add(jit, #name, (void (*)(void))name, signature, effects, reads, writes)

static void describe_records(wl_lift *lift) {
  tl_vm *jit = lift->jit;
  wl_ids *ids = &lift->ids;
  tl_class debt[] = {tl_alias_class(jit, "collector"), 0};
  ids->object_class =
      cell(jit, "object.class", offsetof(Obj, classObj), 8, TL_REF, "object.class", TL_IMMUTABLE);

  wl_views field = VIEWS(jit, "field");
  ids->item = VIEWS(jit, "item");
  tl_element fields = element(&field), items = element(&ids->item);
  fields.absent = ids->tag[VAL_NULL];
  ids->instance = tl_add_layout(jit, "instance", sizeof(ObjInstance), 0, 0);
  tl_set_items(
      jit, ids->instance,
      cell(jit, "instance.count", offsetof(ObjInstance, wlCount), 8, TL_INT, "instance", TL_IMMUTABLE),
      cell(jit, "instance.items", offsetof(ObjInstance, wlItems), 8, TL_ADDR, "instance", TL_IMMUTABLE), 0,
      &fields);
  ids->instance_class = tl_add_field(jit, ids->instance, ids->object_class);
  tl_set_alloc(jit, ids->instance, ADD(jit, wl_new_instance, "aiii>r", TL_EFFECT_ALLOCATES, NULL, debt));
  tl_set_reserve(jit, ids->instance, wl_reserve, lift);

  ids->list = tl_add_layout(jit, "list", sizeof(ObjList), 0, 0);
  size_t elements = offsetof(ObjList, elements);
  ids->list_count =
      cell(jit, "list.count", elements + offsetof(ValueBuffer, count), 4, TL_INT, "list", TL_SIGNED);
  ids->list_data = cell(jit, "list.data", elements + offsetof(ValueBuffer, data), 8, TL_ADDR, "list", 0);
  tl_set_items(jit, ids->list, ids->list_count, ids->list_data, 0, &items);
  ids->list_class = tl_add_field(jit, ids->list, ids->object_class);

  ids->range = tl_add_layout(jit, "range", sizeof(ObjRange), 0, 0);
  ids->range_class = tl_add_field(jit, ids->range, ids->object_class);
  ids->range_from = tl_add_field(
      jit, ids->range, cell(jit, "range.from", offsetof(ObjRange, from), 8, TL_FLOAT, "range", TL_IMMUTABLE));
  ids->range_to = tl_add_field(
      jit, ids->range, cell(jit, "range.to", offsetof(ObjRange, to), 8, TL_FLOAT, "range", TL_IMMUTABLE));
  ids->range_inclusive = tl_add_field(
      jit, ids->range,
      cell(jit, "range.inclusive", offsetof(ObjRange, isInclusive), 1, TL_INT, "range", TL_IMMUTABLE));
  tl_set_alloc(jit, ids->range, ADD(jit, wl_new_range, "aiii>r", TL_EFFECT_ALLOCATES, NULL, debt));
  tl_set_reserve(jit, ids->range, wl_reserve, lift);
}

static void describe_others(tl_vm *jit, wl_ids *ids) {
  ids->closure_fn = cell(jit, "closure.fn", offsetof(ObjClosure, fn), 8, TL_REF, "closure", TL_IMMUTABLE);
  ids->closure_upvalue = cell(jit, "closure.upvalue", 0, 8, TL_REF, "closure.upvalues", TL_IMMUTABLE);
  ids->upvalue_place = cell(jit, "upvalue.place", offsetof(ObjUpvalue, value), 8, TL_ADDR, "upvalue", 0);
  ids->module_data = cell(jit, "variables", offsetof(ValueBuffer, data), 8, TL_ADDR, "variables", 0);
  ids->allocated = cell(jit, "allocated", offsetof(WrenVM, bytesAllocated), 8, TL_INT, "collector", 0);
  ids->limit = cell(jit, "limit", offsetof(WrenVM, nextGC), 8, TL_INT, "collector", 0);
  ids->vm_fiber = cell(jit, "vm.fiber", offsetof(WrenVM, fiber), 8, TL_REF, "vm.fiber", 0);
  ids->fiber_frames = cell(jit, "fiber.frames", offsetof(ObjFiber, frames), 8, TL_ADDR, "fiber", 0);
  ids->fiber_count =
      cell(jit, "fiber.count", offsetof(ObjFiber, numFrames), 4, TL_INT, "fiber.count", TL_SIGNED);
  ids->fiber_room = cell(jit, "fiber.room", offsetof(ObjFiber, frameCapacity), 4, TL_INT, "fiber", TL_SIGNED);
  ids->fiber_stack = cell(jit, "fiber.stack", offsetof(ObjFiber, stack), 8, TL_ADDR, "fiber", 0);
  ids->fiber_slots =
      cell(jit, "fiber.slots", offsetof(ObjFiber, stackCapacity), 4, TL_INT, "fiber", TL_SIGNED);
  ids->fiber_upvalues =
      cell(jit, "fiber.upvalues", offsetof(ObjFiber, openUpvalues), 8, TL_REF, "fiber.upvalues", 0);
  ids->frame_ip = cell(jit, "frame.ip", offsetof(CallFrame, ip), 8, TL_ADDR, "frame", 0);
  ids->frame_closure =
      cell(jit, "frame.closure", offsetof(CallFrame, closure), 8, TL_REF, "frame.closure", 0);
  ids->frame_start = cell(jit, "frame.start", offsetof(CallFrame, stackStart), 8, TL_ADDR, "frame.start", 0);
  ids->room = cell(jit, "room", 0, 8, TL_INT, "room", 0);
  ids->map_count = cell(jit, "map.count", offsetof(ObjMap, count), 4, TL_INT, "map", 0);
  ids->string_length =
      cell(jit, "string.length", offsetof(ObjString, length), 4, TL_INT, "string", TL_IMMUTABLE);
  ids->string_byte =
      cell(jit, "string.byte", offsetof(ObjString, value), 1, TL_INT, "string.bytes", TL_IMMUTABLE);
}

static void describe_functions(tl_vm *jit, wl_ids *ids) {
  tl_class map = tl_alias_class(jit, "map"), debt = tl_alias_class(jit, "collector");
  tl_class of_map[] = {map, 0};
  tl_class set_map[] = {map, tl_alias_class(jit, "entry.int"), tl_alias_class(jit, "entry.tag"), debt, 0};
  tl_class of_list[] = {tl_alias_class(jit, "list"), tl_alias_class(jit, "item.int"),
                        tl_alias_class(jit, "item.tag"), debt, 0};
  tl_class makes[] = {debt, 0};
  const uint32_t allocates = TL_EFFECT_ALLOCATES;
  ids->primitive = ADD(jit, wl_do_primitive, "aaaai>a", TL_EFFECT_REENTERS, NULL, NULL);
  ids->foreign = ADD(jit, wl_do_foreign, "aaaai>a", TL_EFFECT_REENTERS, NULL, NULL);
  ids->closure = ADD(jit, wl_do_closure, "aaaa>a", TL_EFFECT_REENTERS, NULL, NULL);
  ids->close = ADD(jit, wl_do_close, "aaai>a", TL_EFFECT_REENTERS, NULL, NULL);
  ids->map_find = ADD(jit, wl_find, "rii>a", 0, of_map, NULL);
  ids->map_set = ADD(jit, wl_map_set, "ariiii>v", allocates, of_map, set_map);
  ids->equal = ADD(jit, wl_equal, "rr>i", 0, NULL, NULL);
  ids->list_add = ADD(jit, wl_list_add, "arii>v", allocates, of_list, of_list);
  ids->list_new = ADD(jit, wl_list_new, "a>r", allocates, NULL, makes);
  ids->map_new = ADD(jit, wl_map_new, "a>r", allocates, NULL, makes);
  ids->closure_new = ADD(jit, wl_closure_new, "ar>r", allocates, NULL, makes);
  ids->plus = ADD(jit, wl_plus, "arr>r", allocates, NULL, makes);
}

void wl_describe(wl_lift *lift) {
  describe_values(lift->jit, &lift->ids);
  describe_records(lift);
  describe_others(lift->jit, &lift->ids);
  describe_functions(lift->jit, &lift->ids);
}
