/*
** Returns from the frame that a side trace began in, and links to loops in other frames than that.
**
** Problem: a loop in a small function is left by the function's return, and where the program goes on, in
** its caller, is as hot as the loop. But compiled code knows its own frame only: who has called it differs
** from call to call.
**
** Design: a return is guarded by what identifies the caller: its frame was called by the interpreter's own
** loop, and not by C, and goes on at the instruction where this caller goes on now. The recording goes on
** there. The caller's registers were nobody's business until then, so they are read from memory, each under
** a guard of its type, when they are wanted first. At the end the trace may be in any frame: it makes the
** interpreter's records of those frames that the program has called meanwhile, says which one runs, and goes
** on in the code of a loop there. So code walks up and down the interpreter's own stack of frames, and needs
** none itself (LuaJIT's traces return in the same way, by RETF).
**
** Invariant: while code runs, L->ci is the frame whose base the code was entered with, up to the stores at a
** trace's end. An exit finds the outermost of its frames by its place in the stack, below that one if the
** trace has returned; no side trace is recorded after an exit between these stores.
**
** Example, the way from the end of a loop in 'find' through 'local function twice (t) return find(t)
** + find(t) end' to the loop's next run:
**   call = load call_info.call ci; guard_true(int_eq(int_and(call, FRESH), 0))
**   c1 = load call_info.previous ci; guard_value(load call_info.savedpc c1, the second call of 'find')
**   ...                                                          -- registers of 'twice' are read from memory
**   next = load call_info.next c1; guard_nonnull(next)
**   store call_info.savedpc c1; store call_info.function next; ...; store thread.call_info next
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "ldebug.h"
#include "lfunc.h"

/* After so many returns a trace ends where the next one leads to. */
#define MOST_RETURNS 3

/* --- description --- */

static tl_cell pointer (tl_vm *vm, const char *name, size_t offset) {
  return tl_add_cell(vm, name, (int32_t)offset, 8, TL_ADDR, tl_alias_class(vm, name), 0);
}

static tl_cell number (tl_vm *vm, const char *name, size_t offset, size_t width) {
  return tl_add_cell(vm, name, (int32_t)offset, (uint32_t)width, TL_INT, tl_alias_class(vm, name), 0);
}

int tlua_describe_frames (tl_vm *vm, TluaSchema *schema) {
  TluaFrameIds *frame = &schema->frame;
  frame->function = pointer(vm, "call_info.function", offsetof(CallInfo, func));
  frame->top = pointer(vm, "call_info.top", offsetof(CallInfo, top));
  frame->previous = pointer(vm, "call_info.previous", offsetof(CallInfo, previous));
  frame->next = pointer(vm, "call_info.next", offsetof(CallInfo, next));
  frame->saved_pc = pointer(vm, "call_info.savedpc", TLUA_SAVED_PC_OFFSET);
  frame->trap = number(vm, "call_info.trap", TLUA_TRAP_OFFSET, TLUA_TRAP_SIZE);
  frame->call = number(vm, "call_info.call", TLUA_CALL_OFFSET, TLUA_CALL_SIZE);
  frame->way_back = pointer(vm, "call_info.way_back", TLUA_WAY_BACK_OFFSET);
  frame->stack_last = pointer(vm, "thread.stack_last", offsetof(lua_State, stack_last));
  frame->room = number(vm, "loop.room", 0, 8);
  return frame->function != 0 && frame->top != 0 && frame->previous != 0 && frame->next != 0
      && frame->saved_pc != 0 && frame->trap != 0 && frame->call != 0
      && frame->way_back != 0 && frame->stack_last != 0 && frame->room != 0;
}

/* --- returning --- */

/* Where the call that goes on at 'back' has put its function, and how many results it wants. */
static int called_register (const Instruction *back) {
  return GETARG_A(back[-1]);
}

static int wanted_results (const Instruction *back) {
  return GETARG_C(back[-1]) - 1;
}

/*
** Whether the bottom frame returns to Lua code that the recording can go on with. What C has called,
** iterators and metamethods too, leaves the interpreter's function when it returns: there a long recording
** ends, and a short one is given up, as it would gain less than its entry takes.
*/
static int returns_to_lua (TluaRecorder *rec) {
  const CallInfo *ci = rec->trace.bottom.ci;
  if (!rec->trace.is_side)
    tlua_rec_give_up(rec, "loop left");
  else if (tlua_is_fresh(ci)) {
    tlua_rec_give_up(rec, "return to C");
    rec->at.is_foreign = rec->at.is_outermost = 1;
  }
  else if (GET_OPCODE(tlua_saved_pc(ci->previous)[-1]) != OP_CALL)
    tlua_rec_give_up(rec, "return to no call");
  else if (rec->trace.is_function && !rec->trace.bottom.has_returned
           && ci_func(ci->previous)->p != ci_func(ci)->p) {
    /* who calls such a function takes it in; only if it is long it is worth an entry */
    tlua_rec_give_up(rec, "function that returns");
    rec->at.is_foreign = rec->at.is_outermost = 1;
  }
  return rec->at.reason == NULL;
}

