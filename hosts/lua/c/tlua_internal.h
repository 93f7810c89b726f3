/*
** What the hooks offer to an engine: a recorder, or one of the test modes.
**
** Problem: hooks, recorder and checks are written apart and must be testable apart.
**
** Design: an engine is a table of functions. tlua.c calls them at the events below and offers the few
** services that touch the interpreter's state. Any entry may be NULL.
**
** Invariant: tlua.c never lets an event through that an engine could not act upon: no hot event while the
** program has debug hooks of its own or while a recording is on, no instruction of a finalizer or a hook
** function.
**
** Example, the smallest recorder:
**   static void on_hot (lua_State *L, CallInfo *ci, const Instruction *pc) { tlua_record_start(L); }
**   static void on_record (lua_State *L, CallInfo *ci, const Instruction *pc) {
**     if (enough()) tlua_record_stop(L);
**   }
*/
#ifndef tlua_internal_h
#define tlua_internal_h

#include <stddef.h>

#include "lua.h"

#include "ldo.h"
#include "lobject.h"
#include "lstate.h"

/* So many fields: each is a place where an engine is asked or told. */
typedef struct TluaEngine {
  const char *name;

  /* Makes L->jit->engine_state. Returns 0 on lack of memory. */
  int (*on_open) (lua_State *L, const TluaConfig *config);

  /* The state is closing: all objects are gone, free engine_state. */
  void (*on_close) (lua_State *L);

  /*
  ** A loop is hot; 'pc' is the instruction the jump arrived at, 'ci' == L->ci its frame. tlua_saved_pc(ci)
  ** == pc, L->top == ci->top, the counter is reset, no recording is on and L->hookmask == 0. May run compiled
  ** code, may change L->ci and frames, may start a recording, may throw (as the instruction at savedpc
  ** might). On return the interpreter goes on in L->ci at its savedpc.
  */
  void (*on_hot) (lua_State *L, CallInfo *ci, const Instruction *pc);

  /*
  ** A counter fell below 0 while a recording or a hook is on, so that there is no on_hot. If the engine has
  ** this, it sets the counter, here and in on_hot; else it is set to the threshold already.
  */
  void (*on_swallowed) (lua_State *L, int32_t *counter);

  /*
  ** The counter of a function's entries, p->jit_entries, fell below 0, and is to be set: it begins, or goes
  ** on after a call at which a coroutine was suspended. As on_hot if 'may_act', else there is nothing else to
  ** do. Returns 1 to go on in L->ci at its savedpc, 0 if nothing was done.
  */
  int (*on_entry) (lua_State *L, CallInfo *ci, int may_act);

  /*
  ** Before the instruction '*pc' of the recorded thread; ci == L->ci. Must not change frames, throw, or
  ** collect. L->top is valid only if the instruction is an open one (isIT(*pc)). tlua_saved_pc(ci) is that of
  ** an earlier instruction of this frame.
  */
  void (*on_record) (lua_State *L, CallInfo *ci, const Instruction *pc);

  /*
  ** A call may have come back that a recording waits for: before an instruction, while L->jit->waiting is not
  ** 0. Returns 1 if a recording goes on here: it has called tlua_record_resume, and on_record is called next.
  ** Another recording of this thread may be on, and is given up first. May be NULL if 'waiting' stays 0.
  */
  int (*on_wake) (lua_State *L, CallInfo *ci, const Instruction *pc);

  /* A thread is freed. Recordings of it that wait will wait no more. May be NULL, as above. */
  void (*on_thread_freed) (lua_State *thread);

  /* The recording of L ends from outside: an error, a yield, a hook or a finalizer. It is off already. */
  void (*on_abandon) (lua_State *L, int why);

  /*
  ** Takes baseline code of a function, which it may have until it is freed; returns where it lies, or NULL.
  ** The code does not depend on its place. Without code it counts a function that could get none. May be
  ** NULL: then there is no baseline code.
  */
  const void *(*on_code) (lua_State *L, Proto *p, const void *code, size_t size);

  /* A chunk was loaded, and has not run. Must not throw or collect. */
  void (*on_loaded) (lua_State *L, const Proto *chunk);

  /* A function is freed; p->jit is still there. Drop its traces. */
  void (*on_proto_freed) (lua_State *L, Proto *p);

  /*
  ** Code of loops and entries in this range is entered no more, and freed when it was left. May be NULL, as
  ** may the next one.
  */
  void (*on_flush) (lua_State *L, const void *low, const void *high);

  /* Changes a setting. Returns NULL, or what is wrong, until the next call. */
  const char *(*on_option) (lua_State *L, const char *text);

  /*
  ** The collector marks a function; its anchored constants are marked already. For what the engine keeps
  ** elsewhere.
  */
  void (*on_mark) (global_State *g, Proto *p);
} TluaEngine;

