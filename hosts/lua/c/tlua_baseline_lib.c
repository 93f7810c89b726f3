/*
** Library functions that baseline code does without a call.
**
** Problem: programs call small functions of the library all the time: a byte of a string, the larger of two
** numbers, a step of 'next'. The work takes a few nanoseconds; the frame, and the API that gets arguments and
** returns results, take twenty.
**
** Design: for the commonest functions there is another one here, which gets the arguments where they lie and
** leaves the result in place of the function. It does the common case, of arguments that have the right
** types; everything else it leaves to the function itself. They are found by the function's address,
** whatever the program does with names. A call looks for it when it meets another function than before.
** Before all that is done it is checked that the call would be possible and that no hook sees it.
**
** Invariant: what is done here is what the call would have done, the moment of collections excepted. What is
** left to the function has changed nothing.
**
** Example: s:byte(i) -> tlua_baseline_call(L, func, 1) puts an integer where string.byte was, and returns 1.
*/

#define LUA_CORE

#include "lprefix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tlua_baseline.h"
#include "tlua_internal.h"
#include "tlua_rec_lib.h"

#include "lapi.h"
#include "lauxlib.h"
#include "ldo.h"
#include "lgc.h"
#include "lstring.h"
#include "ltable.h"
#include "ltm.h"
#include "lvm.h"

/* Inserted into Lua's libraries. */
extern const lua_CFunction tlua_next;
extern const lua_CFunction tlua_ipairs_step;

static const TValue *argument (StkId func, int n) {
  return s2v(func + n);
}

/* --- strings --- */

static int quick_byte (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *s = argument(func, 1), *i = argument(func, 2);
  (void)L;
  if (count < 1 || count > 2 || !ttisstring(s) || (count == 2 && !ttisinteger(i)))
    return 0;
  lua_Integer length = (lua_Integer)tsslen(tsvalue(s));
  lua_Integer at = count == 2 ? ivalue(i) : 1;
  if (at < 0)
    at += length + 1;
  if (at < 1 || at > length)
    return 0;  /* no result */
  lua_Integer byte = (unsigned char)getstr(tsvalue(s))[at - 1];
  setivalue(s2v(func), byte);
  return 1;
}

static int quick_sub (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *s = argument(func, 1), *i = argument(func, 2), *j = argument(func, 3);
  if (count < 2 || count > 3 || !ttisstring(s) || !ttisinteger(i) || (count == 3 && !ttisinteger(j)))
    return 0;
  lua_Integer length = (lua_Integer)tsslen(tsvalue(s));
  lua_Integer first = ivalue(i), last = count == 3 ? ivalue(j) : -1;
  if (first < 0)
    first = first < -length ? 1 : length + first + 1;
  else if (first == 0)
    first = 1;
  if (last > length)
    last = length;
  else if (last < 0)
    last = last < -length ? 0 : length + last + 1;
  if (first == 1 && last == length && ttisshrstring(s)) {
    setobj2s(L, func, s);
  }
  else if (first > last)
    tlua_put_string(L, func, "", 0);
  else
    tlua_put_part(L, func, tsvalue(s), (size_t)first - 1, (size_t)(last - first + 1));
  return 1;
}

static int quick_len (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *s = argument(func, 1);
  (void)L;
  if (count < 1 || !ttisstring(s))
    return 0;
  lua_Integer length = (lua_Integer)tsslen(tsvalue(s));
  setivalue(s2v(func), length);
  return 1;
}

#define MOST_CHARACTERS 8

static int quick_char (lua_State *L, StkId func, ptrdiff_t count) {
  char buffer[MOST_CHARACTERS];
  if (count < 1 || count > MOST_CHARACTERS)
    return 0;
  for (int n = 1; n <= count; n++) {
    const TValue *code = argument(func, n);
    if (!ttisinteger(code) || l_castS2U(ivalue(code)) > UCHAR_MAX)
      return 0;
    buffer[n - 1] = (char)ivalue(code);
  }
  tlua_put_string(L, func, buffer, (size_t)count);
  return 1;
}

/* --- numbers --- */

/* Floats up to here are rounded as integers. */
#define EXACT 0x1p53

