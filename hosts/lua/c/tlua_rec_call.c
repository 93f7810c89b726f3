/*
** Lowering of calls, returns, and variable arguments.
**
** Problem: one instruction calls Lua functions, which become part of the trace, C functions, which do not,
** and objects with a metamethod.
**
** Design: what is called now decides. Calls of Lua functions and returns from them are the business of
** tlua_rec_frame.c; those of C functions are made where they stand, and their results are written as a
** return would. Variable arguments of inlined functions are registers; those of the loop's own frame are
** memory below its base.
**
** Invariant: a call of a C function that cannot be part of the trace says so in rec->at.is_foreign; it is
** made as it is then (tlua_rec_host.c), or, where that is not possible, what was recorded before is not
** lost.
**
** Example, 's = s + select("#", ...)' with the loop's own arguments:
**   n = load call_info.extra (load thread.call_info); guard_true(int_eq(n, 2)); s' = int_add(s, 2)
*/

#include "lprefix.h"

#include "tlua_rec_lib.h"

/* --- calls --- */

/* How many values lie from this register on: as the instruction says, or up to the top. */
static int count_values (TluaRecorder *rec, int first, int b) {
  return b != 0 ? b - 1 : (int)(rec->trace.thread->top.p - (rec->at.base + first));
}

/* Lowers a call of a library's function, up to its results; returns 0 if the recording is given up. */
static int call_c_function (TluaRecorder *rec, int a, int arguments, int wanted, LibraryCall *call) {
  call->function = tlua_rec_register(rec, a);
  call->count = arguments;
  call->wanted = wanted;
  if (!tlua_rec_read_values(rec, a + 1, arguments, call->arguments))
    return 0;
  tlua_rec_need_for_c(rec, a, arguments);
  if (rec->at.reason == NULL)
    tlua_rec_library(rec, call);
  rec->at.is_foreign = rec->at.reason != NULL;
  return rec->at.reason == NULL;
}

static int is_c_function (Operand function) {
  return function.tt == LUA_VLCF || function.tt == ctb(LUA_VCCL);
}

static void protect_function (TluaRecorder *rec, Operand function, int a, int arguments) {
  const void *address = (const void *)(uintptr_t)fvalue(function.now);
  tl_guard(rec->vm, TL_GUARD_VALUE, function.value, tl_const_addr(rec->vm, address), TL_EXIT_GUARD);
  tlua_rec_need_for_c(rec, a, arguments);
  tlua_rec_call_protected(rec, a, arguments);
}

void tlua_lower_call (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i), wanted = GETARG_C(i) - 1;
  int arguments = GETARG_B(i) != 0 ? GETARG_B(i) - 1 : count_values(rec, a + 1, 0);
  Operand function = tlua_rec_register(rec, a);
  LibraryCall library;
  int is_lua = function.tt == ctb(LUA_VLCL);
  if (is_lua && tlua_rec_call_unit(rec, function, a, arguments, wanted))
    return;
  if (is_lua && tlua_rec_is_called(rec, clLvalue(function.now)->p)
      && !tlua_rec_becomes_unit(rec, clLvalue(function.now)))
    tlua_rec_call_host(rec, a, arguments, wanted);
  if (rec->at.waits || rec->at.reason != NULL)
    return;
  if (arguments > 0 && tlua_rec_is_protecting(function, s2v(rec->at.base + a + 1)))
    protect_function(rec, function, a, arguments);
  else if (!is_c_function(function))
    tlua_rec_call_function(rec, function, a, arguments, wanted);
  else if (call_c_function(rec, a, arguments, wanted, &library))
    tlua_rec_write_results(rec, a, library.results, library.returned, wanted);
  else if (rec->at.is_foreign)
    tlua_rec_call_host(rec, a, arguments, wanted);
}

/* Back to the caller, which is guarded if it lies below all frames of the trace. */
static void leave (TluaRecorder *rec, const Operand *values, int count) {
  if (rec->trace.depth == 0)
    tlua_rec_return_below(rec, values, count);
  else
    tlua_rec_leave_frame(rec, values, count);
}

/* The first frame's caller, too, has called the function then. */
static void tail_call_function (TluaRecorder *rec, Operand function, int a, int arguments) {
  Operand values[TLUA_MOST_VALUES + 2];
  int closes = TESTARG_k(*rec->at.pc), is_first = rec->trace.depth == 0;
  if (is_first && !rec->trace.is_side)
    tlua_rec_give_up(rec, "opcode TAILCALL");
  if (!tlua_rec_begin_tail_call(rec, &function, a, values, &arguments)
      || (is_first && !tlua_rec_guard_return(rec, closes)))
    return;
  values[arguments] = function;
  TluaFrame frame = is_first ? tlua_rec_give_way(rec, values, arguments + 1)
      : tlua_rec_take_over(rec, closes, values, arguments + 1);
  tlua_rec_end_tail_call(rec, function, values, arguments, &frame);
}

