/*
** What stencils do not do themselves: the helpers of baseline code.
**
** Problem: an instruction has rare cases, and some are rare themselves; they call metamethods, allocate,
** throw, and would make a stencil large and slow.
**
** Design: a helper for each instruction does all of it, as the interpreter's loop does, and goes on at the
** code of what comes next by a call in tail position. So while Lua functions run no frame of baseline code is
** on the native stack: errors and yields pass, and recursion takes no room. What is always done by a helper,
** and never jumps, is called and returns. Where a helper comes to something that is the interpreter's (hooks,
** a function without code), it returns to it.
**
** Invariant: savedpc, top and trap are set and read where the interpreter sets and reads them. 'base' is read
** anew after everything that may move the stack.
**
** Example: a + b of two objects: the stencil calls tlua_slow_ADD, which calls the metamethod, and then the
** code of the instruction after the one that would call it.
*/

#define LUA_CORE

#include "lprefix.h"

#include <math.h>
#include <string.h>

#include "tlua_baseline_slow.h"
#include "tlua_node.h"

#include "ldebug.h"
#include "ldo.h"
#include "lfunc.h"
#include "lgc.h"
#include "lmem.h"
#include "lobject.h"
#include "lstring.h"
#include "ltable.h"
#include "ltm.h"
#include "lvm.h"

/* --- loads and stores --- */

OPERATION(barrier) {
  int is_upvalue = GET_OPCODE(i) == OP_SETTABUP;
  const TValue *table = is_upvalue ? clLvalue(s2v(base - 1))->upvals[GETARG_A(i)]->v.p : VA(i);
  luaC_barrierback_(L, gcvalue(table));
  return pc;
}

CALLED_OPERATION(LOADKX) {
  setobj2s(L, RA(i), k + GETARG_Ax(*pc));
  return pc + 1;
}

CALLED_OPERATION(LOADNIL) {
  StkId ra = RA(i);
  for (int b = GETARG_B(i); b >= 0; b--)
    setnilvalue(s2v(ra++));
  return pc;
}

OPERATION(SETUPVAL) {
  UpVal *uv = clLvalue(s2v(base - 1))->upvals[GETARG_B(i)];
  setobj(L, uv->v.p, VA(i));
  luaC_barrier(L, uv, VA(i));
  return pc;
}

/*
** A short string that a table lacks, in those that stand for one another by the field __index of their
** metatables: nil where none of them has it; NULL where that is not known: an __index is no table, or there
** are many. Where it is a function, that one is to be asked for it, about the table that 'holder' is then.
*/
static inline const TValue *inherited (const lua_State *L, const Table *t, const TString *key,
                                       const TValue **holder, const TValue **function) {
  const global_State *g = G(L);
  for (int n = 0; n < 8; n++) {
    const Table *meta = t->metatable;
    const TValue *index, *slot;
    if (meta == NULL || (meta->flags & (1u << TM_INDEX)))
      return &g->nilvalue;
    index = tlua_field(meta, g->tmname[TM_INDEX]);
    if (index == NULL || isempty(index))
      return &g->nilvalue;
    if (l_unlikely(!ttistable(index))) {
      *function = ttisfunction(index) ? index : NULL;
      return NULL;
    }
    *holder = index;
    t = hvalue(index);
    slot = tlua_field(t, key);
    if (slot != NULL && !isempty(slot))
      return slot;
  }
  return NULL;
}

const TValue *tlua_work_inherited (lua_State *L, const Table *t, const TString *key) {
  const TValue *holder, *function;
  return inherited(L, t, key, &holder, &function);
}

/* The same of other keys. */
static const TValue *inherited_key (const lua_State *L, const Table *t, const TValue *key) {
  const global_State *g = G(L);
  for (int n = 0; n < 8; n++) {
    const Table *meta = t->metatable;
    if (meta == NULL || (meta->flags & (1u << TM_INDEX)))
      return &g->nilvalue;
    const TValue *index = tlua_field(meta, g->tmname[TM_INDEX]), *slot;
    if (index == NULL || isempty(index))
      return &g->nilvalue;
    if (!ttistable(index))
      return NULL;
    t = hvalue(index);
    slot = luaH_get(hvalue(index), key);
    if (!isempty(slot))
      return slot;
  }
  return NULL;
}

