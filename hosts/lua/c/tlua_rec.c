/*
** The recorder's engine: what happens when a loop is hot, while it is recorded, and when compiled code was
** left.
**
** Problem: three parties have to agree on one state. The interpreter owns frames and stack, the library owns
** traces and code, and a recording sees both, one instruction at a time, while the program goes on.
**
** Design: a hot event asks the library, which the first one makes. To run: the stack is made large enough,
** the code is called from here (no other frame lies between), and 'savedpc' is set from the exit's words. To
** record: the hooks call on_record before each instruction, which is lowered as the rows of tlua_rec_ops.c
** say; back at the loop's head the recording is closed.
**
** Invariant: rec->trace.thread is not NULL exactly as long as the library has a recording and the hooks are
** on. Compiled code is only ever entered in the frame, and at the instruction, that its loop was recorded
** for.
**
** Example: 'for i = 1, 1e6 do s = s + i end' is hot at its first ADD; on_hot gets TL_RECORD; on_record sees
** ADD, FORLOOP, and ADD again, which closes the loop; the next back edge gets TL_RUN, and the exit (loop
** end) goes on at FORLOOP.
*/

#include "lprefix.h"

#include <limits.h>
#include <string.h>

#include "tlua_cache.h"
#include "tlua_rec_cfunc.h"
#include "tlua_view.h"

#include "ldebug.h"
#include "ldo.h"
#include "lgc.h"

/* Records of frames that are made at once for code that lacked one. */
#define LEAST_AHEAD 32
#define MOST_AHEAD 256

/* Entries of a function before the library hears of it, and before it gets baseline code. */
#define UNCOUNTED 31

/* Instructions that are executed, for each that the function has, before a loop brings it baseline code. */
#define WORTH_CODE 50

/* A loop counts as no longer than that: its end is looked for often. */
#define LONGEST_LOOP 256

static TluaRecorder *recorder_of (lua_State *L) {
  return (TluaRecorder *)L->jit->engine_state;
}

/* --- making and freeing --- */

/* What people call a place that the library knows by a key, or by the words of a frame. */
static int name_of (void *data, const void *key, const uint64_t *words, char *name, size_t room) {
  const TluaRecorder *rec = (const TluaRecorder *)data;
  return tlua_place_name(&rec->places, key != NULL ? key : tlua_words_pc(words), key != NULL, name, room);
}

/* Returns 0 if there can be no library, and then there is none. */
static int open_library (lua_State *L, TluaRecorder *rec, const tl_config *config) {
  tl_vm *vm = tl_new(config);
  if (vm == NULL)
    return 0;
  if (tl_set_counters(vm, L->jit->counters, TLUA_COUNTERS) != TL_OK
      || tl_set_name_of(vm, name_of, rec) != TL_OK || !tlua_rec_explain(vm)) {
    tl_free(vm);
    return 0;
  }
  rec->vm = vm;
  rec->advice = tl_get_advice();
  rec->held.wanted = TLUA_HELD;
  rec->host.calls = tl_get_calls(vm);
  return 1;
}

/*
** Makes the library if there is none yet. Returns 0 if it cannot be made: then the program goes on in the
** interpreter, and it is not tried again.
*/
static int has_library (lua_State *L, TluaRecorder *rec) {
  if (luai_unlikely(rec->vm == NULL) && !rec->has_failed) {
    static const tl_config plain = { .abi = TL_ABI_VERSION };
    rec->has_failed = !open_library(L, rec, &plain);
  }
  return rec->vm != NULL;
}

/*
** A short program may never need the library, so that it is made at the first back edge, or when a function
** has been entered some times. Where there are settings it must be made now, to say which are wrong.
*/
static int open_or_wait (lua_State *L, TluaRecorder *rec, const TluaConfig *config) {
  tl_config jit = { .abi = TL_ABI_VERSION, .threshold = config->threshold };
  static const tl_config plain = { .abi = TL_ABI_VERSION };
  if (config->jit != NULL)
    jit = *config->jit;
  rec->is_exact = jit.threshold != 0 || jit.start_seed != 0;
  if (jit.flags & TL_FLAG_OFF)
    L->jit->config.no_baseline = L->jit->is_library_off = 1;
  return memcmp(&jit, &plain, sizeof jit) == 0 || open_library(L, rec, &jit);
}

static int on_open (lua_State *L, const TluaConfig *config) {
  TluaRecorder *rec = (TluaRecorder *)tlua_own(L, NULL, 0, sizeof(TluaRecorder));
  if (rec == NULL)
    return 0;
  memset(rec, 0, sizeof(TluaRecorder));
  if (!tlua_cfunc_open(L, rec) || !open_or_wait(L, rec, config)) {
    tlua_cfunc_close(L, rec);
    tlua_own(L, rec, sizeof(TluaRecorder), 0);
    return 0;
  }
  L->jit->engine_state = rec;
  return !config->nests || tlua_rec_make_nested(L, rec);
}

static void on_close (lua_State *L) {
  TluaRecorder *rec = recorder_of(L);
  tlua_rec_forget_waiting(L, rec, NULL);
  tlua_cache_close(L);
  L->jit->unit_limit = NULL;
  tl_free(rec->vm);
  tlua_rec_free_spares(L, rec);
  tlua_rec_free_sites(L, rec);
  tlua_rec_free_frames(L, rec);
  tlua_places_free(L, &rec->places);
  tlua_cfunc_close(L, rec);
  tlua_baseline_close(L->jit);
  tlua_own(L, rec, sizeof(TluaRecorder), 0);
  L->jit->engine_state = NULL;
}

