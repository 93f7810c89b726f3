/*
** Faster steps of pattern matching.
**
** Problem: the library's matcher asks for each character of the subject what the pattern's item is: a switch,
** and for a set a walk along its text. Programs that take texts apart spend most of their time there. And it
** tries to match at each place, also where the first item can be seen not to.
**
** Design: three questions about many characters at once, which insertions put into the matcher's loops: how
** many characters from here on are in an item; where the next place is at which a pattern can match at all;
** and how far '-' must go before what follows it can match. A class or a set is looked up in a table with an
** entry for each character, which is made once and kept by the text of the item. The loops of the library
** follow, and do what is left.
**
** Invariant: no place is passed over at which the library would have found a match, or raised an error.
** Tables are those of the locale that the C library has now.
**
** Example: gsub(text, "[&<>]", names) walks along the text at a byte per nanosecond.
*/

#define LUA_CORE

#include "lprefix.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lstate.h"

#include "tlua_match.h"

#define ESCAPE '%'
#define BYTE(p) ((unsigned char)*(p))

/* --- tables --- */

/* Longer items, of which there are few, are left to the library. */
#define LONGEST 30
#define TABLES 128
/* Places that a table may be in. */
#define PLACES 4

typedef struct Table256 {
  unsigned char length;            /* of the item's text; 0: none */
  char text[LONGEST];
  unsigned char has[256];
} Table256;

struct TluaMatch {
  const void *locale;              /* what the tables were made in */
  unsigned next;                   /* which of an item's places is given to another one */
  Table256 tables[TABLES];
};

/* The C library's own table of classes, which says which locale it is; NULL where that cannot be asked. */
static const void *current_locale (void) {
#if defined(__GLIBC__)
  return *__ctype_b_loc();
#else
  return NULL;
#endif
}

static void make_table (Table256 *table, const char *item, size_t length) {
  table->length = (unsigned char)length;
  memcpy(table->text, item, length);
  for (int c = 0; c < 256; c++)
    table->has[c] = (unsigned char)(tlua_item_has(c, item, item + length) != 0);
}

static struct TluaMatch *tables_of (lua_State *L) {
  struct TluaMatch *all = L->jit->match;
  const void *locale = current_locale();
  if (locale == NULL)
    return NULL;
  if (l_unlikely(all == NULL || all->locale != locale)) {
    free(all);
    L->jit->match = all = (struct TluaMatch *)calloc(1, sizeof(struct TluaMatch));
    if (all == NULL)
      return NULL;
    all->locale = locale;
  }
  return all;
}

/* Which characters are in the class or set; NULL if that is not known. */
static const unsigned char *table_of (lua_State *L, const char *item, const char *end) {
  struct TluaMatch *all = tables_of(L);
  size_t length = (size_t)(end - item);
  if (all == NULL || length > LONGEST)
    return NULL;
  unsigned hash = (unsigned)length;
  for (const char *p = item + 1; p < end; p++)
    hash = hash * 31 + BYTE(p);
  for (unsigned n = 0; n < PLACES; n++) {
    Table256 *table = &all->tables[(hash + n) % TABLES];
    if (table->length == length && memcmp(table->text, item, length) == 0)
      return table->has;
    if (table->length == 0) {
      make_table(table, item, length);
      return table->has;
    }
  }
  Table256 *table = &all->tables[(hash + all->next++ % PLACES) % TABLES];
  make_table(table, item, length);
  return table->has;
}

/* --- items --- */

/* The first character after the item at 'p', as in the library; NULL if it is malformed. */
static const char *end_of_item (const char *p, const char *end) {
  if (*p == ESCAPE)
    return p + 1 < end ? p + 2 : NULL;
  if (*p != '[')
    return p + 1;
  p++;
  if (*p == '^')
    p++;
  do {
    if (p >= end)
      return NULL;
    if (*p++ == ESCAPE) {
      if (p >= end)
        return NULL;
      p++;
    }
  } while (*p != ']');
  return p < end ? p + 1 : NULL;
}

/*
** The item that the first character of each match must be in, if there is one that is not '.': its start, and
** its end in 'item_end'. Captures begin and end without a character.
*/
static const char *first_item (const char *p, const char *end, const char **item_end) {
  while (p < end && (*p == '(' || *p == ')'))
    p++;
  if (p >= end || *p == '.' || (*p == '$' && p + 1 == end))
    return NULL;
  if (*p == ESCAPE && p + 1 < end && (p[1] == 'b' || p[1] == 'f' || isdigit(BYTE(p + 1))))
    return NULL;
  const char *after = end_of_item(p, end);
  if (after == NULL || (after < end && (*after == '*' || *after == '?' || *after == '-')))
    return NULL;
  *item_end = after;
  return p;
}

static int is_literal (const char *item) {
  return *item != ESCAPE && *item != '[';
}

/* --- the three questions --- */

ptrdiff_t tlua_match_span (lua_State *L, const char *s, const char *end, const char *item,
                           const char *item_end) {
  const char *start = s;
  if (*item == '.')
    return end - s;
  if (is_literal(item)) {
    while (s < end && *s == *item)
      s++;
    return s - start;
  }
  const unsigned char *has = table_of(L, item, item_end);
  if (has == NULL)
    return 0;
  while (s < end && has[BYTE(s)])
    s++;
  return s - start;
}

const char *tlua_match_start (lua_State *L, const char *s, const char *end, const char *p,
                              const char *p_end) {
  const char *item_end;
  const char *item = first_item(p, p_end, &item_end);
  if (item == NULL || s >= end)
    return s;
  if (is_literal(item)) {
    const char *found = (const char *)memchr(s, *item, (size_t)(end - s));
    return found != NULL ? found : end;
  }
  const unsigned char *has = table_of(L, item, item_end);
  if (has == NULL)
    return s;
  while (s < end && !has[BYTE(s)])
    s++;
  return s;
}

/*
** Not farther than the library would go: what follows may match soon, and then the rest of a long run would
** be walked along for nothing, again and again.
*/
const char *tlua_match_rest (lua_State *L, const char *s, const char *end, const char *item,
                             const char *item_end, const char *p_end) {
  const char *start_end;
  const char *start = first_item(item_end + 1, p_end, &start_end);
  if (start == NULL)
    return s;
  if (*item == '.')
    return tlua_match_start(L, s, end, item_end + 1, p_end);
  if (is_literal(item))
    return s;
  const unsigned char *has = table_of(L, item, item_end);
  if (has == NULL)
    return s;
  if (is_literal(start)) {
    while (s < end && has[BYTE(s)] && *s != *start)
      s++;
    return s;
  }
  /* the second table may take the first one's place */
  unsigned char both[256];
  memcpy(both, has, sizeof(both));
  const unsigned char *starts = table_of(L, start, start_end);
  if (starts == NULL)
    return s;
  while (s < end && both[BYTE(s)] && !starts[BYTE(s)])
    s++;
  return s;
}

void tlua_match_close (struct Tlua *jit) {
  free(jit->match);
  jit->match = NULL;
}
