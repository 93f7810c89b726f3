/* wl_rec_prim.c: what is built in: numbers, lists, maps, ranges, strings.
**
** Problem: in Wren 'a + b' is a call of a primitive, a C function that takes its arguments from the stack.
** Design: primitives are known by their addresses, which are looked up when the virtual machine is new; a row
** of the table says what each does in a trace. Those that are rare are called as the interpreter calls them
** (row "done"); those that switch fibers give the recording up. Invariant: what the interpreter would raise an
** error for is never recorded. Example: 'list[i]' takes the index as an integer, exactly, and reads an item
** with the tag that it has now.
*/
#include <math.h>
#include <string.h>

#include "wl_internal.h"

/* A primitive's call: its receiver is args[0], in the frame's slot `slot`. */
typedef struct wl_call {
  wl_now *now;
  tl_vm *jit;
  const Value *args;
  int slot, count, symbol;
  Primitive primitive;
} wl_call;

static void is_error(wl_call *call) { wl_give_up(call->now->lift, "error"); }

static tl_value arg(wl_call *call, int number) { return wl_read(call->now, call->slot + number); }

/* The result takes the receiver's place. */
static void give(wl_call *call, Value like, tl_value value) { wl_write(call->now, call->slot, like, value); }
static void give_num(wl_call *call, tl_value value) { give(call, NUM_VAL(0), value); }
static void give_bool(wl_call *call, bool is_true) { wl_write_bool(call->now, call->slot, is_true); }

/* The result of a test is known now, and guarded. */
static void give_test(wl_call *call, tl_value test, bool holds) {
  wl_guard_branch(call->now, test, holds);
  give_bool(call, holds);
}

static bool are_nums(wl_call *call) {
  for (int n = 0; n < call->count; n++)
    if (!IS_NUM(call->args[n])) {
      is_error(call);
      return false;
    }
  return true;
}

/* ---- Classes ---- */

ObjClass *wl_guard_class(wl_now *now, int slot) {
  Value value = now->slots[slot];
  ObjClass *class = wrenGetClassInline(now->vm, value);
  tl_value object = wl_read(now, slot), found;
  if (!IS_OBJ(value)) return class;
  wl_pin(now, class);
  switch (AS_OBJ(value)->type) {
    case OBJ_INSTANCE: found = tl_get(now->jit, now->ids->instance_class, object); break;
    case OBJ_LIST: found = tl_get(now->jit, now->ids->list_class, object); break;
    case OBJ_RANGE: found = tl_get(now->jit, now->ids->range_class, object); break;
    default: found = tl_load(now->jit, now->ids->object_class, object);
  }
  tl_guard(now->jit, TL_GUARD_VALUE, found, tl_const_ref(now->jit, class), TL_EXIT_GUARD);
  return class;
}

/* ---- Numbers ---- */

#define OPERATION(name, op)                                                                       \
  static void name(wl_call *call) {                                                               \
    if (are_nums(call)) give_num(call, tl_op2(call->jit, op, arg(call, 0), arg(call, 1)));        \
  }
OPERATION(num_plus, TL_FLOAT_ADD)
OPERATION(num_minus, TL_FLOAT_SUB)
OPERATION(num_times, TL_FLOAT_MUL)
OPERATION(num_divide, TL_FLOAT_DIV)
OPERATION(num_mod, TL_FLOAT_REM)

#define COMPARISON(name, op, c)                                                                          \
  static void name(wl_call *call) {                                                                      \
    if (!are_nums(call)) return;                                                                         \
    tl_value test = tl_op2(call->jit, op, arg(call, 0), arg(call, 1));                                   \
    give_test(call, test, AS_NUM(call->args[0]) c AS_NUM(call->args[1]));                                \
  }
COMPARISON(num_lt, TL_FLOAT_LT, <)
COMPARISON(num_le, TL_FLOAT_LE, <=)
COMPARISON(num_gt, TL_FLOAT_GT, >)
COMPARISON(num_ge, TL_FLOAT_GE, >=)

/* Of another type is never equal; the tags say so. */
#define EQUALITY(name, op, c, other)                                                                     \
  static void name(wl_call *call) {                                                                      \
    tl_value a = arg(call, 0), b = arg(call, 1);                                                         \
    if (!IS_NUM(call->args[1])) give_bool(call, other);                                                  \
    else give_test(call, tl_op2(call->jit, op, a, b), AS_NUM(call->args[0]) c AS_NUM(call->args[1]));    \
  }
