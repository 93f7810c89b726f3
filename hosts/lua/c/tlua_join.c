/*
** Joining strings and numbers: '..', and table.concat.
**
** Problem: the interpreter makes a string of each number before it joins it; the library pushes each item,
** and copies all of them to a buffer that grows, and from there to the string.
**
** Design: the parts' lengths are added up first, numbers are written where they are joined, and the string is
** made in its full length. What has a metamethod, or lies in no array, is left to Lua, before anything has
** happened.
**
** Invariant: the result is luaV_concat's, or table.concat's. It is a string that was there where Lua has it
** so: one that all others are joined to, which are empty.
**
** Example: table.concat({ "a", 1, 2.5 }, ",") is three parts and two separators of one character: "a,1,2.5"
*/

#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "tlua_match.h"

#include "lapi.h"
#include "lgc.h"
#include "lobject.h"
#include "lstring.h"
#include "ltable.h"

#define MOST_PARTS 8
#define MOST_NUMBER 48

typedef struct Part {
  const char *characters;
  size_t length;
} Part;

/* Numbers are written to 'number'. Returns 0 if it is no string, and no number that is written here. */
static int read_part (const TValue *value, char *number, Part *part) {
  if (l_likely(ttisstring(value))) {
    *part = (Part){ getstr(tsvalue(value)), tsslen(tsvalue(value)) };
    return 1;
  }
  int length = ttisinteger(value) ? tlua_print_integer(number, ivalue(value))
               : ttisfloat(value) ? tlua_print_float(number, fltvalue(value)) : 0;
  *part = (Part){ number, (size_t)length };
  return length > 0;
}

static char *put (char *to, const char *characters, size_t length) {
  tlua_copy_text(to, characters, length);
  return to + length;
}

/* --- '..' --- */

static void put_parts (char *to, const Part *parts, int count) {
  for (int n = 0; n < count; n++)
    to = put(to, parts[n].characters, parts[n].length);
}

static TString *join (lua_State *L, const Part *parts, int count, size_t length) {
  char text[LUAI_MAXSHORTLEN];
  if (length > LUAI_MAXSHORTLEN) {
    TString *made = luaS_createlngstrobj(L, length);
    put_parts(getlngstr(made), parts, count);
    return made;
  }
  put_parts(text, parts, count);
  return luaS_newlstr(L, text, length);
}

int tlua_join (lua_State *L, int count) {
  char numbers[MOST_PARTS][MOST_NUMBER];
  Part parts[MOST_PARTS];
  StkId first = L->top.p - count;
  size_t length = 0;
  TString *whole = NULL;
  if (count > MOST_PARTS)
    return 0;
  for (int n = 0; n < count; n++) {
    const TValue *value = s2v(first + n);
    if (!read_part(value, numbers[n], &parts[n]) || parts[n].length >= MAX_SIZE / 2 - length)
      return 0;
    length += parts[n].length;
    if (parts[n].length == length && ttisstring(value))
      whole = tsvalue(value);
  }
  /* All others may be empty. */
  if (whole == NULL || tsslen(whole) != length)
    whole = join(L, parts, count, length);
  setsvalue2s(L, first, whole);
  L->top.p = first + 1;
  return 1;
}

/* --- table.concat --- */

typedef struct Items {
  const TValue *items;
  size_t count;
  Part separator;
} Items;

/* How many characters they are; 0 in 'is_known' if there are others than strings and numbers, or too many. */
static size_t length_of (const Items *all, int *is_known) {
  char number[MOST_NUMBER];
  size_t length = 0;
  *is_known = 1;
  for (size_t n = 0; n < all->count && *is_known; n++) {
    Part part;
    *is_known = read_part(&all->items[n], number, &part)
                && part.length + all->separator.length < MAX_SIZE / 2 - length;
    length += part.length + (n + 1 < all->count ? all->separator.length : 0);
  }
  return length;
}

static void put_items (char *to, const Items *all) {
  for (size_t n = 0; n < all->count; n++) {
    char number[MOST_NUMBER];
    Part part;
    read_part(&all->items[n], number, &part);
    to = put(to, part.characters, part.length);
    if (n + 1 < all->count)
      to = put(to, all->separator.characters, all->separator.length);
  }
}

/*
** What the library does with the items from 'first' to 'last' of its first argument; pushes the string.
** Returns 0 if it has to do it.
*/
int tlua_join_items (lua_State *L, lua_Integer first, lua_Integer last, const char *separator,
                     size_t length) {
  const TValue *value = s2v(L->ci->func.p + 1);
  if (!ttistable(value) || first < 1 || last < first || l_castS2U(last) > luaH_realasize(hvalue(value)))
    return 0;
  Items all = { &hvalue(value)->array[first - 1], (size_t)(last - first) + 1, { separator, length } };
  int is_known;
  size_t whole = length_of(&all, &is_known);
  TString *made;
  if (!is_known || all.separator.length > MAX_SIZE / 4)
    return 0;
  if (whole <= LUAI_MAXSHORTLEN) {
    char text[LUAI_MAXSHORTLEN];
    put_items(text, &all);
    made = luaS_newlstr(L, text, whole);
  }
  else {
    made = luaS_createlngstrobj(L, whole);
    put_items(getlngstr(made), &all);
  }
  setsvalue2s(L, L->top.p, made);
  api_incr_top(L);
  luaC_checkGC(L);
  return 1;
}
