/*
** Lowering of arithmetic and bitwise operations.
**
** Problem: one opcode is up to four operations, by the types of its operands, and each has corners of its
** own: floor division, shifts by 64 and more, integers that wrap, floats that stand for integers.
**
** Design: operands are fetched by the opcode's form (register, constant, small number), then the operation
** is chosen by their tags; tlua_rec_number.c has those of arithmetic, this file the bitwise ones. An
** operation that succeeds skips the metamethod instruction after it, as in the interpreter; with operands
** that are no numbers nothing happens before that one.
**
** Invariant: an operation that would raise an error now is not recorded, and one that would raise it later
** leaves by a guard.
**
** Example, 'a // b' with integers:   guard_true(int_ne(b, 0)); r = int_floordiv(a, b)
*/

#include "lprefix.h"

#include "tlua_rec.h"

/* --- numbers --- */

static Operand small_number (TluaRecorder *rec, int number, TValue *store) {
  setivalue(store, number);
  return tlua_rec_constant(rec, store);
}

/* --- operations --- */

/* What the forms of one operation have in common: named as the metamethod is. */
static TMS operation_of (OpCode op) {
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

static tl_value bitwise_operation (TluaRecorder *rec, TMS operation, Operand a, Operand b) {
  tl_vm *vm = rec->vm;
  lua_Integer x_now = 0, y_now = 0;
  tl_value x = tlua_rec_as_integer(rec, a, &x_now);
  tl_value y = tlua_rec_as_integer(rec, b, &y_now);
  if (rec->at.reason != NULL)
    return 0;
  switch (operation) {
    case TM_BAND: return tl_op2(vm, TL_INT_AND, x, y);
    case TM_BOR: return tl_op2(vm, TL_INT_OR, x, y);
    case TM_BXOR: return tl_op2(vm, TL_INT_XOR, x, y);
    case TM_SHL: return shift_left(rec, x, y, y_now);
    default: return shift_left(rec, x, tl_op1(vm, TL_INT_NEG, y), (lua_Integer)(0u - (lua_Unsigned)y_now));
  }
}

/* --- instructions --- */

static int is_bitwise (TMS operation) {
  return TM_BAND <= operation && operation <= TM_SHR;
}

static void binary (TluaRecorder *rec, Instruction i, Operand a, Operand b, int is_constant) {
  TMS operation = operation_of(GET_OPCODE(i));
  int type = LUA_VNUMINT;
  tl_value result = 0;
  if (!are_numbers(a, b))
    return;  /* the metamethod instruction is next */
  if (is_bitwise(operation))
    result = bitwise_operation(rec, operation, a, b);
  else if (a.tt == LUA_VNUMINT && b.tt == LUA_VNUMINT && operation != TM_DIV && operation != TM_POW)
    result = tlua_rec_int_operation(rec, operation, a, b);
  else {
    type = LUA_VNUMFLT;
    result = tlua_rec_float_operation(rec, operation, a, b, is_constant);
  }
  if (rec->at.reason == NULL)
    tlua_rec_write(rec, GETARG_A(i), type, result);
  rec->trace.next = rec->at.pc + 2;  /* after the metamethod instruction */
}

void tlua_lower_negate (TluaRecorder *rec, Instruction i) {
  Operand b = tlua_rec_register(rec, GETARG_B(i));
  if (novariant(b.tt) != LUA_TNUMBER)
    tlua_rec_binary_metamethod(rec, b, b, TM_UNM, TLUA_META_VALUE, GETARG_A(i));
  else
    tlua_rec_write(rec, GETARG_A(i), b.tt,
                   tl_op1(rec->vm, b.tt == LUA_VNUMINT ? TL_INT_NEG : TL_FLOAT_NEG, b.value));
}

void tlua_lower_complement (TluaRecorder *rec, Instruction i) {
  lua_Integer now;
  Operand o = tlua_rec_register(rec, GETARG_B(i));
  if (novariant(o.tt) != LUA_TNUMBER) {
    tlua_rec_binary_metamethod(rec, o, o, TM_BNOT, TLUA_META_VALUE, GETARG_A(i));
    return;
  }
  tl_value b = tlua_rec_as_integer(rec, o, &now);
  if (b != 0)
    tlua_rec_write(rec, GETARG_A(i), LUA_VNUMINT, tl_op1(rec->vm, TL_INT_NOT, b));
}

void tlua_lower_arith (TluaRecorder *rec, Instruction i) {
  Operand a = tlua_rec_register(rec, GETARG_B(i));
  binary(rec, i, a, tlua_rec_register(rec, GETARG_C(i)), 0);
}

void tlua_lower_arith_constant (TluaRecorder *rec, Instruction i) {
  Operand a = tlua_rec_register(rec, GETARG_B(i));
  binary(rec, i, a, tlua_rec_constant(rec, rec->at.k + GETARG_C(i)), 1);
}

void tlua_lower_arith_small (TluaRecorder *rec, Instruction i) {
  TValue store;
  Operand a = tlua_rec_register(rec, GETARG_B(i));
  binary(rec, i, a, small_number(rec, GETARG_sC(i), &store), 1);
}

/* The small number is the one that is shifted. */
void tlua_lower_shift_small (TluaRecorder *rec, Instruction i) {
  TValue store;
  Operand a = small_number(rec, GETARG_sC(i), &store);
  binary(rec, i, a, tlua_rec_register(rec, GETARG_B(i)), 0);
}
