/*
** Operations on numbers, and comparisons that call no metamethods, whoever asks for them.
**
** Problem: instructions, library functions and choices between ways compute with the same numbers. One opcode
** is up to four operations, by the types of its operands, and each has corners of its own: floor division,
** shifts by 64 and more, integers that wrap, floats that stand for integers. An integer and a float are
** compared exactly, though not every integer is a double.
**
** Design: what arithmetic opcodes mean is said here only: which operation one is, where its operands stand,
** and what it does with numbers of which types. The result is a value: where it is written is the caller's
** business. A comparison gives the condition that decides it.
**
** Invariant: an operation that would raise an error now gives the recording up, and one that would raise it
** later leaves by a guard. Where the tags alone decide a comparison, there is no condition.
**
** Example, 'i == f' of an integer and a float:
**   int_and(int_and(float_eq(int_to_float(i), f), int_eq(float_to_int(f), i)), float_lt(f, 2^63))
*/

#include "lprefix.h"

#include "tlua_rec.h"

/* --- instructions --- */

TMS tlua_rec_operation_of (OpCode op) {
  switch (op) {
    case OP_ADD: case OP_ADDK: case OP_ADDI: return TM_ADD;
    case OP_SUB: case OP_SUBK: return TM_SUB;
    case OP_MUL: case OP_MULK: return TM_MUL;
    case OP_MOD: case OP_MODK: return TM_MOD;
    case OP_POW: case OP_POWK: return TM_POW;
    case OP_DIV: case OP_DIVK: return TM_DIV;
    case OP_IDIV: case OP_IDIVK: return TM_IDIV;
    case OP_BAND: case OP_BANDK: return TM_BAND;
    case OP_BOR: case OP_BORK: return TM_BOR;
    case OP_BXOR: case OP_BXORK: return TM_BXOR;
    case OP_SHL: case OP_SHLI: return TM_SHL;
    case OP_SHR: case OP_SHRI: return TM_SHR;
    default: return TM_N;
  }
}

TluaForm tlua_rec_form_of (OpCode op) {
  switch (op) {
    case OP_ADDK: case OP_SUBK: case OP_MULK: case OP_MODK: case OP_POWK: case OP_DIVK: case OP_IDIVK:
    case OP_BANDK: case OP_BORK: case OP_BXORK:
      return TLUA_CONSTANT;
    case OP_ADDI: case OP_SHRI: return TLUA_SMALL;
    case OP_SHLI: return TLUA_SMALL_FIRST;
    default: return TLUA_REGISTERS;
  }
}

/* --- operations --- */

static int is_bitwise (TMS operation) {
  return TM_BAND <= operation && operation <= TM_SHR;
}

int tlua_rec_result_type (TMS operation, Operand a, Operand b) {
  int are_integers = a.tt == LUA_VNUMINT && b.tt == LUA_VNUMINT;
  if (is_bitwise(operation))
    return LUA_VNUMINT;
  return are_integers && operation != TM_DIV && operation != TM_POW ? LUA_VNUMINT : LUA_VNUMFLT;
}

static tl_value int_operation (TluaRecorder *rec, TMS operation, Operand a, Operand b) {
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

static tl_value float_operation (TluaRecorder *rec, TMS operation, Operand left, Operand right,
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

/*
** x << y with Lua's meaning: a negative count shifts right, and a count of 64 or more in either direction
** gives 0. The trace is for the kind of count there is now.
*/
static tl_value shift_left (TluaRecorder *rec, tl_value x, tl_value y, lua_Integer count) {
  tl_vm *vm = rec->vm;
  tl_value bits = tl_const_int(vm, 64);
  if (0 <= count && count < 64) {
    tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_UINT_LT, y, bits), 0, TL_EXIT_GUARD);
    return tl_op2(vm, TL_INT_SHL, x, y);
  }
  if (-64 < count && count < 0) {
    tl_value right = tl_op1(vm, TL_INT_NEG, y);
    tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_UINT_LT, right, bits), 0, TL_EXIT_GUARD);
    return tl_op2(vm, TL_INT_SHR, x, right);
  }
  /* counts from -63 to 63 are from 0 to 126 here */
  tl_value distance = tl_op2(vm, TL_INT_ADD, y, tl_const_int(vm, 63));
  tl_guard(vm, TL_GUARD_FALSE, tl_op2(vm, TL_UINT_LT, distance, tl_const_int(vm, 127)), 0, TL_EXIT_GUARD);
  return tl_const_int(vm, 0);
}

/* x << count, where the count is known. */
static tl_value shift_by (TluaRecorder *rec, tl_value x, lua_Integer count) {
  if (count <= -64 || count >= 64)
    return tl_const_int(rec->vm, 0);
  tl_value distance = tl_const_int(rec->vm, count < 0 ? -count : count);
  return tl_op2(rec->vm, count < 0 ? TL_INT_SHR : TL_INT_SHL, x, distance);
}

/* 'and', 'or' and exclusive 'or' */
static tl_value join_bits (TluaRecorder *rec, TMS operation, tl_value x, tl_value y) {
  tl_op op = operation == TM_BAND ? TL_INT_AND : operation == TM_BOR ? TL_INT_OR : TL_INT_XOR;
  return tl_op2(rec->vm, op, x, y);
}

static lua_Integer negative (lua_Integer i) {
  return (lua_Integer)(0u - l_castS2U(i));
}

static tl_value bitwise_operation (TluaRecorder *rec, TMS operation, Operand a, Operand b) {
  lua_Integer x_now = 0, y_now = 0;
  tl_value x = tlua_rec_as_integer(rec, a, &x_now);
  tl_value y = tlua_rec_as_integer(rec, b, &y_now);
  if (rec->at.reason != NULL)
    return 0;
  switch (operation) {
    case TM_SHL: return shift_left(rec, x, y, y_now);
    case TM_SHR: return shift_left(rec, x, tl_op1(rec->vm, TL_INT_NEG, y), negative(y_now));
    default: return join_bits(rec, operation, x, y);
  }
}

tl_value tlua_rec_operation (TluaRecorder *rec, TMS operation, Operand a, Operand b, int is_constant) {
  if (is_bitwise(operation))
    return bitwise_operation(rec, operation, a, b);
  if (tlua_rec_result_type(operation, a, b) == LUA_VNUMINT)
    return int_operation(rec, operation, a, b);
  return float_operation(rec, operation, a, b, is_constant);
}

tl_value tlua_rec_total_operation (TluaRecorder *rec, TMS operation, Operand a, Operand b) {
  if (operation == TM_SHL || operation == TM_SHR)
    return shift_by(rec, a.value, operation == TM_SHL ? ivalue(b.now) : negative(ivalue(b.now)));
  if (is_bitwise(operation))
    return join_bits(rec, operation, a.value, b.value);
  return tlua_rec_operation(rec, operation, a, b, 0);
}

tl_value tlua_rec_unary_operation (TluaRecorder *rec, TMS operation, int tt, tl_value x) {
  if (operation == TM_BNOT)
    return tl_op1(rec->vm, TL_INT_NOT, x);
  return tl_op1(rec->vm, tt == LUA_VNUMINT ? TL_INT_NEG : TL_FLOAT_NEG, x);
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
  if (!TLUA_TAGS_TELL_STRINGS && novariant(a.tt) == LUA_TSTRING && novariant(b.tt) == LUA_TSTRING) {
    tl_value arguments[2] = { a.value, b.value };
    return tl_call(rec->vm, rec->schema.string.equal_long, arguments, 2);
  }
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
