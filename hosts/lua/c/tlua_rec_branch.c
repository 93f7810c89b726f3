/*
** Which way a test goes: a guard, or a choice between numbers.
**
** Problem: the interpreter decides at run time what a trace has to know when it is made.
**
** Design: a test is decided as the interpreter will decide it in a moment, and guarded; a test and the jump
** after it are one step here as in the interpreter. A test that only chooses numbers is none of this:
** tlua_rec_choice.c lowers it together with its ways.
**
** Invariant: a guard that fails where the loop would be left is told as the loop's end, and is no failure.
**
** Example, 'if x < 10' taken with an integer x:   guard_true(int_lt(x, 10)); nothing else
*/

#include "lprefix.h"

#include "tlua_rec.h"

/* Follows jumps to where something else happens. Jumps back are the business of the loop. */
static const Instruction *after_jumps (const Instruction *pc) {
  while (GET_OPCODE(*pc) == OP_JMP && GETARG_sJ(*pc) >= 0)
    pc += 1 + GETARG_sJ(*pc);
  return pc;
}

static int leaves_loop (TluaRecorder *rec, const Instruction *pc) {
  if (rec->trace.depth > 0 || rec->trace.is_side)
    return 0;
  pc = after_jumps(pc);
  OpCode op = GET_OPCODE(*pc);
  return pc < rec->trace.loop.head || pc > rec->trace.loop.last || op == OP_RETURN || op == OP_RETURN0
      || op == OP_RETURN1;
}

void tlua_rec_branch_by_guard (TluaRecorder *rec, int outcome, tl_value condition) {
  Instruction i = *rec->at.pc;
  const Instruction *skip = rec->at.pc + 2;
  const Instruction *jump = rec->at.pc + 2 + GETARG_sJ(rec->at.pc[1]);
  int jumps = outcome == GETARG_k(i);
  if (condition != 0) {
    tl_exit_kind kind = leaves_loop(rec, jumps ? skip : jump) ? TL_EXIT_LOOP_END : TL_EXIT_GUARD;
    tl_guard(rec->vm, outcome ? TL_GUARD_TRUE : TL_GUARD_FALSE, condition, 0, kind);
  }
  tlua_rec_go_to(rec, jumps ? jump : skip);
}

void tlua_rec_branch (TluaRecorder *rec, int outcome, tl_value condition) {
  if (condition == 0 || !tlua_rec_choice(rec, outcome, condition))
    tlua_rec_branch_by_guard(rec, outcome, condition);
}
