/*
** table.sort of numbers or strings, by their own order.
**
** Problem: the library pushes and pops each item that it compares or exchanges, by functions that look for
** metamethods.
**
** Design: where all items of an array are numbers, or all are strings, nothing that the program wrote can
** run while they are sorted. They are compared and exchanged where they lie, in the steps of the library's
** own algorithm: items that are equal, as 1 and 1.0, end where it would have put them.
**
** Invariant: the table is what table.sort makes of it. Its items are the same as before, so that no barrier
** is needed.
**
** Example: table.sort({ 3, 1, 2.5 }) is three comparisons and one exchange
*/

#define LUA_CORE

#include "lprefix.h"

#include <time.h>

#include "lauxlib.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"
#include "lvm.h"

/* As in ltablib.c: in longer intervals the pivot is chosen at random, if one was very uneven. */
#define RANDOM_FROM 100u

static inline int less (lua_State *L, const TValue *a, const TValue *b) {
  if (ttisinteger(a) && ttisinteger(b))
    return ivalue(a) < ivalue(b);
  if (ttisfloat(a) && ttisfloat(b))
    return luai_numlt(fltvalue(a), fltvalue(b));
  return luaV_lessthan(L, a, b);
}

static inline void exchange (TValue *a, TValue *b) {
  TValue held = *a;
  *a = *b;
  *b = held;
}

/* The numbers of items count from 1, as in the library. */
#define ITEM(n) (&items[(n) - 1])

/* The pivot lies at 'up' - 1; returns where it belongs. */
static unsigned partition (lua_State *L, TValue *items, unsigned lo, unsigned up) {
  TValue pivot = *ITEM(up - 1);
  unsigned i = lo, j = up - 1;
  for (;;) {
    while (less(L, ITEM(++i), &pivot)) {
      if (l_unlikely(i == up - 1))
        luaL_error(L, "invalid order function for sorting");
    }
    while (less(L, &pivot, ITEM(--j))) {
      if (l_unlikely(j < i))
        luaL_error(L, "invalid order function for sorting");
    }
    if (j < i) {
      exchange(ITEM(up - 1), ITEM(i));
      return i;
    }
    exchange(ITEM(i), ITEM(j));
  }
}

static unsigned choose_pivot (unsigned lo, unsigned up, unsigned random) {
  unsigned quarter = (up - lo) / 4;
  return random % (quarter * 2) + (lo + quarter);
}

/* The first, the middle, and the last item in order. */
static void order_three (lua_State *L, TValue *items, unsigned lo, unsigned p, unsigned up) {
  if (less(L, ITEM(p), ITEM(lo)))
    exchange(ITEM(p), ITEM(lo));
  else if (less(L, ITEM(up), ITEM(p)))
    exchange(ITEM(p), ITEM(up));
}

static void sort (lua_State *L, TValue *items, unsigned lo, unsigned up, unsigned random) {
  while (lo < up) {
    unsigned p, smaller;
    if (less(L, ITEM(up), ITEM(lo)))
      exchange(ITEM(lo), ITEM(up));
    if (up - lo == 1)
      break;
    p = up - lo < RANDOM_FROM || random == 0 ? (lo + up) / 2 : choose_pivot(lo, up, random);
    order_three(L, items, lo, p, up);
    if (up - lo == 2)
      break;
    exchange(ITEM(p), ITEM(up - 1));
    p = partition(L, items, lo, up);
    if (p - lo < up - p) {
      sort(L, items, lo, p - 1, random);
      smaller = p - lo;
      lo = p + 1;
    }
    else {
      sort(L, items, p + 1, up, random);
      smaller = up - p;
      up = p - 1;
    }
    if ((up - lo) / 128 > smaller)
      random = (unsigned)clock() + (unsigned)time(NULL);
  }
}

/* Whether all of them have an order of their own. */
static int are_plain (const TValue *items, unsigned count) {
  int are_numbers = ttisnumber(items);
  for (unsigned n = 0; n < count; n++) {
    if (are_numbers ? !ttisnumber(&items[n]) : !ttisstring(&items[n]))
      return 0;
  }
  return 1;
}

/* What the library does with so many items of its first argument. Returns 0 if it has to do it. */
int tlua_sort_plain (lua_State *L, unsigned count) {
  const TValue *value = s2v(L->ci->func.p + 1);
  if (!lua_isnil(L, 2) || !ttistable(value))
    return 0;
  const Table *t = hvalue(value);
  if (t->metatable != NULL || count > luaH_realasize(t) || !are_plain(t->array, count))
    return 0;
  sort(L, t->array, 1, count, 0);
  return 1;
}
