/*
** Lowering of moves, tests and loops, and the table that says who lowers which opcode.
**
** Problem: the interpreter decides at run time what a trace has to know when it is made: which way a test
** goes, what type a register has.
**
** Design: a test is decided as the interpreter will decide it in a moment, and guarded. A test and the jump
** after it are one step here as in the interpreter. The table has a row for each opcode; those that nobody
** lowers say so.
**
** Invariant: rec->next is the instruction that the interpreter shows next; any other one ends the recording.
**
** Example, 'if x < 10' taken with an integer x:   guard_true(int_lt(x, 10)); nothing else
*/

#include "lprefix.h"

#include <math.h>

#include "tlua_rec.h"

#include "lvm.h"

/* --- jumps --- */

/* Follows jumps to where something else happens. Jumps back are the business of the loop. */
static const Instruction *behind_jumps (const Instruction *pc) {
  while (GET_OPCODE(*pc) == OP_JMP && GETARG_sJ(*pc) >= 0)
    pc += 1 + GETARG_sJ(*pc);
  return pc;
}

static int leaves_loop (TluaRecorder *rec, const Instruction *pc) {
  if (rec->depth > 0 || rec->is_side)
    return 0;
  pc = behind_jumps(pc);
  OpCode op = GET_OPCODE(*pc);
  return pc < rec->head || pc > rec->last || op == OP_RETURN || op == OP_RETURN0 || op == OP_RETURN1;
}

void tlua_rec_branch (TluaRecorder *rec, int outcome, tl_value condition) {
  Instruction i = *rec->pc;
  const Instruction *skip = rec->pc + 2;
  const Instruction *jump = rec->pc + 2 + GETARG_sJ(rec->pc[1]);
  int jumps = outcome == GETARG_k(i);
  if (condition != 0 && tlua_rec_choice(rec, outcome, condition))
    return;
  if (condition != 0) {
    tl_exit_kind kind = leaves_loop(rec, jumps ? skip : jump) ? TL_EXIT_LOOP_END : TL_EXIT_GUARD;
    tl_guard(rec->vm, outcome ? TL_GUARD_TRUE : TL_GUARD_FALSE, condition, 0, kind);
  }
  tlua_rec_go_to(rec, jumps ? jump : skip);
}

/* --- comparisons --- */

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
    return tl_call(vm, rec->schema.equal_long_strings, arguments, 2);
  }
  switch (tlua_payload(a.tt)) {
    case TL_INT: return tl_op2(vm, TL_INT_EQ, a.value, b.value);
    case TL_FLOAT: return tl_op2(vm, TL_FLOAT_EQ, a.value, b.value);
    case TL_REF: return tl_op2(vm, TL_REF_EQ, a.value, b.value);
    case TL_ADDR: return tl_op2(vm, TL_ADDR_EQ, a.value, b.value);
    default: return 0;
  }
}

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

tl_value tlua_rec_raw_equal (TluaRecorder *rec, Operand a, Operand b) {
  if (a.tt == b.tt)
    return same_tag_equal(rec, a, b);
  if (a.tt == LUA_VNUMINT && b.tt == LUA_VNUMFLT)
    return mixed_equal(rec, a.value, b.value);
  if (a.tt == LUA_VNUMFLT && b.tt == LUA_VNUMINT)
    return mixed_equal(rec, b.value, a.value);
  return 0;  /* values of different types, and the tags are known */
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

static void compare_equal (TluaRecorder *rec, Operand a, Operand b) {
  int outcome = luaV_rawequalobj(a.now, b.now) != 0;
  if (!outcome && a.tt == ctb(LUA_VTABLE) && b.tt == a.tt && has_equality(rec, a, b)) {
    call_equality(rec, a, b);
    return;
  }
  if (a.tt == b.tt && !outcome)
    guard_raw_equality(rec, a, b);
  tlua_rec_branch(rec, outcome, tlua_rec_raw_equal(rec, a, b));
}

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
  const TluaSchema *schema = &rec->schema;
  if (int_first)
    return tl_call(vm, or_equal ? schema->int_to_float_order : schema->int_below_float, arguments, 2);
  return tl_call(vm, or_equal ? schema->float_to_int_order : schema->float_below_int, arguments, 2);
}