const TValue *tlua_work_integer (lua_State *L, Table *t, lua_Integer n) {
  Node *place, *node = isdummy(t) ? NULL : tlua_integer_node(t, n, &place);
  TValue key;
  if (node != NULL && !isempty(gval(node)))
    return gval(node);
  if (l_likely(t->metatable == NULL))
    return &G(L)->nilvalue;
  setivalue(&key, n);
  return inherited_key(L, t, &key);
}

const TValue *tlua_work_key (lua_State *L, Table *t, const TValue *key) {
  Node *place;
  const TValue *slot;
  if (tlua_is_plain(key)) {
    const Node *node = isdummy(t) ? NULL : tlua_plain_node(t, key, &place);
    slot = node == NULL ? &G(L)->nilvalue : gval(node);
  }
  else
    slot = luaH_get(t, key);
  return !isempty(slot) ? slot : t->metatable == NULL ? &G(L)->nilvalue : inherited_key(L, t, key);
}

static void get_string (TLUA_ARGS, const TValue *holder, TValue *key, StkId ra) {
  const TValue *slot;
  if (ttistable(holder) && ttisshrstring(key)) {
    const TValue *of = holder, *function = NULL;
    slot = tlua_field(hvalue(holder), tsvalue(key));
    if (slot == NULL || isempty(slot))
      slot = inherited(L, hvalue(holder), tsvalue(key), &of, &function);
    if (slot != NULL) {
      setobj2s(L, ra, slot);
      return;
    }
    if (function != NULL) {
      savestate();
      luaT_callTMres(L, function, of, key, ra);
      return;
    }
  }
  if (luaV_fastget(L, holder, tsvalue(key), slot, luaH_getstr)) {
    setobj2s(L, ra, slot);
  }
  else {
    savestate();
    luaV_finishget(L, holder, key, ra, slot);
  }
}

OPERATION(GETTABUP) {
  get_string(TLUA_PASS, clLvalue(s2v(base - 1))->upvals[GETARG_B(i)]->v.p, KC(i), RA(i));
  return pc;
}

OPERATION(GETFIELD) {
  get_string(TLUA_PASS, VB(i), KC(i), RA(i));
  return pc;
}

OPERATION(SELF) {
  TValue *holder = VB(i);
  setobj2s(L, RA(i) + 1, holder);
  get_string(TLUA_PASS, holder, RKC(i), RA(i));
  return pc;
}

static void get_integer (TLUA_ARGS, const TValue *holder, lua_Integer n, StkId ra) {
  const TValue *slot;
  if (luaV_fastgeti(L, holder, l_castS2U(n), slot)) {
    setobj2s(L, ra, slot);
  }
  else {
    TValue key;
    setivalue(&key, n);
    savestate();
    luaV_finishget(L, holder, &key, ra, slot);
  }
}

OPERATION(GETI) {
  get_integer(TLUA_PASS, VB(i), GETARG_C(i), RA(i));
  return pc;
}

OPERATION(GETTABLE) {
  const TValue *holder = VB(i);
  TValue *key = VC(i);
  const TValue *slot;
  if (ttisinteger(key))
    get_integer(TLUA_PASS, holder, ivalue(key), RA(i));
  else if (ttisshrstring(key))
    get_string(TLUA_PASS, holder, key, RA(i));
  else if (luaV_fastget(L, holder, key, slot, luaH_get)) {
    setobj2s(L, RA(i), slot);
  }
  else {
    savestate();
    luaV_finishget(L, holder, key, RA(i), slot);
  }
  return pc;
}

/*
** Where a short string is stored: in the table, or in the one that stands for it by the field __newindex of
** its metatable. NULL where that is not known. Where __newindex is a function, that one is to be called with
** the table, which 'holder' is then.
*/
static TValue *place_for (lua_State *L, const TValue **holder, TValue *key, const TValue *value,
                          const TValue **function) {
  for (int n = 0; n < 8 && ttistable(*holder); n++) {
    Table *t = hvalue(*holder);
    TValue *slot = (TValue *)tlua_field(t, tsvalue(key));
    if (slot != NULL && !isempty(slot))
      return slot;
    const TValue *newindex = fasttm(L, t->metatable, TM_NEWINDEX);
    if (newindex == NULL) {
      invalidateTMcache(t);
      if (slot != NULL || ttisnil(value))
        return slot;
      slot = tlua_add_string(L, t, key);
      return slot != NULL ? slot : tlua_grow_by_string(L, t, key);
    }
    if (ttisfunction(newindex)) {
      *function = newindex;
      return NULL;
    }
    *holder = newindex;
  }
  return NULL;
}

