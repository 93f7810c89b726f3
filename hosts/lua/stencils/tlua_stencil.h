/*
** What stencils are written in: holes, and the ways out of them.
**
** An operand is the address of an undefined symbol; where to go on is a call of one in tail position. See
** tlua_stencils.c.
*/
#ifndef tlua_stencil_h
#define tlua_stencil_h

#define LUA_CORE

#include "lprefix.h"

#include <float.h>
#include <stddef.h>

#include "ldebug.h"
#include "lfunc.h"
#include "lgc.h"
#include "lobject.h"
#include "lopcodes.h"
#include "lstate.h"
#include "lstring.h"
#include "ltable.h"
#include "lvm.h"

#include "tlua_baseline.h"
#include "tlua_callinfo.h"

/* --- holes --- */

extern TluaCode hole_next, hole_jump;
/* Offsets in bytes from 'base', or from 'k'; numbers. Compilers take an address for a positive number, so
** that 'hole_i' is for numbers that are not below 0, or for their lower 32 bits; 'hole_s', for all 64 bits of
** the same number, is an error of the build where it is not extended with its sign. */
extern const char hole_a[], hole_b[], hole_c[], hole_i[], hole_s[];

#define OFFSET(hole) ((ptrdiff_t)(hole))
#define REGISTER(hole) ((StkId)((char *)base + OFFSET(hole)))
#define RA REGISTER(hole_a)
#define VA s2v(RA)
#define VB s2v(REGISTER(hole_b))
#define VC s2v(REGISTER(hole_c))
#define KONST(hole) ((TValue *)((char *)k + OFFSET(hole)))
#define IMMEDIATE OFFSET(hole_i)
#define SIGNED_IMMEDIATE ((lua_Integer)OFFSET(hole_s))

/* The same in a register, which compilers would fill with an address, that is to say without a sign. */
static inline lua_Integer signed_immediate (void) {
  lua_Integer n;
  __asm__("movq $hole_s, %0" : "=r" (n));
  return n;
}

