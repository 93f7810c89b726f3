/*
** Operations on numbers, and comparisons that call no metamethods, whoever asks for them.
**
** Problem: instructions, library functions and choices between ways compute with the same numbers; an
** integer and a float are compared exactly, though not every integer is a double.
**
** Design: an operation is chosen by the tags of its operands, and its result is a value: where it goes is
** the caller's business. A comparison gives the condition that decides it.
**
** Invariant: an operation that would raise an error now gives the recording up, and one that would raise it
** later leaves by a guard. Where the tags alone decide a comparison, there is no condition.
**
** Example, 'i == f' of an integer and a float:
**   int_and(int_and(float_eq(int_to_float(i), f), int_eq(float_to_int(f), i)), float_lt(f, 2^63))
*/

#include "lprefix.h"

#include "tlua_rec.h"

/* --- operations --- */

tl_value tlua_rec_int_operation (TluaRecorder *rec, TMS operation, Operand a, Operand b) {
  tl_vm *vm = rec->vm;
  switch (operation) {
    case TM_ADD: return tl_op2(vm, TL_INT_ADD, a.value, b.value);
    case TM_SUB: return tl_op2(vm, TL_INT_SUB, a.value, b.value);
    case TM_MUL: return tl_op2(vm, TL_INT_MUL, a.value, b.value);
    default: break;  /* TM_MOD, TM_IDIV */
  }
  if (ivalue(b.now) == 0) {
    tlua_rec_give_up(rec, "division by zero");
    return 0;
  }
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_NE, b.value, tl_const_int(vm, 0)), 0, TL_EXIT_GUARD);
  return tl_op2(vm, operation == TM_MOD ? TL_INT_FLOORMOD : TL_INT_FLOORDIV, a.value, b.value);
}

/* 'a ^ 2' is a product in Lua, and only that. */
static tl_value power (TluaRecorder *rec, tl_value a, tl_value b, Operand exponent, int is_constant) {
  if (is_constant && nvalue(exponent.now) == 2)
    return tl_op2(rec->vm, TL_FLOAT_MUL, a, a);
  tl_value arguments[2] = { a, b };
  return tl_call(rec->vm, rec->schema.number.power, arguments, 2);
}

tl_value tlua_rec_float_operation (TluaRecorder *rec, TMS operation, Operand left, Operand right,
                                   int is_constant) {
  tl_vm *vm = rec->vm;
  tl_value a = tlua_rec_as_float(rec, left);
  tl_value b = tlua_rec_as_float(rec, right);
  switch (operation) {
    case TM_ADD: return tl_op2(vm, TL_FLOAT_ADD, a, b);
    case TM_SUB: return tl_op2(vm, TL_FLOAT_SUB, a, b);
    case TM_MUL: return tl_op2(vm, TL_FLOAT_MUL, a, b);
    case TM_DIV: return tl_op2(vm, TL_FLOAT_DIV, a, b);
    case TM_IDIV: return tl_op1(vm, TL_FLOAT_FLOOR, tl_op2(vm, TL_FLOAT_DIV, a, b));
    /* what 'luai_nummod' computes, to the last bit */
    case TM_MOD: return tl_op2(vm, TL_FLOAT_FLOORMOD, a, b);
    default: return power(rec, a, b, right, is_constant);
  }
}

tl_value tlua_rec_total_operation (TluaRecorder *rec, TMS operation, Operand a, Operand b) {
  switch (operation) {
    case TM_BAND: return tl_op2(rec->vm, TL_INT_AND, a.value, b.value);
    case TM_BOR: return tl_op2(rec->vm, TL_INT_OR, a.value, b.value);
    case TM_BXOR: return tl_op2(rec->vm, TL_INT_XOR, a.value, b.value);
    default: break;
  }
  if (a.tt == LUA_VNUMINT && b.tt == LUA_VNUMINT)
    return tlua_rec_int_operation(rec, operation, a, b);
  return tlua_rec_float_operation(rec, operation, a, b, 0);
}

/* --- equality --- */

