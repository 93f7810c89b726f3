/*
** Protected calls of Lua functions become part of the trace.
**
** Problem: 'pcall' sets up a jump out of the C stack, a level of C calls and a run of the interpreter for a
** function that hardly ever fails. To call it from compiled code, as any C function, costs as much.
**
** Design: the called function's instructions become part of the trace, as those of any inlined function. The
** recorder puts 'true' and the function where 'pcall' puts them, and the frame says in its status that
** 'pcall' lies below. Nothing in compiled code throws: what may is left to the interpreter by an exit. There
** the record of 'pcall' is made too, and the function's frame is run in protected mode, with all that C code
** has called above it (metamethods, iterators, other 'pcall's), or, in a coroutine, as 'lua_pcallk' runs what
** may yield; what comes back is what 'pcall' returns. So an error finds its handler, and a traceback its line
** for 'pcall'.
** A function that calls the host may throw there. It is not taken in: when a recording ends inside, its
** function is marked, and the next one calls 'pcall' itself.
**
** Invariant: no frame of a trace calls the host above one that 'pcall' has called. The records are in the
** interpreter's order: caller, 'pcall', function.
**
** Example, 'local ok, v = pcall(half, i)', after a guard that the register has 'pcall':
**   guard_value(load closure.prototype f, half's); f4 = float_div(int_to_float(i1), 2.0)
**   ok = true; v = f4
*/

#include "lprefix.h"

#include "tlua_rec_lib.h"

#include "ldo.h"
#include "lgc.h"
#include "lvm.h"

/* in lbaselib.c */
extern const lua_CFunction tlua_base_pcall;
extern const lua_KFunction tlua_finish_pcall;

/* --- recording --- */

int tlua_rec_is_protecting (Operand function, const TValue *argument) {
  return function.tt == LUA_VLCF && fvalue(function.now) == tlua_base_pcall && ttisLclosure(argument)
      && !clLvalue(argument)->p->jit_is_refused;
}

int tlua_rec_is_protected (const TluaRecorder *rec) {
  for (int depth = 1; depth <= rec->trace.depth; depth++) {
    if (rec->trace.frames[depth].caller == TLUA_PROTECTED)
      return 1;
  }
  return 0;
}

void tlua_rec_refuse_protected (const TluaRecorder *rec) {
  for (int depth = 1; depth <= rec->trace.depth; depth++) {
    if (rec->trace.frames[depth].caller == TLUA_PROTECTED)
      rec->trace.frames[depth].called->jit_is_refused = 1;
  }
}

CallInfo *tlua_rec_caller_of (CallInfo *ci, int is_protected) {
  return is_protected ? ci->previous->previous : ci->previous;
}

/* --- after an exit --- */

/* The call instruction of 'caller' has called 'pcall', whose function's frame has that top. */
void tlua_rec_make_pcall (CallInfo *ci, const CallInfo *caller, StkId top) {
  Instruction call = tlua_saved_pc(caller)[-1];
  tlua_frame_make_caller(ci, caller->func.p + 1 + GETARG_A(call), top, GETARG_C(call) - 1);
}

/* What is run in protected mode: the levels above the function that 'pcall' has called, and that function. */
typedef struct Protected {
  CallInfo *running;
  unsigned above;
} Protected;

/* Where no 'pcall' is among these levels. */
static void finish_plain (lua_State *L, unsigned levels) {
  for (; levels > 0; levels--) {
    luaV_execute(L, L->ci);
    L->nCcalls--;
    luaV_finishOp(L);
  }
}

static void finish_nested (lua_State *L, unsigned levels);

static void go_on (lua_State *L, void *data) {
  const Protected *protected = (const Protected *)data;
  L->ci = protected->running;
  finish_nested(L, protected->above);
  luaV_execute(L, L->ci);
}

/* The results, or the message, lie on the top. 'pcall' returns them; L->ci is its caller's frame then. */
static void return_from_pcall (lua_State *L, CallInfo *pcall, int status) {
  StkId first = pcall->func.p + 1;
  if (pcall->top.p < L->top.p)
    pcall->top.p = L->top.p;
  if (status != LUA_OK)
    setbfvalue(s2v(first));
  luaD_poscall(L, pcall, (int)(L->top.p - first));
}

/* The first of these frames, from the last one down, that C code has called. */
static CallInfo *called_by_c (CallInfo *ci) {
  while (!tlua_is_fresh(ci))
    ci = ci->previous;
  return ci;
}

/* How many levels there are down to that of the outermost 'pcall'; 0: there is none. Finds its record. */
static unsigned to_outermost (CallInfo *ci, unsigned levels, CallInfo **pcall) {
  unsigned found = 0;
  for (unsigned level = 1; level <= levels; level++) {
    ci = called_by_c(ci)->previous;
    if (!isLua(ci)) {
      found = level;
      *pcall = ci;
    }
  }
  return found;
}

/*
** An error finds its handler by the C stack. So the outermost 'pcall' begins first, and all levels above it,
** other 'pcall's too, are finished within. An error in one of them, as in a metamethod that its function has
** called, is then caught by the nearest 'pcall' below.
*/
static void finish_nested (lua_State *L, unsigned levels) {
  CallInfo *pcall = NULL;
  unsigned within = to_outermost(L->ci, levels, &pcall);
  if (within > 0) {
    Protected protected = { L->ci, within - 1 };
    l_uint32 calls = L->nCcalls;
    L->ci = pcall;
    return_from_pcall(L, pcall, luaD_pcall(L, go_on, &protected,
                                           savestack(L, pcall->func.p + TLUA_PROTECTED_SLOTS), 0));
    L->nCcalls = calls - within;
    luaV_finishOp(L);
  }
  finish_plain(L, levels - within);
}

/*
** In a coroutine an error finds its handler by the records, and so does one that is thrown after a yield:
** those of all 'pcall's must say that they are, before any of them goes on; outermost first, as they were
** called.
*/
static void protect_all (lua_State *L, CallInfo *ci, unsigned levels) {
  CallInfo *caller = called_by_c(ci)->previous;
  if (levels > 1)
    protect_all(L, caller, levels - 1);
  if (!isLua(caller))
    tlua_begin_protected(L, caller, tlua_finish_pcall);
}

/* Then innermost first: an error goes on in the continuation, and does not come back. */
static void finish_in_coroutine (lua_State *L, unsigned levels) {
  protect_all(L, L->ci, levels);
  for (; levels > 0; levels--) {
    CallInfo *caller = called_by_c(L->ci)->previous;
    luaV_execute(L, L->ci);
    if (!isLua(caller)) {
      tlua_end_protected(L, caller);
      return_from_pcall(L, caller, LUA_OK);
    }
    L->nCcalls--;
    luaV_finishOp(L);
  }
}

/*
** The function below stands for that C code, as the interpreter's own way to go on after a yield does: it
** runs the frames down to there, and lets the instruction that has called them finish.
*/
void tlua_rec_finish_levels (lua_State *L, unsigned levels) {
  if (levels > 0 && yieldable(L))
    finish_in_coroutine(L, levels);
  else
    finish_nested(L, levels);
}
