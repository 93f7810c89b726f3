/*
** Calls, returns and loops of baseline code, as far as stencils do not do them themselves.
**
** Problem: they lead to other functions, to C, to the interpreter, and to compiled loops.
**
** Design: as tlua_baseline_slow.c. A function that has no code yet is begun by the interpreter, which makes
** some. C functions without a short form are called as the interpreter calls them.
**
** Invariant: what a call, a return or a jump back counts for hot functions and loops is counted once.
**
** Example: return f(x), of a C function: its results go to the caller's caller by luaD_poscall
*/

#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "tlua_baseline_slow.h"

#include "ldebug.h"
#include "ldo.h"
#include "lfunc.h"
#include "lobject.h"
#include "lvm.h"

/* A function that baseline code has not called has returned. Its caller, 'ci', may be C. */
int tlua_find_way_back (TLUA_ARGS) {
  if (tlua_is_fresh(ci->next))
    return TLUA_DONE;
  return go_on(L, ci, tlua_saved_pc(ci));
}

int tlua_slow_trap (TLUA_ARGS) {
  return go_on(L, ci, pc);
}

/* As the interpreter goes on after tlua_hot_loop. */
int tlua_slow_hot (TLUA_ARGS) {
  tlua_hot_loop(L, ci, pc);
  if (l_unlikely(L->status == LUA_YIELD))
    return TLUA_DONE;
  ci = L->ci;
  if (l_unlikely(L->hookmask))
    tlua_set_trap(ci);
  return go_on(L, ci, tlua_saved_pc(ci));
}

/* Begins the function of 'ci', which is L->ci. */
static inline int begin (lua_State *L, CallInfo *ci) {
  const Proto *p = ci_func(ci)->p;
  if (l_unlikely(p->jit_code == NULL))
    return TLUA_START;
  return ((TluaCode *)p->jit_code)(L, ci, ci->func.p + 1, NULL, p->k);
}

/* The entry has counted once; the interpreter will, too. */
int tlua_slow_entry (TLUA_ARGS) {
  ci_func(ci)->p->jit_entries++;
  return TLUA_START;
}

/* --- calls and returns --- */

int tlua_slow_CALL (TLUA_ARGS) {
  Instruction i = *pc++;
  StkId ra = RA(i);
  int b = GETARG_B(i);
  if (b != 0)
    L->top.p = ra + b;
  savepc();
  if (ttislcf(s2v(ra)) && tlua_baseline_call(L, ra, GETARG_C(i) - 1))
    return go_on(L, ci, pc);
  CallInfo *called = luaD_precall(L, ra, GETARG_C(i) - 1);
  if (called != NULL)
    return begin(L, called);
  if (l_unlikely(L->ci != ci))
    return TLUA_DONE;  /* a yield that returns */
  return go_on(L, ci, pc);
}

int tlua_work_call (TLUA_ARGS) {
  TluaCallCell *cell = (TluaCallCell *)k;
  StkId ra = RA(*pc);
  int wanted = GETARG_C(*pc) - 1;
  pc++;
  savepc();
  int is_light = ttislcf(s2v(ra));
  if (l_unlikely(is_light && fvalue(s2v(ra)) != cell->function))
    *cell = tlua_baseline_meet(L, fvalue(s2v(ra)), wanted);
  if (!is_light || cell->make == NULL || !tlua_may_call(L, L->top.p)
      || !cell->make(L, ra, L->top.p - ra - 1, wanted)) {
    luaD_precall(L, ra, wanted);
    if (l_unlikely(L->ci != ci))
      return TLUA_DONE;  /* a yield that returns */
  }
  return return_to(L, ci, pc);
}

CallInfo *tlua_work_precall (lua_State *L, StkId func, int wanted) {
  return luaD_precall(L, func, wanted);
}

int tlua_work_tail (TLUA_ARGS) {
  TluaCallCell *cell = (TluaCallCell *)k;
  StkId ra = RA(*pc);
  tlua_save_pc(ci, pc + 1);
  if (l_unlikely(fvalue(s2v(ra)) != cell->function))
    *cell = tlua_baseline_meet(L, fvalue(s2v(ra)), LUA_MULTRET);
  if (!tlua_may_call(L, L->top.p))
    return 0;
  if (cell->make != NULL)
    return cell->make(L, ra, L->top.p - ra - 1, LUA_MULTRET);
  if (cell->quick == NULL || !cell->quick(L, ra, L->top.p - ra - 1))
    return 0;
  L->top.p = ra + 1;
  return 1;
}

