/*
** The slow paths of the hook points of tlua.h, and the services of tlua_internal.h.
**
** Problem: between the interpreter's macros and an engine stand rules that every engine needs and none
** should repeat: whose recording it is, when events may pass, what is freed when.
**
** Design: the hooks call in here; here the rules are checked and the engine's function is called. Which
** engines there are is known to tlua_open.c only.
**
** Invariant: if 'recording' is not NULL it is a thread that has not ended, and its hookmask has
** TLUA_RECORD_BIT unless the program has set a hook since; tlua_record and the next hot event then notice
** and abandon the recording.
**
** Example: a while loop's counter falls below 0 -> tlua_hot_loop -> engine->on_hot -> tlua_record_start ->
** the interpreter goes on at l_jitreload -> luaG_traceexec -> tlua_record -> engine->on_record, before each
** instruction.
*/

#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "tlua_callinfo.h"
#include "tlua_internal.h"
#include "tlua_mapped.h"
#include "tlua_version.h"

#include "ldebug.h"
#include "lmem.h"
#include "lopcodes.h"

/* Inserted into lbaselib.c. */
extern const lua_CFunction tlua_ipairs_step, tlua_next;

/* --- state --- */

/*
** The system's memory, not the state's: it is all zero without a word written, so that a program pays for
** the pages of those counters only that its loops use; and the program's accounts are those of stock Lua.
** (The C library's calloc writes zeros into what lies in its first pages.)
*/
Tlua *tlua_new (void) {
  Tlua *jit = (Tlua *)tlua_map_zeros(sizeof(Tlua));
  if (jit != NULL) {
    jit->threshold = TLUA_OUT_OF_REACH;
    jit->ipairs_step = tlua_ipairs_step;
    jit->next_step = tlua_next;
  }
  return jit;
}

void tlua_at_shutdown (lua_State *L, void (*function) (lua_State *L)) {
  L->jit->at_shutdown = function;
}

void tlua_shutdown (lua_State *L) {
  Tlua *jit = L->jit;
  if (jit->profile_end != NULL)
    jit->profile_end(L);
  if (jit->at_shutdown != NULL)
    jit->at_shutdown(L);
  jit->recording = NULL;
  if (jit->engine != NULL && jit->engine->on_close != NULL)
    jit->engine->on_close(L);
  tlua_match_close(jit);
  tlua_short_close(jit);
  tlua_unmap(jit, sizeof(Tlua));
}

void tlua_statistics (lua_State *L, TluaStatistics *statistics) {
  *statistics = L->jit->statistics;
}

/* --- recording --- */

void tlua_record_start (lua_State *L) {
  Tlua *jit = L->jit;
  lua_assert(jit->recording == NULL && L->hookmask == 0);
  jit->recording = L;
  jit->recorded_since_hot = 1;
  jit->oldpc = L->oldpc;
  jit->statistics.recordings++;
  L->hookmask |= TLUA_RECORD_BIT;
  if (isLua(L->ci))
    tlua_set_trap(L->ci);
}

void tlua_record_aside (lua_State *L) {
  tlua_record_stop(L);
  L->jit->put_aside++;
  tlua_set_trap(L->ci);
}

void tlua_record_resume (lua_State *L) {
  Tlua *jit = L->jit;
  lua_assert(jit->recording == NULL && L->hookmask == 0);
  jit->recording = L;
  jit->recorded_since_hot = 1;
  jit->oldpc = L->oldpc;
  L->hookmask |= TLUA_RECORD_BIT;
  tlua_set_trap(L->ci);
}

void tlua_record_stop (lua_State *L) {
  Tlua *jit = L->jit;
  lua_State *thread = jit->recording;
  (void)L;
  if (thread == NULL)
    return;
  jit->recording = NULL;
  if (thread->hookmask & TLUA_RECORD_BIT) {
    thread->hookmask &= ~TLUA_RECORD_BIT;
    /* returns and calls moved it; the program's next line hook must not see that */
    thread->oldpc = jit->oldpc;
  }
}

static void abandon (lua_State *L, int why) {
  lua_State *thread = L->jit->recording;
  const TluaEngine *engine = L->jit->engine;
  tlua_record_stop(L);
  if (engine != NULL && engine->on_abandon != NULL)
    engine->on_abandon(thread, why);
}

/* Returns true to keep the callback on for this frame. */
int tlua_record (lua_State *L, CallInfo *ci, const Instruction *pc) {
  Tlua *jit = L->jit;
  if (jit->waiting && L->allowhook)
    jit->engine->on_wake(L, ci, pc);
  if (l_unlikely(jit->recording != L)) {  /* a bit that nobody owns */
    L->hookmask &= ~TLUA_RECORD_BIT;
    return 0;
  }
  if (l_unlikely(!L->allowhook)) {  /* a finalizer, called by the collector */
    abandon(L, TLUA_ABANDON_NESTED);
    return 0;
  }
  unsigned put_aside = jit->put_aside;
  jit->recorded_since_hot = 1;
  jit->statistics.recorded_instructions++;
  jit->engine->on_record(L, ci, pc);
  return L->hookmask == TLUA_RECORD_BIT || jit->put_aside != put_aside;
}

