/*
** Lowering of metamethods: which instructions call them, and in which order operands are asked.
**
** Problem: an operation on an object may be a call of a Lua function, of which the instruction says nothing:
** operators, comparisons, accesses of fields that are not there.
**
** Design: tlua_rec_metatable.c finds the metamethod; then the function becomes part of the trace, as
** tlua_rec_frame.c does it for calls. Absence is guarded where the interpreter looks first at one operand
** and then at the other. Metamethods that are C functions give the recording up. Where '__index' is a table
** this file only says so: whoever has asked goes on there.
**
** Invariant: metamethods are asked in the interpreter's order, with its arguments. A chain of '__index' or
** '__newindex' is followed in the order of the interpreter, and each table on it is known to lack the key.
**
** Example, 'a + b' with tables of one class:
**   m = get table.metatable a; guard_nonnull(m); f = get_key Table function m "__add"
**   guard_value(load closure.prototype f, its prototype); ... the function's operations
*/

#include "lprefix.h"

#include "tlua_rec.h"

/* Tables that are asked one for the other in one instruction; longer chains are left to the interpreter. */
#define LONGEST_CHAIN 8

/* --- operators --- */

static const char *missing (TMS event) {
  switch (event) {
    case TM_CONCAT: return "concatenation of such values";
    case TM_LT: return "order of values that are no numbers or strings";
    case TM_LE: return "order without __le";
    case TM_BAND: case TM_BOR: case TM_BXOR: case TM_SHL: case TM_SHR:
    case TM_BNOT: return "bitwise operation on no number";
    default: return "arithmetic on no number";
  }
}

void tlua_rec_binary_metamethod (TluaRecorder *rec, Operand a, Operand b, TMS event, TluaCaller caller,
                                 int target) {
  Operand arguments[2] = { a, b }, method;
  if (!tlua_rec_metamethod(rec, a, event, &method))
    return;
  if (method.tt == LUA_VNIL && !tlua_rec_metamethod(rec, b, event, &method))
    return;
  if (method.tt == LUA_VNIL)
    tlua_rec_give_up(rec, missing(event));
  else
    tlua_rec_call_metamethod(rec, method, arguments, 2, caller, target);
}

/* The instruction after an arithmetic one that has failed; the result is for that one's register. */
static void after_operation (TluaRecorder *rec, Operand a, Operand b, int is_flipped) {
  Instruction i = *rec->at.pc;
  tlua_rec_binary_metamethod(rec, is_flipped ? b : a, is_flipped ? a : b, (TMS)GETARG_C(i), TLUA_META_VALUE,
                             GETARG_A(rec->at.pc[-1]));
}

void tlua_lower_metamethod (TluaRecorder *rec, Instruction i) {
  Operand a = tlua_rec_register(rec, GETARG_A(i));
  after_operation(rec, a, tlua_rec_register(rec, GETARG_B(i)), 0);
}

void tlua_lower_metamethod_constant (TluaRecorder *rec, Instruction i) {
  Operand a = tlua_rec_register(rec, GETARG_A(i));
  after_operation(rec, a, tlua_rec_constant(rec, rec->at.k + GETARG_B(i)), GETARG_k(i));
}

void tlua_lower_metamethod_small (TluaRecorder *rec, Instruction i) {
  TValue store;
  Operand a = tlua_rec_register(rec, GETARG_A(i));
  setivalue(&store, GETARG_sB(i));
  after_operation(rec, a, tlua_rec_constant(rec, &store), GETARG_k(i));
}

/* --- absent fields --- */

/* The metamethod, which is there. Returns 0 if the recording is given up. */
static int next_in_chain (TluaRecorder *rec, Operand t, TMS event, Operand *method) {
  if (++rec->at.chain > LONGEST_CHAIN)
    tlua_rec_give_up(rec, "long chain of metatables");
  return tlua_rec_metamethod(rec, t, event, method);
}

Operand tlua_rec_ask_index (TluaRecorder *rec, int result, Operand t, Operand key) {
  Operand arguments[2] = { t, key }, method, none = { .tag = 0 };
  if (!next_in_chain(rec, t, TM_INDEX, &method))
    return none;
  if (method.tt == ctb(LUA_VTABLE))
    return method;
  tlua_rec_call_metamethod(rec, method, arguments, 2, TLUA_META_VALUE, result);
  return none;
}

Operand tlua_rec_ask_newindex (TluaRecorder *rec, Operand t, Operand key, Operand value) {
  Operand arguments[3] = { t, key, value }, method, none = { .tag = 0 };
  if (!next_in_chain(rec, t, TM_NEWINDEX, &method))
    return none;
  if (method.tt == ctb(LUA_VTABLE))
    return method;
  tlua_rec_call_metamethod(rec, method, arguments, 3, TLUA_META_STORE, 0);
  return none;
}
