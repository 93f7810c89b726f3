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

/* --- holes --- */

extern TluaCode hole_next, hole_jump;
/* Offsets in bytes from 'base', or from 'k'; numbers. */
extern const char hole_a[], hole_b[], hole_c[], hole_i[];

#define OFFSET(hole) ((ptrdiff_t)(hole))
#define REGISTER(hole) ((StkId)((char *)base + OFFSET(hole)))
#define RA REGISTER(hole_a)
#define VA s2v(RA)
#define VB s2v(REGISTER(hole_b))
#define VC s2v(REGISTER(hole_c))
#define KONST(hole) ((TValue *)((char *)k + OFFSET(hole)))
#define IMMEDIATE OFFSET(hole_i)

/* Words too wide for an operand. */
static inline const Instruction *this_pc (void) {
  const Instruction *pc;
  __asm__("movabsq $hole_pc, %0" : "=r" (pc));
  return pc;
}

/* The instruction after this one, or a jump's target. */
static inline const Instruction *other_pc (void) {
  const Instruction *pc;
  __asm__("movabsq $hole_other, %0" : "=r" (pc));
  return pc;
}

static inline int32_t *counter (void) {
  int32_t *place;
  __asm__("movabsq $hole_counter, %0" : "=r" (place));
  return place;
}

/* What the instruction remembers. SELF has two of them, a call one in the room of three. */
static inline TluaFieldCell *cell (void) {
  TluaFieldCell *place;
  __asm__("movabsq $hole_cell, %0" : "=r" (place));
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
#define CLOBBERED \
  "r9", "r10", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", \
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
DEFINE_WORK(call)
DEFINE_WORK(less)
DEFINE_WORK(at_most)
DEFINE_WORK(step)
DEFINE_WORK(tail)
DEFINE_WORK(LEN)

#define WORK_WITH(name, last) { \
  int how = work_##name(L, ci, base, this_pc(), last); \
  if (l_likely(how == 0)) { \
    base = ci->func.p + 1; \
    NEXT; \
  } \
  return how; \
}
#define WORK(name) WORK_WITH(name, k)

/* --- moves --- */

STENCIL(MOVE) { setobjs2s(L, RA, REGISTER(hole_b)); NEXT; }
STENCIL(LOADI) { setivalue(VA, IMMEDIATE); NEXT; }
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

/* --- tables --- */

/* Whether it is known that there is no such metamethod. */
static inline int lacks (const Table *metatable, TMS event) {
  return l_likely(metatable == NULL) || (metatable->flags & (1u << event));
}

/*
** The common way comes first, and without a jump: what it does at its end stands there, and once more after
** all that is rare. So the two functions below are one, cut in two.
*/

/* The value of a field where it was found last; NULL if it is not there. */
static inline const TValue *field_at (const Table *t, const TString *key, const TluaFieldCell *found) {
  const Node *n = (const Node *)((const char *)t->node + found->offset);
  if (l_unlikely(t->lsizenode != found->log_size))
    return NULL;
  if (l_unlikely(!keyisshrstr(n)))
    return NULL;
  return l_likely(eqshrstr(keystrval(n), key)) ? gval(n) : NULL;
}

/* As tlua_field; the cell knows from now on. */
static inline const TValue *find_field (const Table *t, const TString *key, TluaFieldCell *found) {
  const TValue *slot = tlua_field(t, key);
  if (slot != NULL) {
    found->log_size = t->lsizenode;
    found->offset = (uint32_t)((const char *)slot - (const char *)t->node);
  }
  return slot;
}

static inline const TValue *known_field (const Table *t, const TString *key, TluaFieldCell *found) {
  const TValue *slot = field_at(t, key, found);
  return l_likely(slot != NULL) ? slot : find_field(t, key, found);
}

#define GET_FIELD(holder, name, SLOWLY) { \
  if (l_likely(ttistable(holder))) { \
    const Table *t = hvalue(holder); \
    const TValue *slot = field_at(t, name, cell()); \
    if (l_likely(slot != NULL) && l_likely(!isempty(slot))) { \
      setobj2s(L, RA, slot); \
      NEXT; \
    } \
    slot = find_field(t, name, cell()); \
    if (slot != NULL && !isempty(slot)) { \
      setobj2s(L, RA, slot); \
      NEXT; \
    } \
    if (t->metatable == NULL) { \
      setnilvalue(VA); \
      NEXT; \
    } \
  } \
  SLOWLY; \
}

#define PUT(table, slot, value) { \
  setobj2t(L, (TValue *)(slot), value); \
  if (l_unlikely(iscollectable(value) && isblack(table) && iswhite(gcvalue(value)))) \
    SLOW(barrier); \
  NEXT; \
}

/*
** The node where a key that the table lacks belongs, if it can be put there as it is; or NULL. As luaH_newkey
** does it. A black table would need a barrier.
*/
static inline Node *free_node (Table *t, const TString *key) {
  Node *n = gnode(t, lmod(key->hash, sizenode(t)));
  if (lacks(t->metatable, TM_NEWINDEX) && t->lastfree != NULL && !isblack(t) && isempty(gval(n)))
    return n;
  return NULL;
}

