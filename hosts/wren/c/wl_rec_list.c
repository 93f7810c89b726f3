/* wl_rec_list.c: lists, maps, strings, and objects of any class.
**
** Problem: what is in memory has tags that may change, and places that may move. Design: an item of a list
** is read with the tag that it has now; a map's value is found by a call that has no effect, and read and
** written where it lies; strings never change. Invariant: what makes an object says so, for the collector's
** sake. Example: 'list[i]' takes the index as an integer, exactly, and reads an item.
*/
#include "wl_prim.h"

/* ---- Lists ---- */

/* The index as an integer that is not negative; -1 if it is none, or outside. */
static int64_t index_now(const wl_call *call, int number) {
  const ObjList *list = AS_LIST(call->args[0]);
  Value value = call->args[number];
  if (!IS_NUM(value) || trunc(AS_NUM(value)) != AS_NUM(value)) return -1;
  double index = AS_NUM(value) < 0 ? list->elements.count + AS_NUM(value) : AS_NUM(value);
  return index >= 0 && index < list->elements.count ? (int64_t)index : -1;
}

static tl_value index_of(wl_call *call, tl_value list, int number) {
  tl_value index = tl_op1(call->jit, TL_FLOAT_TO_INT_EXACT, wl_arg(call, number));
  if (AS_NUM(call->args[number]) >= 0) return index;
  wl_guard(call->now, tl_op2(call->jit, TL_INT_LT, index, wl_int(call->now, 0)), true);
  return tl_op2(call->jit, TL_INT_ADD, tl_item_count(call->jit, call->now->ids->list, list), index);
}

void wl_rec_list_get(wl_call *call) {
  const wl_ids *ids = call->now->ids;
  if (!IS_NUM(call->args[1])) return wl_do_call(call);
  int64_t at = index_now(call, 1);
  if (at < 0) return wl_is_error(call);
  Value like = AS_LIST(call->args[0])->elements.data[at];
  tl_value list = wl_arg(call, 0), index = index_of(call, list, 1);
  wl_give(call, like, tl_get_item(call->jit, ids->list, wl_tag(call->now, like), list, index));
}

void wl_rec_list_set(wl_call *call) {
  const wl_ids *ids = call->now->ids;
  if (index_now(call, 1) < 0) return wl_is_error(call);
  Value like = call->args[2];
  tl_value list = wl_arg(call, 0), index = index_of(call, list, 1), value = wl_arg(call, 2);
  tl_put_item(call->jit, ids->list, wl_tag(call->now, like), list, index, value);
  wl_give(call, like, value);
}

/* Both items are read first, which guards the indexes. */
void wl_rec_list_swap(wl_call *call) {
  wl_now *now = call->now;
  const wl_ids *ids = now->ids;
  int64_t at[2] = {index_now(call, 1), index_now(call, 2)};
  if (at[0] < 0 || at[1] < 0) return wl_is_error(call);
  tl_value list = wl_arg(call, 0), index[2], item[2];
  Value like[2];
  for (int n = 0; n < 2; n++) {
    like[n] = AS_LIST(call->args[0])->elements.data[at[n]];
    index[n] = index_of(call, list, n + 1);
    item[n] = tl_get_item(call->jit, ids->list, wl_tag(now, like[n]), list, index[n]);
  }
  tl_value data = tl_load(call->jit, ids->list_data, list);
  for (int n = 0; n < 2; n++)
    wl_store(now, &ids->item, tl_item_addr(call->jit, data, index[n], sizeof(Value), 0), like[1 - n],
             item[1 - n]);
  wl_write_constant(now, call->slot, NULL_VAL);
}

void wl_rec_list_count(wl_call *call) {
  tl_value count = tl_item_count(call->jit, call->now->ids->list, wl_arg(call, 0));
  wl_give_num(call, tl_op1(call->jit, TL_INT_TO_FLOAT, count));
}

