/*
** The stencils of baseline code: one function for each kind of instruction.
**
** Problem: see c/tlua_baseline.c.
**
** Design: this file is compiled apart, and never linked. The build script cuts the functions' machine code
** out of the object file. What an instruction's operands decide is an undefined symbol, a *hole*: an operand
** is the address of one, where to go on is a call of one in tail position. What remains of the fast path is
** what the interpreter does between two fetches. All that is rare is for a helper: one that goes on elsewhere
** is called in tail position, so that no stencil has a frame, or saves a register; one after which the next
** instruction comes is called by a few words of assembly.
**
** Invariant: a stencil does the whole instruction, or nothing and calls the helper, which does it. Constants
** in memory, other calls, and everything else that the copies could not have, stop the build.
**
** Example: of 'a = b', which is MOVE, four moves remain; the jump to the next instruction's code is left out.
*/

#include "tlua_stencil.h"

/* --- moves --- */

STENCIL(MOVE) { setobjs2s(L, RA, REGISTER(hole_b)); NEXT; }
STENCIL(LOADI) { setivalue(VA, SIGNED_IMMEDIATE); NEXT; }
STENCIL(LOADF) { setfltvalue(VA, cast_num((int)IMMEDIATE)); NEXT; }
STENCIL(LOADK) { setobj2s(L, RA, KONST(hole_b)); NEXT; }
STENCIL(LOADFALSE) { setbfvalue(VA); NEXT; }
STENCIL(LOADTRUE) { setbtvalue(VA); NEXT; }
STENCIL(LOADNIL1) { setnilvalue(VA); NEXT; }
STENCIL(LOADNIL2) { setnilvalue(VA); setnilvalue(s2v(RA + 1)); NEXT; }
STENCIL(JMP) { JUMP; }

static inline LClosure *closure_of (StkId base) {
  return clLvalue(s2v(base - 1));
}
/* An element of 'upvals': the hole is its offset in the closure. */
static inline UpVal *upvalue_of (StkId base, const char *hole) {
  return *(UpVal **)((char *)closure_of(base) + OFFSET(hole));
}

STENCIL(GETUPVAL) { setobj2s(L, RA, upvalue_of(base, hole_b)->v.p); NEXT; }

STENCIL(SETUPVAL) {
  UpVal *uv = upvalue_of(base, hole_b);
  if (l_likely(!iscollectable(VA) || !isblack(uv))) {
    setobj(L, uv->v.p, VA);
    NEXT;
  }
  SLOW(SETUPVAL);
}

#include "tlua_stencil_tables.h"
#include "tlua_stencil_numbers.h"
#include "tlua_stencil_calls.h"

/* --- instructions that a helper does --- */

#define ALL_SLOW(name) STENCIL(SLOW_##name) { SLOW(name); }
TLUA_SLOW_OPS(ALL_SLOW)
#define ALL_WORK(name) STENCIL(SLOW_##name) { WORK(name); }
TLUA_WORK_OPS(ALL_WORK)