/* --- running --- */

/*
** The interpreter frame keeps its own slots; only what an exit may write above them has to be made sure of. A
** stack that would be too large is not touched: 'luaD_growstack' adds what the message of its overflow needs,
** and the interpreter has not come to that yet.
*/
static int secure_stack (lua_State *L, CallInfo *ci, uint32_t slots) {
  ptrdiff_t wanted = ci->func.p + 1 - L->stack.p + (ptrdiff_t)slots;
  if (wanted <= stacksize(L))
    return 1;
  return wanted <= TLUA_MOST_STACK && luaD_growstack(L, (int)(wanted - (L->top.p - L->stack.p)), 0);
}

/*
** After every exit: the exit itself may have made tables, and a loop that is only ever left before it looks
** at the collector's debt must not run it up for ever. A loop whose tables are all virtual has no debt and
** leaves once in a while; the program may wait for a finalizer or a weak table, so that the collector does a
** step, as by 'collectgarbage("step")'. It does few of them for what the interpreter would have allocated.
** Finalizers may run and move the stack; the interpreter takes everything afresh.
*/
static void collect (lua_State *L, CallInfo *entry, const tl_exit_info *info) {
  global_State *g = G(L);
  if (!tlua_owes(g)) {
    if (info->kind != TL_EXIT_COLLECT || !gcrunning(g))
      return;
    luaE_setdebt(g, 0);
  }
  tlua_rec_let_go(L, entry);
  luaC_step(L);
  /* an open instruction needs the top that the one before it has left */
  if (!tlua_is_open(*tlua_saved_pc(L->ci)))
    L->top.p = L->ci->top.p;
}

/* Where the interpreter's calls through C may nest too deep, or its stack may overflow, it must say so. */
static int has_room (lua_State *L, CallInfo *ci, const tl_run *run) {
  TluaRecorder *rec = recorder_of(L);
  return getCcalls(L) + TLUA_FRAMES < LUAI_MAXCCALLS
      && (rec->held.count >= rec->held.wanted || tlua_rec_hold_frames(L, rec))
      && secure_stack(L, ci, run->stack_slots);
}

/*
** Code that calls itself has found no record for the next frame: it is given some more, each time in a row
** twice as many, or would be left again at each level. Where memory is short the interpreter will say so.
*/
static void make_frames_ahead (lua_State *L, TluaRecorder *rec) {
  uint32_t ahead = rec->held.is_short ? 2 * rec->held.ahead : 0;
  rec->held.ahead = ahead < LEAST_AHEAD ? LEAST_AHEAD : ahead > MOST_AHEAD ? MOST_AHEAD : ahead;
  if (rec->held.is_short)
    tlua_rec_secure_frames(L, L->ci, rec->held.ahead);
}

/*
** The function of the loop in whose tree the code was left. NULL if the frames are half made: a trace that
** ends in another frame has made them, and then found no memory for an object that it hands on. Else L->ci is
** the frame that the code was entered in, or that it had returned to when it made its last call.
*/
static Proto *left_function (lua_State *L, const tl_exit_info *info) {
  return L->ci->func.p + 1 <= (StkId)info->base ? (Proto *)info->owner : NULL;
}

/*
** Runs code in the frame 'ci' and restores the interpreter's state. Returns the outermost frame of the exit,
** or NULL if the code was not entered.
*/
static CallInfo *run_once (lua_State *L, CallInfo *ci, TluaRecorder *rec, const tl_run *run,
                           tl_exit_info *info) {
  if (rec->unit_depth != 0)
    tlua_rec_hold_for_units(rec);
  if (!has_room(L, ci, run)) {
    tl_declined(rec->vm);
    return NULL;
  }
  L->ci = ci;  /* an exit before may have been in a frame that it has called */
  if (rec->held.is_short || rec->held.ahead > LEAST_AHEAD)
    make_frames_ahead(L, rec);
  if (rec->unit_depth != 0)
    tlua_rec_set_limit(L, rec, ci);
  tl_left left = tl_run_code(run, L, ci->func.p + 1);
  int has_called = rec->host.has_left, is_inside = has_called && rec->host.is_inside;
  if (has_called)
    left.base = rec->host.base;  /* a call has moved the stack */
  rec->host.has_left = 0;
  rec->is_exiting = 1;
  tl_exit(rec->vm, left, L, info);
  rec->is_exiting = 0;
  rec->held.is_short = info->kind == TL_EXIT_INTERRUPT && rec->held.is_wanted && !tlua_is_suspended(L);
  if (tlua_is_suspended(L))
    return NULL;
  rec->left = info->kind != TL_EXIT_REFUSED ? left_function(L, info) : NULL;
  if (is_inside)
    return rec->host.bottom;
  return info->kind == TL_EXIT_REFUSED ? NULL : tlua_rec_rebuild(L, rec, info);
}

static void start_side (lua_State *L, CallInfo *bottom, const tl_exit_info *info);
static void forget_recording (TluaRecorder *rec);
static void start_entry (lua_State *L, CallInfo *ci, const Instruction *pc);