#define PUT_FIELD(holder, name, value, SLOWLY) { \
  if (l_likely(ttistable(holder))) { \
    Table *t = hvalue(holder); \
    const TValue *slot = field_at(t, name, cell()); \
    if (l_likely(slot != NULL) && l_likely(!isempty(slot))) \
      PUT(t, slot, value); \
    slot = find_field(t, name, cell()); \
    if (slot != NULL && (!isempty(slot) || lacks(t->metatable, TM_NEWINDEX))) { \
      invalidateTMcache(t); \
      PUT(t, slot, value); \
    } \
    if (slot == NULL && !ttisnil(value)) { \
      TString *key = name; \
      Node *n = free_node(t, key); \
      if (n != NULL) { \
        n->u.key_tt = ctb(LUA_VSHRSTR); \
        keyval(n).gc = obj2gco(key); \
        invalidateTMcache(t); \
        setobj2t(L, gval(n), value); \
        NEXT; \
      } \
    } \
  } \
  SLOWLY; \
}

STENCIL(GETTABUP) {
  const TValue *holder = upvalue_of(base, hole_b)->v.p;
  GET_FIELD(holder, tsvalue(KONST(hole_c)), SLOW(GETTABUP))
}
STENCIL(GETFIELD) GET_FIELD(VB, tsvalue(KONST(hole_c)), SLOW(GETFIELD))
STENCIL(SETTABUP_R) {
  const TValue *holder = upvalue_of(base, hole_a)->v.p;
  PUT_FIELD(holder, tsvalue(KONST(hole_b)), VC, SLOW(SETTABUP))
}
STENCIL(SETTABUP_K) {
  const TValue *holder = upvalue_of(base, hole_a)->v.p;
  PUT_FIELD(holder, tsvalue(KONST(hole_b)), KONST(hole_c), SLOW(SETTABUP))
}
STENCIL(SETFIELD_R) PUT_FIELD(VA, tsvalue(KONST(hole_b)), VC, SLOW(SETFIELD))
STENCIL(SETFIELD_K) PUT_FIELD(VA, tsvalue(KONST(hole_b)), KONST(hole_c), SLOW(SETFIELD))

/* An item of the array, or NULL. As luaH_getint it takes the limit along, where that is only a hint. */
static inline const TValue *item (Table *t, lua_Unsigned n) {
  lua_Unsigned limit = t->alimit;
  if (l_likely(n - 1u < limit))
    return &t->array[n - 1];
  if (!isrealasize(t) && ((n - 1u) & ~(limit - 1u)) < limit) {
    t->alimit = (unsigned)n;
    return &t->array[n - 1];
  }
  return NULL;
}

STENCIL(GETTABLE) {
  const TValue *rb = VB, *rc = VC;
  if (l_likely(ttistable(rb))) {
    const TValue *slot;
    if (l_likely(ttisinteger(rc))) {
      slot = item(hvalue(rb), l_castS2U(ivalue(rc)));
      if (l_likely(slot != NULL) && l_likely(!isempty(slot))) {
        setobj2s(L, RA, slot);
        NEXT;
      }
      if (slot != NULL && hvalue(rb)->metatable == NULL) {
        setnilvalue(VA);
        NEXT;
      }
    }
    else if (ttisshrstring(rc)) {
      slot = tlua_field(hvalue(rb), tsvalue(rc));
      if (l_likely(slot != NULL && !isempty(slot))) {
        setobj2s(L, RA, slot);
        NEXT;
      }
      if (hvalue(rb)->metatable == NULL) {
        setnilvalue(VA);
        NEXT;
      }
    }
  }
  SLOW(GETTABLE);
}

STENCIL(GETI) {
  const TValue *rb = VB;
  if (l_likely(ttistable(rb))) {
    const TValue *slot = item(hvalue(rb), (lua_Unsigned)IMMEDIATE);
    if (l_likely(slot != NULL && !isempty(slot))) {
      setobj2s(L, RA, slot);
      NEXT;
    }
    if (slot != NULL && hvalue(rb)->metatable == NULL) {
      setnilvalue(VA);
      NEXT;
    }
  }
  SLOW(GETI);
}

#define SET_TABLE(value) { \
  const TValue *ra = VA, *rb = VB; \
  if (l_likely(ttistable(ra))) { \
    Table *t = hvalue(ra); \
    const TValue *slot; \
    if (l_likely(ttisinteger(rb))) { \
      slot = item(t, l_castS2U(ivalue(rb))); \
      if (l_likely(slot != NULL) && l_likely(!isempty(slot) || lacks(t->metatable, TM_NEWINDEX))) \
        PUT(t, slot, value); \
    } \
    else if (ttisshrstring(rb)) { \
      slot = tlua_field(t, tsvalue(rb)); \
      if (l_likely(slot != NULL && !isempty(slot))) \
        PUT(t, slot, value); \
    } \
  } \
  SLOW(SETTABLE); \
}
STENCIL(SETTABLE_R) SET_TABLE(VC)
STENCIL(SETTABLE_K) SET_TABLE(KONST(hole_c))

