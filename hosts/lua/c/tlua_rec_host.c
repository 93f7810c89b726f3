/*
** Calls of any function, from compiled code and while recording.
**
** Problem: most C functions can do what compiled code and recordings are not made for: they run Lua code,
** collect, throw, yield, set hooks and local variables, look at the frames. 'pcall', 'table.sort' with a
** comparator, 'string.gsub' with a function, 'coroutine.yield', 'print' and an application's own functions
** are such. And a Lua function that calls itself may be too much for a trace.
**
** Design: before the call the trace puts into the registers what the interpreter would have there
** (tl_host_call); call_host, which the code calls, makes the records of the trace's frames and then calls as
** the interpreter does. So an error or a yield finds nothing that it would have to unwind, a collection its
** roots, and a traceback the truth. A Lua function is run by a new level of the interpreter, without counting
** as a level of C, since there would be none without the JIT. When the call comes back the code goes on in
** its frame, unless something has changed that it relies on: then it is left after the call.
**
** While recording, the call is made by the interpreter, and the recording waits: its hooks are off, other
** recordings may begin, and compiled code runs. The frame's trap is set, so that the interpreter asks at its
** next instruction, and the recording goes on there, be it that a coroutine was suspended meanwhile.
**
** Invariants: in the call, all that is live lies in registers, L->ci is the frame that calls, its 'savedpc'
** comes after the call, and C levels are counted as without the JIT. After it L->ci is the trace's first
** frame, also where the trace has returned to that. What closures share with the frames is read again then,
** as are results. Other registers nobody can have written but debug.setlocal, whose calls are counted.
**
** Example, 's = s + f(i)' with a C function 'f' of the application's in a register:
**   store(frame + 16 * 0, upvalue.int, s); store(frame + 16 * 0, upvalue.tag, integer); ... f and i too
**   guard_nonnull(call(call_host, context, frame, site, 5, 1, 1))
**   guard_value(load(frame + 16 * 5, upvalue.tag), integer); i7 = load(frame + 16 * 5, upvalue.int)
*/

#include "lprefix.h"

#include <stddef.h>

#include "tlua_rec_lib.h"

#include "ldebug.h"
#include "lvm.h"

/* --- the call --- */

/* Dead registers are cleared in one call of so many: what the program has let go is collected in the end. */
#define LET_GO_EACH 64

/* C levels that the interpreter would have between these frames: functions called by C code of its own. */
static l_uint32 levels_of (const CallInfo *ci, const CallInfo *bottom) {
  l_uint32 levels = 0;
  for (; ci != bottom; ci = ci->previous)
    levels += (l_uint32)tlua_is_fresh(ci);
  return levels;
}

/* What a call site's frames count from; its first frame is this one. */
static StkId base_of (const CallInfo *bottom, const tl_call_site *site) {
  return bottom->func.p + 1 - site->frames[0].base;
}

/* Whether exits find the records and registers that they may need, without a collection. */
static int has_room (lua_State *L, TluaRecorder *rec, CallInfo *bottom, const tl_call_site *site) {
  return L->stack_last.p - base_of(bottom, site) >= (ptrdiff_t)site->stack_slots
      && (rec->held.count >= rec->held.wanted || tlua_rec_hold_frames(L, rec));
}

/*
** More calls than this do not lie one in the other on the native stack: a level of the interpreter and of
** compiled code takes a kilobyte and a half there. The code is left then, as by any exit, but in the called
** function; so recursion goes as deep as without the JIT.
*/
#define MOST_NESTED 160

/* Runs a Lua function that is about to begin; returns 0 if it has not begun. */
static int run_function (lua_State *L, TluaRecorder *rec, CallInfo *called) {
  if (rec->host.calls->depth > MOST_NESTED)
    return 0;
  tlua_set_fresh(called);
  luaV_execute(L, called);
  return 1;
}