EQUALITY(num_eq, TL_FLOAT_EQ, ==, false)
EQUALITY(num_ne, TL_FLOAT_NE, !=, true)

#define FUNCTION(name, op) \
  static void name(wl_call *call) { give_num(call, tl_op1(call->jit, op, arg(call, 0))); }
FUNCTION(num_negate, TL_FLOAT_NEG)
FUNCTION(num_abs, TL_FLOAT_ABS)
FUNCTION(num_sqrt, TL_FLOAT_SQRT)
FUNCTION(num_floor, TL_FLOAT_FLOOR)
FUNCTION(num_ceil, TL_FLOAT_CEIL)
FUNCTION(num_truncate, TL_FLOAT_TRUNC)

#define CHOICE(name, op)                                                                   \
  static void name(wl_call *call) {                                                        \
    if (!are_nums(call)) return;                                                           \
    tl_value a = arg(call, 0), b = arg(call, 1);                                           \
    give_num(call, tl_op3(call->jit, TL_SELECT, tl_op2(call->jit, op, a, b), a, b));       \
  }
CHOICE(num_min, TL_FLOAT_LE)
CHOICE(num_max, TL_FLOAT_GT)

static void num_is_integer(wl_call *call) {
  double number = AS_NUM(call->args[0]);
  tl_value value = arg(call, 0);
  tl_value rest = tl_op2(call->jit, TL_FLOAT_SUB, value, tl_op1(call->jit, TL_FLOAT_TRUNC, value));
  /* of an infinity the rest is NaN */
  give_test(call, tl_op2(call->jit, TL_FLOAT_EQ, rest, tl_const_float(call->jit, 0)),
            !isnan(number) && !isinf(number) && trunc(number) == number);
}

/* Bits of a number as C's conversion gives them, for whole numbers. */
static bool is_whole(Value value) { return fabs(AS_NUM(value)) < 0x1p62 && trunc(AS_NUM(value)) == AS_NUM(value); }

static tl_value bits_of(wl_call *call, int number) {
  tl_value whole = tl_op1(call->jit, TL_FLOAT_TO_INT_EXACT, arg(call, number));
  return tl_op2(call->jit, TL_INT_AND, whole, wl_int(call->now, UINT32_MAX));
}

static void give_bits(wl_call *call, tl_value bits) {
  tl_value low = tl_op2(call->jit, TL_INT_AND, bits, wl_int(call->now, UINT32_MAX));
  give_num(call, tl_op1(call->jit, TL_INT_TO_FLOAT, low));
}

static void bitwise(wl_call *call, tl_op op, bool is_shift) {
  if (!are_nums(call)) return;
  if (!is_whole(call->args[0]) || !is_whole(call->args[1])) {
    wl_give_up(call->now->lift, "bits of a fraction");
    return;
  }
  tl_value a = bits_of(call, 0), b = bits_of(call, 1);
  /* C leaves counts beyond 31 undefined */
  if (is_shift) wl_guard(call->now, tl_op2(call->jit, TL_UINT_LT, b, wl_int(call->now, 32)), true);
  if (is_shift && (uint32_t)AS_NUM(call->args[1]) > 31) wl_give_up(call->now->lift, "shift by more than 31");
  else give_bits(call, tl_op2(call->jit, op, a, b));
}
static void num_and(wl_call *call) { bitwise(call, TL_INT_AND, false); }
static void num_or(wl_call *call) { bitwise(call, TL_INT_OR, false); }
static void num_xor(wl_call *call) { bitwise(call, TL_INT_XOR, false); }
static void num_shl(wl_call *call) { bitwise(call, TL_INT_SHL, true); }
static void num_shr(wl_call *call) { bitwise(call, TL_INT_SHR, true); }

static void num_not_bits(wl_call *call) {
  if (!is_whole(call->args[0])) wl_give_up(call->now->lift, "bits of a fraction");
  else give_bits(call, tl_op1(call->jit, TL_INT_NOT, bits_of(call, 0)));
}

/* ---- Ranges ---- */