tl_value tlua_rec_number_order (TluaRecorder *rec, Operand a, Operand b, int or_equal) {
  tl_vm *vm = rec->vm;
  if (a.tt == LUA_VNUMINT && b.tt == LUA_VNUMINT)
    return tl_op2(vm, or_equal ? TL_INT_LE : TL_INT_LT, a.value, b.value);
  if (a.tt == LUA_VNUMFLT && b.tt == LUA_VNUMFLT)
    return tl_op2(vm, or_equal ? TL_FLOAT_LE : TL_FLOAT_LT, a.value, b.value);
  return mixed_order(rec, a, b, or_equal);
}

/* 'a < b' or 'a <= b' */
static void compare_order (TluaRecorder *rec, Operand a, Operand b, int or_equal) {
  tl_vm *vm = rec->vm;
  if (ttisstring(a.now) && ttisstring(b.now)) {
    tl_value strings[2] = { a.value, b.value };
    int below = or_equal ? luaV_lessequal(NULL, a.now, b.now) : luaV_lessthan(NULL, a.now, b.now);
    tlua_rec_branch(rec, below, tl_call(vm, or_equal ? rec->schema.string_to_order : rec->schema.string_below,
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
  compare_equal(rec, a, tlua_rec_constant(rec, rec->k + GETARG_B(i)));
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

/* --- numeric loops --- */

/* Whether the loop goes on, under a guard. The recorded loop must, others may go either way. */
static int goes_on (TluaRecorder *rec, int now, tl_value condition) {
  int is_own = tlua_rec_is_own_loop(rec, rec->pc + 1 - GETARG_Bx(*rec->pc));
  tl_exit_kind kind = is_own ? TL_EXIT_LOOP_END : TL_EXIT_GUARD;
  if (!now && is_own)
    tlua_rec_give_up(rec, "loop ended");
  tl_guard(rec->vm, now ? TL_GUARD_TRUE : TL_GUARD_FALSE, condition, 0, kind);
  return now && rec->reason == NULL;
}

/*
** Where the compiler has put the step before the loop as a constant, the trace is for that step: the
** optimizer then knows how the addresses of one iteration have to do with those of the next. The step's
** register may still hold another one (a jump over the constant), so that there is a guard, and so that only
** what is there now counts.
*/
static tl_value fixed_step (TluaRecorder *rec, int a, Operand step, const Instruction *head) {
  if (head - rec->p->code < 2 || GET_OPCODE(head[-2]) != OP_LOADI || GETARG_A(head[-2]) != a + 2
      || GETARG_sBx(head[-2]) != ivalue(step.now))
    return step.value;
  tl_value constant = tl_const_int(rec->vm, ivalue(step.now));
  tl_guard(rec->vm, TL_GUARD_VALUE, step.value, constant, TL_EXIT_GUARD);
  return constant;
}

/*
** At the head of an integer loop's body the loop's variable is a copy of the hidden index. Only if nothing
** else jumps to the head does it have to be: the guard that says so is passed by all iterations, and the
** trace computes with one of them.
*/
void tlua_rec_loop_variable (TluaRecorder *rec) {
  if (rec->is_side || !rec->is_only_loop || GET_OPCODE(*rec->last) != OP_FORLOOP)
    return;
  int a = GETARG_A(*rec->last);
  const TValue *index = s2v(rec->base + a), *variable = s2v(rec->base + a + 3);
  if (!ttisinteger(index) || !ttisinteger(variable) || ivalue(index) != ivalue(variable))
    return;
  Operand hidden = tlua_rec_register(rec, a);
  tl_value is_copy = tl_op2(rec->vm, TL_INT_EQ, tlua_rec_register(rec, a + 3).value, hidden.value);
  tl_guard(rec->vm, TL_GUARD_TRUE, is_copy, 0, TL_EXIT_GUARD);
  tlua_rec_write_operand(rec, a + 3, hidden);
  tlua_rec_resume_here(rec);  /* nothing of the instruction itself has been recorded */
}

/*
** The counter of an integer loop is unsigned and says how many iterations are left: neither limit nor
** overflow matter.
*/
static int int_loop (TluaRecorder *rec, int a) {
  tl_vm *vm = rec->vm;
  Operand index = tlua_rec_register(rec, a);
  Operand count = tlua_rec_register(rec, a + 1);
  Operand step = tlua_rec_register(rec, a + 2);
  if (index.tt != LUA_VNUMINT || count.tt != LUA_VNUMINT) {
    tlua_rec_give_up(rec, "loop changed by a debugger");
    return 0;
  }
  if (!goes_on(rec, ivalue(count.now) != 0, tl_op2(vm, TL_INT_NE, count.value, tl_const_int(vm, 0))))
    return 0;
  tl_value by = fixed_step(rec, a, step, rec->pc + 1 - GETARG_Bx(*rec->pc));
  tl_value left = tl_op2(vm, TL_INT_SUB, count.value, tl_const_int(vm, 1));
  tl_value next = tl_op2(vm, TL_INT_ADD, index.value, by);
  tlua_rec_write(rec, a + 1, LUA_VNUMINT, left);
  tlua_rec_write(rec, a, LUA_VNUMINT, next);
  tlua_rec_write(rec, a + 3, LUA_VNUMINT, next);
  return 1;
}

/* Guards the sign of a float step; whether it is positive. */
static int guard_rises (TluaRecorder *rec, Operand step) {
  tl_vm *vm = rec->vm;
  int rises = 0 < fltvalue(step.now);
  tl_value sign = tl_op2(vm, TL_FLOAT_LT, tl_const_float(vm, 0.0), step.value);
  tl_guard(vm, rises ? TL_GUARD_TRUE : TL_GUARD_FALSE, sign, 0, TL_EXIT_GUARD);
  return rises;
}

static int float_loop (TluaRecorder *rec, int a) {
  tl_vm *vm = rec->vm;
  Operand index = tlua_rec_register(rec, a);
  Operand limit = tlua_rec_register(rec, a + 1);
  Operand step = tlua_rec_register(rec, a + 2);
  if (index.tt != LUA_VNUMFLT || limit.tt != LUA_VNUMFLT || step.tt != LUA_VNUMFLT) {
    tlua_rec_give_up(rec, "loop changed by a debugger");
    return 0;
  }
  int rises = guard_rises(rec, step);
  lua_Number next_now = fltvalue(index.now) + fltvalue(step.now);
  int now = rises ? next_now <= fltvalue(limit.now) : fltvalue(limit.now) <= next_now;
  tl_value next = tl_op2(vm, TL_FLOAT_ADD, index.value, step.value);
  tl_value condition = rises ? tl_op2(vm, TL_FLOAT_LE, next, limit.value)
      : tl_op2(vm, TL_FLOAT_LE, limit.value, next);
  if (!goes_on(rec, now, condition))
    return 0;
  tlua_rec_write(rec, a, LUA_VNUMFLT, next);
  tlua_rec_write(rec, a + 3, LUA_VNUMFLT, next);
  return 1;
}

void tlua_lower_loop (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i);
  if (ttisinteger(s2v(rec->base + a + 2)) ? int_loop(rec, a) : float_loop(rec, a))
    tlua_rec_go_to(rec, rec->pc + 1 - GETARG_Bx(i));
}

/*
** The limit of an integer loop may be a float: what counts is the integer next to it. Returns 0 if it is out
** of range.
*/
static int integer_limit (TluaRecorder *rec, Operand limit, int rises, tl_value *value, lua_Integer *now) {
  tl_vm *vm = rec->vm;
  if (limit.tt == LUA_VNUMINT) {
    *value = limit.value;
    *now = ivalue(limit.now);
    return 1;
  }
  if (limit.tt != LUA_VNUMFLT || !luaV_flttointeger(fltvalue(limit.now), now, rises ? F2Ifloor : F2Iceil))
    return 0;
  *value = tl_op1(vm, TL_FLOAT_TO_INT_EXACT, tl_op1(vm, rises ? TL_FLOAT_FLOOR : TL_FLOAT_CEIL, limit.value));
  return 1;
}

/* A step other than 1 and -1, without its sign, which is guarded. */
static tl_value size_of_step (TluaRecorder *rec, Operand step, int rises) {
  tl_vm *vm = rec->vm;
  tl_value zero = tl_const_int(vm, 0);
  if (rises) {
    tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_GT, step.value, zero), 0, TL_EXIT_GUARD);
    return step.value;
  }
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_LT, step.value, zero), 0, TL_EXIT_GUARD);
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_GT, step.value, tl_const_int(vm, LUA_MININTEGER)), 0,
           TL_EXIT_GUARD);
  return tl_op1(vm, TL_INT_NEG, step.value);
}

