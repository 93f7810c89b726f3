/*
** Protected calls of Lua functions become part of the trace.
**
** Problem: 'pcall' sets up a jump out of the C stack, a level of C calls and a run of the interpreter for a
** function that hardly ever fails. To call it from compiled code, as any C function, costs as much.
**
** Design: the called function's instructions become part of the trace, as those of any inlined function. The
** recorder puts 'true' and the function where 'pcall' puts them, and the frame says in its status that
** 'pcall' lies below. Nothing in compiled code throws: what may is left to the interpreter by an exit. There
** the record of 'pcall' is made too, and the function's frame is run in protected mode, or, in a coroutine,
** as 'lua_pcallk' runs what may yield; what comes back is what 'pcall' returns. So an error finds its
** handler, and a traceback its line for 'pcall'.
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

static void go_on (lua_State *L, void *data) {
  L->ci = (CallInfo *)data;
  luaV_execute(L, L->ci);
}

void tlua_rec_begin_pcall (lua_State *L, CallInfo *pcall) {
  tlua_begin_protected(L, pcall, tlua_finish_pcall);
}

/*
** Runs the frames above that of 'pcall' to their end; the results, or the message, lie on the top. In a
** coroutine it has begun: see 'tlua_rec_begin_pcall'.
*/
static int run_protected (lua_State *L, CallInfo *pcall) {
  CallInfo *running = L->ci;
  if (!yieldable(L)) {
    L->ci = pcall;
    return luaD_pcall(L, go_on, running, savestack(L, pcall->func.p + TLUA_PROTECTED_SLOTS), 0);
  }
  luaV_execute(L, running);  /* an error, too, goes on in the continuation, and does not come back */
  tlua_end_protected(L, pcall);
  return LUA_OK;
}

void tlua_rec_finish_pcall (lua_State *L, CallInfo *pcall) {
  int status = run_protected(L, pcall);
  StkId first = pcall->func.p + 1;
  if (pcall->top.p < L->top.p)
    pcall->top.p = L->top.p;
  if (status != LUA_OK)
    setbfvalue(s2v(first));
  luaD_poscall(L, pcall, (int)(L->top.p - first));
}