static void make_range(wl_call *call, bool is_inclusive) {
  wl_now *now = call->now;
  if (!are_nums(call)) return;
  tl_value from = arg(call, 0), to = arg(call, 1);
  tl_value made = tl_new_record(call->jit, now->ids->range, 0, 0);
  wl_pin(now, now->vm->rangeClass);
  tl_set(call->jit, now->ids->range_class, made, tl_const_ref(call->jit, now->vm->rangeClass));
  tl_set(call->jit, now->ids->range_from, made, from);
  tl_set(call->jit, now->ids->range_to, made, to);
  tl_set(call->jit, now->ids->range_inclusive, made, wl_int(now, is_inclusive));
  give(call, OBJ_VAL(now->vm->rangeClass), made);
  now->lift->rec.has_allocated = true;
}
static void num_to(wl_call *call) { make_range(call, true); }
static void num_until(wl_call *call) { make_range(call, false); }

static void range_from(wl_call *call) { give_num(call, tl_get(call->jit, call->now->ids->range_from, arg(call, 0))); }
static void range_to(wl_call *call) { give_num(call, tl_get(call->jit, call->now->ids->range_to, arg(call, 0))); }

/* As the primitive: towards the end, which belongs to it or not. */
static void range_iterate(wl_call *call) {
  wl_now *now = call->now;
  tl_vm *jit = call->jit;
  const ObjRange *range = AS_RANGE(call->args[0]);
  tl_value object = arg(call, 0), from = tl_get(jit, now->ids->range_from, object);
  tl_value to = tl_get(jit, now->ids->range_to, object), iterator = arg(call, 1);
  tl_value inclusive = tl_get(jit, now->ids->range_inclusive, object);
  if (!IS_NULL(call->args[1]) && !IS_NUM(call->args[1])) return is_error(call);
  tl_guard(jit, TL_GUARD_VALUE, inclusive, wl_int(now, range->isInclusive), TL_EXIT_GUARD);
  if (!range->isInclusive) {
    wl_guard(now, tl_op2(jit, TL_FLOAT_EQ, from, to), range->from == range->to);
    if (range->from == range->to) return give_bool(call, false);
  }
  if (IS_NULL(call->args[1])) return give_num(call, from);
  bool is_up = range->from < range->to;
  wl_guard(now, tl_op2(jit, TL_FLOAT_LT, from, to), is_up);
  double next = is_up ? AS_NUM(call->args[1]) + 1 : AS_NUM(call->args[1]) - 1;
  iterator = tl_op2(jit, is_up ? TL_FLOAT_ADD : TL_FLOAT_SUB, iterator, tl_const_float(jit, 1));
  bool is_beyond = is_up ? next > range->to : next < range->to;
  wl_guard_branch(now, tl_op2(jit, is_up ? TL_FLOAT_GT : TL_FLOAT_LT, iterator, to), is_beyond);
  if (is_beyond) return give_bool(call, false);
  if (!range->isInclusive) {
    wl_guard_branch(now, tl_op2(jit, TL_FLOAT_EQ, iterator, to), next == range->to);
    if (next == range->to) return give_bool(call, false);
  }
  give_num(call, iterator);
}

static void second(wl_call *call) { give(call, call->args[1], arg(call, 1)); }
static void itself(wl_call *call) { give(call, call->args[0], arg(call, 0)); }

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
  tl_value index = tl_op1(call->jit, TL_FLOAT_TO_INT_EXACT, arg(call, number));
  if (AS_NUM(call->args[number]) >= 0) return index;
  wl_guard(call->now, tl_op2(call->jit, TL_INT_LT, index, wl_int(call->now, 0)), true);
  return tl_op2(call->jit, TL_INT_ADD, tl_item_count(call->jit, call->now->ids->list, list), index);
}

static void do_primitive(wl_call *call);

static void list_get(wl_call *call) {
  const wl_ids *ids = call->now->ids;
  if (!IS_NUM(call->args[1])) return do_primitive(call);
  int64_t at = index_now(call, 1);
  if (at < 0) return is_error(call);
  Value like = AS_LIST(call->args[0])->elements.data[at];
  tl_value list = arg(call, 0), index = index_of(call, list, 1);
  give(call, like, tl_get_item(call->jit, ids->list, wl_tag(call->now, like), list, index));
}

static void list_set(wl_call *call) {
  const wl_ids *ids = call->now->ids;
  if (index_now(call, 1) < 0) return is_error(call);
  Value like = call->args[2];
  tl_value list = arg(call, 0), index = index_of(call, list, 1), value = arg(call, 2);
  tl_put_item(call->jit, ids->list, wl_tag(call->now, like), list, index, value);
  give(call, like, value);
}