/*
** The start of an integer loop: the number of iterations after the first. For steps other than 1 and -1 only
** distances that are no negative numbers are lowered, which signed division divides as the interpreter does.
*/
static int start_int_loop (TluaRecorder *rec, int a, Operand init, Operand limit, Operand step) {
  tl_vm *vm = rec->vm;
  lua_Integer by = ivalue(step.now), to_now;
  int rises = by > 0;
  tl_value to;
  int64_t constant;
  int is_unit = tl_is_const_int(vm, step.value, &constant) && (by == 1 || by == -1);
  if (by == 0 || by == LUA_MININTEGER || !integer_limit(rec, limit, rises, &to, &to_now)) {
    tlua_rec_give_up(rec, "start of an unusual loop");
    return 0;
  }
  tl_value divisor = is_unit ? 0 : size_of_step(rec, step, rises);
  int runs = rises ? ivalue(init.now) <= to_now : to_now <= ivalue(init.now);
  tl_value condition = rises ? tl_op2(vm, TL_INT_LE, init.value, to) : tl_op2(vm, TL_INT_LE, to, init.value);
  tl_guard(vm, runs ? TL_GUARD_TRUE : TL_GUARD_FALSE, condition, 0, TL_EXIT_GUARD);
  if (runs) {
    tl_value count = rises ? tl_op2(vm, TL_INT_SUB, to, init.value) : tl_op2(vm, TL_INT_SUB, init.value, to);
    if (!is_unit) {
      tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_GE, count, tl_const_int(vm, 0)), 0, TL_EXIT_GUARD);
      count = tl_op2(vm, TL_INT_DIV, count, divisor);
    }
    tlua_rec_write(rec, a + 1, LUA_VNUMINT, count);
  }
  tlua_rec_write(rec, a + 3, LUA_VNUMINT, init.value);
  return runs;
}