#define SET_I(value) { \
  const TValue *ra = VA; \
  if (l_likely(ttistable(ra))) { \
    Table *t = hvalue(ra); \
    const TValue *slot = item(t, (lua_Unsigned)IMMEDIATE); \
    if (l_likely(slot != NULL && (!isempty(slot) || lacks(t->metatable, TM_NEWINDEX)))) \
      PUT(t, slot, value); \
  } \
  SLOW(SETI); \
}
STENCIL(SETI_R) SET_I(VC)
STENCIL(SETI_K) SET_I(KONST(hole_c))

/*
** A method is most often in the table that the object's metatable names, and those of strings always are.
** What is no table there is for the helper.
*/
STENCIL(SELF) {
  TValue *rb = VB;
  const TString *key = tsvalue(KONST(hole_c));
  const TValue *slot;
  const Table *meta;
  if (l_unlikely(key->tt != LUA_VSHRSTR))
    SLOW(SELF);
  if (l_likely(ttistable(rb))) {
    const Table *t = hvalue(rb);
    slot = tlua_field(t, key);
    if (slot != NULL && !isempty(slot))
      goto found;
    meta = t->metatable;
  }
  else if (ttisstring(rb))
    meta = G(L)->mt[LUA_TSTRING];
  else
    SLOW(SELF);
  if (l_unlikely(meta == NULL))
    SLOW(SELF);
  slot = known_field(meta, G(L)->tmname[TM_INDEX], cell());
  if (l_unlikely(slot == NULL || !ttistable(slot)))
    SLOW(SELF);
  slot = known_field(hvalue(slot), key, cell() + 1);
  if (l_unlikely(slot == NULL || isempty(slot)))
    SLOW(SELF);
 found:
  setobjs2s(L, RA + 1, REGISTER(hole_b));
  setobj2s(L, RA, slot);
  NEXT;
}

/* --- arithmetic --- */

#define ARITHMETIC(v1, v2, iop, fop, SLOWLY) { \
  const TValue *x = v1, *y = v2; \
  if (ttisinteger(x) && ttisinteger(y)) { \
    lua_Integer result = intop(iop, ivalue(x), ivalue(y)); \
    setivalue(VA, result); \
    NEXT; \
  } \
  if (l_likely(ttisfloat(x) && ttisfloat(y))) { \
    lua_Number result = fop(L, fltvalue(x), fltvalue(y)); \
    setfltvalue(VA, result); \
    NEXT; \
  } \
  if (l_likely(ttisnumber(x) && ttisnumber(y))) { \
    lua_Number result = fop(L, nvalue(x), nvalue(y)); \
    setfltvalue(VA, result); \
    NEXT; \
  } \
  SLOWLY; \
}

STENCIL(ADD) ARITHMETIC(VB, VC, +, luai_numadd, SLOW(ADD))
STENCIL(SUB) ARITHMETIC(VB, VC, -, luai_numsub, SLOW(SUB))
STENCIL(MUL) ARITHMETIC(VB, VC, *, luai_nummul, SLOW(MUL))

/* The constant's type is known: _KI of an integer, _KF of a float. */
#define WITH_INTEGER(iop, fop, SLOWLY) { \
  const TValue *x = VB; \
  if (l_likely(ttisinteger(x))) { \
    lua_Integer result = intop(iop, ivalue(x), ivalue(KONST(hole_c))); \
    setivalue(VA, result); \
    NEXT; \
  } \
  if (l_likely(ttisfloat(x))) { \
    lua_Number result = fop(L, fltvalue(x), cast_num(ivalue(KONST(hole_c)))); \
    setfltvalue(VA, result); \
    NEXT; \
  } \
  SLOWLY; \
}
#define WITH_FLOAT(fop, SLOWLY) { \
  const TValue *x = VB; \
  if (l_likely(ttisfloat(x))) { \
    lua_Number result = fop(L, fltvalue(x), fltvalue(KONST(hole_c))); \
    setfltvalue(VA, result); \
    NEXT; \
  } \
  if (l_likely(ttisinteger(x))) { \
    lua_Number result = fop(L, cast_num(ivalue(x)), fltvalue(KONST(hole_c))); \
    setfltvalue(VA, result); \
    NEXT; \
  } \
  SLOWLY; \
}

STENCIL(ADDK_I) WITH_INTEGER(+, luai_numadd, SLOW(ADDK))
STENCIL(SUBK_I) WITH_INTEGER(-, luai_numsub, SLOW(SUBK))
STENCIL(MULK_I) WITH_INTEGER(*, luai_nummul, SLOW(MULK))
STENCIL(ADDK_F) WITH_FLOAT(luai_numadd, SLOW(ADDK))
STENCIL(SUBK_F) WITH_FLOAT(luai_numsub, SLOW(SUBK))
STENCIL(MULK_F) WITH_FLOAT(luai_nummul, SLOW(MULK))
STENCIL(DIVK_F) WITH_FLOAT(luai_numdiv, SLOW(DIVK))
STENCIL(DIVK_I) {
  const TValue *x = VB;
  if (l_likely(ttisnumber(x))) {
    lua_Number result = luai_numdiv(L, nvalue(x), cast_num(ivalue(KONST(hole_c))));
    setfltvalue(VA, result);
    NEXT;
  }
  SLOW(DIVK);
}