static void list_count(wl_call *call) {
  tl_value count = tl_item_count(call->jit, call->now->ids->list, arg(call, 0));
  give_num(call, tl_op1(call->jit, TL_INT_TO_FLOAT, count));
}

static void list_iterate(wl_call *call) {
  wl_now *now = call->now;
  tl_vm *jit = call->jit;
  const ObjList *list = AS_LIST(call->args[0]);
  tl_value count = tl_item_count(jit, now->ids->list, arg(call, 0)), iterator = arg(call, 1);
  if (IS_NULL(call->args[1])) {
    wl_guard_branch(now, tl_op2(jit, TL_INT_EQ, count, wl_int(now, 0)), list->elements.count == 0);
    if (list->elements.count == 0) give_bool(call, false);
    else give_num(call, tl_const_float(jit, 0));
    return;
  }
  if (!IS_NUM(call->args[1]) || trunc(AS_NUM(call->args[1])) != AS_NUM(call->args[1])) return is_error(call);
  double number = AS_NUM(call->args[1]);
  bool is_over = number < 0 || number >= list->elements.count - 1;
  tl_value index = tl_op1(jit, TL_FLOAT_TO_INT_EXACT, iterator);
  tl_value last = tl_op2(jit, TL_INT_SUB, count, wl_int(now, 1));
  wl_guard(now, tl_op2(jit, TL_INT_LT, index, wl_int(now, 0)), number < 0);
  if (number >= 0) wl_guard_branch(now, tl_op2(jit, TL_INT_GE, index, last), is_over);
  if (is_over) return give_bool(call, false);
  give_num(call, tl_op1(jit, TL_INT_TO_FLOAT, tl_op2(jit, TL_INT_ADD, index, wl_int(now, 1))));
}

/* A value as two integers, for functions. */
static void as_pair(wl_call *call, int number, tl_value pair[2]) {
  tl_value value = arg(call, number);
  pair[0] = wl_int(call->now, call->args[number].type);
  if (IS_NUM(call->args[number])) pair[1] = tl_op1(call->jit, TL_FLOAT_TO_BITS, value);
  else if (IS_OBJ(call->args[number]))
    pair[1] = tl_op1(call->jit, TL_ADDR_TO_INT, tl_op1(call->jit, TL_REF_TO_ADDR, value));
  else pair[1] = wl_int(call->now, 0);
}

static void list_append(wl_call *call, int result) {
  tl_value args[4] = {tl_context(call->jit), arg(call, 0)};
  as_pair(call, 1, args + 2);
  tl_value given = arg(call, result);
  tl_call(call->jit, call->now->ids->list_add, args, 4);
  give(call, call->args[result], given);
  call->now->lift->rec.has_allocated = true;
}
static void list_add(wl_call *call) { list_append(call, 1); }
static void list_add_core(wl_call *call) { list_append(call, 0); }

static void make(wl_call *call, tl_func function) {
  tl_value context = tl_context(call->jit);
  give(call, OBJ_VAL(NULL), tl_try_call(call->jit, function, &context, 1));
  call->now->lift->rec.has_allocated = true;
}
static void list_new(wl_call *call) { make(call, call->now->ids->list_new); }
static void map_new(wl_call *call) { make(call, call->now->ids->map_new); }

/* ---- Maps ---- */

static bool is_key(wl_call *call) {
  if (wrenMapIsValidKey(call->args[1])) return true;
  /* what is valid is a matter of the object's class as well, which nothing guards */
  is_error(call);
  return false;
}

/* The class of a key decides whether it is one. */
static void guard_key(wl_call *call) {
  if (IS_OBJ(call->args[1])) wl_guard_class(call->now, call->slot + 1);
}

/* The place of the key's value, under a guard whether there is one; NULL now if there is none. */
static const Value *find(wl_call *call, tl_value *place) {
  const Value *found = wl_map_find(AS_MAP(call->args[0]), call->args[1]);
  tl_value args[3] = {arg(call, 0)};
  guard_key(call);
  as_pair(call, 1, args + 1);
  *place = tl_call(call->jit, call->now->ids->map_find, args, 3);
  tl_guard(call->jit, found ? TL_GUARD_NONNULL : TL_GUARD_NULL, *place, 0, TL_EXIT_GUARD);
  return found;
}

