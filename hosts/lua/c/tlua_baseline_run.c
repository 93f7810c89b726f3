/*
** Baseline code is entered: by calls from C, by the interpreter, and where a coroutine goes on.
**
** Problem: stencils have no frame, and use registers that the C compiler's code expects to find as they were.
** And each way in has to leave what hooks, recordings and counters need as it would be without code.
**
** Design: one inline function runs code, and tells the compiler which registers change. A way in looks first
** whether a trap is set, and stays with the interpreter if so.
**
** Invariant: who runs code goes on in the interpreter if it does not say that it is done.
**
** Example: a comparison function of 'table.sort' is called from C: tlua_call_fresh makes its frame and runs
** its code, without luaV_execute.
*/

#define LUA_CORE

#include "lprefix.h"

#include "tlua_baseline.h"
#include "tlua_callinfo.h"
#include "tlua_internal.h"

#include "ldebug.h"
#include "lopcodes.h"
#include "lvm.h"

/*
** Runs code. Stencils use registers that functions have to save, and do not save them. So the compiler is
** told that these registers change, and whoever runs code saves them. That is not left to a function of its
** own, since code would return through it.
*/
/* Debuggers are told where the frame is meanwhile, as the compiler does: it finds it by rsp, with no frame
** pointer. */
#if defined(__GCC_HAVE_DWARF2_CFI_ASM)
#define CFI(directive) "\n\t.cfi_" directive
#else
#define CFI(directive) ""
#endif
#define BELOW_RED_ZONE "lea -128(%%rsp), %%rsp" CFI("adjust_cfa_offset 128") "\n\t"
#define ABOVE_RED_ZONE "\n\tlea 128(%%rsp), %%rsp" CFI("adjust_cfa_offset -128")
#define CALL_ALIGNED \
  "push %%rbp" CFI("adjust_cfa_offset 8") CFI("rel_offset %%rbp, 0") \
  "\n\tmov %%rsp, %%rbp" CFI("def_cfa_register %%rbp") \
  "\n\tand $-16, %%rsp\n\tcall *%%r11\n\tmov %%rbp, %%rsp" CFI("def_cfa_register %%rsp") \
  "\n\tpop %%rbp" CFI("adjust_cfa_offset -8") CFI("restore %%rbp")
static inline int run (TluaCode *code, lua_State *L, CallInfo *ci, TValue *k) {
#if defined(__GNUC__) && defined(__x86_64__)
  int how;
  StkId base = ci->func.p + 1;
  register TValue *r8 __asm__("r8") = k;
  register TluaCode *r11 __asm__("r11") = code;
  __asm__ volatile (BELOW_RED_ZONE CALL_ALIGNED ABOVE_RED_ZONE
                    : "=a" (how), "+D" (L), "+S" (ci), "+d" (base), "+r" (r8), "+r" (r11)
                    : : "rbx", "rcx", "r9", "r10", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1",
                        "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                        "xmm12", "xmm13", "xmm14", "xmm15");
  return how;
#else
  return code(L, ci, ci->func.p + 1, NULL, k);
#endif
}

int tlua_call_fresh (lua_State *L, StkId func, int wanted, unsigned levels) {
  Proto *p = clLvalue(s2v(func))->p;
  ptrdiff_t room = L->stack_last.p - L->top.p;
  if (room <= p->maxstacksize || L->hookmask != 0 || getCcalls(L) + 1 >= LUAI_MAXCCALLS)
    return 0;
  CallInfo *ci = tlua_next_frame(L, 1);
  for (ptrdiff_t given = L->top.p - func - 1; given < p->numparams; given++)
    setnilvalue(s2v(L->top.p++));
  ci->func.p = func;
  ci->top.p = func + 1 + p->maxstacksize;
  tlua_save_pc(ci, p->code);
  tlua_clear_trap(ci);
  tlua_set_call_word(ci, (uint32_t)tlua_call_of(wanted, TLUA_STATUS_FRESH));
  tlua_called(ci);
  L->ci = ci;
  L->nCcalls += levels;
  if (run((TluaCode *)p->jit_code, L, ci, p->k) != TLUA_DONE)
    luaV_execute(L, L->ci);
  L->nCcalls -= levels;
  return 1;
}

/* The trap may be set for the stack that has moved, which code need not know. */
static int may_enter (lua_State *L, CallInfo *ci) {
  if (L->hookmask != 0 || (l_unlikely(tlua_trap(ci)) && L->jit->waiting))
    return 0;
  tlua_clear_trap(ci);
  return 1;
}

/*
** A coroutine goes on in this function. That counts as an entry; if the counter runs out now, the interpreter
** is to see it. The interpreter's function is left out, since coroutines that resume one another call deep:
** the processor foretells only where some of so many calls return to.
*/
static inline int run_resumed (lua_State *L, CallInfo *ci) {
  Proto *p = ci_func(ci)->p;
  TluaCode *code = (TluaCode *)p->jit_places[tlua_saved_pc(ci) - p->code];
  if (code == NULL || p->jit_entries <= 0 || !may_enter(L, ci))
    return 0;
  p->jit_entries--;
  if (run(code, L, ci, p->k) != TLUA_DONE && L->status != LUA_YIELD)
    luaV_execute(L, L->ci);
  return 1;
}

int tlua_run_resumed (lua_State *L, CallInfo *ci) {
  return run_resumed(L, ci);
}

/* What 'resume' and 'unroll' of ldo.c do, in one function: a yield returns through each that lies between. */
void tlua_resumed (lua_State *L, void *count) {
  L->status = LUA_OK;
  luaD_poscall(L, L->ci, *(int *)count);
  CallInfo *ci = L->ci;
  if (l_likely(isLua(ci) && tlua_has_code(ci))) {
    if (l_unlikely(GET_OPCODE(tlua_saved_pc(ci)[-1]) != OP_CALL))  /* whose results are in place */
      luaV_finishOp(L);
    if (l_unlikely(L->jit->waiting))
      tlua_wake(L, ci);
    if (!run_resumed(L, ci))
      luaV_execute(L, ci);
    if (l_likely(L->status == LUA_YIELD))
      return;
  }
  tlua_unroll(L);
}

int tlua_baseline_enter (lua_State *L, CallInfo *ci, const Instruction *pc) {
  const Proto *p = ci_func(ci)->p;
  if (!may_enter(L, ci))
    return TLUA_STAY;
  TluaCode *code = (TluaCode *)p->jit_places[pc - p->code];
  if (code == NULL)
    return TLUA_STAY;
  return run(code, L, ci, p->k);
}