void wl_rec_list_iterate(wl_call *call) {
  wl_now *now = call->now;
  tl_vm *jit = call->jit;
  const ObjList *list = AS_LIST(call->args[0]);
  tl_value count = tl_item_count(jit, now->ids->list, wl_arg(call, 0)), iterator = wl_arg(call, 1);
  if (IS_NULL(call->args[1])) {
    wl_guard_branch(now, tl_op2(jit, TL_INT_EQ, count, wl_int(now, 0)), list->elements.count == 0);
    if (list->elements.count == 0) wl_give_bool(call, false);
    else wl_give_num(call, tl_const_float(jit, 0));
    return;
  }
  if (!IS_NUM(call->args[1]) || trunc(AS_NUM(call->args[1])) != AS_NUM(call->args[1]))
    return wl_is_error(call);
  double number = AS_NUM(call->args[1]);
  bool is_over = number < 0 || number >= list->elements.count - 1;
  tl_value index = tl_op1(jit, TL_FLOAT_TO_INT_EXACT, iterator);
  tl_value last = tl_op2(jit, TL_INT_SUB, count, wl_int(now, 1));
  wl_guard(now, tl_op2(jit, TL_INT_LT, index, wl_int(now, 0)), number < 0);
  if (number >= 0) wl_guard_branch(now, tl_op2(jit, TL_INT_GE, index, last), is_over);
  if (is_over) return wl_give_bool(call, false);
  wl_give_num(call, tl_op1(jit, TL_INT_TO_FLOAT, tl_op2(jit, TL_INT_ADD, index, wl_int(now, 1))));
}

static void list_append(wl_call *call, int result) {
  tl_value args[4] = {tl_context(call->jit), wl_arg(call, 0)};
  wl_as_pair(call, 1, args + 2);
  tl_value given = wl_arg(call, result);
  tl_call(call->jit, call->now->ids->list_add, args, 4);
  wl_give(call, call->args[result], given);
  call->now->lift->rec.has_allocated = true;
}
void wl_rec_list_add(wl_call *call) { list_append(call, 1); }
void wl_rec_list_add_core(wl_call *call) { list_append(call, 0); }

static void make(wl_call *call, tl_func function) {
  tl_value context = tl_context(call->jit);
  wl_give(call, OBJ_VAL(NULL), tl_try_call(call->jit, function, &context, 1));
  call->now->lift->rec.has_allocated = true;
}
void wl_rec_list_new(wl_call *call) { make(call, call->now->ids->list_new); }
void wl_rec_map_new(wl_call *call) { make(call, call->now->ids->map_new); }

/* ---- Maps ---- */

static bool is_key(wl_call *call) {
  if (wrenMapIsValidKey(call->args[1])) return true;
  /* what is valid is a matter of the object's class as well, which nothing guards */
  wl_is_error(call);
  return false;
}

/* The class of a key decides whether it is one. */
static void guard_key(wl_call *call) {
  if (IS_OBJ(call->args[1])) wl_guard_class(call->now, call->slot + 1);
}

/* The place of the key's value, under a guard whether there is one; NULL now if there is none. */
static const Value *find(wl_call *call, tl_value *place) {
  const Value *found = wl_map_find(AS_MAP(call->args[0]), call->args[1]);
  tl_value args[3] = {wl_arg(call, 0)};
  guard_key(call);
  wl_as_pair(call, 1, args + 1);
  *place = tl_call(call->jit, call->now->ids->map_find, args, 3);
  tl_guard(call->jit, found ? TL_GUARD_NONNULL : TL_GUARD_NULL, *place, 0, TL_EXIT_GUARD);
  return found;
}

void wl_rec_map_get(wl_call *call) {
  tl_value place;
  if (!is_key(call)) return;
  const Value *found = find(call, &place);
  if (!found) wl_write_constant(call->now, call->slot, NULL_VAL);
  else wl_give(call, *found, wl_load(call->now, &call->now->ids->entry, place, *found));
}

void wl_rec_map_contains(wl_call *call) {
  tl_value place;
  if (is_key(call)) wl_give_bool(call, find(call, &place) != NULL);
}

/* What is there already is written in place. */
static void map_put(wl_call *call, int result) {
  tl_value args[6] = {tl_context(call->jit), wl_arg(call, 0)}, place;
  if (!is_key(call)) return;
  const Value *found = find(call, &place);
  tl_value value = wl_arg(call, 2), given = wl_arg(call, result);
  if (found) {
    wl_store(call->now, &call->now->ids->entry, place, call->args[2], value);
  } else {
    wl_as_pair(call, 1, args + 2);
    wl_as_pair(call, 2, args + 4);
    tl_call(call->jit, call->now->ids->map_set, args, 6);
    call->now->lift->rec.has_allocated = true;
  }
  wl_give(call, call->args[result], given);
}
void wl_rec_map_set(wl_call *call) { map_put(call, 2); }
void wl_rec_map_add_core(wl_call *call) { map_put(call, 0); }