static void map_get(wl_call *call) {
  tl_value place;
  if (!is_key(call)) return;
  const Value *found = find(call, &place);
  if (!found) wl_write_constant(call->now, call->slot, NULL_VAL);
  else give(call, *found, wl_load(call->now, &call->now->ids->entry, place, *found));
}

static void map_contains(wl_call *call) {
  tl_value place;
  if (is_key(call)) give_bool(call, find(call, &place) != NULL);
}

/* What is there already is written in place. */
static void map_put(wl_call *call, int result) {
  tl_value args[6] = {tl_context(call->jit), arg(call, 0)}, place;
  if (!is_key(call)) return;
  const Value *found = find(call, &place);
  tl_value value = arg(call, 2), given = arg(call, result);
  if (found) {
    wl_store(call->now, &call->now->ids->entry, place, call->args[2], value);
  } else {
    as_pair(call, 1, args + 2);
    as_pair(call, 2, args + 4);
    tl_call(call->jit, call->now->ids->map_set, args, 6);
    call->now->lift->rec.has_allocated = true;
  }
  give(call, call->args[result], given);
}
static void map_set(wl_call *call) { map_put(call, 2); }
static void map_add_core(wl_call *call) { map_put(call, 0); }

static void map_count(wl_call *call) {
  tl_value count = tl_load(call->jit, call->now->ids->map_count, arg(call, 0));
  give_num(call, tl_op1(call->jit, TL_INT_TO_FLOAT, count));
}

/* ---- Strings ---- */

static void string_plus(wl_call *call) {
  if (!IS_STRING(call->args[1])) return is_error(call);
  wl_guard_class(call->now, call->slot + 1);
  tl_value args[3] = {tl_context(call->jit), arg(call, 0), arg(call, 1)};
  give(call, call->args[0], tl_try_call(call->jit, call->now->ids->plus, args, 3));
  call->now->lift->rec.has_allocated = true;
}

static void string_byte_count(wl_call *call) {
  tl_value length = tl_load(call->jit, call->now->ids->string_length, arg(call, 0));
  give_num(call, tl_op1(call->jit, TL_INT_TO_FLOAT, length));
}

static void string_byte_at(wl_call *call) {
  wl_now *now = call->now;
  tl_vm *jit = call->jit;
  const ObjString *string = AS_STRING(call->args[0]);
  if (!IS_NUM(call->args[1]) || !(AS_NUM(call->args[1]) >= 0) || AS_NUM(call->args[1]) >= string->length
      || trunc(AS_NUM(call->args[1])) != AS_NUM(call->args[1]))
    return do_primitive(call);
  tl_value text = arg(call, 0), index = tl_op1(jit, TL_FLOAT_TO_INT_EXACT, arg(call, 1));
  wl_guard(now, tl_op2(jit, TL_UINT_LT, index, tl_load(jit, now->ids->string_length, text)), true);
  tl_value place = tl_item_addr(jit, tl_op1(jit, TL_REF_TO_ADDR, text), index, 1, 0);
  give_num(call, tl_op1(jit, TL_INT_TO_FLOAT, tl_load(jit, now->ids->string_byte, place)));
}

/* ---- Objects ---- */

static void object_not(wl_call *call) {
  arg(call, 0);
  give_bool(call, IS_NULL(call->args[0]) || IS_FALSE(call->args[0]));
}

/* Strings and ranges are compared by what they hold, all else by identity. */
static void compare(wl_call *call, int a, int b, bool wanted) {
  bool is_equal = wrenValuesEqual(call->args[a], call->args[b]);
  tl_value left = arg(call, a), right = arg(call, b);
  if (IS_NUM(call->args[a]) && IS_NUM(call->args[b])) {
    give_test(call, tl_op2(call->jit, TL_FLOAT_EQ, left, right), is_equal);
  } else if (IS_OBJ(call->args[a]) && IS_OBJ(call->args[b])) {
    tl_value args[2] = {left, right};
    bool is_instance = AS_OBJ(call->args[a])->type == OBJ_INSTANCE;
    if (is_instance) wl_guard_class(call->now, call->slot + a);
    wl_guard_branch(call->now,
                    is_instance ? tl_op2(call->jit, TL_REF_EQ, left, right)
                                : tl_call(call->jit, call->now->ids->equal, args, 2),
                    is_equal);
  }
  give_bool(call, is_equal == wanted);
}
static void object_eq(wl_call *call) { compare(call, 0, 1, true); }
static void object_ne(wl_call *call) { compare(call, 0, 1, false); }
static void object_same(wl_call *call) { compare(call, 1, 2, true); }

