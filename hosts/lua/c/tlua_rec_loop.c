/*
** Lowering of numeric loops.
**
** Problem: a loop within the recording, or the recorded one itself, counts in registers that the program
** does not see, by rules that depend on the types of its three numbers and on the sign of its step.
**
** Design: the recorded loop must go on, under a guard whose exit is the loop's end; others may go either
** way. A step that the compiler has put there as a constant is one in the trace too. The start of a loop
** computes the number of iterations as the interpreter does, for the kinds of numbers that are there now.
**
** Invariant: the counter, the hidden index and the variable have the values that the interpreter would give
** them, also where nobody reads them.
**
** Example, 'for i = 1, n do ... end', back at its head:
**   guard_true(int_ne(count, 0)); count' = int_sub(count, 1); i' = int_add(i, 1)
*/

#include "lprefix.h"

#include <math.h>

#include "tlua_rec.h"

#include "lvm.h"

/* --- a loop goes on --- */

/* Whether the loop goes on, under a guard. The recorded loop must, others may go either way. */
static int goes_on (TluaRecorder *rec, int now, tl_value condition) {
  int is_own = tlua_rec_is_own_loop(rec, rec->at.pc + 1 - GETARG_Bx(*rec->at.pc));
  tl_exit_kind kind = is_own ? TL_EXIT_LOOP_END : TL_EXIT_GUARD;
  if (!now && is_own)
    tlua_rec_give_up(rec, "loop ended");
  tl_guard(rec->vm, now ? TL_GUARD_TRUE : TL_GUARD_FALSE, condition, 0, kind);
  return now && rec->at.reason == NULL;
}

/*
** Where the compiler has put the step before the loop as a constant, the trace is for that step: the
** optimizer then knows how the addresses of one iteration have to do with those of the next. The step's
** register may still hold another one (a jump over the constant), so that there is a guard, and so that only
** what is there now counts.
*/
static tl_value fixed_step (TluaRecorder *rec, int a, Operand step, const Instruction *head) {
  if (head - rec->at.p->code < 2 || GET_OPCODE(head[-2]) != OP_LOADI || GETARG_A(head[-2]) != a + 2
      || GETARG_sBx(head[-2]) != ivalue(step.now))
    return step.value;
  tl_value constant = tl_const_int(rec->vm, ivalue(step.now));
  tl_guard(rec->vm, TL_GUARD_VALUE, step.value, constant, TL_EXIT_GUARD);
  return constant;
}

/*
** At the head of an integer loop's body the loop's variable is a copy of the hidden index, if there is one.
** Only if nothing else jumps to the head does it have to be: the guard that says so is passed by all
** iterations, and the trace computes with one of them.
*/
void tlua_rec_loop_variable (TluaRecorder *rec) {
  if (TLUA_FOR_INDEX(0) == TLUA_FOR_VARIABLE(0) || rec->trace.is_side || !rec->trace.loop.is_only
      || GET_OPCODE(*rec->trace.loop.last) != OP_FORLOOP)
    return;
  int a = GETARG_A(*rec->trace.loop.last);
  const TValue *index = s2v(rec->at.base + TLUA_FOR_INDEX(a)),
      *variable = s2v(rec->at.base + TLUA_FOR_VARIABLE(a));
  if (!ttisinteger(index) || !ttisinteger(variable) || ivalue(index) != ivalue(variable))
    return;
  Operand hidden = tlua_rec_register(rec, TLUA_FOR_INDEX(a));
  tl_value variable_value = tlua_rec_register(rec, TLUA_FOR_VARIABLE(a)).value;
  tl_value is_copy = tl_op2(rec->vm, TL_INT_EQ, variable_value, hidden.value);
  tl_guard(rec->vm, TL_GUARD_TRUE, is_copy, 0, TL_EXIT_GUARD);
  tlua_rec_write_operand(rec, TLUA_FOR_VARIABLE(a), hidden);
  tlua_rec_resume_here(rec);  /* nothing of the instruction itself has been recorded */
}

/* The index, and the loop's variable, if that is another register. */
static void write_index (TluaRecorder *rec, int a, int tt, tl_value value) {
  tlua_rec_write(rec, TLUA_FOR_INDEX(a), tt, value);
  if (TLUA_FOR_VARIABLE(a) != TLUA_FOR_INDEX(a))
    tlua_rec_write(rec, TLUA_FOR_VARIABLE(a), tt, value);
}