void tlua_lower_tail_call (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i);
  int arguments = GETARG_B(i) != 0 ? GETARG_B(i) - 1 : count_values(rec, a + 1, 0);
  Operand function = tlua_rec_register(rec, a);
  LibraryCall library;
  if (!is_c_function(function))
    tail_call_function(rec, function, a, arguments);
  else if (rec->trace.depth == 0 && !tlua_rec_guard_return(rec, TESTARG_k(i)))
    return;
  else if (call_c_function(rec, a, arguments, LUA_MULTRET, &library)) {
    if (rec->trace.depth > 0 && TESTARG_k(i))
      tlua_rec_close_frame(rec, library.results, library.returned);
    leave(rec, library.results, library.returned);
  }
}

/* --- variable arguments --- */

/*
** Those of the loop's own frame are the same as long as it runs, but another call of its function may have
** others: their number is guarded as far as it matters, and their types. The first one lies so far below the
** base as there are of them.
*/
static Operand own_argument (TluaRecorder *rec, int n, tl_value extra) {
  tl_vm *vm = rec->vm;
  const TValue *now = s2v(rec->at.base - 1 - tlua_extra_arguments(rec->trace.ci) + n);
  Operand o = tlua_rec_operand(rec, now);
  if (o.tag == 0)
    return o;
  tl_value r = tl_op2(vm, TL_INT_SUB, tl_const_int(vm, rec->trace.frames[0].base + n - 1), extra);
  tl_value place = tl_item_addr(vm, tl_frame_base(vm), r, sizeof(StackValue), 0);
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, rec->schema.state.argument_tag, place), tl_const_int(vm, o.tt),
           TL_EXIT_GUARD);
  tl_type type = tlua_payload(o.tt);
  if (type != TL_VOID)
    o.value = tl_load(vm, rec->schema.state.argument_value[type], place);
  return o;
}

/* Returns their number. */
static tl_value guard_own_arguments (TluaRecorder *rec, int extra, int wanted) {
  tl_vm *vm = rec->vm;
  tl_value count = tl_load(vm, rec->schema.state.extra_arguments, tlua_rec_call_info(rec));
  tl_op comparison = wanted != LUA_MULTRET && wanted <= extra ? TL_INT_GE : TL_INT_EQ;
  tl_value limit = tl_const_int(vm, comparison == TL_INT_GE ? wanted : extra);
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, comparison, count, limit), 0, TL_EXIT_GUARD);
  return count;
}

void tlua_lower_varargs (TluaRecorder *rec, Instruction i) {
  Operand values[TLUA_MOST_VALUES];
  if (TLUA_FROM_TABLE(i)) {
    tlua_rec_give_up(rec, "arguments in a table");
    return;
  }
  int a = GETARG_A(i), wanted = GETARG_C(i) - 1;
  int extra = rec->trace.depth > 0 ? running_frame(rec)->extra : tlua_extra_arguments(rec->trace.ci);
  int count = wanted == LUA_MULTRET || wanted > extra ? extra : wanted;
  if (rec->trace.depth > 0) {
    if (!tlua_rec_read_values(rec, -1 - extra, count, values))
      return;
  }
  else {
    if (count > TLUA_MOST_VALUES) {
      tlua_rec_give_up(rec, "too many values in a call");
      return;
    }
    tl_value number = guard_own_arguments(rec, extra, wanted);
    for (int n = 0; n < count; n++)
      values[n] = own_argument(rec, n, number);
  }
  if (rec->at.reason != NULL)
    return;
  for (int n = 0; n < count; n++)
    tlua_rec_write_operand(rec, a + n, values[n]);
  for (int n = count; n < wanted; n++)
    tlua_rec_write(rec, a + n, LUA_VNIL, 0);
}

/* --- returns --- */

/* A function that the trace has called closes its upvalues; those of the first frame are guarded. */
static void return_values (TluaRecorder *rec, int first, int count, int wanted) {
  Operand values[TLUA_MOST_VALUES];
  int moved = wanted == LUA_MULTRET || wanted > count ? count : wanted;
  if (!tlua_rec_read_values(rec, first, moved, values))
    return;
  if (rec->trace.depth > 0 && GET_OPCODE(*rec->at.pc) == OP_RETURN && TESTARG_k(*rec->at.pc))
    tlua_rec_close_frame(rec, values, moved);
  leave(rec, values, moved);
}

void tlua_lower_return (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i);
  OpCode op = GET_OPCODE(i);
  int count = op == OP_RETURN ? count_values(rec, a, GETARG_B(i)) : op == OP_RETURN1;
  if (rec->trace.is_unit && rec->trace.depth == 0)
    tlua_rec_return_unit(rec, i);
  else if (rec->trace.depth > 0)
    return_values(rec, a, count, running_frame(rec)->wanted);
  else if (tlua_rec_guard_return(rec, op == OP_RETURN && TESTARG_k(i)))
    return_values(rec, a, count, tlua_rec_wanted_below(rec));
}