/* What is no float yet becomes one, if the loop runs. */
static int start_float_loop (TluaRecorder *rec, int a, Operand init, Operand limit, Operand step) {
  tl_vm *vm = rec->vm;
  lua_Number from, to, by;
  if (!tonumberns(init.now, from) || !tonumberns(limit.now, to) || !tonumberns(step.now, by) || by == 0) {
    tlua_rec_give_up(rec, "start of an unusual loop");
    return 0;
  }
  tl_value first = tlua_rec_as_float(rec, init), last = tlua_rec_as_float(rec, limit);
  TValue as_float;
  setfltvalue(&as_float, by);
  step.value = tlua_rec_as_float(rec, step);
  step.now = &as_float;
  int rises = guard_rises(rec, step);
  if (!rises)  /* zero is an error, and no number loops up */
    tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_FLOAT_LT, step.value, tl_const_float(vm, 0.0)), 0,
             TL_EXIT_GUARD);
  int skipped = rises ? to < from : from < to;
  tl_value condition = rises ? tl_op2(vm, TL_FLOAT_LT, last, first) : tl_op2(vm, TL_FLOAT_LT, first, last);
  tl_guard(vm, skipped ? TL_GUARD_TRUE : TL_GUARD_FALSE, condition, 0, TL_EXIT_GUARD);
  if (!skipped) {
    tlua_rec_write(rec, a, LUA_VNUMFLT, first);
    tlua_rec_write(rec, a + 1, LUA_VNUMFLT, last);
    tlua_rec_write(rec, a + 2, LUA_VNUMFLT, step.value);
    tlua_rec_write(rec, a + 3, LUA_VNUMFLT, first);
  }
  return !skipped;
}