STENCIL(ADDI) {
  const TValue *x = VB;
  if (l_likely(ttisinteger(x))) {
    lua_Integer result = intop(+, ivalue(x), IMMEDIATE);
    setivalue(VA, result);
    NEXT;
  }
  if (l_likely(ttisfloat(x))) {
    lua_Number result = luai_numadd(L, fltvalue(x), cast_num((int)IMMEDIATE));
    setfltvalue(VA, result);
    NEXT;
  }
  SLOW(ADDI);
}

STENCIL(DIV) {
  const TValue *x = VB, *y = VC;
  lua_Number a, b;
  if (ttisfloat(x))
    a = fltvalue(x);
  else if (ttisinteger(x))
    a = cast_num(ivalue(x));
  else
    SLOW(DIV);
  if (ttisfloat(y))
    b = fltvalue(y);
  else if (ttisinteger(y))
    b = cast_num(ivalue(y));
  else
    SLOW(DIV);
  setfltvalue(VA, luai_numdiv(L, a, b));
  NEXT;
}

/* Division by what is above 0 neither fails nor overflows. */
static inline lua_Integer quotient (lua_Integer m, lua_Integer n) {
  lua_Integer q;
  if (l_likely(((lua_Unsigned)(m | n) >> 32) == 0))
    return (lua_Integer)((uint32_t)m / (uint32_t)n);
  q = m / n;
  return m % n < 0 ? q - 1 : q;
}
static inline lua_Integer remainder_of (lua_Integer m, lua_Integer n) {
  lua_Integer r;
  if (l_likely(((lua_Unsigned)(m | n) >> 32) == 0))
    return (lua_Integer)((uint32_t)m % (uint32_t)n);
  r = m % n;
  return r < 0 ? r + n : r;
}

#define DIVISION(v2, operation, SLOWLY) { \
  const TValue *x = VB, *y = v2; \
  if (l_likely(ttisinteger(x) && ttisinteger(y) && ivalue(y) > 0)) { \
    lua_Integer result = operation(ivalue(x), ivalue(y)); \
    setivalue(VA, result); \
    NEXT; \
  } \
  SLOWLY; \
}
STENCIL(MOD) DIVISION(VC, remainder_of, SLOW(MOD))
STENCIL(MODK) DIVISION(KONST(hole_c), remainder_of, SLOW(MODK))
STENCIL(IDIV) DIVISION(VC, quotient, SLOW(IDIV))
STENCIL(IDIVK) DIVISION(KONST(hole_c), quotient, SLOW(IDIVK))

#define BITS(v2, operation, SLOWLY) { \
  const TValue *x = VB, *y = v2; \
  if (l_likely(ttisinteger(x) && ttisinteger(y))) { \
    lua_Integer result = intop(operation, ivalue(x), ivalue(y)); \
    setivalue(VA, result); \
    NEXT; \
  } \
  SLOWLY; \
}
STENCIL(BAND) BITS(VC, &, SLOW(BAND))
STENCIL(BOR) BITS(VC, |, SLOW(BOR))
STENCIL(BXOR) BITS(VC, ^, SLOW(BXOR))
STENCIL(BANDK) BITS(KONST(hole_c), &, SLOW(BANDK))
STENCIL(BORK) BITS(KONST(hole_c), |, SLOW(BORK))
STENCIL(BXORK) BITS(KONST(hole_c), ^, SLOW(BXORK))

/* By 0 to 63 bits. */
STENCIL(SHIFT_RIGHT) {
  if (l_likely(ttisinteger(VB))) {
    lua_Integer result = intop(>>, ivalue(VB), IMMEDIATE);
    setivalue(VA, result);
    NEXT;
  }
  SLOW(SHRI);
}
STENCIL(SHIFT_LEFT) {
  if (l_likely(ttisinteger(VB))) {
    lua_Integer result = intop(<<, ivalue(VB), IMMEDIATE);
    setivalue(VA, result);
    NEXT;
  }
  SLOW(SHRI);
}

STENCIL(UNM) {
  if (l_likely(ttisinteger(VB))) {
    lua_Integer result = intop(-, 0, ivalue(VB));
    setivalue(VA, result);
    NEXT;
  }
  if (l_likely(ttisfloat(VB))) {  /* its sign is a bit */
    VA->value_.i = VB->value_.i ^ LUA_MININTEGER;
    settt_(VA, LUA_VNUMFLT);
    NEXT;
  }
  SLOW(UNM);
}

STENCIL(NOT) {
  if (l_isfalse(VB))
    setbtvalue(VA);
  else
    setbfvalue(VA);
  NEXT;
}

/*
** The two commonest cases of luaH_getn: the last item that is known of is there; what comes after it is the
** end of the array part, and there is no hash part, or an empty item of a part that is larger.
*/
STENCIL(LEN) {
  const TValue *x = VB;
  if (ttistable(x)) {
    const Table *t = hvalue(x);
    unsigned limit = t->alimit;
    if (l_likely(t->metatable == NULL && limit > 0 && !isempty(&t->array[limit - 1])
                 && (isrealasize(t) || (limit & (limit - 1)) == 0 ? t->lastfree == NULL
                                                                  : isempty(&t->array[limit])))) {
      setivalue(VA, (lua_Integer)limit);
      NEXT;
    }
  }
  else if (ttisstring(x)) {
    lua_Integer length = (lua_Integer)tsslen(tsvalue(x));
    setivalue(VA, length);
    NEXT;
  }
  WORK(LEN);
}