static void set_string (TLUA_ARGS, const TValue *holder, TValue *key, TValue *value) {
  const TValue *of = holder, *function = NULL;
  TValue *slot = place_for(L, &of, key, value, &function);
  if (slot != NULL) {
    luaV_finishfastset(L, of, slot, value);
    return;
  }
  savestate();
  if (function != NULL) {
    luaT_callTM(L, function, of, key, value);
  }
  else {
    const TValue *empty = ttistable(holder) ? luaH_getshortstr(hvalue(holder), tsvalue(key)) : NULL;
    luaV_finishset(L, holder, key, value, empty);
  }
}

OPERATION(SETTABUP) {
  set_string(TLUA_PASS, clLvalue(s2v(base - 1))->upvals[GETARG_A(i)]->v.p, KB(i), RKC(i));
  return pc;
}

OPERATION(SETFIELD) {
  set_string(TLUA_PASS, VA(i), KB(i), RKC(i));
  return pc;
}

/*
** Queues have integers in the hash part, what is put in at one end and taken out at the other; and sets have
** objects. A new key is put in if there is a free node.
*/
TValue *tlua_work_place (lua_State *L, Table *t, const TValue *key) {
  int is_integer = ttisinteger(key);
  if (isdummy(t) || !(is_integer || tlua_is_plain(key)))
    return NULL;
  Node *place, *node = is_integer ? tlua_integer_node(t, ivalue(key), &place)
                                  : tlua_plain_node(t, key, &place);
  if (node != NULL && !isempty(gval(node)))
    return gval(node);
  if (t->metatable != NULL)
    return NULL;
  if (node == NULL) {
    node = tlua_node_for_plain(t, place);
    if (node == NULL)
      return NULL;
    setnodekey(L, node, key);
    luaC_barrierback(L, obj2gco(t), key);
  }
  invalidateTMcache(t);
  return gval(node);
}

/* The array part ends before the integer, and is as long as it says. */
static int is_beyond_array (const Table *t, lua_Integer n) {
  return l_castS2U(n) - 1u >= t->alimit && isrealasize(t);
}

static void set_in_place (lua_State *L, Table *t, TValue *slot, const TValue *value) {
  setobj2t(L, slot, value);
  luaC_barrierback(L, obj2gco(t), value);
}

/* The item after the last one of an array without a hash part. Returns 0 if that is not for it to do. */
static int append (TLUA_ARGS, Table *t, TValue *key, TValue *value) {
  if (!isdummy(t) || l_castS2U(ivalue(key)) - 1u != t->alimit || !isrealasize(t) || ttisnil(value))
    return 0;
  if (fasttm(L, t->metatable, TM_NEWINDEX) != NULL)
    return 0;
  savestate();
  if (!tlua_grow(L, t, key, value))
    return 0;
  luaC_barrierback(L, obj2gco(t), value);
  return 1;
}

static void set_integer (TLUA_ARGS, const TValue *holder, lua_Integer n, TValue *value) {
  const TValue *slot;
  TValue key;
  setivalue(&key, n);
  if (l_likely(ttistable(holder)) && append(TLUA_PASS, hvalue(holder), &key, value))
    return;
  if (l_likely(ttistable(holder)) && !ttisnil(value) && is_beyond_array(hvalue(holder), n)
      && (slot = tlua_work_place(L, hvalue(holder), &key)) != NULL) {
    set_in_place(L, hvalue(holder), (TValue *)slot, value);
    return;
  }
  if (luaV_fastgeti(L, holder, l_castS2U(n), slot)) {
    luaV_finishfastset(L, holder, slot, value);
  }
  else {
    savestate();
    luaV_finishset(L, holder, &key, value, slot);
  }
}

OPERATION(SETI) {
  set_integer(TLUA_PASS, VA(i), GETARG_B(i), RKC(i));
  return pc;
}

OPERATION(SETTABLE) {
  const TValue *holder = VA(i);
  TValue *key = VB(i), *value = RKC(i);
  const TValue *slot;
  if (ttisinteger(key))
    set_integer(TLUA_PASS, holder, ivalue(key), value);
  else if (ttisshrstring(key))
    set_string(TLUA_PASS, holder, key, value);
  else if (luaV_fastget(L, holder, key, slot, luaH_get)) {
    luaV_finishfastset(L, holder, slot, value);
  }
  else {
    savestate();
    luaV_finishset(L, holder, key, value, slot);
  }
  return pc;
}