/* To the integer below ('up' is 0) or above. */
static inline int round_to (StkId func, ptrdiff_t count, int up) {
  const TValue *x = argument(func, 1);
  lua_Integer n;
  if (count < 1)
    return 0;
  if (ttisinteger(x))
    n = ivalue(x);
  else if (ttisfloat(x) && fltvalue(x) > -EXACT && fltvalue(x) < EXACT) {
    lua_Number f = fltvalue(x);
    n = (lua_Integer)f;
    if (up)
      n += cast_num(n) < f;
    else
      n -= cast_num(n) > f;
  }
  else
    return 0;
  setivalue(s2v(func), n);
  return 1;
}

static int quick_floor (lua_State *L, StkId func, ptrdiff_t count) {
  (void)L;
  return round_to(func, count, 0);
}
static int quick_ceil (lua_State *L, StkId func, ptrdiff_t count) {
  (void)L;
  return round_to(func, count, 1);
}

static int quick_abs (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *x = argument(func, 1);
  (void)L;
  if (count < 1)
    return 0;
  if (ttisinteger(x)) {
    lua_Integer n = ivalue(x);
    if (n < 0)
      n = intop(-, 0, n);
    setivalue(s2v(func), n);
    return 1;
  }
  if (!ttisfloat(x))
    return 0;
  setfltvalue(s2v(func), fabs(fltvalue(x)));
  return 1;
}

static int quick_sqrt (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *x = argument(func, 1);
  (void)L;
  if (count < 1 || !ttisnumber(x))
    return 0;
  lua_Number root = sqrt(nvalue(x));
  setfltvalue(s2v(func), root);
  return 1;
}

static int is_less (lua_State *L, const TValue *x, const TValue *y) {
  if (ttisinteger(x) && ttisinteger(y))
    return ivalue(x) < ivalue(y);
  if (ttisfloat(x) && ttisfloat(y))
    return fltvalue(x) < fltvalue(y);
  return luaV_lessthan(L, x, y);
}

/* The first of the numbers that none is above, or below. */
static int extreme (lua_State *L, StkId func, ptrdiff_t count, int is_largest) {
  int best = 1;
  if (count < 1 || !ttisnumber(argument(func, 1)))
    return 0;
  for (int n = 2; n <= count; n++) {
    const TValue *x = argument(func, best), *y = argument(func, n);
    if (!ttisnumber(y))
      return 0;
    if (is_largest ? is_less(L, x, y) : is_less(L, y, x))
      best = n;
  }
  setobjs2s(L, func, func + best);
  return 1;
}

static int quick_max (lua_State *L, StkId func, ptrdiff_t count) {
  return extreme(L, func, count, 1);
}
static int quick_min (lua_State *L, StkId func, ptrdiff_t count) {
  return extreme(L, func, count, 0);
}

static int quick_tointeger (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *value = argument(func, 1);
  lua_Integer n;
  (void)L;
  if (count < 1 || !ttisnumber(value))
    return 0;
  if (luaV_tointegerns(value, &n, F2Ieq)) {
    setivalue(s2v(func), n);
  }
  else
    setnilvalue(s2v(func));
  return 1;
}

/* --- values and tables --- */

static int quick_type (lua_State *L, StkId func, ptrdiff_t count) {
  if (count < 1)
    return 0;
  setsvalue2s(L, func, L->jit->type_names[ttype(argument(func, 1))]);
  return 1;
}

static int quick_assert (lua_State *L, StkId func, ptrdiff_t count) {
  if (count < 1 || l_isfalse(argument(func, 1)))
    return 0;
  setobjs2s(L, func, func + 1);
  return 1;
}

static int quick_tonumber (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *value = argument(func, 1);
  TValue number;
  (void)L;
  if (count != 1)
    return 0;
  if (ttisnumber(value)) {
    setobjs2s(L, func, func + 1);
  }
  else if (ttisstring(value) && luaO_str2num(getstr(tsvalue(value)), &number) == tsslen(tsvalue(value)) + 1) {
    setobj2s(L, func, &number);
  }
  else
    setnilvalue(s2v(func));
  return 1;
}

static int quick_select (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *which = argument(func, 1);
  if (count < 1)
    return 0;
  if (ttisstring(which) && getstr(tsvalue(which))[0] == '#') {
    setivalue(s2v(func), (lua_Integer)(count - 1));
    return 1;
  }
  if (!ttisinteger(which) || ivalue(which) < 1 || ivalue(which) >= count)
    return 0;
  setobjs2s(L, func, func + 1 + ivalue(which));
  return 1;
}

static int quick_rawget (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *t = argument(func, 1);
  if (count != 2 || !ttistable(t))
    return 0;
  const TValue *slot = luaH_get(hvalue(t), argument(func, 2));
  if (isempty(slot))
    setnilvalue(s2v(func));
  else {
    setobj2s(L, func, slot);
  }
  return 1;
}