/* A coroutine is about to go on in this frame. */
void tlua_wake (lua_State *L, CallInfo *ci) {
  if (L->allowhook && tlua_trap(ci))
    L->jit->engine->on_wake(L, ci, tlua_saved_pc(ci));
}

/* An error or a yield of thread L, about to leave C frames by longjmp. */
void tlua_thrown (lua_State *L) {
  if (L->jit->recording == L) {
    L->jit->statistics.recordings_thrown++;
    abandon(L, TLUA_ABANDON_THROW);
  }
}

void tlua_thread_freed (lua_State *L) {
  if (L->jit->recording == L)
    abandon(L, TLUA_ABANDON_THREAD);
  if (L->jit->waiting && L->jit->engine->on_thread_freed != NULL)
    L->jit->engine->on_thread_freed(L);
}

/*
** Decides whether a hot event may pass while a recording is on. It may not; but a recording that nobody
** moved since the last event is lost (the program set a hook, or a C function runs another thread) and makes
** room.
*/
static int recording_is_on (lua_State *L) {
  Tlua *jit = L->jit;
  if (l_likely(jit->recording == NULL))
    return 0;
  if (jit->recorded_since_hot) {
    jit->recorded_since_hot = 0;
    return 1;
  }
  abandon(L, (jit->recording->hookmask & TLUA_RECORD_BIT) ? TLUA_ABANDON_STALE : TLUA_ABANDON_HOOK);
  return 0;
}

void tlua_hot_loop (lua_State *L, CallInfo *ci, const Instruction *pc) {
  Tlua *jit = L->jit;
  int32_t *counter = tlua_counter(jit, pc);
  tlua_save_pc(ci, pc);
  if (l_unlikely(jit->engine == NULL) || jit->engine->on_swallowed == NULL)
    *counter = (int32_t)(jit->threshold - 1);
  if (l_unlikely(jit->engine == NULL)) {
    jit->counted_before = 1;
    return;
  }
  if (recording_is_on(L) || L->hookmask != 0) {
    if (jit->engine->on_swallowed != NULL)
      jit->engine->on_swallowed(L, counter);
    return;
  }
  jit->statistics.hot_loops++;
  L->top.p = ci->top.p;
  if (jit->engine->on_hot != NULL)
    jit->engine->on_hot(L, ci, pc);
}

/*
** What a function with variable arguments begins with moves its frame: that is for the interpreter. After a
** call the top must not be what the next instruction works with.
*/
int tlua_is_entry (const Proto *p, const Instruction *pc) {
  if (pc == p->code)
    return !tlua_is_vararg(p);
  return GET_OPCODE(pc[-1]) == OP_CALL && GETARG_C(pc[-1]) != 0;
}

/* Entries of a function from one look at it to the next, as long as there is no engine. */
#define UNWATCHED 65536

int tlua_hot_entry (lua_State *L, CallInfo *ci) {
  Tlua *jit = L->jit;
  const TluaEngine *engine = jit->engine;
  Proto *p = ci_func(ci)->p;
  if (l_unlikely(engine == NULL) || engine->on_entry == NULL) {
    p->jit_entries = engine == NULL ? UNWATCHED : (int)(jit->threshold - 1);
    return 0;
  }
  int may_act = tlua_is_entry(p, tlua_saved_pc(ci)) && !recording_is_on(L) && L->hookmask == 0;
  if (may_act) {
    jit->statistics.hot_entries++;
    L->top.p = ci->top.p;
  }
  return engine->on_entry(L, ci, may_act);
}

/* --- data of functions --- */

void tlua_mark_proto (global_State *g, Proto *p) {
  TluaProto *data = p->jit;
  const TluaEngine *engine = g->tlua->engine;
  for (int i = 0; i < data->anchors_used; i++)
    tlua_mark_value(g, &data->anchors[i]);
  if (engine != NULL && engine->on_mark != NULL)
    engine->on_mark(g, p);
}

void tlua_proto_freed (lua_State *L, Proto *p) {
  TluaProto *data = p->jit;
  const TluaEngine *engine = L->jit->engine;
  if (engine != NULL && engine->on_proto_freed != NULL)
    engine->on_proto_freed(L, p);
  if (data == NULL)
    return;
  tlua_own(L, data->live, data->live_bytes, 0);
  tlua_own(L, data->anchors, (size_t)data->anchors_size * sizeof(TValue), 0);
  if (data->name != NULL)
    tlua_own(L, data->name, strlen(data->name) + 1, 0);
  tlua_own(L, data, sizeof(TluaProto), 0);
  p->jit = NULL;
}