/* Makes the frames of the call; the last one goes on after it. Returns the C levels between them. */
static l_uint32 make_frames (lua_State *L, TluaRecorder *rec, StkId base, const tl_call_site *site) {
  CallInfo *bottom = L->ci;
  if (site->nframes == 1) {
    tlua_save_pc(bottom, tlua_words_pc(site->frames[0].words) + 1);
    return 0;
  }
  tlua_rec_make_records(L, rec, bottom, base, site->frames, site->nframes);
  tlua_save_pc(L->ci, tlua_saved_pc(L->ci) + 1);
  return levels_of(L->ci, bottom);
}

void tlua_rec_begin_call (lua_State *L, TluaHosted *call, StkId base, const tl_call_site *site, int kept) {
  TluaRecorder *rec = (TluaRecorder *)L->jit->engine_state;
  /* the trace may have returned from frames, which are over for the interpreter too from now on */
  while (L->ci->func.p + 1 != base + site->frames[0].base)
    L->ci = L->ci->previous;
  *call = (TluaHosted){ .rec = rec, .site = site, .bottom = L->ci, .stack = L->stack.p,
                        .last = L->stack_last.p, .locals_set = L->jit->locals_set };
  call->limit = rec->unit_depth != 0 ? rec->limit->end : 0;
  call->epoch = tl_call_begin(rec->vm, rec->host.calls, call);
  call->levels = make_frames(L, rec, base, site);
  if (++rec->host.made % LET_GO_EACH == 0)
    tlua_rec_let_go_in_call(L, call->bottom, kept);
  L->nCcalls += call->levels;
}

/* The code cannot go on. The stack may have moved. */
static const void *leave (const TluaHosted *call, int is_inside) {
  TluaHost *host = &call->rec->host;
  host->has_left = 1;
  host->is_inside = is_inside;
  host->bottom = call->bottom;
  host->base = base_of(call->bottom, call->site);
  return NULL;
}

const void *tlua_rec_end_call (lua_State *L, TluaHosted *call) {
  TluaRecorder *rec = call->rec;
  L->nCcalls -= call->levels;
  L->ci = call->bottom;
  if (rec->unit_depth != 0)  /* code in the call was entered in other frames, or in another thread */
    *(volatile uint64_t *)&rec->limit->end = call->limit;
  if (tl_call_end(rec->vm, rec->host.calls, call->site, call, call->epoch) && L->stack.p == call->stack
      && L->stack_last.p == call->last && L->hookmask == 0 && L->jit->locals_set == call->locals_set
      && has_room(L, rec, call->bottom, call->site))
    return call->stack;
  return leave(call, 0);
}

/*
** Called by compiled code: the function in register 'a' of the last frame, with so many arguments after it.
** Returns NULL if the code must be left.
*/
static const void *call_host (lua_State *L, StkId base, const tl_call_site *site, int64_t a,
                              int64_t arguments, int64_t wanted) {
  TluaHosted call;
  tlua_rec_begin_call(L, &call, base, site, (int)a);
  StkId function = L->ci->func.p + 1 + a;
  L->top.p = function + 1 + arguments;
  if (luai_unlikely(call.rec->host.nested != NULL)) {
    ptrdiff_t place = savestack(L, function);
    tlua_rec_run_nested(L, call.rec);
    function = restorestack(L, place);
  }
  CallInfo *called = luaD_precall(L, function, (int)wanted);
  int has_begun = called == NULL || run_function(L, call.rec, called);
  if (!has_begun || tlua_is_suspended(L)) {
    L->nCcalls -= call.levels;
    tl_call_end(call.rec->vm, call.rec->host.calls, site, &call, call.epoch);
    return leave(&call, 1);
  }
  return tlua_rec_end_call(L, &call);
}

int tlua_describe_host (tl_vm *vm, TluaSchema *schema) {
  schema->state.call_host = tl_add_func(vm, "call_host", (const void *)(uintptr_t)call_host, "aaaiii>a",
                                        TL_EFFECT_REENTERS, NULL, NULL);
  return schema->state.call_host != 0
      && tl_set_slot_cells(vm, schema->upvalue.value, schema->upvalue.tag) == TL_OK;
}

/* --- recording --- */

void tlua_rec_add_changed (TluaChanged *changed, int r) {
  if (changed->count < sizeof(changed->registers) / sizeof(changed->registers[0]))
    changed->registers[changed->count++] = r;
  else
    changed->is_full = 1;
}

