/*
** Lowering of arithmetic and bitwise instructions.
**
** Problem: an operation has up to four opcodes, by where its operands stand, and each is followed by an
** instruction for operands that are no numbers.
**
** Design: tlua_rec_number.c says what an opcode means; here its operands are fetched and its result is
** written. An operation that succeeds skips the metamethod instruction after it, as in the interpreter; with
** operands that are no numbers nothing happens before that one.
**
** Invariant: an operation that would raise an error now is not recorded, and one that would raise it later
** leaves by a guard.
**
** Example, 'a // b' with integers:   guard_true(int_ne(b, 0)); r = int_floordiv(a, b)
*/

#include "lprefix.h"

#include "tlua_rec.h"

static void binary (TluaRecorder *rec, Instruction i, Operand a, Operand b, int is_constant) {
  TMS operation = tlua_rec_operation_of(GET_OPCODE(i));
  if (!are_numbers(a, b))
    return;  /* the metamethod instruction is next */
  tl_value result = tlua_rec_operation(rec, operation, a, b, is_constant);
  if (rec->at.reason == NULL)
    tlua_rec_write(rec, GETARG_A(i), tlua_rec_result_type(operation, a, b), result);
  rec->trace.next = rec->at.pc + 2;  /* after the metamethod instruction */
}

void tlua_lower_arith (TluaRecorder *rec, Instruction i) {
  TluaForm form = tlua_rec_form_of(GET_OPCODE(i));
  TValue small;
  setivalue(&small, GETARG_sC(i));
  if (form == TLUA_SMALL_FIRST) {
    Operand first = tlua_rec_constant(rec, &small);
    binary(rec, i, first, tlua_rec_register(rec, GETARG_B(i)), 0);
    return;
  }
  Operand a = tlua_rec_register(rec, GETARG_B(i)), b;
  switch (form) {
    case TLUA_CONSTANT: b = tlua_rec_constant(rec, rec->at.k + GETARG_C(i)); break;
    case TLUA_SMALL: b = tlua_rec_constant(rec, &small); break;
    default: b = tlua_rec_register(rec, GETARG_C(i)); break;
  }
  binary(rec, i, a, b, form != TLUA_REGISTERS);
}

void tlua_lower_negate (TluaRecorder *rec, Instruction i) {
  Operand b = tlua_rec_register(rec, GETARG_B(i));
  if (novariant(b.tt) != LUA_TNUMBER)
    tlua_rec_binary_metamethod(rec, b, b, TM_UNM, TLUA_META_VALUE, GETARG_A(i));
  else
    tlua_rec_write(rec, GETARG_A(i), b.tt, tlua_rec_unary_operation(rec, TM_UNM, b.tt, b.value));
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
    tlua_rec_write(rec, GETARG_A(i), LUA_VNUMINT, tlua_rec_unary_operation(rec, TM_BNOT, LUA_VNUMINT, b));
}
