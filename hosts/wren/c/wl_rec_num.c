/* wl_rec_num.c: numbers and ranges.
**
** Problem: all of Wren's numbers are doubles, and each operator is a call. Design: an operation is one of
** the trace's, once the receiver's tag has said that it is a number's; bits are those of C's conversion, for
** whole numbers. Invariant: results are those of the C library to the bit. Example: 'i < n' is float_lt and
** a guard.
*/
#include "wl_prim.h"

/* ---- Numbers ---- */

#define OPERATION(name, op)                                                                            \
  void name(wl_call *call) {                                                                           \
    if (wl_are_nums(call)) wl_give_num(call, tl_op2(call->jit, op, wl_arg(call, 0), wl_arg(call, 1))); \
  }
OPERATION(wl_rec_num_plus, TL_FLOAT_ADD)
OPERATION(wl_rec_num_minus, TL_FLOAT_SUB)
OPERATION(wl_rec_num_times, TL_FLOAT_MUL)
OPERATION(wl_rec_num_divide, TL_FLOAT_DIV)
OPERATION(wl_rec_num_mod, TL_FLOAT_REM)

#define COMPARISON(name, op, c)                                              \
  void name(wl_call *call) {                                                 \
    if (!wl_are_nums(call)) return;                                          \
    tl_value test = tl_op2(call->jit, op, wl_arg(call, 0), wl_arg(call, 1)); \
    wl_give_test(call, test, AS_NUM(call->args[0]) c AS_NUM(call->args[1])); \
  }
COMPARISON(wl_rec_num_lt, TL_FLOAT_LT, <)
COMPARISON(wl_rec_num_le, TL_FLOAT_LE, <=)
COMPARISON(wl_rec_num_gt, TL_FLOAT_GT, >)
COMPARISON(wl_rec_num_ge, TL_FLOAT_GE, >=)

/* Of another type is never equal; the tags say so. */
#define EQUALITY(name, op, c, other)                                                                     \
  void name(wl_call *call) {                                                                             \
    tl_value a = wl_arg(call, 0), b = wl_arg(call, 1);                                                   \
    if (!IS_NUM(call->args[1])) wl_give_bool(call, other);                                               \
    else wl_give_test(call, tl_op2(call->jit, op, a, b), AS_NUM(call->args[0]) c AS_NUM(call->args[1])); \
  }
EQUALITY(wl_rec_num_eq, TL_FLOAT_EQ, ==, false)
EQUALITY(wl_rec_num_ne, TL_FLOAT_NE, !=, true)

#define FUNCTION(name, op) \
  void name(wl_call *call) { wl_give_num(call, tl_op1(call->jit, op, wl_arg(call, 0))); }
FUNCTION(wl_rec_num_negate, TL_FLOAT_NEG)
FUNCTION(wl_rec_num_abs, TL_FLOAT_ABS)
FUNCTION(wl_rec_num_sqrt, TL_FLOAT_SQRT)
FUNCTION(wl_rec_num_floor, TL_FLOAT_FLOOR)
FUNCTION(wl_rec_num_ceil, TL_FLOAT_CEIL)
FUNCTION(wl_rec_num_truncate, TL_FLOAT_TRUNC)

#define CHOICE(name, op)                                                                \
  void name(wl_call *call) {                                                            \
    if (!wl_are_nums(call)) return;                                                     \
    tl_value a = wl_arg(call, 0), b = wl_arg(call, 1);                                  \
    wl_give_num(call, tl_op3(call->jit, TL_SELECT, tl_op2(call->jit, op, a, b), a, b)); \
  }
CHOICE(wl_rec_num_min, TL_FLOAT_LE)
CHOICE(wl_rec_num_max, TL_FLOAT_GT)

void wl_rec_num_is_integer(wl_call *call) {
  double number = AS_NUM(call->args[0]);
  tl_value value = wl_arg(call, 0);
  tl_value rest = tl_op2(call->jit, TL_FLOAT_SUB, value, tl_op1(call->jit, TL_FLOAT_TRUNC, value));
  /* of an infinity the rest is NaN */
  wl_give_test(call, tl_op2(call->jit, TL_FLOAT_EQ, rest, tl_const_float(call->jit, 0)),
               !isnan(number) && !isinf(number) && trunc(number) == number);
}

/* Bits of a number as C's conversion gives them, for whole numbers. */
static bool is_whole(Value value) {
  return fabs(AS_NUM(value)) < 0x1p62 && trunc(AS_NUM(value)) == AS_NUM(value);
}

static tl_value bits_of(wl_call *call, int number) {
  tl_value whole = tl_op1(call->jit, TL_FLOAT_TO_INT_EXACT, wl_arg(call, number));
  return tl_op2(call->jit, TL_INT_AND, whole, wl_int(call->now, UINT32_MAX));
}