static void object_is(wl_call *call) {
  wl_now *now = call->now;
  if (!IS_CLASS(call->args[1])) return is_error(call);
  ObjClass *class = wl_guard_class(now, call->slot), *base = AS_CLASS(call->args[1]);
  wl_pin(now, base);
  tl_guard(call->jit, TL_GUARD_VALUE, arg(call, 1), tl_const_ref(call->jit, base), TL_EXIT_GUARD);
  while (class && class != base) class = class->superclass;
  give_bool(call, class != NULL);
}

static void object_type(wl_call *call) {
  ObjClass *class = wl_guard_class(call->now, call->slot);
  wl_pin(call->now, class);
  wl_write_constant(call->now, call->slot, OBJ_VAL(class));
}

/* ---- The table ---- */

/* Switches to another fiber, or ends the program. */
static void never(wl_call *call) { wl_give_up(call->now->lift, "fiber"); }

enum of { NUM, NUM_CLASS, STRING, STRING_CLASS, LIST, LIST_CLASS, MAP, MAP_CLASS, RANGE, OBJECT, OBJECT_CLASS,
          CLASS, BOOL, NULL_, FN, FN_CLASS, FIBER, FIBER_CLASS, SYSTEM_CLASS, CLASSES };

typedef void (*recorder)(wl_call *call);
typedef struct row {
  enum of of;
  const char *signature;
  recorder record;
  Primitive primitive; /* found when the virtual machine is new */
} row;

