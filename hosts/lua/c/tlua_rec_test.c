/*
** Lowering of comparisons and tests.
**
** Problem: a comparison may be one of numbers, of strings, or a call of a metamethod, by the types of its
** operands; the instruction says only what is compared.
**
** Design: it is decided as the interpreter will decide it in a moment; tlua_rec_number.c gives the
** condition, and tlua_rec_branch.c goes the way. Different tables are equal or not by their metamethod.
**
** Invariant: the condition says for all values of the operands' types what the interpreter would find.
**
** Example, 'if a == b' with two tables, not taken:   guard_null(get table.metatable a); the same for b
**                                                    guard_false(ref_eq(a, b))
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "lvm.h"

/* --- equality --- */

/*
** Different tables are unequal only if neither has the metamethod; '__eq' is not looked for when they are
** the same.
*/
static void guard_raw_equality (TluaRecorder *rec, Operand a, Operand b) {
  if (a.tt == ctb(LUA_VTABLE)) {
    tlua_rec_guard_no_metamethod(rec, a, TM_EQ);
    tlua_rec_guard_no_metamethod(rec, b, TM_EQ);
  }
  else if (a.tt == ctb(LUA_VUSERDATA))
    tlua_rec_give_up(rec, "comparison of userdata");
}

static int has_equality (TluaRecorder *rec, Operand a, Operand b) {
  return tlua_rec_has_metamethod(rec, a, TM_EQ) || tlua_rec_has_metamethod(rec, b, TM_EQ);
}

/* Of two different tables the first has the metamethod, or else the second. */
static void call_equality (TluaRecorder *rec, Operand a, Operand b) {
  Operand arguments[2] = { a, b }, method;
  tl_guard(rec->vm, TL_GUARD_FALSE, tl_op2(rec->vm, TL_REF_EQ, a.value, b.value), 0, TL_EXIT_GUARD);
  int is_first = tlua_rec_has_metamethod(rec, a, TM_EQ);
  if (!is_first && !tlua_rec_guard_no_metamethod(rec, a, TM_EQ))
    return;
  if (tlua_rec_metamethod(rec, is_first ? a : b, TM_EQ, &method))
    tlua_rec_call_metamethod(rec, method, arguments, 2, TLUA_META_TEST, 0);
}

static int may_have_equality (int tt) {
  return tt == ctb(LUA_VTABLE) || tt == ctb(LUA_VUSERDATA);
}

/*
** An object is equal to itself, whatever metamethods it has. But where both ways become one (see
** tlua_rec_choice.c) others come there too, which are unequal only if neither has the metamethod.
*/
static void compare_same (TluaRecorder *rec, Operand a, Operand b) {
  if (tlua_rec_may_choose(rec)) {
    if (a.tt != ctb(LUA_VTABLE) || has_equality(rec, a, b)) {
      tlua_rec_branch_by_guard(rec, 1, tlua_rec_raw_equal(rec, a, b));
      return;
    }
    guard_raw_equality(rec, a, b);
  }
  tlua_rec_branch(rec, 1, tlua_rec_raw_equal(rec, a, b));
}

static void compare_equal (TluaRecorder *rec, Operand a, Operand b) {
  int outcome = luaV_rawequalobj(a.now, b.now) != 0;
  if (!outcome && a.tt == ctb(LUA_VTABLE) && b.tt == a.tt && has_equality(rec, a, b)) {
    call_equality(rec, a, b);
    return;
  }
  if (outcome && may_have_equality(a.tt)) {
    compare_same(rec, a, b);
    return;
  }
  if (a.tt == b.tt && !outcome)
    guard_raw_equality(rec, a, b);
  tlua_rec_branch(rec, outcome, tlua_rec_raw_equal(rec, a, b));
}

/* --- order --- */

/* 'a < b' or 'a <= b' */
static void compare_order (TluaRecorder *rec, Operand a, Operand b, int or_equal) {
  tl_vm *vm = rec->vm;
  if (ttisstring(a.now) && ttisstring(b.now)) {
    tl_value strings[2] = { a.value, b.value };
    int below = or_equal ? luaV_lessequal(NULL, a.now, b.now) : luaV_lessthan(NULL, a.now, b.now);
    tlua_rec_branch(rec, below, tl_call(vm, or_equal ? rec->schema.string.to_order : rec->schema.string.below,
                                        strings, 2));
    return;
  }
  if (!are_numbers(a, b)) {
    tlua_rec_binary_metamethod(rec, a, b, or_equal ? TM_LE : TM_LT, TLUA_META_TEST, 0);
    return;
  }
  /* with numbers these neither call metamethods nor use the state */
  int outcome = or_equal ? luaV_lessequal(NULL, a.now, b.now) : luaV_lessthan(NULL, a.now, b.now);
  tlua_rec_branch(rec, outcome, tlua_rec_number_order(rec, a, b, or_equal));
}

/* --- instructions --- */

/*
** Comparisons with a small number in the instruction: it is compared as the type that the register has, and
** given to metamethods as the one that it has in the source.
*/
static Operand immediate (TluaRecorder *rec, Operand a, int number, int is_float, TValue *store) {
  if (a.tt == LUA_VNUMFLT || (a.tt != LUA_VNUMINT && is_float)) {
    setfltvalue(store, (lua_Number)number);
  }
  else {
    setivalue(store, number);
  }
  return tlua_rec_constant(rec, store);
}

void tlua_lower_compare_small (TluaRecorder *rec, Instruction i) {
  TValue store;
  Operand a = tlua_rec_register(rec, GETARG_A(i));
  Operand b = immediate(rec, a, GETARG_sB(i), GETARG_C(i), &store);
  switch (GET_OPCODE(i)) {
    case OP_EQI: compare_equal(rec, a, b); break;
    case OP_LTI: compare_order(rec, a, b, 0); break;
    case OP_LEI: compare_order(rec, a, b, 1); break;
    case OP_GTI: compare_order(rec, b, a, 0); break;
    default: compare_order(rec, b, a, 1); break;  /* OP_GEI */
  }
}

void tlua_lower_compare (TluaRecorder *rec, Instruction i) {
  Operand a = tlua_rec_register(rec, GETARG_A(i));
  Operand b = tlua_rec_register(rec, GETARG_B(i));
  if (GET_OPCODE(i) == OP_EQ)
    compare_equal(rec, a, b);
  else
    compare_order(rec, a, b, GET_OPCODE(i) == OP_LE);
}

void tlua_lower_compare_constant (TluaRecorder *rec, Instruction i) {
  Operand a = tlua_rec_register(rec, GETARG_A(i));
  compare_equal(rec, a, tlua_rec_constant(rec, rec->at.k + GETARG_B(i)));
}

void tlua_lower_test (TluaRecorder *rec, Instruction i) {
  tlua_rec_branch(rec, !tlua_rec_is_false(tlua_rec_register(rec, GETARG_A(i)).tt), 0);
}

void tlua_lower_test_set (TluaRecorder *rec, Instruction i) {
  Operand b = tlua_rec_register(rec, GETARG_B(i));
  int outcome = !tlua_rec_is_false(b.tt);
  tlua_rec_branch(rec, outcome, 0);
  if (outcome == GETARG_k(i))
    tlua_rec_write_operand(rec, GETARG_A(i), b);
}

/* A global variable is defined that must not be there: its value was read into the register. */
void tlua_lower_define (TluaRecorder *rec, Instruction i) {
  if (novariant(tlua_rec_register(rec, GETARG_A(i)).tt) != LUA_TNIL)
    tlua_rec_give_up(rec, "global defined twice");
}