/* --- new objects --- */

/* What it has learned stands where the constants do. */
CALLED_OPERATION(NEWTABLE) {
  StkId ra = RA(i);
  TluaRoom *site = (TluaRoom *)k;
  int b = GETARG_B(i), c = GETARG_C(i);
  if (b > 0)
    b = 1 << (b - 1);
  if (TESTARG_k(i))
    c += GETARG_Ax(*pc) * (MAXARG_C + 1);
  L->top.p = ra + 1;
  Table *t = tlua_new_whole(L, (size_t)c, (size_t)b, site->room);
  if (l_likely(t != NULL)) {
    sethvalue2s(L, ra, t);
  }
  else {
    t = luaH_new(L);
    sethvalue2s(L, ra, t);
    if (b > 0 || c > 0)
      luaH_resize(L, t, (unsigned)c, (unsigned)b);
  }
  if (l_unlikely(site->made < TLUA_WATCHED))
    tlua_room_watch(L, t, site);
  pc++;
  collect(ra + 1);
  return pc;
}

CALLED_OPERATION(SETLIST) {
  StkId ra = RA(i);
  int n = GETARG_B(i);
  unsigned last = (unsigned)GETARG_C(i);
  Table *t = hvalue(s2v(ra));
  if (n == 0)
    n = cast_int(L->top.p - ra) - 1;
  else
    L->top.p = ci->top.p;
  last += (unsigned)n;
  if (TESTARG_k(i)) {
    last += (unsigned)(GETARG_Ax(*pc) * (MAXARG_C + 1));
    pc++;
  }
  if (last > luaH_realasize(t))
    luaH_resizearray(L, t, last);
  for (; n > 0; n--) {
    TValue *value = s2v(ra + n);
    setobj2t(L, &t->array[last - 1], value);
    last--;
    luaC_barrierback(L, obj2gco(t), value);
  }
  return pc;
}

CALLED_OPERATION(CLOSURE) {
  StkId ra = RA(i);
  LClosure *closure = clLvalue(s2v(base - 1));
  savestate();
  tlua_push_closure(L, closure->p->p[GETARG_Bx(i)], closure->upvals, base, ra);
  collect(ra + 1);
  return pc;
}

CALLED_OPERATION(CONCAT) {
  int n = GETARG_B(i);
  L->top.p = RA(i) + n;
  savepc();
  luaV_concat(L, n);
  collect(L->top.p);
  return pc;
}

/* --- arithmetic --- */

/* 'pc' is the instruction that calls the metamethod. */
static const Instruction *call_metamethod (TLUA_ARGS) {
  Instruction i = *pc, operation = *(pc - 1);
  StkId result = RA(operation);
  TMS event = (TMS)GETARG_C(i);
  pc++;
  savestate();
  switch (GET_OPCODE(i)) {
    case OP_MMBIN:
      luaT_trybinTM(L, VA(i), VB(i), result, event);
      break;
    case OP_MMBINI:
      luaT_trybiniTM(L, VA(i), GETARG_sB(i), GETARG_k(i), result, event);
      break;
    default:
      lua_assert(GET_OPCODE(i) == OP_MMBINK);
      luaT_trybinassocTM(L, VA(i), KB(i), GETARG_k(i), result, event);
      break;
  }
  return pc;
}

#define NUMBERS(v1, v2, integers, floats) { \
  const TValue *x = v1, *y = v2; \
  lua_Number a, b; \
  savestate();  /* in case of a division by 0 */ \
  if (ttisinteger(x) && ttisinteger(y)) { \
    lua_Integer result = integers(L, ivalue(x), ivalue(y)); \
    setivalue(VA(i), result); \
    return pc + 1; \
  } \
  if (tonumberns(x, a) && tonumberns(y, b)) { \
    lua_Number result; \
    floats(result, a, b) \
    setfltvalue(VA(i), result); \
    return pc + 1; \
  } \
  return call_metamethod(TLUA_PASS); \
}
#define FLOATS(v1, v2, floats) { \
  const TValue *x = v1, *y = v2; \
  lua_Number a, b; \
  if (tonumberns(x, a) && tonumberns(y, b)) { \
    lua_Number result; \
    floats(result, a, b) \
    setfltvalue(VA(i), result); \
    return pc + 1; \
  } \
  return call_metamethod(TLUA_PASS); \
}