/*
** What is recorded at a function's entry is code only if the function calls itself or is long. A short one
** without calls and loops is neither: its callers take it in.
*/
static int is_worth_entries (const TluaRecorder *rec, const Proto *p) {
  if (p->sizecode > (int)rec->advice->ended_bytecodes)
    return 1;
  for (int pc = 0; pc < p->sizecode; pc++) {
    switch (GET_OPCODE(p->code[pc])) {
      case OP_CALL: case OP_TAILCALL: case OP_FORLOOP: case OP_TFORLOOP:
        return 1;
      case OP_JMP:
        if (GETARG_sJ(p->code[pc]) < 0)
          return 1;
        break;
      default:
        break;
    }
  }
  return 0;
}

/*
** Whether the library sets the function's counter of entries. Most functions run too few times to be
** remembered, and a program that loads many would be slower for it. So where no threshold has to be exact the
** library hears of a function at the second look only, UNCOUNTED entries after the first.
*/
static int is_counted (TluaRecorder *rec, Proto *p) {
  int is_new = !p->jit_is_counted && !p->jit_is_seen && !rec->is_exact;
  if (is_new && (rec->cache == NULL || !tlua_cache_has_entry(rec->vm, p))) {
    p->jit_is_seen = 1;
    p->jit_entries = UNCOUNTED;
  }
  else if (!p->jit_is_counted && !is_worth_entries(rec, p))
    p->jit_entries = INT_MAX;
  else if (!p->jit_is_counted)
    p->jit_is_counted = tl_add_counter(rec->vm, &p->jit_entries) == TL_OK;
  return p->jit_is_counted;
}

/*
** Where a trace has ended that goes on at an entry, and there is no code so far: that counts as an entry.
*/
static tl_action at_entry (lua_State *L, TluaRecorder *rec, const tl_exit_info *info, tl_run *run) {
  const Instruction *pc = tlua_saved_pc(L->ci);
  Proto *p = ci_func(L->ci)->p;
  if (info->kind != TL_EXIT_FINISH || !tlua_is_entry(p, pc) || --p->jit_entries >= 0)
    return TL_NOTHING;
  if (p->jit_is_seen)
    tlua_baseline_make(L, p);
  if (!is_counted(rec, p))
    return TL_NOTHING;
  return tl_hot(rec->vm, tlua_entry_key(pc), &p->jit_entries, L->ci->func.p + 1, run);
}

/* From exit to side trace to loop, as long as there is code and nobody else wants a turn. */
static void run_compiled (lua_State *L, CallInfo *ci, TluaRecorder *rec, tl_run *run) {
  tl_exit_info info;
  CallInfo *bottom = NULL, *left;
  tl_action action = TL_RUN;
  unsigned levels = 0;
  while (action == TL_RUN) {
    ptrdiff_t entry = savestack(L, ci->func.p);
    if ((left = run_once(L, ci, rec, run, &info)) == NULL)
      break;
    bottom = left;
    levels += tlua_rec_enter_levels(L, bottom);
    if (rec->unit_depth != 0)
      tlua_rec_allow_more(L, rec, &info, entry);
    if (info.kind == TL_EXIT_INTERRUPT)
      tlua_rec_interrupted(L, rec);
    int is_due = tlua_owes(G(L)) || L->hookmask != 0 || L->jit->is_switched_off;
    ci = L->ci;
    action = is_due ? TL_NOTHING : tl_next(rec->vm, ci->func.p + 1, run);
    if (action == TL_NOTHING && !is_due)
      action = at_entry(L, rec, &info, run);
  }
  if (tlua_is_suspended(L))
    return;
  if (action == TL_RECORD && info.kind == TL_EXIT_FINISH)
    start_entry(L, L->ci, tlua_saved_pc(L->ci));
  else if (action == TL_RECORD)
    start_side(L, bottom, &info);
  else if (bottom != NULL)
    collect(L, bottom, &info);
  tlua_rec_finish_levels(L, levels);
}

/* --- recording --- */

/* Nothing is known yet: values of another recording mean nothing to this one. */
static void begin_trace (TluaRecorder *rec, lua_State *thread, CallInfo *bottom, TluaLoop loop) {
  Proto *p = ci_func(bottom)->p;
  rec->trace = (TluaTrace){ .thread = thread, .ci = bottom, .bottom = { .ci = bottom, .owner = p },
                            .loop = loop, .next = loop.head };
  rec->trace.frames[0].p = p;
}

static void forget_recording (TluaRecorder *rec) {
  rec->trace.thread = NULL;
}

/* What was known of the instruction before does not matter to this one. */
static void begin_instruction (TluaRecorder *rec, CallInfo *ci, const Instruction *pc) {
  const TluaFrame *frame = running_frame(rec);
  rec->at = (TluaInstruction){ .pc = pc, .p = frame->p, .k = frame->p->k, .base = ci->func.p + 1 };
  lua_assert(rec->at.base - tlua_rec_origin(rec) == frame->base);
}

/* Gives the recording up and takes the hooks off. */
static void stop_recording (lua_State *L, TluaRecorder *rec, const char *reason) {
  if (tl_recording(rec->vm))  /* else the library has given it up, for reasons of its own */
    tlua_rec_refuse_protected(rec);
  tl_record_abort(rec->vm, reason);
  if (rec->trace.is_unit)
    tlua_rec_unit_failed(rec);
  forget_recording(rec);
  tlua_record_stop(L);
}