/*
** Guards that the bottom frame returns to where it returns now, and what is to be closed before if 'closes'.
** The function of a frame with variable arguments lies below them: their number must be the same.
*/
static tl_value guard_caller (TluaRecorder *rec, int is_vararg, int closes) {
  tl_vm *vm = rec->vm;
  const TluaFrameIds *ids = &rec->schema.frame;
  const CallInfo *ci = rec->trace.bottom.ci;
  tl_value record = tlua_rec_call_info(rec), zero = tl_const_int(vm, 0);
  tl_value call = tl_load(vm, ids->call, record);
  tl_value fresh = tl_op2(vm, TL_INT_AND, call, tl_const_int(vm, TLUA_CALL_FRESH));
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_EQ, fresh, zero), 0, TL_EXIT_GUARD);
  tl_value caller = tl_load(vm, ids->previous, record);
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, ids->saved_pc, caller),
           tl_const_addr(vm, tlua_saved_pc(ci->previous)), TL_EXIT_GUARD);
  /* who set the trap wants to see the caller's next instruction: a recording may wait for it */
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_EQ, tl_load(vm, ids->trap, caller), zero), 0,
           TL_EXIT_INTERRUPT);
  if (is_vararg) {
    tl_value extra = tl_load(vm, rec->schema.state.extra_arguments, record);
    tl_value now = tl_const_int(vm, tlua_extra_arguments(ci));
    tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_EQ, extra, now), 0, TL_EXIT_GUARD);
  }
  if (closes)
    rec->trace.frames[0].is_shared = tlua_rec_guard_closes(rec);
  return caller;
}

/* The trace relies on the caller's code, which must live as long. */
static int keep_caller (TluaRecorder *rec, Proto *p) {
  TValue value;
  setgcovalue(rec->trace.thread, &value, obj2gco(p));
  if (!tlua_anchor(rec->trace.thread, rec->trace.bottom.owner, &value))
    tlua_rec_give_up(rec, "out of memory");
  return rec->at.reason == NULL;
}

int tlua_rec_guard_return (TluaRecorder *rec, int closes) {
  TluaBottom *bottom = &rec->trace.bottom;
  if (!returns_to_lua(rec) || !keep_caller(rec, ci_func(bottom->ci->previous)->p))
    return 0;
  bottom->caller = guard_caller(rec, tlua_hides_arguments(ci_func(bottom->ci)->p), closes);
  return rec->at.reason == NULL;
}

int tlua_rec_wanted_below (const TluaRecorder *rec) {
  return wanted_results(tlua_saved_pc(rec->trace.bottom.ci->previous));
}

/*
** Whether the trace ends where it goes on after a return, and code of that place goes on. Else a function
** that calls itself would be followed through all its returns, each number of which is another way.
*/
static int ends_after_return (TluaRecorder *rec, const Proto *returning, const CallInfo *caller) {
  const Proto *p = ci_func(caller)->p;
  return tlua_is_entry(p, tlua_saved_pc(caller))
      && (p == returning || ++rec->trace.returns > MOST_RETURNS);
}

/* The outermost frame is its caller's from now on, which gets the values. Returns where that goes on. */
static const Instruction *go_below (TluaRecorder *rec, const Operand *values, int count) {
  TluaBottom *bottom = &rec->trace.bottom;
  CallInfo *caller = bottom->ci->previous;
  const Instruction *back = tlua_saved_pc(caller);
  StkId base = bottom->ci->func.p + 1, below = caller->func.p + 1;
  const Proto *returning = ci_func(bottom->ci)->p;
  tlua_rec_close_frame(rec, values, count);
  tl_frame_return(rec->vm, (int32_t)(below - base));
  rec->trace.frames[0] = (TluaFrame){ .p = ci_func(caller)->p,
                                      .base = rec->trace.frames[0].base + (int)(below - base) };
  rec->trace.ci = bottom->ci = caller;
  bottom->record = bottom->caller;
  bottom->has_returned = 1;
  rec->trace.returned = ends_after_return(rec, returning, caller) ? back : NULL;
  return back;
}