/* --- comparisons: _T jumps if the condition holds, _F if it does not --- */

#define CONDITIONAL(name, body) \
  STENCIL(name##_T) body(JUMP, NEXT) \
  STENCIL(name##_F) body(NEXT, JUMP)

/* Whether a number is, as a float, what it is. */
static inline int is_exact (const TValue *x) {
  const lua_Unsigned most = (lua_Unsigned)1 << l_floatatt(MANT_DIG);
  return ttisfloat(x) || (ttisinteger(x) && most + l_castS2U(ivalue(x)) <= 2 * most);
}

#define ORDER(op, name, of_strings, YES, NO) { \
  const TValue *x = VA, *y = VB; \
  if (ttisinteger(x) && ttisinteger(y)) { \
    if (ivalue(x) op ivalue(y)) YES; \
    NO; \
  } \
  if (l_likely(ttisfloat(x) && ttisfloat(y))) { \
    if (fltvalue(x) op fltvalue(y)) YES; \
    NO; \
  } \
  if (ttisstring(x) && ttisstring(y)) { \
    if (work_##of_strings(L, ci, base, this_pc(), k)) YES; \
    NO; \
  } \
  if (is_exact(x) && is_exact(y)) { \
    if (nvalue(x) op nvalue(y)) YES; \
    NO; \
  } \
  SLOW(name); \
}
#define LESS(YES, NO) ORDER(<, LT, less, YES, NO)
#define AT_MOST(YES, NO) ORDER(<=, LE, at_most, YES, NO)
CONDITIONAL(LT, LESS)
CONDITIONAL(LE, AT_MOST)

#define ORDER_I(op, name, YES, NO) { \
  const TValue *x = VA; \
  if (l_likely(ttisinteger(x))) { \
    if (ivalue(x) op (lua_Integer)IMMEDIATE) YES; \
    NO; \
  } \
  if (l_likely(ttisfloat(x))) { \
    if (fltvalue(x) op cast_num((int)IMMEDIATE)) YES; \
    NO; \
  } \
  SLOW(name); \
}
#define LESS_I(YES, NO) ORDER_I(<, LTI, YES, NO)
#define AT_MOST_I(YES, NO) ORDER_I(<=, LEI, YES, NO)
#define GREATER_I(YES, NO) ORDER_I(>, GTI, YES, NO)
#define AT_LEAST_I(YES, NO) ORDER_I(>=, GEI, YES, NO)
CONDITIONAL(LTI, LESS_I)
CONDITIONAL(LEI, AT_MOST_I)
CONDITIONAL(GTI, GREATER_I)
CONDITIONAL(GEI, AT_LEAST_I)

/* Values of one type: all but long strings, and what may have a metamethod. */
#define EQUAL(YES, NO) { \
  const TValue *x = VA, *y = VB; \
  if (rawtt(x) == rawtt(y)) { \
    int tag = ttypetag(x); \
    if (tag == LUA_VNUMINT || tag == LUA_VSHRSTR) { \
      if (ivalue_word(x) == ivalue_word(y)) YES; \
      NO; \
    } \
    if (tag == LUA_VNIL || tag == LUA_VTRUE || tag == LUA_VFALSE) YES; \
    if (tag == LUA_VNUMFLT) { \
      if (fltvalue(x) == fltvalue(y)) YES; \
      NO; \
    } \
    if (ivalue_word(x) == ivalue_word(y)) YES; \
    if (tag == LUA_VTABLE && lacks(hvalue(x)->metatable, TM_EQ) && lacks(hvalue(y)->metatable, TM_EQ)) NO; \
  } \
  else if (ttype(x) != ttype(y)) NO; \
  SLOW(EQ); \
}
#define ivalue_word(v) ((v)->value_.i)
CONDITIONAL(EQ, EQUAL)

/* The constant is a short string. */
#define EQUAL_WORD(YES, NO) { \
  const TValue *x = VA, *y = KONST(hole_b); \
  if (rawtt(x) == rawtt(y) && ivalue_word(x) == ivalue_word(y)) YES; \
  NO; \
}
CONDITIONAL(EQK_STRING, EQUAL_WORD)
/* The constant is an integer. A float may be equal to it. */
#define EQUAL_INTEGER(YES, NO) { \
  const TValue *x = VA; \
  if (l_likely(ttisinteger(x))) { \
    if (ivalue(x) == ivalue(KONST(hole_b))) YES; \
    NO; \
  } \
  if (ttisfloat(x)) SLOW(EQK); \
  NO; \
}
CONDITIONAL(EQK_INTEGER, EQUAL_INTEGER)
/* The constant is nil, true or false. */
#define EQUAL_TAG(YES, NO) { \
  if (rawtt(VA) == (int)IMMEDIATE) YES; \
  NO; \
}
CONDITIONAL(EQK_TAG, EQUAL_TAG)