/*
** Equality of an integer and a float: the conversion to a double may round, the one to an integer may
** saturate, but not both for equal results, except that 2^63 saturates to a number that rounds to 2^63.
*/
static tl_value mixed_equal (TluaRecorder *rec, tl_value i, tl_value f) {
  tl_vm *vm = rec->vm;
  tl_value as_floats = tl_op2(vm, TL_FLOAT_EQ, tl_op1(vm, TL_INT_TO_FLOAT, i), f);
  tl_value as_integers = tl_op2(vm, TL_INT_EQ, tl_op1(vm, TL_FLOAT_TO_INT, f), i);
  tl_value in_range = tl_op2(vm, TL_FLOAT_LT, f, tl_const_float(vm, 9223372036854775808.0));
  return tl_op2(vm, TL_INT_AND, tl_op2(vm, TL_INT_AND, as_floats, as_integers), in_range);
}

/* Condition of equality for two values of the same tag with a payload; tables and userdata by identity. */
static tl_value same_tag_equal (TluaRecorder *rec, Operand a, Operand b) {
  tl_vm *vm = rec->vm;
  if (a.tt == ctb(LUA_VLNGSTR)) {
    tl_value arguments[2] = { a.value, b.value };
    return tl_call(vm, rec->schema.string.equal_long, arguments, 2);
  }
  switch (tlua_payload(a.tt)) {
    case TL_INT: return tl_op2(vm, TL_INT_EQ, a.value, b.value);
    case TL_FLOAT: return tl_op2(vm, TL_FLOAT_EQ, a.value, b.value);
    case TL_REF: return tl_op2(vm, TL_REF_EQ, a.value, b.value);
    case TL_ADDR: return tl_op2(vm, TL_ADDR_EQ, a.value, b.value);
    default: return 0;
  }
}

tl_value tlua_rec_raw_equal (TluaRecorder *rec, Operand a, Operand b) {
  if (a.tt == b.tt)
    return same_tag_equal(rec, a, b);
  if (a.tt == LUA_VNUMINT && b.tt == LUA_VNUMFLT)
    return mixed_equal(rec, a.value, b.value);
  if (a.tt == LUA_VNUMFLT && b.tt == LUA_VNUMINT)
    return mixed_equal(rec, b.value, a.value);
  return 0;  /* values of different types, and the tags are known */
}

/* --- order --- */

/*
** 'i < f' and the like, for an integer i. Integers that are doubles compare as doubles; others are left to
** C.
*/
static tl_value mixed_order (TluaRecorder *rec, Operand a, Operand b, int or_equal) {
  tl_vm *vm = rec->vm;
  int int_first = a.tt == LUA_VNUMINT;
  Operand whole = int_first ? a : b;
  const lua_Integer limit = (lua_Integer)1 << 53;
  if ((lua_Unsigned)ivalue(whole.now) + (lua_Unsigned)limit <= 2 * (lua_Unsigned)limit) {
    tl_value shifted = tl_op2(vm, TL_INT_ADD, whole.value, tl_const_int(vm, limit));
    tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_UINT_LE, shifted, tl_const_int(vm, 2 * limit)), 0,
             TL_EXIT_GUARD);
    return tl_op2(vm, or_equal ? TL_FLOAT_LE : TL_FLOAT_LT, tlua_rec_as_float(rec, a),
                  tlua_rec_as_float(rec, b));
  }
  tl_value arguments[2] = { a.value, b.value };
  const TluaNumberIds *ids = &rec->schema.number;
  if (int_first)
    return tl_call(vm, or_equal ? ids->int_to_float_order : ids->int_below_float, arguments, 2);
  return tl_call(vm, or_equal ? ids->float_to_int_order : ids->float_below_int, arguments, 2);
}

tl_value tlua_rec_number_order (TluaRecorder *rec, Operand a, Operand b, int or_equal) {
  tl_vm *vm = rec->vm;
  if (a.tt == LUA_VNUMINT && b.tt == LUA_VNUMINT)
    return tl_op2(vm, or_equal ? TL_INT_LE : TL_INT_LT, a.value, b.value);
  if (a.tt == LUA_VNUMFLT && b.tt == LUA_VNUMFLT)
    return tl_op2(vm, or_equal ? TL_FLOAT_LE : TL_FLOAT_LT, a.value, b.value);
  return mixed_order(rec, a, b, or_equal);
}
