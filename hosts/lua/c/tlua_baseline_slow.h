/*
** What the helpers of baseline code are written in: where they go on, and what they work on. See
** tlua_baseline_slow.c.
*/
#ifndef tlua_baseline_slow_h
#define tlua_baseline_slow_h

#include "tlua_baseline.h"
#include "tlua_callinfo.h"
#include "tlua_internal.h"

#include "ldebug.h"
#include "lopcodes.h"

/* --- going on --- */

static inline int leave (lua_State *L, CallInfo *ci, const Instruction *pc) {
  lua_assert(L->ci == ci);
  (void)L;
  tlua_save_pc(ci, pc);
  return TLUA_LEFT;
}

/* Whether only the stack has moved: nobody wants to see the next instruction. */
static inline int takes_trap (lua_State *L, CallInfo *ci) {
  if (L->hookmask != 0 || L->jit->waiting)
    return 0;
  tlua_clear_trap(ci);
  return 1;
}

static inline int go_on (lua_State *L, CallInfo *ci, const Instruction *pc) {
  const Proto *p = ci_func(ci)->p;
  if (l_unlikely(tlua_trap(ci)) && !takes_trap(L, ci))
    return leave(L, ci, pc);
  TluaCode *code = p->jit_places == NULL ? NULL : (TluaCode *)p->jit_places[pc - p->code];
  if (l_unlikely(code == NULL))
    return leave(L, ci, pc);
  return code(L, ci, ci->func.p + 1, NULL, p->k);
}

/* After a jump back to 'pc'. */
static inline int go_back_to (TLUA_ARGS) {
  if (l_unlikely(--*tlua_counter(L->jit, pc) < 0))
    return tlua_slow_hot(TLUA_PASS);
  return go_on(L, ci, pc);
}

/* --- the frame of each helper --- */

#define RA(i) (base + GETARG_A(i))
#define VA(i) s2v(RA(i))
#define VB(i) s2v(base + GETARG_B(i))
#define VC(i) s2v(base + GETARG_C(i))
#define KB(i) (k + GETARG_B(i))
#define KC(i) (k + GETARG_C(i))
#define RKC(i) (TESTARG_k(i) ? KC(i) : VC(i))

#define savepc() tlua_save_pc(ci, pc)
#define savestate() (savepc(), L->top.p = ci->top.p)
#define newbase() (base = ci->func.p + 1)
#define collect(limit) luaC_condGC(L, (savepc(), L->top.p = (limit)), (void)0)

/* The work: 'pc' is the instruction after 'i', as in the interpreter; the answer is where to go on. */
#define WORK(name) static l_noinline const Instruction *do_##name (TLUA_ARGS, Instruction i)
#define OPERATION(name) \
  WORK(name); \
  int tlua_slow_##name (TLUA_ARGS) { \
    return go_on(L, ci, do_##name(L, ci, base, pc + 1, k, *pc)); \
  } \
  WORK(name)

/* Of those that are called the code comes after the call. */
static inline int return_to (lua_State *L, CallInfo *ci, const Instruction *pc) {
  if (l_unlikely(tlua_trap(ci)) && !takes_trap(L, ci))
    return leave(L, ci, pc);
  return 0;
}

#define CALLED_OPERATION(name) \
  static inline const Instruction *do_##name (TLUA_ARGS, Instruction i); \
  int tlua_work_##name (TLUA_ARGS) { \
    return return_to(L, ci, do_##name(L, ci, base, pc + 1, k, *pc)); \
  } \
  static inline const Instruction *do_##name (TLUA_ARGS, Instruction i)

#endif