static row rows[] = {
    {NUM, "+(_)", num_plus, 0}, {NUM, "-(_)", num_minus, 0}, {NUM, "*(_)", num_times, 0},
    {NUM, "/(_)", num_divide, 0}, {NUM, "%(_)", num_mod, 0}, {NUM, "<(_)", num_lt, 0},
    {NUM, ">(_)", num_gt, 0}, {NUM, "<=(_)", num_le, 0}, {NUM, ">=(_)", num_ge, 0},
    {NUM, "==(_)", num_eq, 0}, {NUM, "!=(_)", num_ne, 0}, {NUM, "-", num_negate, 0},
    {NUM, "abs", num_abs, 0}, {NUM, "sqrt", num_sqrt, 0}, {NUM, "floor", num_floor, 0},
    {NUM, "ceil", num_ceil, 0}, {NUM, "truncate", num_truncate, 0}, {NUM, "min(_)", num_min, 0},
    {NUM, "max(_)", num_max, 0}, {NUM, "isInteger", num_is_integer, 0}, {NUM, "&(_)", num_and, 0},
    {NUM, "|(_)", num_or, 0}, {NUM, "^(_)", num_xor, 0}, {NUM, "<<(_)", num_shl, 0},
    {NUM, ">>(_)", num_shr, 0}, {NUM, "~", num_not_bits, 0}, {NUM, "..(_)", num_to, 0},
    {NUM, "...(_)", num_until, 0}, {NUM, "toString", do_primitive, 0}, {NUM, "round", do_primitive, 0},
    {NUM, "sin", do_primitive, 0}, {NUM, "cos", do_primitive, 0}, {NUM, "tan", do_primitive, 0},
    {NUM, "asin", do_primitive, 0}, {NUM, "acos", do_primitive, 0}, {NUM, "atan", do_primitive, 0},
    {NUM, "atan(_)", do_primitive, 0}, {NUM, "log", do_primitive, 0}, {NUM, "log2", do_primitive, 0},
    {NUM, "exp", do_primitive, 0}, {NUM, "cbrt", do_primitive, 0}, {NUM, "pow(_)", do_primitive, 0},
    {NUM, "clamp(_,_)", do_primitive, 0}, {NUM, "fraction", do_primitive, 0}, {NUM, "sign", do_primitive, 0},
    {NUM, "isNan", do_primitive, 0}, {NUM, "isInfinity", do_primitive, 0},
    {NUM_CLASS, "fromString(_)", do_primitive, 0}, {NUM_CLASS, "infinity", do_primitive, 0},
    {NUM_CLASS, "nan", do_primitive, 0}, {NUM_CLASS, "pi", do_primitive, 0}, {NUM_CLASS, "tau", do_primitive, 0},
    {NUM_CLASS, "largest", do_primitive, 0}, {NUM_CLASS, "smallest", do_primitive, 0},
    {NUM_CLASS, "maxSafeInteger", do_primitive, 0}, {NUM_CLASS, "minSafeInteger", do_primitive, 0},
    {RANGE, "from", range_from, 0}, {RANGE, "to", range_to, 0}, {RANGE, "iterate(_)", range_iterate, 0},
    {RANGE, "iteratorValue(_)", second, 0}, {RANGE, "min", do_primitive, 0}, {RANGE, "max", do_primitive, 0},
    {RANGE, "isInclusive", do_primitive, 0}, {RANGE, "toString", do_primitive, 0},
    {LIST, "[_]", list_get, 0}, {LIST, "[_]=(_)", list_set, 0}, {LIST, "count", list_count, 0},
    {LIST, "iterate(_)", list_iterate, 0}, {LIST, "iteratorValue(_)", list_get, 0}, {LIST, "add(_)", list_add, 0},
    {LIST, "addCore_(_)", list_add_core, 0}, {LIST, "clear()", do_primitive, 0},
    {LIST, "insert(_,_)", do_primitive, 0}, {LIST, "removeAt(_)", do_primitive, 0},
    {LIST, "remove(_)", do_primitive, 0}, {LIST, "indexOf(_)", do_primitive, 0},
    {LIST, "swap(_,_)", do_primitive, 0}, {LIST_CLASS, "new()", list_new, 0},
    {LIST_CLASS, "filled(_,_)", do_primitive, 0}, {MAP, "[_]", map_get, 0}, {MAP, "[_]=(_)", map_set, 0},
    {MAP, "addCore_(_,_)", map_add_core, 0}, {MAP, "containsKey(_)", map_contains, 0},
    {MAP, "count", map_count, 0}, {MAP, "clear()", do_primitive, 0}, {MAP, "remove(_)", do_primitive, 0},
    {MAP, "iterate(_)", do_primitive, 0}, {MAP, "keyIteratorValue_(_)", do_primitive, 0},
    {MAP, "valueIteratorValue_(_)", do_primitive, 0}, {MAP_CLASS, "new()", map_new, 0},
    {STRING, "+(_)", string_plus, 0}, {STRING, "byteCount_", string_byte_count, 0},
    {STRING, "byteAt_(_)", string_byte_at, 0}, {STRING, "toString", itself, 0}, {STRING, "[_]", do_primitive, 0},
    {STRING, "codePointAt_(_)", do_primitive, 0}, {STRING, "contains(_)", do_primitive, 0},
    {STRING, "endsWith(_)", do_primitive, 0}, {STRING, "indexOf(_)", do_primitive, 0},
    {STRING, "indexOf(_,_)", do_primitive, 0}, {STRING, "iterate(_)", do_primitive, 0},
    {STRING, "iterateByte_(_)", do_primitive, 0}, {STRING, "iteratorValue(_)", do_primitive, 0},
    {STRING, "startsWith(_)", do_primitive, 0}, {STRING_CLASS, "fromCodePoint(_)", do_primitive, 0},
    {STRING_CLASS, "fromByte(_)", do_primitive, 0}, {OBJECT, "!", object_not, 0}, {BOOL, "!", object_not, 0},
    {NULL_, "!", object_not, 0}, {OBJECT, "==(_)", object_eq, 0}, {OBJECT, "!=(_)", object_ne, 0},
    {OBJECT_CLASS, "same(_,_)", object_same, 0}, {OBJECT, "is(_)", object_is, 0}, {OBJECT, "type", object_type, 0},
    {OBJECT, "toString", do_primitive, 0}, {BOOL, "toString", do_primitive, 0}, {NULL_, "toString", do_primitive, 0},
    {CLASS, "name", do_primitive, 0}, {CLASS, "supertype", do_primitive, 0}, {CLASS, "toString", do_primitive, 0},
    {CLASS, "attributes", do_primitive, 0}, {FN, "arity", do_primitive, 0}, {FN, "toString", do_primitive, 0},
    {FN_CLASS, "new(_)", do_primitive, 0}, {FIBER_CLASS, "new(_)", do_primitive, 0},
    {FIBER_CLASS, "current", do_primitive, 0}, {FIBER_CLASS, "abort(_)", never, 0},
    {FIBER_CLASS, "suspend()", never, 0}, {FIBER_CLASS, "yield()", never, 0}, {FIBER_CLASS, "yield(_)", never, 0},
    {FIBER, "call()", never, 0}, {FIBER, "call(_)", never, 0}, {FIBER, "transfer()", never, 0},
    {FIBER, "transfer(_)", never, 0}, {FIBER, "transferError(_)", never, 0}, {FIBER, "try()", never, 0},
    {FIBER, "try(_)", never, 0}, {FIBER, "isDone", do_primitive, 0}, {FIBER, "error", do_primitive, 0},
    {SYSTEM_CLASS, "clock", do_primitive, 0}, {SYSTEM_CLASS, "gc()", do_primitive, 0},
    {SYSTEM_CLASS, "writeString_(_)", do_primitive, 0},
};
#define ROWS (sizeof rows / sizeof *rows)