/* Back from the function of 'ci', whose results are where they belong. */
static int return_from (lua_State *L, CallInfo *ci) {
  if (tlua_is_fresh(ci))
    return TLUA_DONE;
  ci = ci->previous;
  return go_on(L, ci, tlua_saved_pc(ci));
}

int tlua_slow_results (TLUA_ARGS) {
  (void)k;
  luaD_poscall(L, ci, cast_int(L->top.p - RA(*pc)));
  return return_from(L, ci);
}

int tlua_slow_TAILCALL (TLUA_ARGS) {
  Instruction i = *pc++;
  StkId ra = RA(i);
  int b = GETARG_B(i);
  int fixed = GETARG_C(i);
  int delta = fixed ? tlua_extra_arguments(ci) + fixed : 0;
  if (b != 0)
    L->top.p = ra + b;
  else
    b = cast_int(L->top.p - ra);
  savepc();
  if (TESTARG_k(i))
    luaF_closeupval(L, base);
  int n;
  ptrdiff_t place = savestack(L, ra);
  if (ttislcf(s2v(ra)) && tlua_baseline_call(L, ra, LUA_MULTRET))
    n = cast_int(L->top.p - restorestack(L, place));
  else
    n = luaD_pretailcall(L, ci, ra, b, delta);
  if (n < 0)
    return begin(L, ci);
  ci->func.p -= delta;
  luaD_poscall(L, ci, n);
  return return_from(L, ci);
}

int tlua_slow_RETURN (TLUA_ARGS) {
  Instruction i = *pc++;
  StkId ra = RA(i);
  int n = GETARG_B(i) - 1;
  int fixed = GETARG_C(i);
  if (n < 0)
    n = cast_int(L->top.p - ra);
  savepc();
  if (TESTARG_k(i)) {
    ci->u2.nres = n;
    if (L->top.p < ci->top.p)
      L->top.p = ci->top.p;
    luaF_close(L, base, CLOSEKTOP, 1);
    newbase();
    ra = RA(i);
  }
  if (fixed)
    ci->func.p -= tlua_extra_arguments(ci) + fixed;
  L->top.p = ra + n;
  luaD_poscall(L, ci, n);
  return return_from(L, ci);
}

static int return_values (TLUA_ARGS, int n) {
  savepc();
  L->top.p = RA(pc[-1]) + n;
  luaD_poscall(L, ci, n);
  return return_from(L, ci);
}

int tlua_slow_RETURN0 (TLUA_ARGS) {
  return return_values(L, ci, base, pc + 1, k, 0);
}

int tlua_slow_RETURN1 (TLUA_ARGS) {
  return return_values(L, ci, base, pc + 1, k, 1);
}

/* --- loops --- */

OPERATION(FORPREP) {
  savestate();
  return tlua_prepare_loop(L, RA(i)) ? pc + GETARG_Bx(i) + 1 : pc;
}

OPERATION(TFORPREP) {
  savestate();
  luaF_newtbcupval(L, RA(i) + 3);
  return pc + GETARG_Bx(i);
}

/* Its cell stands where the constants do. */
int tlua_work_step (TLUA_ARGS) {
  (void)ci;
  return tlua_baseline_step(L, RA(*pc), GETARG_C(*pc), (TluaFieldCell *)k);
}

/* The interpreter does both instructions at once, too. */
int tlua_slow_TFORCALL (TLUA_ARGS) {
  Instruction i = *pc++;
  StkId ra = RA(i);
  if (tlua_baseline_step(L, ra, GETARG_C(i), NULL))
    return tlua_slow_TFORLOOP(TLUA_PASS);
  memcpy(ra + 4, ra, 3 * sizeof(*ra));
  L->top.p = ra + 4 + 3;
  savepc();
  luaD_call(L, ra + 4, GETARG_C(i));
  newbase();
  return tlua_slow_TFORLOOP(TLUA_PASS);
}

int tlua_slow_TFORLOOP (TLUA_ARGS) {
  Instruction i = *pc++;
  StkId ra = RA(i);
  if (ttisnil(s2v(ra + 4)))
    return go_on(L, ci, pc);
  setobjs2s(L, ra + 2, ra + 4);
  return go_back_to(L, ci, base, pc - GETARG_Bx(i), k);
}
