/*
** Where the interpreter goes on: after the instruction at hand, after an exit, or because the recording is
** given up.
**
** Problem: each lowering has to say three things of this kind: which instruction the interpreter shows next,
** what an exit has to put into which registers, and that it cannot go on.
**
** Design: rec->trace.next is the next instruction; a jump back is looked at, since it may begin the loop
** that is recorded, or another one. A resume point is the instruction at hand with the frame's words and the
** registers that are live there; all guards until the next resume point leave to it. The first reason to
** give up counts.
**
** Invariant: between a resume point and the guards that leave to it nothing has happened that doing the
** instruction again would show.
**
** Example, a guard after the first of two stores of one instruction:
**   tl_put_item(...);   tlua_rec_resume_here(rec);   tl_guard(...)
*/

#include "lprefix.h"

#include <string.h>

#include "tlua_rec.h"

void tlua_rec_give_up (TluaRecorder *rec, const char *reason) {
  if (rec->at.reason == NULL)
    rec->at.reason = reason;
}

/* --- resume points --- */

/*
** An open instruction uses the registers from A up to the top, which no analysis knows. Returns the top's
** register.
*/
static int open_registers (TluaRecorder *rec, const lu_byte *live) {
  int top = (int)(rec->trace.thread->top.p - rec->at.base);
  if (top >= 8 * (int)sizeof rec->at.row) {
    tlua_rec_give_up(rec, "too many values in a call");
    return 0;
  }
  memset(rec->at.row, 0, sizeof rec->at.row);
  memcpy(rec->at.row, live, (size_t)(rec->at.p->maxstacksize + 7) / 8);
  for (int r = GETARG_A(*rec->at.pc); r < top; r++)
    rec->at.row[r >> 3] |= (lu_byte)(1 << (r & 7));
  return top;
}

/* Says what the interpreter goes on with if a guard of this instruction fails. */
void tlua_rec_resume_here (TluaRecorder *rec) {
  const lu_byte *live = tlua_live(rec->trace.thread, rec->at.p, (int)(rec->at.pc - rec->at.p->code));
  const TluaFrame *frame = running_frame(rec);
  uint64_t words[TLUA_WORDS];
  uint32_t registers = rec->at.p->maxstacksize;
  if (live == NULL) {
    tlua_rec_give_up(rec, "out of memory");
    return;
  }
  tlua_words_write(words, rec->at.pc, frame->wanted, frame->status, frame->extra);
  if (tlua_is_open(*rec->at.pc)) {
    uint32_t top = (uint32_t)open_registers(rec, live);
    live = rec->at.row;
    tlua_words_set_top(words, rec->trace.called.is_open ? TLUA_TOP_AS_IT_IS : top);
    registers = top > registers ? top : registers;
  }
  tl_resume_point(rec->vm, tlua_rec_origin(rec), words, live, registers);
}

/* --- jumps --- */

/* The first instruction of the loop's body. */
const Instruction *tlua_rec_body_of (const Instruction *loop) {
  return loop + 1 - GETARG_Bx(*loop);
}

static int has_instruction (const Proto *p, const Instruction *pc) {
  return p->code <= pc && pc < p->code + p->sizecode;
}

int tlua_rec_is_own_loop (const TluaRecorder *rec, const Instruction *head) {
  return !rec->trace.is_side && rec->trace.depth == 0 && head == rec->trace.loop.head;
}

/*
** Whether the interpreter's records can be made for the frames that the trace has called. Iterators and
** metamethods are called by C code of the interpreter, which counts its levels: no code may go on above them,
** or their overflow would come at another depth.
*/
static int can_make_frames (const TluaRecorder *rec) {
  for (int depth = 1; depth <= rec->trace.depth; depth++) {
    if (rec->trace.frames[depth].status & TLUA_STATUS_FRESH)
      return 0;
  }
  return 1;
}

int tlua_rec_can_link (const TluaRecorder *rec, const Instruction *head) {
  return rec->trace.is_side && tl_has_loop(rec->vm, head) && can_make_frames(rec);
}