/* Whether a closure of the function may share the register. */
static int is_captured (const Proto *p, int r) {
  for (int n = 0; n < p->sizep; n++) {
    const Proto *child = p->p[n];
    for (int m = 0; m < child->sizeupvalues; m++) {
      if (child->upvalues[m].instack && child->upvalues[m].idx == r)
        return 1;
    }
  }
  return 0;
}

/* What closures may share with the frames, each up to the function that it has called. */
void tlua_rec_add_captured (TluaRecorder *rec, TluaChanged *changed, int a) {
  int here = running_frame(rec)->base;
  for (int depth = 0; depth <= rec->trace.depth; depth++) {
    const TluaFrame *frame = &rec->trace.frames[depth];
    int limit = depth == rec->trace.depth ? a : rec->trace.frames[depth + 1].function;
    for (int r = 0; frame->p->sizep > 0 && r < limit; r++) {
      if (is_captured(frame->p, r))
        tlua_rec_add_changed(changed, frame->base - here + r);
    }
  }
}

/*
** What is known of the interpreter's frames, and pointers that the recording has kept, do not outlive a call:
** the collector may have run. L->ci is the first frame of the trace from now on.
*/
static void forget_pointers (TluaRecorder *rec) {
  rec->trace.metatables.count = 0;
  rec->trace.bottom.record = 0;
  rec->trace.bottom.below = 0;
}

static int has_loop (const Proto *p) {
  for (int pc = 0; pc < p->sizecode; pc++) {
    Instruction i = p->code[pc];
    OpCode op = GET_OPCODE(i);
    if (op == OP_FORLOOP || op == OP_TFORLOOP || (op == OP_JMP && GETARG_sJ(i) < 0))
      return 1;
  }
  return 0;
}

/*
** Recursion is called from the level on that is not taken in any more. Functions with loops are left to links
** from loop to loop, which cost less than to enter each loop from the interpreter, and can return natively.
*/
int tlua_rec_is_called (TluaRecorder *rec, Proto *p) {
  int same = 0;
  for (int depth = 0; depth <= rec->trace.depth; depth++)
    same += rec->trace.frames[depth].p == p;
  int deep = same >= TLUA_MOST_SAME || rec->trace.depth + 1 >= TLUA_FRAMES;
  return !rec->trace.is_unit && deep && !has_loop(p);
}

int tlua_rec_can_call (TluaRecorder *rec) {
  return tl_recording(rec->vm) && !rec->trace.is_unit && tl_may_guard(rec->vm) && !tlua_rec_is_protected(rec);
}

void tlua_rec_host_call (TluaRecorder *rec, tl_func function, const tl_value *arguments, uint32_t count,
                         TluaChanged *changed, int kept) {
  const char *what = rec->at.reason != NULL ? rec->at.reason : "recursion";
  tlua_rec_add_captured(rec, changed, kept);
  if (changed->is_full) {
    tlua_rec_give_up(rec, "too many registers that a call may change");
    return;
  }
  tl_note_call(rec->vm, what);
  rec->at.reason = NULL;
  rec->at.is_foreign = 0;
  if (rec->trace.depth > 0)
    rec->held.is_wanted = 1;
  tl_host_call(rec->vm, function, arguments, count, changed->registers, changed->count);
  forget_pointers(rec);
  rec->trace.called.count++;
  rec->trace.next = rec->at.pc + 1;
  rec->at.waits = 1;
}

void tlua_rec_unit_called (TluaRecorder *rec) {
  rec->trace.metatables.count = 0;  /* records of frames stay where they are, and L->ci as it is */
  rec->trace.called.count++;
  rec->trace.next = rec->at.pc + 1;
  rec->at.waits = 1;
}