void tlua_rec_return_below (TluaRecorder *rec, const Operand *values, int count) {
  const Instruction *back = go_below(rec, values, count);
  tlua_rec_write_results(rec, called_register(back), values, count, wanted_results(back));
  rec->trace.next = back;
}

/*
** The outermost frame is that of the function that it has called last: its caller's is the outermost one now,
** and has called that function.
*/
TluaFrame tlua_rec_give_way (TluaRecorder *rec, const Operand *values, int count) {
  CallInfo *ci = rec->trace.bottom.ci;
  const Instruction *back = go_below(rec, values, count);
  rec->trace.ci = ci;
  return (TluaFrame){ .caller = TLUA_CALLED, .back = back, .function = called_register(back),
                      .wanted = wanted_results(back), .status = TLUA_STATUS_TAIL };
}

/* --- ending in another frame --- */

/* The place of a register in the stack, counted from the base that the trace is entered with. */
static tl_value register_place (TluaRecorder *rec, int r) {
  tl_vm *vm = rec->vm;
  return tl_item_addr(vm, tl_frame_base(vm), tl_const_int(vm, r), sizeof(StackValue), 0);
}

/* Guards that the stack has that many slots from a place on. */
static void guard_room (TluaRecorder *rec, tl_value place, tl_value slots) {
  tl_vm *vm = rec->vm;
  tl_value last = tl_load(vm, rec->schema.frame.stack_last, tl_context(vm));
  tl_value from = tl_op1(vm, TL_ADDR_TO_INT, place);
  tl_value bytes = tl_op2(vm, TL_INT_SUB, tl_op1(vm, TL_ADDR_TO_INT, last), from);
  tl_value wanted = tl_op2(vm, TL_INT_MUL, slots, tl_const_int(vm, sizeof(StackValue)));
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_GE, bytes, wanted), 0, TL_EXIT_INTERRUPT);
}

/*
** The stack must have room for the new frames, and for what exits of the code there may write. Where it has
** none the interpreter makes some, so that a side trace would be of no use.
*/
static void guard_stack (TluaRecorder *rec, const void *key) {
  tl_vm *vm = rec->vm;
  int top = 0;
  for (int depth = 1; depth <= rec->trace.depth; depth++) {
    const TluaFrame *frame = &rec->trace.frames[depth];
    int end = frame->base + frame->p->maxstacksize;
    top = end > top ? end : top;
    top = frame->reach > top ? frame->reach : top;
  }
  guard_room(rec, tl_frame_base(vm), tl_const_int(vm, top));
  const uint64_t *room = tl_room_cell(vm, key);
  guard_room(rec, register_place(rec, running_frame(rec)->base),
             tl_load(vm, rec->schema.frame.room, tl_const_addr(vm, room)));
}

/* Fills in the record of a called frame, as a call by the interpreter would. */
static void make_frame (TluaRecorder *rec, const TluaFrame *frame, tl_value caller, tl_value record) {
  tl_vm *vm = rec->vm;
  const TluaFrameIds *ids = &rec->schema.frame;
  tl_store(vm, ids->saved_pc, caller, tl_const_addr(vm, frame->back));
  tl_store(vm, ids->function, record, register_place(rec, frame->base - 1));
  tl_store(vm, ids->top, record, register_place(rec, frame->base + frame->p->maxstacksize));
  tl_store(vm, ids->call, record, tl_const_int(vm, tlua_call_of(frame->wanted, frame->status)));
  tl_store(vm, ids->trap, record, tl_const_int(vm, 0));
  tl_store(vm, ids->way_back, record, tl_const_addr(vm, (const void *)tlua_find_way_back));
  tl_store(vm, rec->schema.state.extra_arguments, record, tl_const_int(vm, frame->extra));
}

void tlua_rec_make_frames (TluaRecorder *rec, const void *key) {
  tl_vm *vm = rec->vm;
  tl_value records[TLUA_FRAMES];
  if (rec->trace.depth == 0 && rec->trace.frames[0].base == 0)
    return;
  records[0] = tlua_rec_call_info(rec);
  if (rec->trace.depth > 0) {
    rec->held.is_wanted = 1;
    guard_stack(rec, key);
  }
  for (int depth = 1; depth <= rec->trace.depth; depth++) {
    records[depth] = tl_load(vm, rec->schema.frame.next, records[depth - 1]);
    tl_guard(vm, TL_GUARD_NONNULL, records[depth], 0, TL_EXIT_INTERRUPT);
  }
  tl_link_frames(vm);
  for (int depth = 1; depth <= rec->trace.depth; depth++)
    make_frame(rec, &rec->trace.frames[depth], records[depth - 1], records[depth]);
  tl_store(vm, rec->schema.state.call_info, tl_context(vm), records[rec->trace.depth]);
}