void wl_find_primitives(WrenVM *vm) {
  ObjModule *core = AS_MODULE(wrenMapGet(vm->modules, NULL_VAL));
  ObjClass *system = AS_CLASS(wrenFindVariable(vm, core, "System"));
  ObjClass *classes[CLASSES] = {
      [NUM] = vm->numClass, [NUM_CLASS] = vm->numClass->obj.classObj, [STRING] = vm->stringClass,
      [STRING_CLASS] = vm->stringClass->obj.classObj, [LIST] = vm->listClass,
      [LIST_CLASS] = vm->listClass->obj.classObj, [MAP] = vm->mapClass, [MAP_CLASS] = vm->mapClass->obj.classObj,
      [RANGE] = vm->rangeClass, [OBJECT] = vm->objectClass, [OBJECT_CLASS] = vm->objectClass->obj.classObj,
      [CLASS] = vm->classClass, [BOOL] = vm->boolClass, [NULL_] = vm->nullClass, [FN] = vm->fnClass,
      [FN_CLASS] = vm->fnClass->obj.classObj, [FIBER] = vm->fiberClass,
      [FIBER_CLASS] = vm->fiberClass->obj.classObj, [SYSTEM_CLASS] = system->obj.classObj};
  for (size_t n = 0; n < ROWS; n++) {
    const ObjClass *class = classes[rows[n].of];
    int symbol = wrenSymbolTableFind(&vm->methodNames, rows[n].signature, strlen(rows[n].signature));
    if (symbol < 0 || symbol >= class->methods.count || class->methods.data[symbol].type != METHOD_PRIMITIVE) {
      fprintf(stderr, "wrenlift: this Wren has no primitive %s\n", rows[n].signature);
      exit(70);
    }
    rows[n].primitive = class->methods.data[symbol].as.primitive;
  }
}

void wl_record_primitive(wl_now *now, int slot, int count, Primitive primitive, int symbol) {
  wl_call call = {.now = now, .jit = now->jit, .args = now->slots + slot, .slot = slot, .count = count};
  for (size_t n = 0; n < ROWS; n++) {
    if (rows[n].primitive != primitive) continue;
    call.primitive = primitive;
    call.symbol = symbol;
    rows[n].record(&call);
    return;
  }
  wl_give_up(now->lift, "unknown primitive");
}

/* The interpreter's own function does it, in a call that may do anything. Its result is read again. */
static void do_call(wl_call *call, tl_func function, const void *address, const char *name) {
  tl_vm *jit = call->jit;
  for (int n = 0; n < call->count; n++) arg(call, n);
  tl_value args[2] = {tl_const_addr(jit, address), wl_int(call->now, call->count)};
  int32_t changed[1] = {call->slot};
  tl_note_call(jit, name);
  tl_host_call(jit, function, args, 2, changed, 1);
}

static void do_primitive(wl_call *call) {
  do_call(call, call->now->ids->primitive, (const void *)(uintptr_t)call->primitive,
          call->now->vm->methodNames.data[call->symbol]->value);
}

void wl_record_foreign(wl_now *now, int slot, int count, WrenForeignMethodFn foreign) {
  wl_call call = {.now = now, .jit = now->jit, .args = now->slots + slot, .slot = slot, .count = count};
  do_call(&call, now->ids->foreign, (const void *)(uintptr_t)foreign, "a foreign method");
}