static int quick_setmetatable (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *t = argument(func, 1), *meta = argument(func, 2);
  if (count != 2 || !ttistable(t) || !ttistable(meta) || hvalue(t)->metatable != NULL)
    return 0;
  hvalue(t)->metatable = hvalue(meta);
  luaC_objbarrier(L, gcvalue(t), hvalue(meta));
  luaC_checkfinalizer(L, gcvalue(t), hvalue(meta));
  setobjs2s(L, func, func + 1);
  return 1;
}

static int quick_getmetatable (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *t = argument(func, 1);
  if (count < 1 || !ttistable(t))
    return 0;
  Table *meta = hvalue(t)->metatable;
  if (meta == NULL) {
    setnilvalue(s2v(func));
    return 1;
  }
  if (!isempty(luaH_getshortstr(meta, luaS_new(L, "__metatable"))))
    return 0;
  sethvalue2s(L, func, meta);
  return 1;
}

/* 'table.remove' in a plain array, whose other items move down. Of an empty table nothing is removed. */
static int quick_remove (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *t = argument(func, 1), *at = argument(func, 2);
  if (count < 1 || count > 2 || !ttistable(t) || hvalue(t)->metatable != NULL
      || (count == 2 && !ttisinteger(at)))
    return 0;
  Table *table = hvalue(t);
  lua_Unsigned n = luaH_getn(table), place = count == 2 ? l_castS2U(ivalue(at)) : n;
  if (n == 0 && count == 1 && isdummy(table)) {
    setnilvalue(s2v(func));
    return 1;
  }
  if (n > table->alimit || place - 1u >= n)
    return 0;
  TValue *slot = &table->array[place - 1];
  setobj2s(L, func, slot);
  memmove(slot, slot + 1, (size_t)(n - place) * sizeof(TValue));
  setnilvalue(&table->array[n - 1]);
  return 1;
}

/* --- functions without a result --- */

/* At a place within a plain array that has room for one more item. */
static int insert_within (lua_State *L, Table *table, const TValue *at, const TValue *value) {
  lua_Unsigned n = luaH_getn(table);
  if (!ttisinteger(at) || n >= table->alimit || l_castS2U(ivalue(at)) - 1u > n)
    return 0;
  TValue *slot = &table->array[ivalue(at) - 1];
  memmove(slot + 1, slot, (size_t)(n + 1 - l_castS2U(ivalue(at))) * sizeof(TValue));
  setobj2t(L, slot, value);
  luaC_barrierback(L, obj2gco(table), value);
  return 1;
}

static int quick_insert (lua_State *L, StkId func, ptrdiff_t count) {
  const TValue *t = argument(func, 1), *value = argument(func, 2);
  if (count < 2 || count > 3 || !ttistable(t) || hvalue(t)->metatable != NULL)
    return 0;
  Table *table = hvalue(t);
  if (count == 3)
    return insert_within(L, table, value, argument(func, 3));
  lua_Unsigned n = luaH_getn(table);
  if (l_unlikely(n >= l_castS2U(LUA_MAXINTEGER)))
    return 0;
  if (n < table->alimit) {
    setobj2t(L, &table->array[n], value);
  }
  else
    luaH_setint(L, table, (lua_Integer)(n + 1), s2v(func + 2));
  luaC_barrierback(L, obj2gco(table), value);
  return 1;
}

/* --- iterators --- */

/* Where the traversal of a table goes on after a key; -1 if that is for the function to say. */
static lua_Integer place_after (Table *t, const TValue *key, unsigned array) {
  if (ttisnil(key))
    return 0;
  if (ttisinteger(key) && l_castS2U(ivalue(key)) - 1u < array)
    return ivalue(key);
  if (ttisfloat(key))
    return -1;  /* 1.0 is no key, though luaH_get finds what 1 is the key of */
  const TValue *slot = ttisshrstring(key) ? luaH_getshortstr(t, tsvalue(key)) : luaH_get(t, key);
  if (isabstkey(slot))
    return -1;
  return (lua_Integer)((const Node *)slot - gnode(t, 0)) + 1 + array;
}

