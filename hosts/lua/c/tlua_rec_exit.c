/*
** The interpreter's frames after an exit of compiled code.
**
** Problem: compiled code has no frames for the functions that were inlined, and keeps values in registers of
** its own; the interpreter goes on with frames and with a stack that the collector looks at.
**
** Design: the words of a frame say where it goes on, where its top is, how many results its caller wants,
** its call status, and how many variable arguments lie below it. Their records are the thread's next ones,
** or new ones; as many as an exit can need are held before code is entered, where that can still fail.
** Frames of metamethods and iterators, which C code of the interpreter calls, are run down to that code
** (tlua_rec_pcall.c). Before a collection what nobody reads is cleared.
**
** Invariant: after an exit L->ci is the frame that goes on, with a 'savedpc' and a top as the interpreter
** would have them.
**
** Example, an exit in 'half' of 's = s + half(i)': two frames, the loop's one with a 'savedpc' after the
** call, and that of 'half', which comes next in the list of records.
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "ldebug.h"
#include "lvm.h"

/* --- frames --- */

/* Code that makes frames itself finds their records there. */
int tlua_rec_secure_frames (lua_State *L, CallInfo *ci, uint32_t frames) {
  int secured = 1;
  CallInfo *running = L->ci;
  L->ci = ci;
  for (; secured && frames > 0; frames--) {
    CallInfo *next = tlua_next_frame(L, 0);
    secured = next != NULL;
    if (secured)
      L->ci = next;
  }
  L->ci = running;
  return secured;
}

/*
** The record of a frame may be made by the allocator, which refuses. So records are held for exits, as many
** as one can need, and given out then; without them code is not entered. They are not made in each thread,
** since the collector frees half of those that a thread does not use, each time.
*/
int tlua_rec_hold_frames (lua_State *L, TluaRecorder *rec) {
  for (; rec->held.count < rec->held.wanted; rec->held.count++) {
    CallInfo *ci = (CallInfo *)tlua_own(L, NULL, 0, sizeof(CallInfo));
    if (ci == NULL)
      return 0;
    ci->next = rec->held.frames;
    rec->held.frames = ci;
  }
  return 1;
}

void tlua_rec_free_frames (lua_State *L, TluaRecorder *rec) {
  while (rec->held.frames != NULL) {
    CallInfo *ci = rec->held.frames;
    rec->held.frames = ci->next;
    tlua_own(L, ci, sizeof(CallInfo), 0);
  }
  rec->held.count = 0;
}

/* The record after the last one of a thread. It neither collects nor fails. */
static CallInfo *add_record (lua_State *L, TluaRecorder *rec, CallInfo *last) {
  CallInfo *ci = (CallInfo *)tlua_realloc(L, NULL, 0, sizeof(CallInfo));
  if (ci == NULL) {
    lua_assert(rec->held.count > 0);
    ci = rec->held.frames;
    rec->held.frames = ci->next;
    rec->held.count--;
    tlua_becomes_lua(L, sizeof(CallInfo));
  }
  ci->previous = last;
  ci->next = NULL;
  last->next = ci;
  L->nci++;
  return ci;
}

static CallInfo *next_record (lua_State *L, TluaRecorder *rec, CallInfo *ci) {
  return ci->next != NULL ? ci->next : add_record(L, rec, ci);
}

/*
** Frames whose status says so are called from C, by a metamethod's instruction or by the step of a generic
** loop. As long as they run the interpreter counts a level of C calls for each.
*/
unsigned tlua_rec_enter_levels (lua_State *L, const CallInfo *entry) {
  unsigned levels = 0;
  for (const CallInfo *ci = L->ci; ci != entry; ci = ci->previous)
    levels += tlua_is_fresh(ci);
  L->nCcalls += levels;
  return levels;
}

/* The code may have returned from frames: the outermost one that it has left is known by its place. */
static CallInfo *find_bottom (lua_State *L, TluaRecorder *rec, const tl_exit_info *info) {
  StkId entered = (StkId)info->base, wanted = entered + info->frames[0].base;
  CallInfo *ci = L->ci;
  int is_returning = 0;
  rec->returned = 0;
  for (; ci->func.p + 1 != wanted; ci = ci->previous) {
    is_returning |= ci->func.p + 1 <= entered;
    rec->returned += is_returning;
  }
  return ci;
}