/*
** The recording has come to an instruction. Whether it ends there, where a loop has code. A loop of few
** iterations that the tree's first trace has met is taken in.
*/
int tlua_rec_comes_to (TluaRecorder *rec, const Instruction *pc) {
  int is_long = rec->trace.is_long || !tlua_rec_may_unroll(rec);
  rec->trace.is_long = 0;
  return tl_goes_on_at(rec->vm, pc, is_long) && rec->trace.is_side && can_make_frames(rec);
}

/* Whether the running function is on one of the frames below, or the recording began with it. */
static int calls_itself (const TluaRecorder *rec) {
  if (rec->trace.entry == rec->at.p->code)
    return 1;
  for (int depth = 0; depth < rec->trace.depth; depth++) {
    if (rec->trace.frames[depth].p == rec->at.p)
      return 1;
  }
  return 0;
}

int tlua_rec_ends_at_entry (const TluaRecorder *rec) {
  const Instruction *pc = rec->at.pc;
  if (!rec->trace.is_started || rec->trace.is_unit || !can_make_frames(rec))
    return 0;
  if (rec->trace.depth == 0)
    return pc == rec->trace.returned;
  return pc == rec->at.p->code && !tlua_is_vararg(rec->at.p) && calls_itself(rec)
      && (rec->trace.entry == pc || tl_has_loop(rec->vm, tlua_entry_key(pc)));
}

int tlua_rec_may_begin_loop (TluaRecorder *rec, const Instruction *head) {
  if (rec->trace.is_side || rec->trace.depth > 0 || !tl_has_loop(rec->vm, head))
    return 1;  /* a side trace ends there */
  tlua_rec_give_up(rec, "inner loop");
  return 0;
}

/*
** A loop of few iterations is recorded as it runs, one after the other. Not so where a function calls
** itself: each number of iterations would get traces of its own, and those of the next call in each of them.
*/
int tlua_rec_may_unroll (const TluaRecorder *rec) {
  for (int depth = 0; depth < rec->trace.depth; depth++) {
    if (rec->trace.frames[depth].p == rec->at.p)
      return 0;
  }
  return 1;
}

/* Whether the loop whose jump back is at hand goes around the loop that the recording's tree begins with. */
static int is_around (const TluaRecorder *rec, const Instruction *head) {
  const Instruction *root = tl_tree_key(rec->vm);
  if (has_instruction(rec->at.p, root))
    return head < root && root <= rec->at.pc;
  for (int depth = 0; depth <= rec->trace.depth; depth++) {
    if (has_instruction(rec->trace.frames[depth].p, root))
      return 0;
  }
  return 1;
}

void tlua_rec_pass_edge (TluaRecorder *rec, const Instruction *head) {
  int is_called = rec->trace.depth > 0;
  const char *too_many = is_called ? "loop in a called function" : "inner loop";
  if (is_called && !tlua_rec_may_unroll(rec) && !tlua_rec_can_link(rec, head))
    tlua_rec_give_up(rec, too_many);
  else if (!is_called && !rec->trace.is_side && head < rec->trace.loop.head)
    tlua_rec_give_up(rec, "loop left");
  else if (tlua_rec_may_begin_loop(rec, head) && ++rec->trace.edges > rec->advice->inner_edges)
    tlua_rec_give_up(rec, too_many);
  tl_back_edge(rec->vm, head, is_around(rec, head));
}

/* A jump forward leaves a loop if what is before its target jumps back to before it. */
static void tell_left (TluaRecorder *rec, const Instruction *target) {
  if (target <= rec->at.pc || GET_OPCODE(target[-1]) != OP_JMP)
    return;
  const Instruction *head = target + GETARG_sJ(target[-1]);
  if (head <= rec->at.pc)
    tl_loop_skipped(rec->vm, head);
}

void tlua_rec_go_to (TluaRecorder *rec, const Instruction *target) {
  if (target <= rec->at.pc && !tlua_rec_is_own_loop(rec, target))
    tlua_rec_pass_edge(rec, target);
  tell_left(rec, target);
  rec->trace.next = target;
}