void wl_rec_map_count(wl_call *call) {
  tl_value count = tl_load(call->jit, call->now->ids->map_count, wl_arg(call, 0));
  wl_give_num(call, tl_op1(call->jit, TL_INT_TO_FLOAT, count));
}

/* ---- Strings ---- */

void wl_rec_string_plus(wl_call *call) {
  if (!IS_STRING(call->args[1])) return wl_is_error(call);
  wl_guard_class(call->now, call->slot + 1);
  tl_value args[3] = {tl_context(call->jit), wl_arg(call, 0), wl_arg(call, 1)};
  wl_give(call, call->args[0], tl_try_call(call->jit, call->now->ids->plus, args, 3));
  call->now->lift->rec.has_allocated = true;
}

void wl_rec_string_byte_count(wl_call *call) {
  tl_value length = tl_load(call->jit, call->now->ids->string_length, wl_arg(call, 0));
  wl_give_num(call, tl_op1(call->jit, TL_INT_TO_FLOAT, length));
}

void wl_rec_string_byte_at(wl_call *call) {
  wl_now *now = call->now;
  tl_vm *jit = call->jit;
  const ObjString *string = AS_STRING(call->args[0]);
  if (!IS_NUM(call->args[1]) || !(AS_NUM(call->args[1]) >= 0) || AS_NUM(call->args[1]) >= string->length
      || trunc(AS_NUM(call->args[1])) != AS_NUM(call->args[1]))
    return wl_do_call(call);
  tl_value text = wl_arg(call, 0), index = tl_op1(jit, TL_FLOAT_TO_INT_EXACT, wl_arg(call, 1));
  wl_guard(now, tl_op2(jit, TL_UINT_LT, index, tl_load(jit, now->ids->string_length, text)), true);
  tl_value place = tl_item_addr(jit, tl_op1(jit, TL_REF_TO_ADDR, text), index, 1, 0);
  wl_give_num(call, tl_op1(jit, TL_INT_TO_FLOAT, tl_load(jit, now->ids->string_byte, place)));
}

/* ---- Objects ---- */

void wl_rec_object_not(wl_call *call) {
  wl_arg(call, 0);
  wl_give_bool(call, IS_NULL(call->args[0]) || IS_FALSE(call->args[0]));
}

/* Strings and ranges are compared by what they hold, all else by identity. */
static void compare(wl_call *call, int a, int b, bool wanted) {
  bool is_equal = wrenValuesEqual(call->args[a], call->args[b]);
  tl_value left = wl_arg(call, a), right = wl_arg(call, b);
  if (IS_NUM(call->args[a]) && IS_NUM(call->args[b])) {
    wl_give_test(call, tl_op2(call->jit, TL_FLOAT_EQ, left, right), is_equal);
  } else if (IS_OBJ(call->args[a]) && IS_OBJ(call->args[b])) {
    tl_value args[2] = {left, right};
    bool is_instance = AS_OBJ(call->args[a])->type == OBJ_INSTANCE;
    if (is_instance) wl_guard_class(call->now, call->slot + a);
    wl_guard_branch(call->now,
                    is_instance ? tl_op2(call->jit, TL_REF_EQ, left, right)
                                : tl_call(call->jit, call->now->ids->equal, args, 2),
                    is_equal);
  }
  wl_give_bool(call, is_equal == wanted);
}
void wl_rec_object_eq(wl_call *call) { compare(call, 0, 1, true); }
void wl_rec_object_ne(wl_call *call) { compare(call, 0, 1, false); }
void wl_rec_object_same(wl_call *call) { compare(call, 1, 2, true); }

void wl_rec_object_is(wl_call *call) {
  wl_now *now = call->now;
  if (!IS_CLASS(call->args[1])) return wl_is_error(call);
  ObjClass *class = wl_guard_class(now, call->slot), *base = AS_CLASS(call->args[1]);
  wl_pin(now, base);
  tl_guard(call->jit, TL_GUARD_VALUE, wl_arg(call, 1), tl_const_ref(call->jit, base), TL_EXIT_GUARD);
  while (class && class != base) class = class->superclass;
  wl_give_bool(call, class != NULL);
}

void wl_rec_object_type(wl_call *call) {
  ObjClass *class = wl_guard_class(call->now, call->slot);
  wl_pin(call->now, class);
  wl_write_constant(call->now, call->slot, OBJ_VAL(class));
}