void tlua_rec_make_records (lua_State *L, TluaRecorder *rec, CallInfo *bottom, StkId base,
                            const tl_frame *frames, uint32_t count) {
  const uint64_t *words = frames[0].words;
  CallInfo *ci = bottom;
  L->ci = ci;
  tlua_save_pc(ci, tlua_words_pc(words));
  for (uint32_t n = 1; n < count; n++) {
    words = frames[n].words;
    if (frames[n].base == frames[n - 1].base) {  /* a unit's frame, whose caller has said how it was called */
      tlua_save_pc(ci, tlua_words_pc(words));
      rec->unit = ci;
      continue;
    }
    const CallInfo *caller = ci;
    CallInfo *pcall = NULL;
    if (tlua_words_status(words) & TLUA_STATUS_PROTECTED)
      pcall = ci = next_record(L, rec, ci);
    L->ci = ci = next_record(L, rec, ci);
    tlua_frame_make(ci, base + frames[n].base - 1, words);
    if (pcall != NULL)
      tlua_rec_make_pcall(pcall, caller, ci->top.p);
  }
  uint64_t top = tlua_words_top(words);
  if (top != TLUA_TOP_AS_IT_IS)
    L->top.p = top != 0 ? ci->func.p + 1 + top : ci->top.p;
}

CallInfo *tlua_rec_rebuild (lua_State *L, TluaRecorder *rec, const tl_exit_info *info) {
  CallInfo *bottom = find_bottom(L, rec, info);
  tlua_rec_make_records(L, rec, bottom, (StkId)info->base, info->frames, info->nframes);
  return bottom;
}

/* --- before a collection --- */

/* Whether register 'r' is an argument or operand of the open instruction that the frame goes on with. */
static int is_open_value (lua_State *L, CallInfo *ci, int r) {
  const Instruction *pc = tlua_saved_pc(ci);
  return ci == L->ci && tlua_is_open(*pc) && r >= GETARG_A(*pc) && ci->func.p + 1 + r < L->top.p;
}

/*
** Where the frame is in the middle of an instruction that has called a metamethod: that instruction, whose
** operands may have to come back; else the one that comes next. A call, also of an iterator, has nothing
** left to do but to take its results.
*/
static const Instruction *first_to_finish (lua_State *L, CallInfo *ci) {
  const Instruction *pc = tlua_saved_pc(ci);
  if (ci == L->ci || GET_OPCODE(pc[-1]) == OP_CALL || GET_OPCODE(pc[-1]) == OP_TFORCALL)
    return pc;
  return pc - 1;
}

/*
** Sets dead registers below 'limit' to nil; returns the number of the first register above the last live
** one.
*/
static int clear_frame (lua_State *L, CallInfo *ci, int limit) {
  Proto *p = ci_func(ci)->p;
  const lu_byte *now = tlua_live(L, p, (int)(first_to_finish(L, ci) - p->code));
  const lu_byte *next = tlua_live(L, p, (int)(tlua_saved_pc(ci) - p->code));
  int top = 0;
  if (now == NULL || next == NULL)
    return limit;
  int named = ci != L->ci ? tlua_named(p, (int)(tlua_saved_pc(ci) - p->code) - 1) : 0;
  for (int r = 0; r < limit; r++) {
    if (r < named || tlua_is_live(now, r) || tlua_is_live(next, r) || is_open_value(L, ci, r))
      top = r + 1;
    else
      setnilvalue(s2v(ci->func.p + 1 + r));
  }
  return top;
}

/*
** The place of a frame's function among its caller's registers; variable arguments lie between it and the
** frame.
*/
static StkId called_function (CallInfo *ci) {
  if (!isLua(ci))
    return ci->func.p;
  const Proto *p = ci_func(ci)->p;
  return tlua_hides_arguments(p) ? ci->func.p - (tlua_extra_arguments(ci) + p->numparams + 1) : ci->func.p;
}

/* The frames below the running one, down to 'bottom': of each, up to the function that it has called. */
static void clear_callers (lua_State *L, CallInfo *bottom) {
  for (CallInfo *ci = L->ci; ci != bottom; ) {
    StkId function = called_function(ci);
    ci = ci->previous;
    if (!isLua(ci))  /* 'pcall', with nothing but its results */
      continue;
    int limit = (int)(function - (ci->func.p + 1)), size = ci_func(ci)->p->maxstacksize;
    clear_frame(L, ci, limit < size ? limit : size);
  }
}

/*
** Compiled code keeps values in registers of its own, so that what a loop wrote into the frames long ago may
** still lie there, and an object that only it refers to would live as long as the loop runs. In the
** interpreter most of that is overwritten in each iteration, and the rest lies above the top. What is live
** is what an exit writes: compiled code relies on the same.
*/
void tlua_rec_let_go (lua_State *L, CallInfo *entry) {
  CallInfo *ci = L->ci;
  int top = clear_frame(L, ci, ci_func(ci)->p->maxstacksize);
  if (!tlua_is_open(*tlua_saved_pc(ci)))
    L->top.p = ci->func.p + 1 + top;
  clear_callers(L, entry);
}

void tlua_rec_let_go_in_call (lua_State *L, CallInfo *bottom, int function) {
  clear_frame(L, L->ci, function);
  clear_callers(L, bottom);
}