void tlua_rec_call_host (TluaRecorder *rec, int a, int arguments, int wanted) {
  tl_vm *vm = rec->vm;
  TluaChanged changed;
  tlua_rec_begin_changed(&changed);
  if (arguments > TLUA_MOST_VALUES || !tlua_rec_can_call(rec))
    return;
  tlua_rec_register(rec, a);
  tlua_rec_resume_here(rec);
  int results = wanted != LUA_MULTRET ? wanted : TLUA_MOST_VALUES;
  for (int n = 0; n < results; n++)
    tlua_rec_add_changed(&changed, a + n);
  const tl_value values[] = { tl_const_int(vm, a), tl_const_int(vm, arguments), tl_const_int(vm, wanted) };
  tlua_rec_host_call(rec, rec->schema.state.call_host, values, 3, &changed, a);
  rec->trace.called.is_open = wanted == LUA_MULTRET;
}

void tlua_rec_guard_top (TluaRecorder *rec) {
  tl_vm *vm = rec->vm;
  ptrdiff_t now = rec->trace.thread->top.p - rec->at.base + running_frame(rec)->base;
  tl_value top = tl_load(vm, rec->schema.state.top, tl_context(vm));
  tl_value distance = tl_op2(vm, TL_INT_SUB, tl_op1(vm, TL_ADDR_TO_INT, top),
                             tl_op1(vm, TL_ADDR_TO_INT, tl_frame_base(vm)));
  tl_guard(vm, TL_GUARD_VALUE, distance, tl_const_int(vm, (int64_t)now * (int64_t)sizeof(StackValue)),
           TL_EXIT_GUARD);
  if (rec->trace.thread->top.p - rec->at.base - GETARG_A(*rec->at.pc) > TLUA_MOST_VALUES)
    tlua_rec_give_up(rec, "too many values in a call");
  rec->trace.called.is_open = 0;
  tlua_rec_resume_here(rec);
}

void tlua_rec_see_again (TluaRecorder *rec) {
  tlua_rec_resume_here(rec);
  for (int r = 0; r < rec->at.p->maxstacksize; r++) {
    if (tl_slot_is_forgotten(rec->vm, r) == 2)
      tlua_rec_register(rec, r);
  }
}

/* --- waiting --- */

struct TluaWaiting {
  TluaWaiting *next;
  uint32_t number;            /* the library's */
  unsigned locals_set;        /* as it was when the call began */
  ptrdiff_t place;            /* of the frame that calls, in its thread's stack */
  TluaTrace trace;
};

/* Whether the program may come to this instruction when the call has come back. */
static int goes_on_at (const TluaTrace *trace, const Instruction *pc) {
  const Instruction *next = trace->next;
  if (trace->called.is_step)  /* the interpreter shows what comes after the loop's test */
    return pc == tlua_rec_body_of(next) || pc == next + 1;
  return pc == next;
}

static void remove_waiting (lua_State *L, TluaWaiting **place) {
  TluaWaiting *gone = *place;
  *place = gone->next;
  L->jit->waiting--;
  tlua_own(L, gone, sizeof(TluaWaiting), 0);
}

/* Makes it the library's recording in progress, to be given up; where there is one the library does that. */
static void give_up_waiting (lua_State *L, TluaRecorder *rec, TluaWaiting **place, const char *reason) {
  if (tl_record_wake(rec->vm, (*place)->number))
    tl_record_abort(rec->vm, reason);
  remove_waiting(L, place);
}

/* Whether from this record on the frames are those of the trace: records are used again. */
static int has_frames (const TluaTrace *trace, const CallInfo *ci) {
  for (int depth = trace->depth; depth > 0; depth--) {
    const TluaFrame *frame = &trace->frames[depth];
    if (!isLua(ci) || ci_func(ci)->p != frame->p || !isLua(ci->previous)
        || tlua_saved_pc(ci->previous) != frame->back)
      return 0;
    ci = ci->previous;
  }
  return ci == trace->bottom.ci && isLua(ci) && ci_func(ci)->p == trace->frames[0].p;
}

/* So far down the frames are looked through: what is not found there is taken to be further down. */
#define MOST_LOOKED_AT 256

/* Whether the frame is there still, in the call that is waited for: it does not run. */
static int is_in_call (lua_State *L, const TluaWaiting *waiting) {
  const TluaTrace *trace = &waiting->trace;
  const CallInfo *ci = L->ci->previous;
  for (int n = 0; n < MOST_LOOKED_AT && ci != NULL; n++, ci = ci->previous) {
    if (savestack(L, ci->func.p) <= waiting->place)
      return ci == trace->ci && isLua(ci) && tlua_saved_pc(ci) == trace->next && has_frames(trace, ci);
  }
  return ci != NULL;
}