/* As 'next': key and value after 'key' at 'to', or nil. The cell, if there is one, learns the key's node. */
static int step_table (lua_State *L, Table *t, const TValue *key, StkId to, TluaFieldCell *cell) {
  unsigned array = luaH_realasize(t);
  lua_Integer place = place_after(t, key, array);
  if (place < 0)
    return 0;
  for (; place < array; place++) {
    const TValue *value = &t->array[place];
    if (!isempty(value)) {
      setivalue(s2v(to), place + 1);
      setobj2s(L, to + 1, value);
      return 1;
    }
  }
  for (place -= array; place < sizenode(t); place++) {
    Node *node = gnode(t, place);
    if (!isempty(gval(node))) {
      getnodekey(L, s2v(to), node);
      setobj2s(L, to + 1, gval(node));
      if (cell != NULL && t->lsizenode < TLUA_MOST_LEARNT)
        *cell = (TluaFieldCell){ (uint32_t)((size_t)place * sizeof(Node)), t->lsizenode };
      return 1;
    }
  }
  setnilvalue(s2v(to));
  setnilvalue(s2v(to + 1));
  return 1;
}

/* As a step of 'ipairs'. */
static int step_array (lua_State *L, Table *t, lua_Integer index, StkId to) {
  lua_Integer next = intop(+, index, 1);
  const TValue *slot = l_castS2U(next) - 1u < t->alimit ? &t->array[next - 1] : luaH_getint(t, next);
  if (!isempty(slot)) {
    setivalue(s2v(to), next);
    setobj2s(L, to + 1, slot);
    return 1;
  }
  if (t->metatable != NULL)
    return 0;
  setnilvalue(s2v(to));
  setnilvalue(s2v(to + 1));
  return 1;
}

int tlua_baseline_step (lua_State *L, StkId ra, int wanted, TluaFieldCell *cell) {
  const TValue *f = s2v(ra), *t = s2v(ra + 1), *control = s2v(ra + 2);
  StkId to = ra + 4;
  if (!ttislcf(f) || !ttistable(t) || !tlua_may_call(L, ra + 7) || getCcalls(L) + 1 >= LUAI_MAXCCALLS)
    return 0;
  int is_done = 0;
  if (fvalue(f) == tlua_next)
    is_done = step_table(L, hvalue(t), control, to, cell);
  else if (fvalue(f) == tlua_ipairs_step && ttisinteger(control))
    is_done = step_array(L, hvalue(t), ivalue(control), to);
  for (int n = 2; is_done && n < wanted; n++)
    setnilvalue(s2v(to + n));
  return is_done;
}

/* The three values, or four, of a loop over a table, which lies in its place. */
static int begin_loop (StkId func, ptrdiff_t count, int wanted, lua_CFunction step) {
  if (count < 1 || !ttistable(argument(func, 1)))
    return 0;
  if (step == tlua_next && hvalue(argument(func, 1))->metatable != NULL)
    return 0;
  setfvalue(s2v(func), step);
  if (step == tlua_next)
    setnilvalue(s2v(func + 2));
  else
    setivalue(s2v(func + 2), 0);
  if (wanted == 4)
    setnilvalue(s2v(func + 3));
  return 1;
}

/* --- with so many results --- */

/* The result of a function that may collect, which may move the stack. */
static int make_one (lua_State *L, StkId func, ptrdiff_t count, int wanted, TluaQuickCall *quick) {
  ptrdiff_t place = savestack(L, func);
  if (wanted > 1 || !quick(L, func, count))
    return 0;
  if (wanted < 0)
    L->top.p = restorestack(L, place) + 1;
  return 1;
}

#define MAKE_ONE(name) \
  static int make_##name (lua_State *L, StkId func, ptrdiff_t count, int wanted) { \
    return make_one(L, func, count, wanted, quick_##name); \
  }
MAKE_ONE(sub)
MAKE_ONE(char)
MAKE_ONE(getmetatable)

static int make_insert (lua_State *L, StkId func, ptrdiff_t count, int wanted) {
  if (wanted > 0 || !quick_insert(L, func, count))
    return 0;
  if (wanted < 0)
    L->top.p = func;
  return 1;
}

/* So many results lie where they belong: all others that are wanted are nil. */
static int have_results (lua_State *L, StkId func, int count, int wanted) {
  for (int n = count; n < wanted; n++)
    setnilvalue(s2v(func + n));
  if (wanted < 0)
    L->top.p = func + count;
  return 1;
}

/* As the library counts positions: from the end where they are negative, but no further than 'least'. */
static lua_Integer position (lua_Integer at, lua_Integer length, lua_Integer least) {
  if (at < 0)
    at = at < -length ? least : at + length + 1;
  return at < least ? least : at;
}