/* How many iterations follow the first one, or a negative number: none at all. */
static lua_Number further_iterations (Operand init, Operand limit, Operand step) {
  lua_Number from, to, by;
  if (!tonumberns(init.now, from) || !tonumberns(limit.now, to) || !tonumberns(step.now, by) || by == 0)
    return HUGE_VAL;
  return (to - from) / by;
}

/*
** The interpreter enters code at jumps back, so that the code of an inner loop, and its side traces around
** it, are never entered where that loop ends after one iteration, or none. A loop around it whose recording
** has failed several times, for whatever reason, then passes it over: what looks like no loop is taken as
** none, and further iterations are left to side traces.
*/
static int is_passed_over (TluaRecorder *rec, Operand init, Operand limit, Operand step) {
  return !rec->is_side && rec->depth == 0 && tl_aborts(rec->vm, rec->head) >= rec->advice->passed_over_after
      && further_iterations(init, limit, step) < 1;
}

/* A loop that starts within a recording. */
void tlua_lower_start_loop (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i);
  Operand init = tlua_rec_register(rec, a), limit = tlua_rec_register(rec, a + 1),
      step = tlua_rec_register(rec, a + 2);
  if (rec->depth > 0 && further_iterations(init, limit,
                                           step) >= (tlua_rec_may_unroll(rec) ? rec->advice->inner_edges + 1
                                                     : 1))
    tlua_rec_give_up(rec, "loop in a called function");
  if (rec->reason != NULL || (!is_passed_over(rec, init, limit, step)
                              && !tlua_rec_may_begin_loop(rec, rec->pc + 1)))
    return;
  int runs = init.tt == LUA_VNUMINT && step.tt == LUA_VNUMINT ? start_int_loop(rec, a, init, limit, step)
                                                              : start_float_loop(rec, a, init, limit, step);
  if (!runs)
    rec->next = rec->pc + GETARG_Bx(i) + 2;
}

/* --- moves and constants --- */

static void move (TluaRecorder *rec, Instruction i) {
  tlua_rec_write_operand(rec, GETARG_A(i), tlua_rec_register(rec, GETARG_B(i)));
}

static void load_integer (TluaRecorder *rec, Instruction i) {
  tlua_rec_write(rec, GETARG_A(i), LUA_VNUMINT, tl_const_int(rec->vm, GETARG_sBx(i)));
}

static void load_float (TluaRecorder *rec, Instruction i) {
  tlua_rec_write(rec, GETARG_A(i), LUA_VNUMFLT, tl_const_float(rec->vm, (double)GETARG_sBx(i)));
}

static void load_constant (TluaRecorder *rec, Instruction i) {
  tlua_rec_write_operand(rec, GETARG_A(i), tlua_rec_constant(rec, rec->k + GETARG_Bx(i)));
}

static void load_far_constant (TluaRecorder *rec, Instruction i) {
  tlua_rec_write_operand(rec, GETARG_A(i), tlua_rec_constant(rec, rec->k + GETARG_Ax(rec->pc[1])));
  rec->next = rec->pc + 2;
}