/* Words too wide for an operand. */
#define WORD(type, name, hole) \
  static inline type name (void) { \
    type word; \
    __asm__("movabsq $" #hole ", %0" : "=r" (word)); \
    return word; \
  }
WORD(const Instruction *, this_pc, hole_pc)
/* The instruction after this one, or a jump's target. */
WORD(const Instruction *, other_pc, hole_other)
WORD(int32_t *, counter, hole_counter)
/* What the instruction remembers. SELF has three cells. What a call remembers takes the room of three. */
WORD(TluaFieldCell *, cell, hole_cell)
/* The function's constants. */
WORD(TValue *, constants, hole_k)
/* The name of the field __index. */
WORD(const TString *, index_name, hole_index)

/* Where the code goes on after a call. */
static inline void *place_after_call (void) {
  void *place;
  __asm__("leaq hole_after(%%rip), %0" : "=r" (place));
  return place;
}

/* Whatever the fourth argument's register holds. */
static inline const Instruction *nothing (void) {
  const Instruction *pc;
  __asm__("" : "=c" (pc));
  return pc;
}

#define STENCIL(name) int stencil_##name (TLUA_ARGS)
#define GO(where) return where(L, ci, base, nothing(), k)
#define CALL_HELPER(name, instruction) return tlua_slow_##name(L, ci, base, instruction, k)
#define NEXT GO(hole_next)
#define JUMP GO(hole_jump)
/* To a helper that goes on elsewhere. */
#define SLOW(name) CALL_HELPER(name, this_pc())

/*
** A call of C: its address, or where that stands, is in 'where'. What is needed after it stays in registers
** that functions save, and stencils do not. The stack is aligned for it.
*/
#define CALL_C(where) \
  "push %%rbp\n\tmov %%rsp, %%rbp\n\tand $-16, %%rsp\n\tcall " where "\n\tmov %%rbp, %%rsp\n\tpop %%rbp"
#define CLOBBERED "r9", "r10", CLOBBERED_OTHERS
#define CLOBBERED_OTHERS \
  "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", \
  "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

static inline int call_quick (TluaQuickCall *quick, lua_State *L, StkId func, ptrdiff_t count) {
  int done;
  register TluaQuickCall *r11 __asm__("r11") = quick;
  __asm__ volatile (CALL_C("*%%r11") : "=a" (done), "+D" (L), "+S" (func), "+d" (count), "+r" (r11)
                    : : "rcx", "r8", CLOBBERED);
  return done;
}

/* A helper that comes back, or says how the code ends. */
#define DEFINE_WORK(name) \
  static inline int work_##name (TLUA_ARGS) { \
    int how; \
    register TValue *r8 __asm__("r8") = k; \
    __asm__ volatile (CALL_C("tlua_work_" #name) \
                      : "=a" (how), "+D" (L), "+S" (ci), "+d" (base), "+c" (pc), "+r" (r8) \
                      : : "r11", CLOBBERED); \
    return how; \
  }
TLUA_WORK_OPS(DEFINE_WORK)
TLUA_RARE_WORK_OPS(DEFINE_WORK)
DEFINE_WORK(call)
DEFINE_WORK(step)
DEFINE_WORK(tail)

/*
** Calls a C function with the arguments up to L->top; savedpc is set. No helper lies between: where the
** processor cannot foresee returns, as in a yield, each function of C that returns takes time.
*/
static inline void call_function (lua_State *L, StkId func, ptrdiff_t wanted) {
  __asm__ volatile (CALL_C("tlua_work_precall") : "+D" (L), "+S" (func), "+d" (wanted)
                    : : "rax", "rcx", "r8", "r11", CLOBBERED);
}

/*
** A rare call of a helper that neither throws nor collects, which saves itself what stencils get: else
** compilers would move all of that to other registers first, also where there is no call.
*/
#define CALL_KEEPING(name, result, x, y) \
  register const void *r9 __asm__("r9") = x; \
  register const void *r10 __asm__("r10") = y; \
  __asm__ volatile ("push %%rdi\n\tpush %%rsi\n\tpush %%rdx\n\tpush %%r8\n\t" \
                    "mov %%r9, %%rsi\n\tmov %%r10, %%rdx\n\t" \
                    CALL_C("tlua_work_" #name) \
                    "\n\tpop %%r8\n\tpop %%rdx\n\tpop %%rsi\n\tpop %%rdi" \
                    : "=a" (result), "+r" (r9), "+r" (r10) : "D" (L) : "rcx", "r11", CLOBBERED_OTHERS)

/* What a table that lacks a field inherits; NULL if it is not known. */
static inline const TValue *call_inherited (lua_State *L, const Table *t, const TString *key) {
  const TValue *slot;
  CALL_KEEPING(inherited, slot, t, key);
  return slot;
}

static inline const TValue *call_integer (lua_State *L, Table *t, lua_Integer n) {
  const TValue *slot;
  CALL_KEEPING(integer, slot, t, (const void *)n);
  return slot;
}
static inline const TValue *call_key (lua_State *L, Table *t, const TValue *key) {
  const TValue *slot;
  CALL_KEEPING(key, slot, t, key);
  return slot;
}

static inline const TValue *call_place (lua_State *L, Table *t, const TValue *key) {
  const TValue *slot;
  CALL_KEEPING(place, slot, t, key);
  return slot;
}

/* The order of two strings. A stencil is one function, whatever it calls. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))
ALWAYS_INLINE int call_less (lua_State *L, const TValue *x, const TValue *y) {
  int is_less;
  CALL_KEEPING(less, is_less, x, y);
  return is_less;
}
ALWAYS_INLINE int call_at_most (lua_State *L, const TValue *x, const TValue *y) {
  int is_not_above;
  CALL_KEEPING(at_most, is_not_above, x, y);
  return is_not_above;
}

#define WORK_WITH(name, last) { \
  int how = work_##name(L, ci, base, this_pc(), last); \
  if (l_likely(how == 0)) { \
    base = ci->func.p + 1; \
    NEXT; \
  } \
  return how; \
}
#define WORK(name) WORK_WITH(name, k)

#endif