static void give_bits(wl_call *call, tl_value bits) {
  tl_value low = tl_op2(call->jit, TL_INT_AND, bits, wl_int(call->now, UINT32_MAX));
  wl_give_num(call, tl_op1(call->jit, TL_INT_TO_FLOAT, low));
}

static void bitwise(wl_call *call, tl_op op, bool is_shift) {
  if (!wl_are_nums(call)) return;
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
void wl_rec_num_and(wl_call *call) { bitwise(call, TL_INT_AND, false); }
void wl_rec_num_or(wl_call *call) { bitwise(call, TL_INT_OR, false); }
void wl_rec_num_xor(wl_call *call) { bitwise(call, TL_INT_XOR, false); }
void wl_rec_num_shl(wl_call *call) { bitwise(call, TL_INT_SHL, true); }
void wl_rec_num_shr(wl_call *call) { bitwise(call, TL_INT_SHR, true); }

void wl_rec_num_not_bits(wl_call *call) {
  if (!is_whole(call->args[0])) wl_give_up(call->now->lift, "bits of a fraction");
  else give_bits(call, tl_op1(call->jit, TL_INT_NOT, bits_of(call, 0)));
}

/* ---- Ranges ---- */

static void make_range(wl_call *call, bool is_inclusive) {
  wl_now *now = call->now;
  if (!wl_are_nums(call)) return;
  tl_value from = wl_arg(call, 0), to = wl_arg(call, 1);
  tl_value made = tl_new_record(call->jit, now->ids->range, 0, 0);
  wl_pin(now, now->vm->rangeClass);
  tl_set(call->jit, now->ids->range_class, made, tl_const_ref(call->jit, now->vm->rangeClass));
  tl_set(call->jit, now->ids->range_from, made, from);
  tl_set(call->jit, now->ids->range_to, made, to);
  tl_set(call->jit, now->ids->range_inclusive, made, wl_int(now, is_inclusive));
  wl_give(call, OBJ_VAL(now->vm->rangeClass), made);
  now->lift->rec.has_allocated = true;
}
void wl_rec_num_to(wl_call *call) { make_range(call, true); }
void wl_rec_num_until(wl_call *call) { make_range(call, false); }

void wl_rec_range_from(wl_call *call) {
  wl_give_num(call, tl_get(call->jit, call->now->ids->range_from, wl_arg(call, 0)));
}
void wl_rec_range_to(wl_call *call) {
  wl_give_num(call, tl_get(call->jit, call->now->ids->range_to, wl_arg(call, 0)));
}

/* As the primitive: towards the end, which belongs to it or not. */
void wl_rec_range_iterate(wl_call *call) {
  wl_now *now = call->now;
  tl_vm *jit = call->jit;
  const ObjRange *range = AS_RANGE(call->args[0]);
  tl_value object = wl_arg(call, 0), from = tl_get(jit, now->ids->range_from, object);
  tl_value to = tl_get(jit, now->ids->range_to, object), iterator = wl_arg(call, 1);
  tl_value inclusive = tl_get(jit, now->ids->range_inclusive, object);
  if (!IS_NULL(call->args[1]) && !IS_NUM(call->args[1])) return wl_is_error(call);
  tl_guard(jit, TL_GUARD_VALUE, inclusive, wl_int(now, range->isInclusive), TL_EXIT_GUARD);
  if (!range->isInclusive) {
    wl_guard(now, tl_op2(jit, TL_FLOAT_EQ, from, to), range->from == range->to);
    if (range->from == range->to) return wl_give_bool(call, false);
  }
  if (IS_NULL(call->args[1])) return wl_give_num(call, from);
  bool is_up = range->from < range->to;
  wl_guard(now, tl_op2(jit, TL_FLOAT_LT, from, to), is_up);
  double next = is_up ? AS_NUM(call->args[1]) + 1 : AS_NUM(call->args[1]) - 1;
  iterator = tl_op2(jit, is_up ? TL_FLOAT_ADD : TL_FLOAT_SUB, iterator, tl_const_float(jit, 1));
  bool is_beyond = is_up ? next > range->to : next < range->to;
  wl_guard_branch(now, tl_op2(jit, is_up ? TL_FLOAT_GT : TL_FLOAT_LT, iterator, to), is_beyond);
  if (is_beyond) return wl_give_bool(call, false);
  if (!range->isInclusive) {
    wl_guard_branch(now, tl_op2(jit, TL_FLOAT_EQ, iterator, to), next == range->to);
    if (next == range->to) return wl_give_bool(call, false);
  }
  wl_give_num(call, iterator);
}

void wl_rec_second(wl_call *call) { wl_give(call, call->args[1], wl_arg(call, 1)); }
void wl_rec_itself(wl_call *call) { wl_give(call, call->args[0], wl_arg(call, 0)); }
