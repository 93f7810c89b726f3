/*
** How helpers of baseline code go on.
**
** Problem: several files have helpers, and all end in the same way. Design: functions in line, as a call in
** tail position must be the helper's own. Invariant: where the trap is set, and more than the stack has
** changed, the interpreter goes on. Example: return tlua_go_on(L, ci, pc + 1);
*/
#ifndef tlua_baseline_go_h
#define tlua_baseline_go_h

#include "tlua_baseline.h"
#include "tlua_callinfo.h"
#include "tlua_internal.h"

#include "ldebug.h"

static inline int tlua_leave (lua_State *L, CallInfo *ci, const Instruction *pc) {
  lua_assert(L->ci == ci);
  (void)L;
  tlua_save_pc(ci, pc);
  return TLUA_LEFT;
}

/* Whether only the stack has moved: nobody wants to see the next instruction. */
static inline int tlua_takes_trap (lua_State *L, CallInfo *ci) {
  if (L->hookmask != 0 || L->jit->waiting)
    return 0;
  tlua_clear_trap(ci);
  return 1;
}

static inline int tlua_go_on (lua_State *L, CallInfo *ci, const Instruction *pc) {
  const Proto *p = ci_func(ci)->p;
  if (l_unlikely(tlua_trap(ci)) && !tlua_takes_trap(L, ci))
    return tlua_leave(L, ci, pc);
  TluaCode *code = p->jit_places == NULL ? NULL : (TluaCode *)p->jit_places[pc - p->code];
  if (l_unlikely(code == NULL))
    return tlua_leave(L, ci, pc);
  return code(L, ci, ci->func.p + 1, NULL, p->k);
}

#endif
