/*
** What the program has still to do: the counted loops that are running, for the library's foresight.
**
** Problem: whether it pays to compile depends on how long a program goes on, which nobody knows; but most
** programs that run for long do so in a loop with a number of iterations, and the interpreter counts them.
**
** Design: when the library asks, which it does at some hot back edges of a young program, the frames are
** walked, and of each numeric loop over integers around the instruction where a frame goes on the number of
** iterations to come is told. The loop is known by its last instruction.
**
** Invariant: nothing is written, and no more than MOST_FRAMES frames are looked at.
**
** Example, 'for r = 1, 120 do p = 1 while p do p = token(p) end end', asked in 'token' in the third round:
**   tl_foresee(vm, the loop's OP_FORLOOP, 117)
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "ldebug.h"
#include "lopcodes.h"

/* Deeper frames are those of a recursion, whose loops say little. */
#define MOST_FRAMES 100

static void tell_loops (TluaRecorder *rec, const CallInfo *ci, const Instruction *pc) {
  const Proto *p = ci_func(ci)->p;
  for (const Instruction *last = pc; last < p->code + p->sizecode; last++) {
    if (GET_OPCODE(*last) != OP_FORLOOP || tlua_rec_body_of(last) > pc)
      continue;
    StkId base = ci->func.p + 1;
    const TValue *left = s2v(base + TLUA_FOR_COUNT(GETARG_A(*last)));
    if (ttisinteger(left) && ttisinteger(s2v(base + TLUA_FOR_STEP(GETARG_A(*last)))))
      tl_foresee(rec->vm, last, l_castS2U(ivalue(left)));
  }
}

void tlua_rec_foresee (lua_State *L, TluaRecorder *rec, const CallInfo *ci, const Instruction *pc) {
  if (!tl_asks_ahead(rec->vm) || L != tlua_main_thread(G(L)))
    return;
  tell_loops(rec, ci, pc);
  for (int n = 0; n < MOST_FRAMES && ci->previous != NULL; n++) {
    ci = ci->previous;
    if (isLua(ci))
      tell_loops(rec, ci, tlua_saved_pc(ci));
  }
}