#define add_integers(L, a, b) intop(+, a, b)
#define sub_integers(L, a, b) intop(-, a, b)
#define mul_integers(L, a, b) intop(*, a, b)
#define add_floats(r, a, b) r = luai_numadd(L, a, b);
#define sub_floats(r, a, b) r = luai_numsub(L, a, b);
#define mul_floats(r, a, b) r = luai_nummul(L, a, b);
#define div_floats(r, a, b) r = luai_numdiv(L, a, b);
#define mod_floats(r, a, b) r = luaV_modf(L, a, b);
#define idiv_floats(r, a, b) r = luai_numidiv(L, a, b);
#define pow_floats(r, a, b) r = luai_numpow(L, a, b);

OPERATION(ADD) NUMBERS(VB(i), VC(i), add_integers, add_floats)
OPERATION(SUB) NUMBERS(VB(i), VC(i), sub_integers, sub_floats)
OPERATION(MUL) NUMBERS(VB(i), VC(i), mul_integers, mul_floats)
OPERATION(MOD) NUMBERS(VB(i), VC(i), luaV_mod, mod_floats)
OPERATION(IDIV) NUMBERS(VB(i), VC(i), luaV_idiv, idiv_floats)
OPERATION(DIV) FLOATS(VB(i), VC(i), div_floats)
CALLED_OPERATION(POW) FLOATS(VB(i), VC(i), pow_floats)
OPERATION(ADDK) NUMBERS(VB(i), KC(i), add_integers, add_floats)
OPERATION(SUBK) NUMBERS(VB(i), KC(i), sub_integers, sub_floats)
OPERATION(MULK) NUMBERS(VB(i), KC(i), mul_integers, mul_floats)
OPERATION(MODK) NUMBERS(VB(i), KC(i), luaV_mod, mod_floats)
OPERATION(IDIVK) NUMBERS(VB(i), KC(i), luaV_idiv, idiv_floats)
OPERATION(DIVK) FLOATS(VB(i), KC(i), div_floats)
CALLED_OPERATION(POWK) FLOATS(VB(i), KC(i), pow_floats)

OPERATION(ADDI) {
  const TValue *x = VB(i);
  int n = GETARG_sC(i);
  if (ttisinteger(x)) {
    lua_Integer result = intop(+, ivalue(x), n);
    setivalue(VA(i), result);
    return pc + 1;
  }
  if (ttisfloat(x)) {
    lua_Number result = luai_numadd(L, fltvalue(x), cast_num(n));
    setfltvalue(VA(i), result);
    return pc + 1;
  }
  return call_metamethod(TLUA_PASS);
}

#define WORDS(v1, v2, operation) { \
  const TValue *x = v1, *y = v2; \
  lua_Integer a, b; \
  if (tointegerns(x, &a) && tointegerns(y, &b)) { \
    lua_Integer result = operation(a, b); \
    setivalue(VA(i), result); \
    return pc + 1; \
  } \
  return call_metamethod(TLUA_PASS); \
}
#define and_words(a, b) intop(&, a, b)
#define or_words(a, b) intop(|, a, b)
#define xor_words(a, b) intop(^, a, b)

OPERATION(BAND) WORDS(VB(i), VC(i), and_words)
OPERATION(BOR) WORDS(VB(i), VC(i), or_words)
OPERATION(BXOR) WORDS(VB(i), VC(i), xor_words)
CALLED_OPERATION(SHL) WORDS(VB(i), VC(i), luaV_shiftl)
CALLED_OPERATION(SHR) WORDS(VB(i), VC(i), luaV_shiftr)
OPERATION(BANDK) WORDS(VB(i), KC(i), and_words)
OPERATION(BORK) WORDS(VB(i), KC(i), or_words)
OPERATION(BXORK) WORDS(VB(i), KC(i), xor_words)

OPERATION(SHRI) {
  lua_Integer a;
  if (tointegerns(VB(i), &a)) {
    lua_Integer result = luaV_shiftl(a, -GETARG_sC(i));
    setivalue(VA(i), result);
    return pc + 1;
  }
  return call_metamethod(TLUA_PASS);
}

CALLED_OPERATION(SHLI) {
  lua_Integer a;
  if (tointegerns(VB(i), &a)) {
    lua_Integer result = luaV_shiftl(GETARG_sC(i), a);
    setivalue(VA(i), result);
    return pc + 1;
  }
  return call_metamethod(TLUA_PASS);
}