/* The loop's end: exits to places beyond it count as the end of the loop and not as failures. */
static TluaLoop loop_of (const Proto *p, const Instruction *head) {
  int edges;
  TluaLoop loop = { .head = head, .last = tlua_last_of_loop(p, head, &edges) };
  loop.is_only = edges == 1;
  return loop;
}

/* The head of the loop of the same function that goes around this one, or NULL. */
static const Instruction *head_around (const Proto *p, const Instruction *head, const Instruction *last) {
  for (const Instruction *pc = last + 1; pc < p->code + p->sizecode; pc++) {
    const Instruction *target = tlua_back_target(pc);
    if (target != NULL && target < head)
      return target;
  }
  return NULL;
}

/*
** The head of the loop that goes around this one in its function, or else in one that has called it; NULL if
** there is none near by.
*/
static const Instruction *outer_head (const TluaRecorder *rec, const CallInfo *ci, TluaLoop loop) {
  const Proto *p = ci_func(ci)->p;
  const Instruction *outer = head_around(p, loop.head, loop.last);
  for (uint32_t level = 0; outer == NULL && level < rec->advice->levels_out; level++) {
    int is_called_from_lua = !tlua_is_fresh(ci) && isLua(ci->previous);
    ci = ci->previous;
    if (!is_called_from_lua || ci_func(ci)->p == p)
      return NULL;
    const Instruction *next = tlua_saved_pc(ci);
    outer = head_around(ci_func(ci)->p, next, next - 1);
  }
  return outer;
}

/*
** Whether the loop has few iterations to come, and is left to the loop around it, which
** records it as it runs.
*/
static int is_left_to_outer_loop (TluaRecorder *rec, CallInfo *ci, TluaLoop loop) {
  if (GET_OPCODE(*loop.last) != OP_FORLOOP)
    return 0;
  StkId base = ci->func.p + 1;
  int a = GETARG_A(*loop.last);
  const TValue *index = s2v(base + TLUA_FOR_INDEX(a)), *left = s2v(base + TLUA_FOR_COUNT(a));
  const Instruction *outer = outer_head(rec, ci, loop);
  return outer != NULL && ttisinteger(index) && ttisinteger(left)
      && l_castS2U(ivalue(left)) <= rec->advice->inner_edges
      && tl_leave_to(rec->vm, outer);
}

/*
** Whether this is the last iteration of a counted loop: a recording will hardly come back to its head. Once
** it may try, as it may also end in a function that it calls.
*/
static int is_over_now (TluaRecorder *rec, const CallInfo *ci, TluaLoop loop) {
  const TValue *left = s2v(ci->func.p + 1 + TLUA_FOR_COUNT(GETARG_A(*loop.last)));
  return GET_OPCODE(*loop.last) == OP_FORLOOP && ttisinteger(left) && ivalue(left) == 0
      && tl_aborts(rec->vm, loop.head) > 0;
}

/*
** Tells the library about Lua before the first recording: a program without a hot loop does not pay for it.
*/
static int describe_once (lua_State *L, TluaRecorder *rec) {
  if (!rec->is_described)
    rec->is_described = tlua_describe(rec->vm, &rec->schema, tlua_main_thread(G(L)));
  return rec->is_described;
}

static void start_recording (lua_State *L, CallInfo *ci, const Instruction *pc) {
  TluaRecorder *rec = recorder_of(L);
  TluaLoop loop = loop_of(ci_func(ci)->p, pc);
  if (is_left_to_outer_loop(rec, ci, loop) || is_over_now(rec, ci, loop))
    return;
  int is_described = describe_once(L, rec);
  if (tl_record(rec->vm, pc, ci->func.p + 1) != TL_OK)
    return;
  if (!is_described) {
    tl_record_abort(rec->vm, "description refused");
    return;
  }
  tl_record_owner(rec->vm, ci_func(ci)->p);
  begin_trace(rec, L, ci, loop);
  tlua_record_start(L);
}

/*
** A function that is to be a unit begins: records it as one, or the gateway if it is one for such parameters.
** Returns 0 if it is to be recorded as others are.
*/
static int start_unit (lua_State *L, TluaRecorder *rec, CallInfo *ci, const Instruction *pc) {
  Proto *p = ci_func(ci)->p;
  if (pc != p->code || !tlua_rec_wants_unit(ci) || !describe_once(L, rec) || !tlua_rec_allow_units(L, rec))
    return 0;
  uint32_t unit = tlua_rec_unit_of(rec, ci);
  tl_status status = unit != 0 ? tl_record(rec->vm, tlua_entry_key(pc), ci->func.p + 1)
      : tl_record_unit(rec->vm, tlua_entry_key(pc), ci->func.p + 1);
  if (status == TL_ABORTED)
    p->jit_unit = TLUA_NO_UNIT;
  if (status != TL_OK)
    return 0;
  tl_record_owner(rec->vm, p);
  begin_trace(rec, L, ci, (TluaLoop){ .head = NULL });
  rec->trace.is_side = rec->trace.is_function = 1;
  rec->trace.entry = rec->trace.next = pc;
  begin_instruction(rec, ci, pc);
  if (unit != 0) {
    tlua_rec_gateway(rec, ci, unit);
    if (rec->at.reason == NULL)
      tl_record_end(rec->vm, "gateway of a unit");
    else
      tl_record_abort(rec->vm, rec->at.reason);
    forget_recording(rec);
  }
  else if (tlua_rec_begin_unit(rec, L, ci))
    tlua_record_start(L);
  else {
    tl_record_abort(rec->vm, "no unit");
    tlua_rec_unit_failed(rec);
    forget_recording(rec);
  }
  return 1;
}