/* Any number of bytes, as far as they have room above the function. */
static int make_byte (lua_State *L, StkId func, ptrdiff_t count, int wanted) {
  const TValue *s = argument(func, 1), *i = argument(func, 2), *j = argument(func, 3);
  if (count < 1 || count > 3 || !ttisstring(s) || (count >= 2 && !ttisinteger(i))
      || (count == 3 && !ttisinteger(j)))
    return 0;
  const unsigned char *text = (const unsigned char *)getstr(tsvalue(s));
  lua_Integer length = (lua_Integer)tsslen(tsvalue(s)), from = count >= 2 ? ivalue(i) : 1;
  lua_Integer first = position(from, length, 1);
  lua_Integer last = position(count == 3 ? ivalue(j) : from, length, 0);
  if (last > length)
    last = length;
  lua_Integer bytes = last < first ? 0 : last - first + 1;
  if (bytes > LUA_MINSTACK)
    return 0;
  for (lua_Integer n = 0; n < bytes; n++)
    setivalue(s2v(func + n), text[first - 1 + n]);
  return have_results(L, func, (int)bytes, wanted);
}

/* Items of a plain table, as far as the stack has room for them and for what comes next. */
static int make_unpack (lua_State *L, StkId func, ptrdiff_t count, int wanted) {
  const TValue *t = argument(func, 1), *i = argument(func, 2), *j = argument(func, 3);
  if (count < 1 || count > 3 || !ttistable(t) || hvalue(t)->metatable != NULL
      || (count >= 2 && !ttisinteger(i)) || (count == 3 && !ttisinteger(j)))
    return 0;
  Table *table = hvalue(t);
  lua_Integer first = count >= 2 ? ivalue(i) : 1;
  lua_Integer last = count == 3 ? ivalue(j) : (lua_Integer)luaH_getn(table);
  lua_Unsigned room = (lua_Unsigned)(L->stack_last.p - func) - LUA_MINSTACK;
  if (first <= last && l_castS2U(last) - l_castS2U(first) >= room)
    return 0;
  int items = first <= last ? (int)(last - first) + 1 : 0;
  for (int n = 0; n < items; n++) {
    const TValue *slot = luaH_getint(table, first + n);
    if (isempty(slot))
      setnilvalue(s2v(func + n));
    else {
      setobj2s(L, func + n, slot);
    }
  }
  return have_results(L, func, items, wanted);
}

static int make_next (lua_State *L, StkId func, ptrdiff_t count, int wanted) {
  const TValue *t = argument(func, 1);
  TValue key;
  if (count < 1 || count > 2 || !ttistable(t))
    return 0;
  if (count == 2) {
    setobj(L, &key, argument(func, 2));
  }
  else
    setnilvalue(&key);
  if (!step_table(L, hvalue(t), &key, func, NULL))
    return 0;
  return have_results(L, func, ttisnil(s2v(func)) ? 1 : 2, wanted);
}

static int make_find (lua_State *L, StkId func, ptrdiff_t count, int wanted) {
  return tlua_baseline_search(L, func, count, wanted, 1);
}
static int make_match (lua_State *L, StkId func, ptrdiff_t count, int wanted) {
  return tlua_baseline_search(L, func, count, wanted, 0);
}

static int make_pairs (lua_State *L, StkId func, ptrdiff_t count, int wanted) {
  (void)L;
  return (wanted == 3 || wanted == 4) && begin_loop(func, count, wanted, tlua_next);
}
static int make_ipairs (lua_State *L, StkId func, ptrdiff_t count, int wanted) {
  (void)L;
  return (wanted == 3 || wanted == 4) && begin_loop(func, count, wanted, tlua_ipairs_step);
}

/* --- finding them --- */

typedef struct Entry {
  lua_CFunction function;
  TluaQuickCall *quick;   /* one result; it neither collects nor throws */
  TluaMakeCall *make;     /* all others; also where 'quick' does not do it */
  int has_more;           /* results than the one */
} Entry;

#define PLACES 128
struct TluaQuick {
  Entry entries[PLACES];
};

static Entry *place_of (struct TluaQuick *all, lua_CFunction f) {
  size_t place = ((size_t)f >> 4) % PLACES;
  while (all->entries[place].function != NULL && all->entries[place].function != f)
    place = (place + 1) % PLACES;
  return &all->entries[place];
}