#define EQUAL_I(YES, NO) { \
  const TValue *x = VA; \
  if (l_likely(ttisinteger(x))) { \
    if (ivalue(x) == (lua_Integer)IMMEDIATE) YES; \
    NO; \
  } \
  if (ttisfloat(x)) { \
    if (fltvalue(x) == cast_num((int)IMMEDIATE)) YES; \
    NO; \
  } \
  NO; \
}
CONDITIONAL(EQI, EQUAL_I)

#define TRUTH(YES, NO) { \
  if (!l_isfalse(VA)) YES; \
  NO; \
}
CONDITIONAL(TEST, TRUTH)

STENCIL(TESTSET_T) {
  const TValue *x = VB;
  if (l_isfalse(x)) NEXT;
  setobj2s(L, RA, x);
  JUMP;
}
STENCIL(TESTSET_F) {
  const TValue *x = VB;
  if (!l_isfalse(x)) NEXT;
  setobj2s(L, RA, x);
  JUMP;
}

/* --- calls --- */

/* Before a function's first instruction. */
STENCIL(ENTRY) {
  if (l_unlikely(--*counter() < 0 || L->hookmask))
    CALL_HELPER(entry, nothing());
  NEXT;
}

/* Of a Lua function with code; all others are for the stencil that comes right after this one. */
#define CALL_LUA(arguments) { \
  StkId ra = RA; \
  if (l_likely(ttypetag(s2v(ra)) == LUA_VLCL)) { \
    const Proto *p = clLvalue(s2v(ra))->p; \
    CallInfo *called = ci->next; \
    TluaCode *code = (TluaCode *)p->jit_code; \
    int size = p->maxstacksize; \
    if (l_likely(code != NULL) && l_likely(called != NULL) && l_likely(L->stack_last.p - top > size)) { \
      ptrdiff_t given = arguments; \
      ci->u.l.savedpc = other_pc(); \
      for (; l_unlikely(given < p->numparams); given++) { \
        setnilvalue(s2v(top)); \
        top++; \
      } \
      L->top.p = top; \
      called->func.p = ra; \
      called->top.p = ra + 1 + size; \
      called->nresults = (short)IMMEDIATE; \
      called->callstatus = 0; \
      called->u.l.savedpc = p->code; \
      L->ci = called; \
      return code(L, called, ra + 1, nothing(), p->k); \
    } \
  } \
  JUMP; \
}

STENCIL(CALL) {
  StkId top = REGISTER(hole_b);
  CALL_LUA(OFFSET(hole_c))
}
STENCIL(CALL_OPEN) {
  StkId top = L->top.p;
  CALL_LUA(top - RA - 1)
}

/* Of the results of a short form, of which there is one, no more are wanted; where all are, it ends them. */
#define CALL_OTHER(arguments, END) { \
  StkId ra = RA; \
  if (l_likely(ttypetag(s2v(ra)) == LUA_VLCF)) { \
    const TluaCallCell *met = (TluaCallCell *)cell(); \
    if (l_likely(fvalue(s2v(ra)) == met->function) && met->quick != NULL && tlua_may_call(L, top) \
        && call_quick(met->quick, L, ra, arguments)) { \
      END; \
      NEXT; \
    } \
    L->top.p = top; \
    WORK_WITH(call, (TValue *)met); \
  } \
  SLOW(CALL); \
}

STENCIL(CALL_OTHER) {
  StkId top = REGISTER(hole_b);
  CALL_OTHER(OFFSET(hole_c), (void)0)
}
STENCIL(CALL_OTHER_OPEN) {
  StkId top = L->top.p;
  CALL_OTHER(top - RA - 1, (void)0)
}
STENCIL(CALL_OTHER_ALL) {
  StkId top = REGISTER(hole_b);
  CALL_OTHER(OFFSET(hole_c), L->top.p = RA + 1)
}
STENCIL(CALL_OTHER_OPEN_ALL) {
  StkId top = L->top.p;
  CALL_OTHER(top - RA - 1, L->top.p = RA + 1)
}

/* Whether no variable of the frame is captured or to be closed, at this moment. */
static inline int is_closed (const lua_State *L, StkId base) {
  const UpVal *open = L->openupval;
  return L->tbclist.p < base && (open == NULL || uplevel(open) < base);
}

/* Goes on in a Lua function after a call. */
static inline int go_back (lua_State *L, CallInfo *ci, StkId base, TValue *k) {
  const Proto *p = clLvalue(s2v(ci->func.p))->p;
  if (l_likely(!ci->u.l.trap) && l_likely(p->jit_places != NULL)) {
    TluaCode *code = (TluaCode *)p->jit_places[ci->u.l.savedpc - p->code];
    if (l_likely(code != NULL))
      return code(L, ci, ci->func.p + 1, nothing(), p->k);
  }
  CALL_HELPER(go_on, nothing());
}

/* Back from the function of 'ci': to C, which has called it, or to a Lua function. */
#define LEAVE_TO(caller) \
  if (l_unlikely(ci->callstatus & CIST_FRESH)) \
    return TLUA_DONE; \
  return go_back(L, caller, base, k)

