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

#define ARGUMENT(func, n) s2v((func) + (n))

/* Strings that a search may return: they lie above the arguments for a while. */
#define MOST_FOUND 12

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
static int get_search (Search *search, StkId func, ptrdiff_t count) {
  const TValue *s = ARGUMENT(func, 1), *p = ARGUMENT(func, 2), *init = ARGUMENT(func, 3);
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

static void push_text_place (lua_State *L, const Search *search) {
  size_t length = (size_t)(search->end - search->from);
  const char *found = tlua_find_text(search->from, length, search->p, search->length);
  if (found == NULL)
    setnilvalue(s2v(L->top.p++));
  else {
    push_number(L, found - search->s + 1);
    push_number(L, found - search->s + (ptrdiff_t)search->length);
  }
}

static void push_match (lua_State *L, const Search *search, const char *from, const char *to, int find,
                        const TluaCapture *captures, int count) {
  if (find) {
    push_number(L, from - search->s + 1);
    push_number(L, to - search->s);
  }
  else if (count == 0)
    push_text(L, from, (size_t)(to - from));
  for (int n = 0; n < count; n++) {
    if (captures[n].len == TLUA_POSITION)
      push_number(L, captures[n].init - search->s + 1);
    else
      push_text(L, captures[n].init, (size_t)captures[n].len);
  }
}

/* Pushes what the search finds. Returns 0 if that is for the library to do. */
static int do_search (lua_State *L, const Search *search, int find) {
  int is_anchored = search->length > 0 && search->p[0] == '^';
  const TluaPattern *pattern = tlua_known_pattern(L, search->p + is_anchored, search->length - is_anchored);
  if (pattern == NULL || tlua_pattern_captures(pattern) > MOST_FOUND)
    return 0;
  if (find && !is_anchored && tlua_pattern_is_text(pattern)) {
    push_text_place(L, search);
    return 1;
  }
  const char *at = search->from;
  do {
    TluaCapture captures[MOST_FOUND];
    unsigned char count;
    if (!is_anchored)
      at = tlua_match_start(pattern, at, search->end);
    const char *to = tlua_match(pattern, search->s, search->end, at, captures, &count);
    if (to != NULL) {
      push_match(L, search, at, to, find, captures, count);
      return 1;
    }
  } while (at++ < search->end && !is_anchored);
  setnilvalue(s2v(L->top.p++));
  return 1;
}

int tlua_baseline_search (lua_State *L, StkId func, ptrdiff_t count, int wanted, int find) {
  Search search;
  StkId top = L->top.p;
  if (!get_search(&search, func, count) || (count > 3 && !find))
    return 0;
  if (search.from == NULL)
    setnilvalue(s2v(L->top.p++));
  else if (count > 3 && !l_isfalse(ARGUMENT(func, 4)))
    push_text_place(L, &search);
  else if (!do_search(L, &search, find))
    return 0;
  move_results(L, func, top, wanted);
  luaC_checkGC(L);
  return 1;
}