static void add (struct TluaQuick *all, const luaL_Reg *library, const char *name, Entry entry) {
  while (library->name != NULL && strcmp(library->name, name) != 0)
    library++;
  lua_assert(library->name != NULL);
  entry.function = library->func;
  *place_of(all, entry.function) = entry;
}

#define QUICK(library, name) add(all, library, #name, (Entry){ .quick = quick_##name })
#define QUICK_FIRST(library, name) add(all, library, #name, (Entry){ .quick = quick_##name, .has_more = 1 })
#define MAKE(library, name) add(all, library, #name, (Entry){ .make = make_##name })
#define MAKE_TEXT(library, name) add(all, library, #name, (Entry){ .make = tlua_make_##name })
#define BOTH(library, name) add(all, library, #name, (Entry){ .quick = quick_##name, .make = make_##name })

static struct TluaQuick *find_all (void) {
  struct TluaQuick *all = (struct TluaQuick *)calloc(1, sizeof(struct TluaQuick));
  if (all == NULL)
    return NULL;
  const luaL_Reg *base = tlua_base_functions(), *string = tlua_string_functions();
  const luaL_Reg *math = tlua_math_functions(), *table = tlua_table_functions();
  BOTH(string, byte);
  QUICK(string, len);
  MAKE(string, sub);
  MAKE(string, char);
  MAKE(string, find);
  MAKE(string, match);
  MAKE_TEXT(string, format);
  MAKE_TEXT(string, reverse);
  MAKE_TEXT(string, lower);
  MAKE_TEXT(string, upper);
  MAKE_TEXT(string, rep);
  MAKE_TEXT(base, tostring);
  QUICK(math, floor);
  QUICK(math, ceil);
  QUICK(math, abs);
  QUICK(math, sqrt);
  QUICK(math, max);
  QUICK(math, min);
  QUICK(math, tointeger);
  QUICK(base, type);
  QUICK(base, tonumber);
  QUICK(base, rawget);
  QUICK(base, setmetatable);
  QUICK_FIRST(base, assert);
  QUICK_FIRST(base, select);
  MAKE(base, next);
  MAKE(base, getmetatable);
  MAKE(base, pairs);
  MAKE(base, ipairs);
  QUICK(table, remove);
  MAKE(table, insert);
  MAKE(table, unpack);
  return all;
}

/* What is known of a function; NULL if nothing is, or memory is short. */
static const Entry *entry_of (lua_State *L, lua_CFunction function) {
  struct TluaQuick *all = L->jit->quick;
  if (l_unlikely(all == NULL) && (all = L->jit->quick = find_all()) == NULL)
    return NULL;
  const Entry *entry = place_of(all, function);
  return entry->function == NULL ? NULL : entry;
}

TluaCallCell tlua_baseline_meet (lua_State *L, lua_CFunction function, int wanted) {
  const Entry *entry = entry_of(L, function);
  if (entry == NULL)
    return (TluaCallCell){ function, NULL, NULL };
  /* A result that nobody wants does no harm: the place is free. */
  int is_one = wanted == 0 || wanted == 1 || (wanted < 0 && !entry->has_more);
  return (TluaCallCell){ function, is_one ? entry->quick : NULL, entry->make };
}

int tlua_baseline_call (lua_State *L, StkId func, int wanted) {
  const Entry *entry = entry_of(L, fvalue(s2v(func)));
  if (entry == NULL || !tlua_may_call(L, L->top.p))
    return 0;
  ptrdiff_t count = L->top.p - func - 1;
  if (entry->make != NULL)
    return entry->make(L, func, count, wanted);
  if (wanted > 1 || (wanted < 0 && entry->has_more) || !entry->quick(L, func, count))
    return 0;
  if (wanted < 0)
    L->top.p = func + 1;
  return 1;
}

/* --- names of types --- */

/*
** Strings that 'type' returns are there from the start and never freed. Reserved words are there already, and
** two types have one name. Called when nothing else is in the state.
*/
void tlua_keep_type_names (lua_State *L) {
  _Static_assert(sizeof(L->jit->type_names) == LUA_NUMTYPES * sizeof(TString *), "one for each type");
  for (int type = 0; type < LUA_NUMTYPES; type++) {
    TString *name = luaS_new(L, ttypename(type));
    if (name->extra == 0 && G(L)->allgc == obj2gco(name))
      luaC_fix(L, obj2gco(name));
    L->jit->type_names[type] = name;
  }
}

void tlua_baseline_close (Tlua *jit) {
  free(jit->quick);
  jit->quick = NULL;
}