/* A function's first instruction, or one after a call: what is recorded there goes on elsewhere. */
static void start_entry (lua_State *L, CallInfo *ci, const Instruction *pc) {
  TluaRecorder *rec = recorder_of(L);
  int is_described = describe_once(L, rec);
  if (start_unit(L, rec, ci, pc) || tl_record(rec->vm, tlua_entry_key(pc), ci->func.p + 1) != TL_OK)
    return;
  if (!is_described) {
    tl_record_abort(rec->vm, "description refused");
    return;
  }
  tl_record_owner(rec->vm, ci_func(ci)->p);
  begin_trace(rec, L, ci, (TluaLoop){ .head = NULL });
  rec->trace.is_side = 1;
  rec->trace.entry = rec->trace.next = pc;
  rec->trace.is_function = pc == ci_func(ci)->p->code;
  tlua_record_start(L);
}

/* So often the code of a function is given up since what it calls is made anew. */
#define MOST_DROPPED 2

/*
** Whether code was left because it was made for the first closure of a function that it calls, and has met
** the second one. A program that makes its functions anew each round has no use for that code: it would be
** left in each iteration.
*/
static int calls_another (const CallInfo *ci, const Proto *owner) {
  Instruction i = *tlua_saved_pc(ci);
  const TValue *callee = s2v(ci->func.p + 1 + GETARG_A(i));
  if (owner == NULL || owner->jit_dropped >= MOST_DROPPED)
    return 0;
  if (GET_OPCODE(i) != OP_CALL || !ttisLclosure(callee))
    return 0;
  const LClosure *closure = clLvalue(callee);
  return closure->p->jit_is_relied_on && closure->jit_identity == 0 && !tlua_is_single(closure);
}

/* All code of the function is entered no more. What is recorded next does not tell these closures apart. */
static void drop_code (TluaRecorder *rec, Proto *p) {
  p->jit_dropped++;
  for (int pc = 0; pc < p->sizecode; pc++) {
    tl_drop_entries(rec->vm, &p->code[pc]);
    tl_drop_entries(rec->vm, tlua_entry_key(&p->code[pc]));
  }
}

/*
** The program is after an exit whose outermost frame is 'bottom': records where it goes on.
*/
static void start_side (lua_State *L, CallInfo *bottom, const tl_exit_info *info) {
  TluaRecorder *rec = recorder_of(L);
  const tl_frame *frames = info->frames + info->outer;
  StkId base = (StkId)info->base + (info->outer > 0 ? frames[0].base : 0);
  if (tl_record_side(rec->vm, base) != TL_OK)
    return;
  if (rec->left == NULL) {
    tl_record_abort(rec->vm, "frames half made");
    return;
  }
  if (info->outer == 0 && calls_another(L->ci, (const Proto *)info->owner)) {
    tl_record_abort(rec->vm, "code for another closure");
    drop_code(rec, (Proto *)info->owner);
    return;
  }
  if (info->outer > 0)
    bottom = rec->unit;
  begin_trace(rec, L, bottom, (TluaLoop){ .head = NULL });
  rec->trace.is_side = 1;
  rec->trace.is_unit = rec->trace.is_side_of_unit = tl_records_unit(rec->vm) != 0;
  rec->trace.bottom.owner = rec->left;
  rec->trace.bottom.below = rec->returned;
  rec->trace.frames[0].base = info->outer > 0 ? 0 : frames[0].base;
  if (rec->trace.is_unit) {
    rec->trace.frames[0].closure = tl_const_ref(rec->vm, ci_func(bottom));
    rec->trace.frames[0].is_known = 1;
  }
  begin_instruction(rec, bottom, tlua_saved_pc(L->ci));
  rec->trace.ci = L->ci;
  rec->trace.next = tlua_saved_pc(L->ci);
  rec->trace.called.is_open = tlua_words_top(info->frames[info->nframes - 1].words) == TLUA_TOP_AS_IT_IS;
  tlua_rec_adopt_frames(rec, frames, info->nframes - info->outer);
  tlua_rec_adopt_made(rec);
  /*
  ** The exit was taken because a variable is open that is closed here. A test that none is would fail in this
  ** trace as well, each time, so that the instruction becomes a call.
  */
  if (GET_OPCODE(*rec->trace.next) == OP_CLOSE)
    rec->trace.frames[rec->trace.depth].is_shared = 1;
  if (rec->at.reason != NULL) {
    tl_record_abort(rec->vm, rec->at.reason);
    forget_recording(rec);
    return;
  }
  tlua_record_start(L);
}

/* Instructions from a loop's head to its first jump back. */
static uint64_t length_of (const Proto *p, const Instruction *head) {
  uint64_t length = 1;
  const Instruction *pc = head;
  while (length < LONGEST_LOOP && pc + 1 < p->code + p->sizecode && tlua_back_target(pc) != head) {
    pc++;
    length++;
  }
  return length;
}

