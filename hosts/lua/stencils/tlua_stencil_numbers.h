/*
** The stencils of arithmetic, and of comparisons. See tlua_stencils.c, which includes this file once.
*/

/* --- arithmetic --- */

/* Both tags are looked at together: one branch, and the commonest way does not jump. */
static inline unsigned tags_of (const TValue *x, const TValue *y) {
  return (unsigned)rawtt(x) | (unsigned)rawtt(y) << 8;
}
#define BOTH(tag) ((unsigned)(tag) | (unsigned)(tag) << 8)

#define ARITHMETIC(v1, v2, iop, fop, SLOWLY) { \
  const TValue *x = v1, *y = v2; \
  unsigned tags = tags_of(x, y); \
  if (l_likely(tags == BOTH(LUA_VNUMINT))) { \
    lua_Integer result = intop(iop, ivalue(x), ivalue(y)); \
    setivalue(VA, result); \
    NEXT; \
  } \
  if (l_likely(tags == BOTH(LUA_VNUMFLT))) { \
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
    lua_Integer result = intop(+, ivalue(x), SIGNED_IMMEDIATE);
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
  if (l_likely(tags_of(x, y) == BOTH(LUA_VNUMINT)) && l_likely(ivalue(y) > 0)) { \
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

/* As luai_numpow does it, without the C library. */
STENCIL(POWK_SQUARE) {
  const TValue *x = VB;
  if (l_likely(ttisfloat(x))) {
    lua_Number result = luai_nummul(L, fltvalue(x), fltvalue(x));
    setfltvalue(VA, result);
    NEXT;
  }
  if (l_likely(ttisinteger(x))) {
    lua_Number result = luai_nummul(L, cast_num(ivalue(x)), cast_num(ivalue(x)));
    setfltvalue(VA, result);
    NEXT;
  }
  WORK(POWK);
}

#define BITS(v2, operation, SLOWLY) { \
  const TValue *x = VB, *y = v2; \
  if (l_likely(tags_of(x, y) == BOTH(LUA_VNUMINT))) { \
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

/* By any number of bits. */
static inline lua_Integer shifted (lua_Integer x, lua_Integer to_left) {
  if (l_likely(l_castS2U(to_left) < 64))
    return intop(<<, x, to_left);
  return l_castS2U(intop(-, 0, to_left)) < 64 ? intop(>>, x, -to_left) : 0;
}

STENCIL(SHL) {
  if (l_likely(ttisinteger(VB) && ttisinteger(VC))) {
    lua_Integer result = shifted(ivalue(VB), ivalue(VC));
    setivalue(VA, result);
    NEXT;
  }
  WORK(SHL);
}
STENCIL(SHR) {
  if (l_likely(ttisinteger(VB) && ttisinteger(VC))) {
    lua_Integer result = shifted(ivalue(VB), intop(-, 0, ivalue(VC)));
    setivalue(VA, result);
    NEXT;
  }
  WORK(SHR);
}
STENCIL(SHLI) {
  if (l_likely(ttisinteger(VB))) {
    lua_Integer result = shifted(signed_immediate(), ivalue(VB));
    setivalue(VA, result);
    NEXT;
  }
  WORK(SHLI);
}

STENCIL(BNOT) {
  if (l_likely(ttisinteger(VB))) {
    lua_Integer result = intop(^, ~l_castS2U(0), ivalue(VB));
    setivalue(VA, result);
    NEXT;
  }
  WORK(BNOT);
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
    if (l_likely(lacks(t->metatable, TM_LEN) && limit > 0 && !isempty(&t->array[limit - 1])
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

/* Whether this integer is a float, and so are all integers that are nearer to 0. */
static inline int is_exact (lua_Integer i) {
  return l_castS2U(i) + ((lua_Unsigned)1 << DBL_MANT_DIG) <= (lua_Unsigned)2 << DBL_MANT_DIG;
}

/* An integer and a float are compared as floats where that is exact. */
#define ORDER(op, name, call_strings, YES, NO) { \
  const TValue *x = VA, *y = VB; \
  unsigned tags = tags_of(x, y); \
  if (l_likely(tags == BOTH(LUA_VNUMINT))) { \
    if (ivalue(x) op ivalue(y)) YES; \
    NO; \
  } \
  if (l_likely(tags == BOTH(LUA_VNUMFLT))) { \
    if (fltvalue(x) op fltvalue(y)) YES; \
    NO; \
  } \
  if (l_likely(ttisnumber(x) && ttisnumber(y)) && l_likely(is_exact(ivalue(ttisinteger(x) ? x : y)))) { \
    if (nvalue(x) op nvalue(y)) YES; \
    NO; \
  } \
  if (ttisstring(x) && ttisstring(y)) { \
    if (call_strings(L, x, y)) YES; \
    NO; \
  } \
  SLOW(name); \
}
#define LESS(YES, NO) ORDER(<, LT, call_less, YES, NO)
#define AT_MOST(YES, NO) ORDER(<=, LE, call_at_most, YES, NO)
CONDITIONAL(LT, LESS)
CONDITIONAL(LE, AT_MOST)

#define ORDER_I(op, name, YES, NO) { \
  const TValue *x = VA; \
  if (l_likely(ttisinteger(x))) { \
    if (ivalue(x) op SIGNED_IMMEDIATE) YES; \
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
    if (ivalue(x) == SIGNED_IMMEDIATE) YES; \
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