void tlua_rec_forget_waiting (lua_State *L, TluaRecorder *rec, const lua_State *thread) {
  for (TluaWaiting **place = &rec->host.waiting; *place != NULL; ) {
    if (thread == NULL || (*place)->trace.thread == thread)
      give_up_waiting(L, rec, place, "thread ended");
    else
      place = &(*place)->next;
  }
}

/* Recordings whose frames an error has unwound wait in vain; not so the one that is about to go on. */
static void forget_unwound (lua_State *L, TluaRecorder *rec, const TluaWaiting *wakes) {
  for (TluaWaiting **place = &rec->host.waiting; *place != NULL; ) {
    if (*place != wakes && (*place)->trace.thread == L && !is_in_call(L, *place))
      give_up_waiting(L, rec, place, "error or yield");
    else
      place = &(*place)->next;
  }
}

/* Only those are found that waited in the running frame or above it: to look at all frames takes too long. */
void tlua_rec_forget_unwound (lua_State *L, TluaRecorder *rec) {
  ptrdiff_t here = savestack(L, L->ci->func.p);
  for (TluaWaiting **place = &rec->host.waiting; *place != NULL; ) {
    if ((*place)->trace.thread == L && (*place)->place >= here)
      give_up_waiting(L, rec, place, "error or yield");
    else
      place = &(*place)->next;
  }
}

/*
** The library's recording is put aside first: to give up others makes each of them the one in progress for a
** moment.
*/
void tlua_rec_wait (lua_State *L, TluaRecorder *rec) {
  TluaWaiting *waiting = (TluaWaiting *)tlua_own(L, NULL, 0, sizeof(TluaWaiting));
  if (waiting == NULL)
    tl_record_abort(rec->vm, "out of memory");
  else if ((waiting->number = tl_record_aside(rec->vm)) == 0)
    tlua_own(L, waiting, sizeof(TluaWaiting), 0);
  else {
    forget_unwound(L, rec, NULL);
    waiting->trace = rec->trace;
    waiting->locals_set = L->jit->locals_set;
    waiting->place = savestack(L, L->ci->func.p);
    waiting->next = rec->host.waiting;
    rec->host.waiting = waiting;
    L->jit->waiting++;
  }
  rec->trace.thread = NULL;
  tlua_record_aside(L);
}

static TluaWaiting **find_waiting (lua_State *L, TluaRecorder *rec, const CallInfo *ci,
                                   const Instruction *pc) {
  TluaWaiting **place = &rec->host.waiting;
  for (; *place != NULL; place = &(*place)->next) {
    const TluaTrace *trace = &(*place)->trace;
    if (trace->thread == L && trace->ci == ci && goes_on_at(trace, pc) && has_frames(trace, ci))
      return place;
  }
  return NULL;
}

int tlua_rec_wake (lua_State *L, TluaRecorder *rec, CallInfo *ci, const Instruction *pc) {
  TluaWaiting **place = find_waiting(L, rec, ci, pc);
  if (place == NULL)
    return 0;
  if (rec->trace.thread == L) {  /* it began in the call, and was not over in time */
    tl_record_abort(rec->vm, "frame left");
    rec->trace.thread = NULL;
    tlua_record_stop(L);
  }
  if (rec->trace.thread != NULL) {  /* another thread's is in progress, so that this one cannot go on */
    give_up_waiting(L, rec, place, "frame left");
    return 0;
  }
  forget_unwound(L, rec, *place);
  place = find_waiting(L, rec, ci, pc);
  if (L->hookmask != 0 || (*place)->locals_set != L->jit->locals_set) {
    give_up_waiting(L, rec, place, L->hookmask != 0 ? "debug hook" : "local variable set by a call");
    return 0;
  }
  int wakes = tl_record_wake(rec->vm, (*place)->number);
  if (wakes)
    rec->trace = (*place)->trace;
  remove_waiting(L, place);
  if (wakes)
    tlua_record_resume(L);
  return wakes;
}