/* Reasons of on_abandon. */
enum { TLUA_ABANDON_THROW, TLUA_ABANDON_HOOK, TLUA_ABANDON_NESTED, TLUA_ABANDON_STALE, TLUA_ABANDON_THREAD };

/* What the JIT keeps of a function. */
typedef struct TluaProto {
  lu_byte *live;        /* a row for each instruction, see tlua_live; NULL until asked for */
  size_t live_bytes;
  TValue *anchors;      /* constants of traces, marked with the function */
  int anchors_used;
  int anchors_size;
  void *traces;         /* the engine's */
  char *name;           /* by which it was called, see tlua_places.c; NULL: it is not known */
} TluaProto;

/* Engines; tlua_open.c knows them all. */
extern const TluaEngine tlua_stress_engine;  /* tlua_check.c */
extern const TluaEngine tlua_poison_engine;  /* tlua_check.c */
extern const TluaEngine tlua_sabotage_engine;  /* tlua_check.c */
#if defined(TLUA_HAVE_RECORDER)
extern const TluaEngine tlua_recorder_engine;  /* tlua_rec.c; the build script sees that the file exists */
#endif

/* --- recording (tlua.c) --- */

/* From the next instruction on, on_record is called. L must be the running thread, without hooks. */
void tlua_record_start (lua_State *L);
/* Ends the recording, from on_record or on_hot. */
void tlua_record_stop (lua_State *L);
/*
** From on_record: the instruction calls, and the recording waits; it can be another one's turn until the call
** comes back to this frame.
*/
void tlua_record_aside (lua_State *L);
/* From on_wake: the recording goes on. */
void tlua_record_resume (lua_State *L);
#define tlua_is_recording(L) ((L)->jit->recording == (L))
/* Whether such an instruction of a function may be where on_entry is called. */
int tlua_is_entry (const Proto *p, const Instruction *pc);

/* --- memory, and data of functions (tlua_memory.c, tlua_live.c) --- */

/* p->jit, made if need be; NULL on lack of memory. Never collects, never throws. */
TluaProto *tlua_proto (lua_State *L, Proto *p);

/*
** Keeps a value alive as long as the function. Through the write barrier; each value is kept once. Returns 0
** on lack of memory.
*/
int tlua_anchor (lua_State *L, Proto *p, const TValue *value);

/*
** Registers live before instruction 'pc' (an index): bit r%8 of byte r/8, for r < p->maxstacksize. NULL on
** lack of memory. The bitmap lives as long as the function.
*/
const lu_byte *tlua_live (lua_State *L, Proto *p, int pc);

/*
** How many of the first registers are variables in scope at an instruction: debug.getlocal sees them while
** what it calls runs, also if their scope ends right after it.
*/
int tlua_named (const Proto *p, int pc);
#define tlua_is_live(row, r) (((row)[(r) >> 3] >> ((r) & 7)) & 1)

/*
** Whether an upvalue of the closure has one value as long as the closure lives; whether the closure is the
** only one that its function has become; and the number that code may know it by, 0 if there is none left.
** Whoever relies on an upvalue says so in its 'jit_state'. (tlua_fixed.c)
*/
int tlua_is_fixed (const LClosure *closure, int n);
int tlua_is_single (const LClosure *closure);
uint32_t tlua_identify (lua_State *L, LClosure *closure);

/*
** Memory from the state's allocator, without collections and errors; NULL on lack of memory. 'realloc' is on
** the state's accounts, 'own' is not: it is for what the JIT itself keeps and frees. What it kept so far and
** now gives to the program 'becomes Lua'.
*/
void *tlua_realloc (lua_State *L, void *block, size_t old_size, size_t new_size);
void *tlua_own (lua_State *L, void *block, size_t old_size, size_t new_size);
void tlua_becomes_lua (lua_State *L, size_t size);
/* Runs work that may throw for lack of memory, without collections; returns whether it came to its end. */
int tlua_protected (lua_State *L, Pfunc work, void *data);

#endif