static void load_false (TluaRecorder *rec, Instruction i) {
  tlua_rec_write(rec, GETARG_A(i), LUA_VFALSE, 0);
}

static void load_false_and_skip (TluaRecorder *rec, Instruction i) {
  load_false(rec, i);
  rec->next = rec->pc + 2;
}

static void load_true (TluaRecorder *rec, Instruction i) {
  tlua_rec_write(rec, GETARG_A(i), LUA_VTRUE, 0);
}

static void load_nils (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i);
  for (int r = a; r <= a + GETARG_B(i); r++)
    tlua_rec_write(rec, r, LUA_VNIL, 0);
}

static void negation (TluaRecorder *rec, Instruction i) {
  int is_false = tlua_rec_is_false(tlua_rec_register(rec, GETARG_B(i)).tt);
  tlua_rec_write(rec, GETARG_A(i), is_false ? LUA_VTRUE : LUA_VFALSE, 0);
}

static void jump (TluaRecorder *rec, Instruction i) {
  tlua_rec_go_to(rec, rec->pc + 1 + GETARG_sJ(i));
}

/* --- who lowers what --- */

/*
** One row for each opcode, in the order of lopcodes.h: who lowers it. Rows that are LEFT are for instructions
** that end a recording, under their name.
*/
#define OPCODES(LOWERED, LEFT) \
  LOWERED(MOVE, move) \
  LOWERED(LOADI, load_integer) \
  LOWERED(LOADF, load_float) \
  LOWERED(LOADK, load_constant) \
  LOWERED(LOADKX, load_far_constant) \
  LOWERED(LOADFALSE, load_false) \
  LOWERED(LFALSESKIP, load_false_and_skip) \
  LOWERED(LOADTRUE, load_true) \
  LOWERED(LOADNIL, load_nils) \
  LOWERED(GETUPVAL, tlua_lower_get_upvalue) \
  LOWERED(SETUPVAL, tlua_lower_set_upvalue) \
  LOWERED(GETTABUP, tlua_lower_get_upvalue_field) \
  LOWERED(GETTABLE, tlua_lower_get_table) \
  LOWERED(GETI, tlua_lower_get_index) \
  LOWERED(GETFIELD, tlua_lower_get_field) \
  LOWERED(SETTABUP, tlua_lower_set_upvalue_field) \
  LOWERED(SETTABLE, tlua_lower_set_table) \
  LOWERED(SETI, tlua_lower_set_index) \
  LOWERED(SETFIELD, tlua_lower_set_field) \
  LOWERED(NEWTABLE, tlua_lower_new_table) \
  LOWERED(SELF, tlua_lower_get_method) \
  LOWERED(ADDI, tlua_lower_arith_small) \
  LOWERED(ADDK, tlua_lower_arith_constant) \
  LOWERED(SUBK, tlua_lower_arith_constant) \
  LOWERED(MULK, tlua_lower_arith_constant) \
  LOWERED(MODK, tlua_lower_arith_constant) \
  LOWERED(POWK, tlua_lower_arith_constant) \
  LOWERED(DIVK, tlua_lower_arith_constant) \
  LOWERED(IDIVK, tlua_lower_arith_constant) \
  LOWERED(BANDK, tlua_lower_arith_constant) \
  LOWERED(BORK, tlua_lower_arith_constant) \
  LOWERED(BXORK, tlua_lower_arith_constant) \
  LOWERED(SHRI, tlua_lower_arith_small) \
  LOWERED(SHLI, tlua_lower_shift_small) \
  LOWERED(ADD, tlua_lower_arith) \
  LOWERED(SUB, tlua_lower_arith) \
  LOWERED(MUL, tlua_lower_arith) \
  LOWERED(MOD, tlua_lower_arith) \
  LOWERED(POW, tlua_lower_arith) \
  LOWERED(DIV, tlua_lower_arith) \
  LOWERED(IDIV, tlua_lower_arith) \
  LOWERED(BAND, tlua_lower_arith) \
  LOWERED(BOR, tlua_lower_arith) \
  LOWERED(BXOR, tlua_lower_arith) \
  LOWERED(SHL, tlua_lower_arith) \
  LOWERED(SHR, tlua_lower_arith) \
  LOWERED(MMBIN, tlua_lower_metamethod) \
  LOWERED(MMBINI, tlua_lower_metamethod_small) \
  LOWERED(MMBINK, tlua_lower_metamethod_constant) \
  LOWERED(UNM, tlua_lower_negate) \
  LOWERED(BNOT, tlua_lower_complement) \
  LOWERED(NOT, negation) \
  LOWERED(LEN, tlua_lower_length) \
  LOWERED(CONCAT, tlua_lower_concat) \
  LOWERED(CLOSE, tlua_lower_close) \
  LEFT(TBC) \
  LOWERED(JMP, jump) \
  LOWERED(EQ, tlua_lower_compare) \
  LOWERED(LT, tlua_lower_compare) \
  LOWERED(LE, tlua_lower_compare) \
  LOWERED(EQK, tlua_lower_compare_constant) \
  LOWERED(EQI, tlua_lower_compare_small) \
  LOWERED(LTI, tlua_lower_compare_small) \
  LOWERED(LEI, tlua_lower_compare_small) \
  LOWERED(GTI, tlua_lower_compare_small) \
  LOWERED(GEI, tlua_lower_compare_small) \
  LOWERED(TEST, tlua_lower_test) \
  LOWERED(TESTSET, tlua_lower_test_set) \
  LOWERED(CALL, tlua_lower_call) \
  LOWERED(TAILCALL, tlua_lower_tail_call) \
  LOWERED(RETURN, tlua_lower_return) \
  LOWERED(RETURN0, tlua_lower_return) \
  LOWERED(RETURN1, tlua_lower_return) \
  LOWERED(FORLOOP, tlua_lower_loop) \
  LOWERED(FORPREP, tlua_lower_start_loop) \
  LOWERED(TFORPREP, tlua_lower_start_iteration) \
  LOWERED(TFORCALL, tlua_lower_step) \
  LOWERED(TFORLOOP, tlua_lower_called_step) \
  LOWERED(SETLIST, tlua_lower_set_list) \
  LOWERED(CLOSURE, tlua_lower_closure) \
  LOWERED(VARARG, tlua_lower_varargs) \
  LEFT(VARARGPREP) \
  LEFT(EXTRAARG)