/*
** Baseline code of a function costs as much as some dozen executions of all of it. A loop has to run that
** long before the function gets it.
*/
static void make_code_in_time (lua_State *L, TluaRecorder *rec, Proto *p, const Instruction *head) {
  if (p->jit_code != NULL || p->jit_has_no_code || L->jit->config.no_baseline)
    return;
  uint64_t worth = WORTH_CODE * (uint64_t)p->sizecode / length_of(p, head);
  uint64_t passed = tl_back_edges_of(rec->vm, head);
  if (rec->is_exact || passed >= worth || (rec->cache != NULL && tlua_cache_has_code(rec->vm, p)))
    tlua_baseline_make(L, p);
  else
    tl_look_after(rec->vm, tlua_counter(L->jit, head), (uint32_t)(worth - passed));
}

/* Whether the program has switched code off, for all or for this function. */
static int is_off (lua_State *L, const CallInfo *ci) {
  return L->jit->is_switched_off || ci_func(ci)->p->jit_is_off;
}

/* Nothing is to be done at this back edge or entry. Without a library it is the last one that is noticed. */
static void tick (TluaRecorder *rec, int32_t *counter) {
  if (rec->vm != NULL)
    tl_tick(rec->vm, counter);
  else
    *counter = INT_MAX;
}

static void on_hot (lua_State *L, CallInfo *ci, const Instruction *pc) {
  TluaRecorder *rec = recorder_of(L);
  tl_run run;
  tlua_places_add(L, &rec->places, ci);
  if (!has_library(L, rec) || is_off(L, ci)) {
    tick(rec, tlua_counter(L->jit, pc));
    return;
  }
  if (L->jit->waiting && rec->trace.thread == NULL)
    tlua_rec_forget_unwound(L, rec);
  tl_action action = tl_hot(rec->vm, pc, tlua_counter(L->jit, pc), ci->func.p + 1, &run);
  if (action != TL_RUN)  /* a loop with code of its own may be entered each time that it is met */
    make_code_in_time(L, rec, ci_func(ci)->p, pc);
  switch (action) {
    case TL_RUN: run_compiled(L, ci, rec, &run); break;
    case TL_RECORD: start_recording(L, ci, pc); break;
    case TL_NOTHING: tlua_rec_foresee(L, rec, ci, pc); break;
  }
}

static int on_entry (lua_State *L, CallInfo *ci, int may_act) {
  TluaRecorder *rec = recorder_of(L);
  const Instruction *pc = tlua_saved_pc(ci);
  int *counter = &ci_func(ci)->p->jit_entries;
  tl_run run;
  int may_have_code = ci_func(ci)->p->jit_is_seen || rec->is_exact
                      || (rec->cache != NULL && tlua_cache_has_code(rec->vm, ci_func(ci)->p));
  if (may_have_code && !has_library(L, rec)) {
    tick(rec, counter);
    return 0;
  }
  if (may_have_code)
    tlua_baseline_make(L, ci_func(ci)->p);
  if (!is_counted(rec, ci_func(ci)->p))
    return 0;
  tlua_places_add(L, &rec->places, ci);
  if (!may_act || is_off(L, ci)) {
    tick(rec, counter);
    return 0;
  }
  if (L->jit->waiting && rec->trace.thread == NULL)
    tlua_rec_forget_unwound(L, rec);
  switch (tl_hot(rec->vm, tlua_entry_key(pc), counter, ci->func.p + 1, &run)) {
    case TL_RUN: run_compiled(L, ci, rec, &run); return 1;
    case TL_RECORD: start_entry(L, ci, pc); return 1;
    default: tlua_rec_foresee(L, rec, ci, pc); return 0;
  }
}

static void on_swallowed (lua_State *L, int32_t *counter) {
  TluaRecorder *rec = recorder_of(L);
  has_library(L, rec);
  tick(rec, counter);
}

/* Once per iteration: the program's hooks, set by a signal handler say, must get their turn. */
static void guard_no_hooks (TluaRecorder *rec) {
  tl_vm *vm = rec->vm;
  tl_value mask = tl_load(vm, rec->schema.state.hookmask, tl_context(vm));
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_EQ, mask, tl_const_int(vm, 0)), 0, TL_EXIT_INTERRUPT);
}

/* Back at the head: compile. Returns 1 if the recording is to begin anew, with the instruction at hand. */
static int close_loop (lua_State *L, TluaRecorder *rec) {
  if (rec->trace.called.count > 0)
    tlua_rec_see_again(rec);
  if (rec->at.reason != NULL) {
    stop_recording(L, rec, rec->at.reason);
    return 0;
  }
  tl_status status = tl_record_close(rec->vm);
  if (status == TL_AGAIN && tl_record(rec->vm, rec->trace.loop.head, tlua_rec_origin(rec)) == TL_OK) {
    tl_record_owner(rec->vm, rec->trace.bottom.owner);
    begin_trace(rec, L, rec->trace.bottom.ci, rec->trace.loop);
    return 1;
  }
  forget_recording(rec);
  tlua_record_stop(L);
  return 0;
}

/* Code goes on here, now or later: compile. */
static void link_to (lua_State *L, TluaRecorder *rec, const void *key) {
  tlua_rec_resume_here(rec);
  tlua_rec_make_frames(rec, key);
  if (rec->at.reason != NULL)
    stop_recording(L, rec, rec->at.reason);
  else {
    tl_record_link(rec->vm, key);
    forget_recording(rec);
    tlua_record_stop(L);
  }
}

static void end_unit (lua_State *L, TluaRecorder *rec) {
  if (tl_unit_return(rec->vm, rec->at.result.tag, rec->at.result.value) == TL_ABORTED)
    tlua_rec_unit_failed(rec);
  forget_recording(rec);
  tlua_record_stop(L);
}