OPERATION(UNM) {
  TValue *x = VB(i);
  lua_Number a;
  if (ttisinteger(x)) {
    lua_Integer result = intop(-, 0, ivalue(x));
    setivalue(VA(i), result);
  }
  else if (tonumberns(x, a)) {
    setfltvalue(VA(i), luai_numunm(L, a));
  }
  else {
    savestate();
    luaT_trybinTM(L, x, x, RA(i), TM_UNM);
  }
  return pc;
}

CALLED_OPERATION(BNOT) {
  TValue *x = VB(i);
  lua_Integer a;
  if (tointegerns(x, &a)) {
    setivalue(VA(i), intop(^, ~l_castS2U(0), a));
  }
  else {
    savestate();
    luaT_trybinTM(L, x, x, RA(i), TM_BNOT);
  }
  return pc;
}

CALLED_OPERATION(LEN) {
  const TValue *x = VB(i);
  if (ttistable(x) && hvalue(x)->metatable == NULL) {
    lua_Integer length = l_castU2S(luaH_getn(hvalue(x)));
    setivalue(VA(i), length);
    return pc;
  }
  savestate();
  luaV_objlen(L, RA(i), VB(i));
  return pc;
}

/* --- comparisons --- */

/* 'pc' is the jump after the comparison. */
#define COMPARISON(name) \
  static l_noinline int holds_##name (TLUA_ARGS, Instruction i); \
  int tlua_slow_##name (TLUA_ARGS) { \
    Instruction i = *pc++; \
    if (holds_##name(TLUA_PASS, i) != GETARG_k(i)) \
      return go_on(L, ci, pc + 1); \
    const Instruction *target = pc + 1 + GETARG_sJ(*pc); \
    if (target <= pc) \
      return go_back_to(L, ci, base, target, k); \
    return go_on(L, ci, target); \
  } \
  static l_noinline int holds_##name (TLUA_ARGS, Instruction i)

COMPARISON(EQ) {
  savestate();
  return luaV_equalobj(L, VA(i), VB(i));
}

COMPARISON(LT) {
  savestate();
  return luaV_lessthan(L, VA(i), VB(i));
}

COMPARISON(LE) {
  savestate();
  return luaV_lessequal(L, VA(i), VB(i));
}

int tlua_work_less (lua_State *L, const TValue *x, const TValue *y) {
  return luaV_lessthan(L, x, y);
}

int tlua_work_at_most (lua_State *L, const TValue *x, const TValue *y) {
  return luaV_lessequal(L, x, y);
}

COMPARISON(EQK) {
  return luaV_rawequalobj(VA(i), KB(i));
}

COMPARISON(EQI) {
  const TValue *x = VA(i);
  if (ttisinteger(x))
    return ivalue(x) == GETARG_sB(i);
  return ttisfloat(x) && luai_numeq(fltvalue(x), cast_num(GETARG_sB(i)));
}

#define WITH_NUMBER(op, is_swapped, event) { \
  const TValue *x = VA(i); \
  int n = GETARG_sB(i); \
  if (ttisinteger(x)) \
    return ivalue(x) op n; \
  if (ttisfloat(x)) \
    return fltvalue(x) op cast_num(n); \
  savestate(); \
  return luaT_callorderiTM(L, x, n, is_swapped, GETARG_C(i), event); \
}
COMPARISON(LTI) WITH_NUMBER(<, 0, TM_LT)
COMPARISON(LEI) WITH_NUMBER(<=, 0, TM_LE)
COMPARISON(GTI) WITH_NUMBER(>, 1, TM_LT)
COMPARISON(GEI) WITH_NUMBER(>=, 1, TM_LE)

/* --- variables --- */

CALLED_OPERATION(CLOSE) {
  savestate();
  luaF_close(L, RA(i), LUA_OK, 1);
  return pc;
}

CALLED_OPERATION(TBC) {
  savestate();
  luaF_newtbcupval(L, RA(i));
  return pc;
}

CALLED_OPERATION(VARARG) {
  savestate();
  luaT_getvarargs(L, ci, RA(i), GETARG_C(i) - 1);
  return pc;
}

CALLED_OPERATION(VARARGPREP) {
  savepc();
  luaT_adjustvarargs(L, GETARG_A(i), ci, ci_func(ci)->p);
  return pc;
}