/* A row that is missing, or in the wrong place, does not compile. */
#define LOWERED_PLACE(op, function) PLACE_##op,
#define LEFT_PLACE(op) PLACE_##op,
enum { OPCODES(LOWERED_PLACE, LEFT_PLACE) PLACES };

#define IS_IN_PLACE(op) \
  _Static_assert((int)PLACE_##op == (int)OP_##op, "the row of OP_" #op " is not in the order of lopcodes.h");
#define LOWERED_IN_PLACE(op, function) IS_IN_PLACE(op)
OPCODES(LOWERED_IN_PLACE, IS_IN_PLACE)
_Static_assert((int)PLACES == NUM_OPCODES, "an opcode has no row");

typedef struct OpcodeRow {
  TluaLower *lower;           /* NULL: nobody */
  const char *reason;         /* why the recording is given up then */
} OpcodeRow;

#define LOWERED_ROW(op, function) { function, NULL },
#define LEFT_ROW(op) { NULL, "opcode " #op },
static const OpcodeRow rows[NUM_OPCODES] = { OPCODES(LOWERED_ROW, LEFT_ROW) };

void tlua_rec_instruction (TluaRecorder *rec) {
  Instruction i = *rec->pc;
  const OpcodeRow *row = &rows[GET_OPCODE(i)];
  rec->next = rec->pc + 1;
  rec->chain = 0;
  if (row->lower != NULL)
    row->lower(rec, i);
  else
    tlua_rec_give_up(rec, row->reason);
}