/* A value, and nil for the others that are wanted: few want more. */
STENCIL(RETURN1) {
  int wanted = ci->nresults;
  if (l_likely(!L->hookmask)) {
    CallInfo *caller = ci->previous;
    StkId to = base - 1;
    L->ci = caller;
    /* a value that nobody wants does no harm: the place is free */
    setobjs2s(L, to, RA);
    L->top.p = base - (wanted == 0);
    for (; l_unlikely(wanted > 1); wanted--) {
      setnilvalue(s2v(L->top.p));
      L->top.p++;
    }
    LEAVE_TO(caller);
  }
  SLOW(RETURN1);
}
STENCIL(RETURN0) {
  int wanted = ci->nresults;
  if (l_likely(!L->hookmask)) {
    CallInfo *caller = ci->previous;
    StkId to = base - 1;
    L->ci = caller;
    for (; l_unlikely(wanted > 0); wanted--) {
      setnilvalue(s2v(to));
      to++;
    }
    L->top.p = to;
    LEAVE_TO(caller);
  }
  SLOW(RETURN0);
}

/*
** So many values from RA on. Below a frame with variable arguments lie these, and the function once more:
** 'below' is how far.
*/
#define RETURN_VALUES(values, below) { \
  ptrdiff_t count = values, wanted = ci->nresults; \
  if (wanted < 0) \
    wanted = count; \
  if (l_likely(!L->hookmask)) { \
    CallInfo *caller = ci->previous; \
    StkId from = RA, to = base - 1 - (below); \
    ptrdiff_t given = l_likely(wanted <= count) ? wanted : count; \
    L->ci = caller; \
    for (ptrdiff_t n = 0; n < given; n++) { \
      setobjs2s(L, to, from); \
      to++; \
      from++; \
    } \
    for (; l_unlikely(given < wanted); given++) { \
      setnilvalue(s2v(to)); \
      to++; \
    } \
    L->top.p = to; \
    LEAVE_TO(caller); \
  } \
}

#define VALUES OFFSET(hole_i)
#define OPEN_VALUES (L->top.p - RA)
#define EXTRA (ci->u.l.nextraargs + OFFSET(hole_c))

STENCIL(RETURN) {
  RETURN_VALUES(VALUES, 0)
  SLOW(RETURN);
}
STENCIL(RETURN_OPEN) {
  RETURN_VALUES(OPEN_VALUES, 0)
  SLOW(RETURN);
}
/* Variables may have to be closed. */
STENCIL(RETURN_CLOSED) {
  if (l_likely(is_closed(L, base)))
    RETURN_VALUES(VALUES, 0)
  SLOW(RETURN);
}
STENCIL(RETURN_OPEN_CLOSED) {
  if (l_likely(is_closed(L, base)))
    RETURN_VALUES(OPEN_VALUES, 0)
  SLOW(RETURN);
}
/* Of a function with variable arguments. */
STENCIL(RETURN_EXTRA) {
  if (l_likely(is_closed(L, base)))
    RETURN_VALUES(VALUES, EXTRA)
  SLOW(RETURN);
}
STENCIL(RETURN_OPEN_EXTRA) {
  if (l_likely(is_closed(L, base)))
    RETURN_VALUES(OPEN_VALUES, EXTRA)
  SLOW(RETURN);
}

/* Of a Lua function with code, or of a short form with one result: from a function of fixed arguments. */
#define TAIL_CALL(arguments, IS_CLOSED) { \
  StkId ra = RA; \
  if (l_likely(ttypetag(s2v(ra)) == LUA_VLCL) && l_likely(IS_CLOSED)) { \
    const Proto *p = clLvalue(s2v(ra))->p; \
    TluaCode *code = (TluaCode *)p->jit_code; \
    ptrdiff_t count = arguments + 1; \
    StkId to = base - 1; \
    int size = p->maxstacksize; \
    if (l_likely(code != NULL) && l_likely(L->stack_last.p - (ra + count) > size)) { \
      ptrdiff_t wanted = p->numparams + 1; \
      for (ptrdiff_t n = 0; n < count; n++) \
        setobjs2s(L, to + n, ra + n); \
      for (; l_unlikely(count < wanted); count++) \
        setnilvalue(s2v(to + count)); \
      L->top.p = to + count; \
      ci->top.p = base + size; \
      ci->u.l.savedpc = p->code; \
      ci->callstatus |= CIST_TAIL; \
      return code(L, ci, base, nothing(), p->k); \
    } \
  } \
  if (ttypetag(s2v(ra)) == LUA_VLCF && l_likely(IS_CLOSED)) { \
    TluaCallCell *met = (TluaCallCell *)cell(); \
    ptrdiff_t count = arguments; \
    if (l_likely(fvalue(s2v(ra)) == met->function) && met->quick != NULL \
        && tlua_may_call(L, ra + 1 + count) && call_quick(met->quick, L, ra, count)) \
      RETURN_VALUES(1, 0) \
    L->top.p = ra + 1 + count; \
    if (l_likely(work_tail(L, ci, base, this_pc(), (TValue *)met))) { \
      base = ci->func.p + 1; \
      RETURN_VALUES(OPEN_VALUES, 0) \
      CALL_HELPER(results, this_pc()); \
    } \
  } \
  SLOW(TAILCALL); \
}

