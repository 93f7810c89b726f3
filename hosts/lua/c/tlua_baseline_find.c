/*
** Searches that baseline code does without a call: 'string.find' and 'string.match'.
**
** Problem: programs that take texts apart call these two for each word. What the call costs, and the API for
** three arguments and as many results, is more than the search.
**
** Design: arguments are taken where they lie, the pattern is one that is translated already (tlua_match.c),
** and what is found goes right to where it is wanted. All that may raise an error, and patterns that are not
** translated, are left to the library.
**
** Invariant: what is left to the library has changed nothing. Strings that are made lie below L->top until
** they are where they belong; nothing collects before that.
**
** Example: local a, b = s:find(",", i, true)    -- two integers, or two nils
*/

#define LUA_CORE

#include "lprefix.h"

#include "tlua_baseline.h"
#include "tlua_match.h"

#include "lgc.h"
#include "lstring.h"

static void push_text (lua_State *L, const char *text, size_t length) {
  TString *made = length <= LUAI_MAXSHORTLEN ? tlua_find_short(L, text, length) : NULL;
  if (made == NULL)
    made = luaS_newlstr(L, text, length);
  setsvalue2s(L, L->top.p, made);
  L->top.p++;
}

static void push_number (lua_State *L, ptrdiff_t n) {
  setivalue(s2v(L->top.p), (lua_Integer)n);
  L->top.p++;
}

/* The values from 'from' on replace the function: so many as are wanted, or all. */
static void move_results (lua_State *L, StkId func, StkId from, int wanted) {
  int count = cast_int(L->top.p - from);
  if (wanted < 0)
    wanted = count;
  for (int n = 0; n < wanted; n++) {
    if (n < count) {
      setobjs2s(L, func + n, from + n);
    }
    else
      setnilvalue(s2v(func + n));
  }
  L->top.p = func + wanted;
}

typedef struct Search {
  const char *s, *end;     /* the subject */
  const char *from;        /* where to begin */
  const char *p;           /* the pattern */
  size_t length;
} Search;

/* The arguments of 'find' or 'match' but for the last one of 'find'. Returns 0 if they are not the usual. */
static int get_search (Search *search, const TValue *arguments, ptrdiff_t count) {
  const TValue *s = &arguments[0], *p = &arguments[1], *init = &arguments[2];
  if (count < 2 || count > 4 || !ttisstring(s) || !ttisstring(p) || (count > 2 && !ttisinteger(init)))
    return 0;
  lua_Integer length = (lua_Integer)tsslen(tsvalue(s));
  lua_Integer first = count > 2 ? ivalue(init) : 1;
  if (first < 0)
    first = first < -length ? 1 : length + first + 1;
  else if (first == 0)
    first = 1;
  search->s = getstr(tsvalue(s));
  search->end = search->s + length;
  search->from = first > length + 1 ? NULL : search->s + (first - 1);
  search->p = getstr(tsvalue(p));
  search->length = tsslen(tsvalue(p));
  return 1;
}

static void find_text (const Search *search, TluaFound *found) {
  size_t length = (size_t)(search->end - search->from);
  found->from = tlua_find_text(search->from, length, search->p, search->length);
  found->to = found->from == NULL ? NULL : found->from + search->length;
}

/* Returns 0 if that is for the library to do. */
static int find_pattern (lua_State *L, const Search *search, int find, TluaFound *found) {
  int is_anchored = search->length > 0 && search->p[0] == '^';
  const TluaPattern *pattern = tlua_known_pattern(L, search->p + is_anchored, search->length - is_anchored);
  if (pattern == NULL || tlua_pattern_captures(pattern) > TLUA_MOST_FOUND)
    return 0;
  if (find && !is_anchored && tlua_pattern_is_text(pattern)) {
    find_text(search, found);
    return 1;
  }
  const char *at = search->from;
  do {
    if (!is_anchored)
      at = tlua_match_start(pattern, at, search->end);
    found->to = tlua_match(pattern, search->s, search->end, at, found->captures, &found->count);
    if (found->to != NULL) {
      found->from = at;
      return 1;
    }
  } while (at++ < search->end && !is_anchored);
  return 1;
}

int tlua_search (lua_State *L, const TValue *arguments, ptrdiff_t count, int find, TluaFound *found) {
  Search search;
  found->from = NULL;
  found->count = 0;
  if (!get_search(&search, arguments, count) || (count > 3 && !find))
    return 0;
  if (search.from == NULL)
    return 1;
  if (count > 3 && !l_isfalse(&arguments[3])) {
    find_text(&search, found);
    return 1;
  }
  return find_pattern(L, &search, find, found);
}

static void push_found (lua_State *L, const char *s, const TluaFound *found, int find) {
  if (found->from == NULL)
    setnilvalue(s2v(L->top.p++));
  else if (find) {
    push_number(L, found->from - s + 1);
    push_number(L, found->to - s);
  }
  else if (found->count == 0)
    push_text(L, found->from, (size_t)(found->to - found->from));
  for (int n = 0; found->from != NULL && n < found->count; n++) {
    const TluaCapture *capture = &found->captures[n];
    if (capture->len == TLUA_POSITION)
      push_number(L, capture->init - s + 1);
    else
      push_text(L, capture->init, (size_t)capture->len);
  }
}

int tlua_baseline_search (lua_State *L, StkId func, ptrdiff_t count, int wanted, int find) {
  TluaFound found;
  StkId top = L->top.p;
  if (!tlua_search(L, s2v(func + 1), count, find, &found))
    return 0;
  push_found(L, getstr(tsvalue(s2v(func + 1))), &found, find);
  move_results(L, func, top, wanted);
  luaC_checkGC(L);
  return 1;
}