/*
** Before what cannot be part of a trace, the call of a C function or the return to one: what was recorded so
** far is compiled, if it is much. A unit is left there in any case.
*/
static void end_before (lua_State *L, TluaRecorder *rec) {
  int is_short = rec->trace.steps < rec->advice->ended_bytecodes;
  if (is_short || rec->trace.is_unit || !tl_recording(rec->vm)) {
    stop_recording(L, rec, is_short && rec->at.is_outermost ? "short function" : rec->at.reason);
    return;
  }
  tl_record_end(rec->vm, rec->at.reason);
  forget_recording(rec);
  tlua_record_stop(L);
}

/*
** The frame of the instruction at hand is the recording's, or that of the function which it has just called.
*/
static int is_in_frame (TluaRecorder *rec, CallInfo *ci) {
  TluaTrace *trace = &rec->trace;
  if (trace->is_calling && tlua_rec_caller_of(ci, trace->is_calling_protected) == trace->ci
      && tlua_is_fresh(ci) == trace->is_calling_fresh)
    trace->ci = ci;
  else if (trace->is_calling)
    return 0;
  trace->is_calling = 0;
  return ci == trace->ci;
}

/*
** A C function has taken the step of a generic loop, and the interpreter has tested what it gave: that test
** is recorded first. Returns 0 if the recording is given up.
*/
static int come_back_to_loop (TluaRecorder *rec, const Instruction *pc) {
  rec->trace.called.is_step = 0;
  rec->at.pc = rec->trace.next;
  tlua_rec_resume_here(rec);
  tlua_rec_instruction(rec);
  if (rec->at.reason == NULL && rec->trace.next != pc)
    tlua_rec_give_up(rec, "unexpected instruction");
  rec->at.pc = pc;
  return rec->at.reason == NULL;
}

/*
** A side trace has come to a loop whose code takes other types: it goes on for one iteration, as variables
** often get their types in the first one ('local sum = 0 for ... do sum = sum + list[i] end').
*/
static int passes_first (TluaRecorder *rec, const Instruction *head) {
  if (rec->trace.is_first_passed || tl_loop_fits(rec->vm, head, rec->at.base))
    return 0;
  rec->trace.is_first_passed = 1;
  return 1;
}

static void on_record (lua_State *L, CallInfo *ci, const Instruction *pc) {
  TluaRecorder *rec = recorder_of(L);
  int is_known = is_in_frame(rec, ci);
  if (!is_known || (pc != rec->trace.next && !rec->trace.called.is_step)) {
    stop_recording(L, rec, is_known ? "unexpected instruction" : "frame left");
    return;
  }
  tlua_places_add(L, &rec->places, ci);
  if (luai_unlikely(is_off(L, ci))) {
    stop_recording(L, rec, "switched off by jit.off");
    return;
  }
  begin_instruction(rec, ci, pc);
  if (rec->trace.called.is_step && !come_back_to_loop(rec, pc)) {
    stop_recording(L, rec, rec->at.reason);
    return;
  }
  if (rec->trace.called.has_returned) {  /* before anything else may end the recording here */
    tlua_rec_resume_here(rec);
    tlua_rec_take_result(rec);
    if (rec->at.reason != NULL) {
      stop_recording(L, rec, rec->at.reason);
      return;
    }
  }
  if (tlua_rec_is_lowered(rec, pc)) {
    if (rec->at.reason != NULL)
      stop_recording(L, rec, rec->at.reason);
    return;
  }
  if (pc == rec->trace.loop.head && rec->trace.depth == 0 && rec->trace.is_started && !close_loop(L, rec))
    return;
  if (rec->trace.is_started && !rec->trace.is_unit && tlua_rec_comes_to(rec, pc)
      && !passes_first(rec, pc)) {
    link_to(L, rec, pc);
    return;
  }
  if (tlua_rec_ends_at_entry(rec)) {
    if (rec->trace.depth > 0 && tlua_rec_becomes_unit(rec, ci_func(ci))) {
      stop_recording(L, rec, rec->at.reason);
      return;
    }
    link_to(L, rec, tlua_entry_key(pc));
    return;
  }
  if (++rec->trace.steps > rec->advice->side_bytecodes && rec->trace.is_side)
    tlua_rec_give_up(rec, "long way to a compiled loop");
  tlua_rec_resume_here(rec);
  if (rec->trace.called.is_open)
    tlua_rec_guard_top(rec);
  int is_first = !rec->trace.is_started;
  rec->trace.is_started = 1;
  if (rec->at.reason == NULL) {
    if (is_first && rec->trace.is_unit && pc == rec->trace.entry)
      tlua_rec_guard_limit(rec);
    else if ((is_first && pc == rec->trace.entry) || (pc == rec->trace.loop.head && rec->trace.depth == 0))
      guard_no_hooks(rec);
    if (is_first || (pc == rec->trace.loop.head && rec->trace.depth == 0))
      tlua_rec_guard_no_debt(rec);  /* goes again if the trace turns out to make nothing */
    if (pc == rec->trace.loop.head && rec->trace.depth == 0)
      tlua_rec_loop_variable(rec);
    tlua_rec_instruction(rec);
    if (rec->at.reason != NULL)
      tlua_rec_do_by_call(rec);
  }
  if (rec->at.reason != NULL && rec->at.is_foreign && !tlua_rec_is_protected(rec))
    end_before(L, rec);
  else if (rec->at.reason != NULL)
    stop_recording(L, rec, rec->at.reason);
  else if (!tl_recording(rec->vm))
    stop_recording(L, rec, "refused by the library");
  else if (rec->at.waits)
    tlua_rec_wait(L, rec);
  else if (rec->at.ends_unit)
    end_unit(L, rec);
}