STENCIL(TAILCALL) TAIL_CALL(OFFSET(hole_i), 1)
STENCIL(TAILCALL_OPEN) TAIL_CALL(L->top.p - RA - 1, 1)
STENCIL(TAILCALL_CLOSED) TAIL_CALL(OFFSET(hole_i), is_closed(L, base))
STENCIL(TAILCALL_OPEN_CLOSED) TAIL_CALL(L->top.p - RA - 1, is_closed(L, base))

/* --- loops --- */

/* A jump back has been made. */
#define COUNT_BACK_EDGE \
  if (l_unlikely(--*counter() < 0)) \
    CALL_HELPER(hot, other_pc()); \
  if (l_unlikely(ci->u.l.trap)) \
    CALL_HELPER(trap, other_pc())

STENCIL(BACK_EDGE) {
  COUNT_BACK_EDGE;
  JUMP;
}

/* Of integers. The jump is over the loop. */
STENCIL(FORPREP) {
  StkId ra = RA;
  if (l_likely(ttisinteger(s2v(ra)) && ttisinteger(s2v(ra + 1)) && ttisinteger(s2v(ra + 2)))) {
    lua_Integer first = ivalue(s2v(ra)), last = ivalue(s2v(ra + 1)), step = ivalue(s2v(ra + 2));
    if (l_likely(step != 0)) {
      lua_Unsigned count;
      setivalue(s2v(ra + 3), first);
      if (step > 0 ? first > last : first < last) JUMP;
      count = step > 0 ? l_castS2U(last) - l_castS2U(first) : l_castS2U(first) - l_castS2U(last);
      if (l_unlikely(step != 1))
        count /= step > 0 ? l_castS2U(step) : 0u - l_castS2U(step);
      setivalue(s2v(ra + 1), l_castU2S(count));
      NEXT;
    }
  }
  SLOW(FORPREP);
}

STENCIL(FORLOOP) {
  StkId ra = RA;
  if (l_likely(ttisinteger(s2v(ra + 2)))) {
    lua_Unsigned count = l_castS2U(ivalue(s2v(ra + 1)));
    if (l_likely(count > 0)) {
      lua_Integer index = intop(+, ivalue(s2v(ra)), ivalue(s2v(ra + 2)));
      chgivalue(s2v(ra + 1), l_castU2S(count - 1));
      chgivalue(s2v(ra), index);
      setivalue(s2v(ra + 3), index);
      COUNT_BACK_EDGE;
      JUMP;
    }
    if (l_unlikely(ci->u.l.trap))
      CALL_HELPER(trap, this_pc() + 1);
    NEXT;
  }
  SLOW(FORLOOP);
}

/*
** A step of 'ipairs', for two variables or one, and the jump back after it. The call that it stands for needs
** room, and counts: see tlua_baseline_step, which does other steps.
*/
STENCIL(TFORCALL) {
  StkId ra = RA;
  const TValue *f = s2v(ra), *t = s2v(ra + 1), *control = s2v(ra + 2);
  if (l_likely(ttislcf(f) && ttistable(t) && ttisinteger(control)) && fvalue(f) == L->jit->ipairs_step) {
    lua_Integer next = intop(+, ivalue(control), 1);
    const TValue *slot = item(hvalue(t), l_castS2U(next));
    if (l_likely(slot != NULL && !isempty(slot) && !L->hookmask && getCcalls(L) + 1 < LUAI_MAXCCALLS
                 && L->stack_last.p - (ra + 7) > LUA_MINSTACK)) {
      setivalue(s2v(ra + 2), next);
      setivalue(s2v(ra + 4), next);
      setobj2s(L, ra + 5, slot);
      COUNT_BACK_EDGE;
      JUMP;
    }
  }
  if (l_likely(ttislcf(f)) && l_likely(work_step(L, ci, base, this_pc(), k))) {
    if (l_unlikely(ttisnil(s2v(ra + 4))))
      NEXT;
    setobjs2s(L, ra + 2, ra + 4);
    COUNT_BACK_EDGE;
    JUMP;
  }
  SLOW(TFORCALL);
}

/* There is nothing to be closed after most loops. */
STENCIL(TFORPREP) {
  if (l_likely(l_isfalse(s2v(RA + 3))))
    JUMP;
  SLOW(TFORPREP);
}

STENCIL(TFORLOOP) {
  StkId ra = RA;
  if (l_likely(!ttisnil(s2v(ra + 4)))) {
    setobjs2s(L, ra + 2, ra + 4);
    COUNT_BACK_EDGE;
    JUMP;
  }
  NEXT;
}

/* --- instructions that a helper does --- */

#define ALL_SLOW(name) STENCIL(SLOW_##name) { SLOW(name); }
TLUA_SLOW_OPS(ALL_SLOW)
#define ALL_WORK(name) STENCIL(SLOW_##name) { WORK(name); }
TLUA_WORK_OPS(ALL_WORK)