/*
** The counter of an integer loop is unsigned and says how many iterations are left: neither limit nor
** overflow matter.
*/
static int int_loop (TluaRecorder *rec, int a) {
  tl_vm *vm = rec->vm;
  Operand index = tlua_rec_register(rec, TLUA_FOR_INDEX(a));
  Operand count = tlua_rec_register(rec, TLUA_FOR_COUNT(a));
  Operand step = tlua_rec_register(rec, TLUA_FOR_STEP(a));
  if (index.tt != LUA_VNUMINT || count.tt != LUA_VNUMINT) {
    tlua_rec_give_up(rec, "loop changed by a debugger");
    return 0;
  }
  if (!goes_on(rec, ivalue(count.now) != 0, tl_op2(vm, TL_INT_NE, count.value, tl_const_int(vm, 0))))
    return 0;
  tl_value by = fixed_step(rec, a, step, rec->at.pc + 1 - GETARG_Bx(*rec->at.pc));
  tl_value left = tl_op2(vm, TL_INT_SUB, count.value, tl_const_int(vm, 1));
  tl_value next = tl_op2(vm, TL_INT_ADD, index.value, by);
  tlua_rec_write(rec, TLUA_FOR_COUNT(a), LUA_VNUMINT, left);
  write_index(rec, a, LUA_VNUMINT, next);
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
  Operand index = tlua_rec_register(rec, TLUA_FOR_INDEX(a));
  Operand limit = tlua_rec_register(rec, TLUA_FOR_COUNT(a));
  Operand step = tlua_rec_register(rec, TLUA_FOR_STEP(a));
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
  write_index(rec, a, LUA_VNUMFLT, next);
  return 1;
}

void tlua_lower_loop (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i);
  if (ttisinteger(s2v(rec->at.base + TLUA_FOR_STEP(a))) ? int_loop(rec, a) : float_loop(rec, a))
    tlua_rec_go_to(rec, rec->at.pc + 1 - GETARG_Bx(i));
}

/* --- a loop starts --- */

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
** A loop of integers begins. Its index may have its register already; where it has not, the step has another
** one too, and nothing is moved if the loop does not run.
*/
static void begin_index (TluaRecorder *rec, int a, Operand init, Operand step, int runs) {
  int index = TLUA_FOR_INDEX(a);
  if (index == a)
    tlua_rec_write(rec, TLUA_FOR_VARIABLE(a), LUA_VNUMINT, init.value);
  else if (runs) {
    tlua_rec_write(rec, TLUA_FOR_STEP(a), LUA_VNUMINT, step.value);
    tlua_rec_write(rec, index, LUA_VNUMINT, init.value);
  }
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
    tlua_rec_write(rec, TLUA_FOR_COUNT(a), LUA_VNUMINT, count);
  }
  begin_index(rec, a, init, step, runs);
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
    tlua_rec_write(rec, TLUA_FOR_INDEX(a), LUA_VNUMFLT, first);
    tlua_rec_write(rec, TLUA_FOR_COUNT(a), LUA_VNUMFLT, last);
    tlua_rec_write(rec, TLUA_FOR_STEP(a), LUA_VNUMFLT, step.value);
    if (TLUA_FOR_VARIABLE(a) != TLUA_FOR_INDEX(a))
      tlua_rec_write(rec, TLUA_FOR_VARIABLE(a), LUA_VNUMFLT, first);
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
  return !rec->trace.is_side && rec->trace.depth == 0
      && tl_aborts(rec->vm, rec->trace.loop.head) >= rec->advice->passed_over_after
      && further_iterations(init, limit, step) < 1;
}

/* A loop that starts within a recording. */
void tlua_lower_start_loop (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i);
  Operand init = tlua_rec_register(rec, a), limit = tlua_rec_register(rec, a + 1),
      step = tlua_rec_register(rec, a + 2);
  lua_Number too_many = tlua_rec_may_unroll(rec) ? rec->advice->inner_edges + 1 : 1;
  if (further_iterations(init, limit, step) >= too_many) {
    rec->trace.is_long = tlua_rec_can_link(rec, rec->at.pc + 1);
    if (rec->trace.depth > 0 && !rec->trace.is_long)
      tlua_rec_give_up(rec, "loop in a called function");
  }
  if (rec->at.reason != NULL || (!is_passed_over(rec, init, limit, step)
                              && !tlua_rec_may_begin_loop(rec, rec->at.pc + 1)))
    return;
  int runs = init.tt == LUA_VNUMINT && step.tt == LUA_VNUMINT ? start_int_loop(rec, a, init, limit, step)
                                                              : start_float_loop(rec, a, init, limit, step);
  if (!runs) {
    rec->trace.next = rec->at.pc + GETARG_Bx(i) + 2;
    tl_loop_skipped(rec->vm, rec->at.pc + 1);
  }
}