static int on_wake (lua_State *L, CallInfo *ci, const Instruction *pc) {
  return tlua_rec_wake(L, recorder_of(L), ci, pc);
}

static void on_thread_freed (lua_State *thread) {
  tlua_rec_forget_waiting(thread, recorder_of(thread), thread);
}

/* --- endings from outside --- */

static const char *abandon_reason (int why) {
  switch (why) {
    case TLUA_ABANDON_THROW: return "error or yield";
    case TLUA_ABANDON_HOOK: return "debug hook";
    case TLUA_ABANDON_NESTED: return "finalizer";
    case TLUA_ABANDON_STALE: return "stale";
    default: return "thread ended";
  }
}

/* 'L' is the recorded thread; its hooks are off already. */
static void on_abandon (lua_State *L, int why) {
  TluaRecorder *rec = recorder_of(L);
  if (rec->trace.thread != NULL) {
    if (why == TLUA_ABANDON_THROW)
      tlua_rec_refuse_protected(rec);
    tl_record_abort(rec->vm, abandon_reason(why));
    forget_recording(rec);
  }
}

static const void *on_code (lua_State *L, Proto *p, const void *code, size_t size) {
  tl_vm *vm = recorder_of(L)->vm;
  if (code == NULL) {
    tl_host_code_refused(vm);
    return NULL;
  }
  const void *installed = tl_host_code(vm, code, size, &p->jit_code_id);
  if (installed != NULL && recorder_of(L)->cache != NULL)
    tlua_cache_note_code(vm, p);
  if (installed != NULL && tl_is_watched(vm))
    tlua_rec_note_code(vm, p, (const unsigned char *)code, size);
  return installed;
}

static void on_loaded (lua_State *L, const Proto *chunk) {
  tl_vm *vm = recorder_of(L)->vm;
  if (vm != NULL && tl_has_view(vm))
    tlua_view_loaded(vm, chunk);
}

static void on_proto_freed (lua_State *L, Proto *p) {
  tl_vm *vm = recorder_of(L)->vm;
  if (vm != NULL && p->jit_code != NULL) {
    tl_host_code_free(vm, p->jit_code_id);
    tlua_room_forget(L->jit, p);
    tlua_baseline_freed(p);
  }
  if (vm != NULL) {  /* which asks for the names of the function's places once more */
    tl_forget(vm, p->code, p->code + p->sizecode);
    tl_drop_counter(vm, &p->jit_entries);
  }
  tlua_places_remove(&recorder_of(L)->places, p);
}

/* --- the program's wishes --- */

static void on_flush (lua_State *L, const void *low, const void *high) {
  TluaRecorder *rec = recorder_of(L);
  if (rec->trace.thread != NULL)  /* it may go on in what is forgotten */
    stop_recording(rec->trace.thread, rec, "flushed");
  if (rec->vm != NULL)
    tl_forget(rec->vm, low, high);
}

static const char *on_option (lua_State *L, const char *text) {
  TluaRecorder *rec = recorder_of(L);
  if (!has_library(L, rec))
    return "there is no library";
  return tl_set_option(rec->vm, text) == TL_OK ? NULL : tl_last_error(rec->vm);
}

/* --- functions of the application --- */

int tlua_declare_safe (lua_State *L, lua_CFunction f, unsigned int flags) {
  if (L->jit->engine != &tlua_recorder_engine)
    return L->jit->config.mode != TLUA_MODE_JIT;
  return tlua_cfunc_declare(L, recorder_of(L), f, flags);
}

/* --- statistics --- */

struct tl_vm *tlua_jit_vm (lua_State *L) {
  if (L->jit->engine != &tlua_recorder_engine || !has_library(L, recorder_of(L)))
    return NULL;
  return recorder_of(L)->vm;
}

const char *tlua_jit_stats_json (lua_State *L) {
  tl_vm *vm = tlua_jit_vm(L);
  return vm != NULL ? tl_stats_json(vm) : "{}";
}

const char *tlua_jit_stats_text (lua_State *L) {
  tl_vm *vm = tlua_jit_vm(L);
  return vm != NULL ? tl_stats_text(vm) : "";
}

const char *tlua_jit_summary (lua_State *L) {
  tl_vm *vm = tlua_jit_vm(L);
  return vm != NULL ? tl_summary(vm) : "";
}

const char *tlua_jit_view (lua_State *L, const char *path) {
  tl_vm *vm = tlua_jit_vm(L);
  return vm == NULL || tl_view_write(vm, path) == TL_OK ? NULL : tl_last_error(vm);
}

const TluaEngine tlua_recorder_engine = {
  .name = "recorder", .on_open = on_open, .on_close = on_close, .on_hot = on_hot,
  .on_entry = on_entry, .on_swallowed = on_swallowed, .on_record = on_record, .on_wake = on_wake,
  .on_thread_freed = on_thread_freed, .on_code = on_code,
  .on_abandon = on_abandon, .on_loaded = on_loaded, .on_proto_freed = on_proto_freed, .on_flush = on_flush,
  .on_option = on_option
};
