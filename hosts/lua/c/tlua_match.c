/*
** Pattern matching.
**
** Problem: the library's matcher reads the pattern anew at each character of the subject: it looks for the
** end of an item, for what comes after it, and asks the C library whether a character is a letter. Programs
** that take texts apart spend most of their time there.
**
** Design: a pattern that comes for the second time, or with a long subject, is translated, once: each item
** becomes a kind, and a table of the 256 characters that are in it. Captures nest as they stand in the
** pattern, so that their numbers are known then. Repetitions go back as the library's do, with two short
** cuts. What must come after an item, if that is one character, is looked at before the rest is tried. And
** where nothing that the item has may come after it, or nothing has to, only the longest repetition can
** match. What every match begins with, if that is known, says which places need not be tried at all.
**
** Invariant: a pattern that the library might raise an error for is not translated: malformed ones, and long
** ones, which might be "too complex". Tables are those of the locale that the C library had when the first
** pattern came; in any other one all is left to the library.
**
** Example: "^(%a+)=(%d*)" -> open 0, letters +, close 0, '=', open 1, digits *, close 1, end; the letters
** need not go back, as no letter is a '='.
*/

#define LUA_CORE

#include "lprefix.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lstate.h"

#include "tlua_match.h"

#define ESCAPE '%'
#define BYTE(p) ((unsigned char)*(p))

typedef enum Kind {
  END, END_OF_SUBJECT, CHARACTER, ONE, OPTIONAL, STAR, PLUS, MINUS, OPEN, OPEN_POSITION, CLOSE, AGAIN,
  BALANCE, FRONTIER
} Kind;

typedef struct Item {
  unsigned char kind;
  unsigned char is_longest;     /* STAR and PLUS: a shorter repetition cannot match */
  unsigned char c, other;       /* a character, or two; which capture */
  const unsigned char *has;     /* by character */
} Item;

#define LONGEST 48              /* text of a pattern */
#define MOST_CAPTURES 12

struct TluaPattern {
  const void *locale;
  unsigned char length, captures, is_text;
  char text[LONGEST];
  const Item *first;            /* what a match begins with, if that takes a character; or NULL */
  Item items[LONGEST + 1];
};

/* A class or a set. */
typedef struct Set {
  struct Set *next;
  unsigned char length;         /* of its text */
  char text[LONGEST];
  unsigned char has[UCHAR_MAX + 1];
} Set;

#define PLACES 512
#define LAST 64
#define NEAR 4                  /* places that a pattern may be in */
#define MOST_SETS 500
#define LONG_SUBJECT 500        /* characters: a search in so many is worth a translation */

typedef struct Place {
  unsigned hash;
  unsigned char state;
  TluaPattern *pattern;
} Place;
enum { FREE, SEEN, REFUSED, TRANSLATED };

struct TluaMatch {
  const void *locale;           /* what tables are made in */
  Set *sets;
  unsigned set_count;
  unsigned char any[UCHAR_MAX + 1];
  Place places[PLACES];
  const TluaPattern *last[LAST];  /* found last for a text that lies there */
};

const void *const *tlua_locale (void) {
#if defined(__GLIBC__)
  return (const void *const *)__ctype_b_loc();  /* its own table of classes */
#else
  static const void *const unknown = NULL;
  return &unknown;
#endif
}

static const void *current_locale (void) {
  return *tlua_locale();
}

/* --- translating --- */

typedef struct Translator {
  struct TluaMatch *all;
  TluaPattern *pattern;
  const char *p, *end;
  unsigned items;
  unsigned char open[MOST_CAPTURES];  /* captures that are not closed, the innermost last */
  unsigned depth;
  unsigned char is_closed[MOST_CAPTURES];
} Translator;

/* The table of a class or a set. NULL if memory is short, or there are many. */
static const unsigned char *table_of (struct TluaMatch *all, const char *item, size_t length) {
  for (Set *set = all->sets; set != NULL; set = set->next) {
    if (set->length == length && memcmp(set->text, item, length) == 0)
      return set->has;
  }
  Set *set = all->set_count >= MOST_SETS ? NULL : (Set *)malloc(sizeof(Set));
  if (set == NULL)
    return NULL;
  all->set_count++;
  set->length = (unsigned char)length;
  memcpy(set->text, item, length);
  for (int c = 0; c <= UCHAR_MAX; c++)
    set->has[c] = (unsigned char)(tlua_item_has(c, item, item + length) != 0);
  set->next = all->sets;
  all->sets = set;
  return set->has;
}

/* The first character after the item at 'p', as in the library; NULL if it is malformed. */
static const char *end_of_item (const char *p, const char *end) {
  if (*p == ESCAPE)
    return p + 1 < end ? p + 2 : NULL;
  if (*p != '[')
    return p + 1;
  p++;
  if (p < end && *p == '^')
    p++;
  do {
    if (p >= end)
      return NULL;
    if (*p++ == ESCAPE) {
      if (p >= end)
        return NULL;
      p++;
    }
  } while (p >= end || *p != ']');
  return p + 1;
}

static Item *add (Translator *t, Kind kind) {
  Item *item = &t->pattern->items[t->items++];
  *item = (Item){ .kind = (unsigned char)kind };
  return item;
}

static int add_open (Translator *t) {
  int is_position = t->p + 1 < t->end && t->p[1] == ')';
  unsigned char number = t->pattern->captures;
  if (number >= MOST_CAPTURES)
    return 0;
  t->pattern->captures++;
  add(t, is_position ? OPEN_POSITION : OPEN)->c = number;
  t->is_closed[number] = (unsigned char)is_position;
  if (!is_position)
    t->open[t->depth++] = number;
  t->p += is_position ? 2 : 1;
  return 1;
}

static int add_close (Translator *t) {
  if (t->depth == 0)
    return 0;
  unsigned char number = t->open[--t->depth];
  add(t, CLOSE)->c = number;
  t->is_closed[number] = 1;
  t->p++;
  return 1;
}

/* %b, %f and %1. */
static int add_escape (Translator *t) {
  char what = t->p[1];
  if (what == 'b') {
    if (t->end - t->p < 4)
      return 0;
    Item *item = add(t, BALANCE);
    item->c = BYTE(t->p + 2);
    item->other = BYTE(t->p + 3);
    t->p += 4;
    return 1;
  }
  if (what == 'f') {
    t->p += 2;
    const char *after = t->p < t->end && *t->p == '[' ? end_of_item(t->p, t->end) : NULL;
    if (after == NULL)
      return 0;
    Item *item = add(t, FRONTIER);
    item->has = table_of(t->all, t->p, (size_t)(after - t->p));
    t->p = after;
    return item->has != NULL;
  }
  int number = what - '1';
  if (number < 0 || number >= t->pattern->captures || !t->is_closed[number])
    return 0;
  add(t, AGAIN)->c = (unsigned char)number;
  t->p += 2;
  return 1;
}

static Kind repetition (const char *p, const char *end) {
  switch (p < end ? *p : 0) {
    case '*': return STAR;
    case '+': return PLUS;
    case '-': return MINUS;
    case '?': return OPTIONAL;
    default: return ONE;
  }
}

/* A character, a class or a set, once or repeated. */
static int add_single (Translator *t) {
  const char *item = t->p, *after = end_of_item(item, t->end);
  if (after == NULL)
    return 0;
  Kind kind = repetition(after, t->end);
  int is_literal = *item != ESCAPE && *item != '[' && *item != '.';
  if (*item == ESCAPE && !isalnum(BYTE(item + 1))) {
    item++;
    is_literal = 1;
  }
  t->p = kind == ONE ? after : after + 1;
  Item *added = add(t, is_literal && kind == ONE ? CHARACTER : kind);
  added->c = BYTE(item);
  if (added->kind == CHARACTER)
    return 1;
  if (is_literal) {
    char escaped[2] = { ESCAPE, *item };
    if (isalnum(BYTE(item))) {  /* no class, but a set of one */
      char set[3] = { '[', *item, ']' };
      added->has = table_of(t->all, set, sizeof(set));
    }
    else
      added->has = table_of(t->all, escaped, sizeof(escaped));
  }
  else
    added->has = *item == '.' ? t->all->any : table_of(t->all, item, (size_t)(after - item));
  return added->has != NULL;
}

static int translate_item (Translator *t) {
  switch (*t->p) {
    case '(':
      return add_open(t);
    case ')':
      return add_close(t);
    case '$':
      if (t->p + 1 != t->end)
        break;
      add(t, END_OF_SUBJECT);
      t->p++;
      return 1;
    case ESCAPE:
      if (t->p + 1 < t->end && (t->p[1] == 'b' || t->p[1] == 'f' || isdigit(BYTE(t->p + 1))))
        return add_escape(t);
      break;
    default:
      break;
  }
  return add_single(t);
}

/* The next item that takes a character, or asks for one. */
static const Item *next_taking (const Item *item) {
  while (item->kind == OPEN || item->kind == OPEN_POSITION || item->kind == CLOSE)
    item++;
  return item;
}

static int is_disjoint (const unsigned char *has, const Item *item) {
  if (item->kind == CHARACTER)
    return !has[item->c];
  for (int c = 0; c <= UCHAR_MAX; c++) {
    if (has[c] && item->has[c])
      return 0;
  }
  return 1;
}

/* Whether a shorter repetition than the longest one cannot match: see the top. */
static int is_longest (const Item *item) {
  const Item *next = next_taking(item + 1);
  switch (next->kind) {
    case END: case END_OF_SUBJECT:
      return 1;
    case CHARACTER: case ONE: case PLUS:
      return is_disjoint(item->has, next);
    default:
      return 0;
  }
}

static int is_special (int c) {
  return c != 0 && strchr("^$*+?.([%-", c) != NULL;
}

static void look_at_items (TluaPattern *pattern) {
  for (Item *item = pattern->items; item->kind != END; item++) {
    if (item->kind == STAR || item->kind == PLUS)
      item->is_longest = (unsigned char)is_longest(item);
  }
  const Item *first = next_taking(pattern->items);
  if (first->kind == CHARACTER || first->kind == ONE || first->kind == PLUS)
    pattern->first = first;
  pattern->is_text = 1;
  for (unsigned n = 0; n < pattern->length; n++)
    pattern->is_text &= !is_special(BYTE(pattern->text + n));
}

/* NULL if it is left to the library. */
static TluaPattern *translate (struct TluaMatch *all, const char *p, size_t length) {
  TluaPattern *pattern = (TluaPattern *)calloc(1, sizeof(TluaPattern));
  Translator t = { .all = all, .pattern = pattern, .p = p, .end = p + length };
  if (pattern == NULL)
    return NULL;
  pattern->locale = all->locale;
  pattern->length = (unsigned char)length;
  memcpy(pattern->text, p, length);
  while (t.p < t.end) {
    if (!translate_item(&t)) {
      free(pattern);
      return NULL;
    }
  }
  if (t.depth > 0) {
    free(pattern);
    return NULL;
  }
  add(&t, END);
  look_at_items(pattern);
  return pattern;
}

/* --- finding patterns --- */

static struct TluaMatch *new_match (lua_State *L) {
  struct TluaMatch *all = L->jit->match = (struct TluaMatch *)calloc(1, sizeof(struct TluaMatch));
  if (all != NULL) {
    all->locale = current_locale();
    memset(all->any, 1, sizeof(all->any));
  }
  return all;
}

static uint64_t word_at (const char *p) {
  uint64_t word;
  memcpy(&word, p, sizeof(word));
  return word;
}

/* By words that may overlap; a short text is one word. */
static unsigned hash_of (const char *p, size_t length) {
  const uint64_t factor = 0x9e3779b97f4a7c15u;
  uint64_t hash = length, last;
  if (length >= 8) {
    for (size_t n = 0; n + 8 < length; n += 8)
      hash = (hash ^ word_at(p + n)) * factor;
    last = word_at(p + length - 8);
  }
  else if (length >= 4) {
    uint32_t low, high;
    memcpy(&low, p, sizeof(low));
    memcpy(&high, p + length - 4, sizeof(high));
    last = (uint64_t)high << 32 | low;
  }
  else
    last = length == 0 ? 0 : (uint64_t)BYTE(p) | (uint64_t)BYTE(p + length / 2) << 8
                             | (uint64_t)BYTE(p + length - 1) << 16;
  hash = (hash ^ last) * factor;
  return (unsigned)(hash >> 32);
}

static const TluaPattern *seen_again (struct TluaMatch *all, Place *place, const char *p, size_t length) {
  place->pattern = translate(all, p, length);
  place->state = place->pattern != NULL ? TRANSLATED : REFUSED;
  return place->pattern;
}

static struct TluaMatch *match_of (lua_State *L, size_t length) {
  struct TluaMatch *all = L->jit->match;
  if (length > LONGEST || (all == NULL && (all = new_match(L)) == NULL) || all->locale == NULL
      || all->locale != current_locale())
    return NULL;
  return all;
}

static int has_text (const TluaPattern *pattern, const char *p, size_t length) {
  return pattern->length == length && memcmp(pattern->text, p, length) == 0;
}

static int is_of (const Place *place, unsigned hash, const char *p, size_t length) {
  return place->state == TRANSLATED && place->hash == hash && has_text(place->pattern, p, length);
}

const TluaPattern *tlua_known_pattern (lua_State *L, const char *p, size_t length) {
  struct TluaMatch *all = match_of(L, length);
  if (all == NULL)
    return NULL;
  const TluaPattern **last = &all->last[((uintptr_t)p >> 3) % LAST];
  if (*last != NULL && has_text(*last, p, length))
    return *last;
  unsigned hash = hash_of(p, length);
  for (unsigned n = 0; n < NEAR; n++) {
    const Place *place = &all->places[(hash + n) % PLACES];
    if (is_of(place, hash, p, length))
      return *last = place->pattern;
  }
  return NULL;
}

const TluaPattern *tlua_pattern (lua_State *L, const char *p, size_t length, size_t subject) {
  struct TluaMatch *all = match_of(L, length);
  if (all == NULL)
    return NULL;
  unsigned hash = hash_of(p, length);
  Place *last = NULL;
  for (unsigned n = 0; n < NEAR; n++) {
    Place *place = &all->places[(hash + n) % PLACES];
    if (is_of(place, hash, p, length))
      return place->pattern;
    if (place->state == SEEN && place->hash == hash)
      return seen_again(all, place, p, length);
    if (place->state == REFUSED && place->hash == hash)
      return NULL;
    if (place->state != TRANSLATED)
      last = place;
    if (place->state == FREE)
      break;
  }
  if (last == NULL)
    return NULL;
  *last = (Place){ hash, SEEN, NULL };
  return subject >= LONG_SUBJECT ? seen_again(all, last, p, length) : NULL;
}

int tlua_pattern_captures (const TluaPattern *pattern) {
  return pattern->captures;
}

int tlua_pattern_is_text (const TluaPattern *pattern) {
  return pattern->is_text;
}

/* --- matching --- */

typedef struct Subject {
  const char *start, *end;
  TluaCapture *captures;
} Subject;

static const char *run (const Subject *subject, const Item *item, const char *s);

static const char *longest_first (const Subject *subject, const Item *item, const char *s) {
  const char *at = s, *least = item->kind == PLUS ? s + 1 : s;
  while (at < subject->end && item->has[BYTE(at)])
    at++;
  const Item *next = item + 1;
  for (; at >= least; at--) {
    if (next->kind == CHARACTER && (at == subject->end || BYTE(at) != next->c))
      continue;
    const char *end = run(subject, next, at);
    if (end != NULL)
      return end;
  }
  return NULL;
}

static const char *shortest_first (const Subject *subject, const Item *item, const char *s) {
  const Item *next = item + 1;
  for (;; s++) {
    if (next->kind != CHARACTER || (s < subject->end && BYTE(s) == next->c)) {
      const char *end = run(subject, next, s);
      if (end != NULL)
        return end;
    }
    if (s >= subject->end || !item->has[BYTE(s)])
      return NULL;
  }
}

static const char *match_balance (const Subject *subject, const Item *item, const char *s) {
  int open = 1;
  if (s >= subject->end || BYTE(s) != item->c)
    return NULL;
  while (++s < subject->end) {
    if (BYTE(s) == item->other) {
      if (--open == 0)
        return s + 1;
    }
    else if (BYTE(s) == item->c)
      open++;
  }
  return NULL;
}

static int is_frontier (const Subject *subject, const Item *item, const char *s) {
  int before = s == subject->start ? 0 : BYTE(s - 1);
  int after = s == subject->end ? 0 : BYTE(s);
  return !item->has[before] && item->has[after];
}

/* What the capture has, once more. As in the library, that of a position is longer than all subjects. */
static const char *match_again (const Subject *subject, const Item *item, const char *s) {
  const TluaCapture *capture = &subject->captures[item->c];
  size_t length = (size_t)capture->len;
  if ((size_t)(subject->end - s) < length || memcmp(capture->init, s, length) != 0)
    return NULL;
  return s + length;
}

/* Where a match of the items ends that begins at 's'; NULL if there is none. */
static const char *run (const Subject *subject, const Item *item, const char *s) {
  const char *end = subject->end;
  for (;; item++) {
    switch ((Kind)item->kind) {
      case END:
        return s;
      case END_OF_SUBJECT:
        return s == end ? s : NULL;
      case CHARACTER:
        if (s == end || BYTE(s) != item->c)
          return NULL;
        s++;
        break;
      case ONE:
        if (s == end || !item->has[BYTE(s)])
          return NULL;
        s++;
        break;
      case OPTIONAL:
        if (s < end && item->has[BYTE(s)]) {
          const char *with = run(subject, item + 1, s + 1);
          if (with != NULL)
            return with;
        }
        break;
      case STAR: case PLUS:
        if (!item->is_longest)
          return longest_first(subject, item, s);
        if (item->kind == PLUS && (s == end || !item->has[BYTE(s)]))
          return NULL;
        while (s < end && item->has[BYTE(s)])
          s++;
        break;
      case MINUS:
        return shortest_first(subject, item, s);
      case OPEN:
        subject->captures[item->c].init = s;
        break;
      case OPEN_POSITION:
        subject->captures[item->c] = (TluaCapture){ s, TLUA_POSITION };
        break;
      case CLOSE:
        subject->captures[item->c].len = s - subject->captures[item->c].init;
        break;
      case AGAIN:
        if ((s = match_again(subject, item, s)) == NULL)
          return NULL;
        break;
      case BALANCE:
        if ((s = match_balance(subject, item, s)) == NULL)
          return NULL;
        break;
      case FRONTIER:
        if (!is_frontier(subject, item, s))
          return NULL;
        break;
    }
  }
}

const char *tlua_match (const TluaPattern *pattern, const char *start, const char *end, const char *s,
                        TluaCapture *captures, unsigned char *level) {
  Subject subject = { start, end, captures };
  *level = pattern->captures;
  return run(&subject, pattern->items, s);
}

const TluaPattern *tlua_still (const TluaPattern *pattern) {
  return pattern != NULL && pattern->locale == current_locale() ? pattern : NULL;
}

const char *tlua_match_start (const TluaPattern *pattern, const char *s, const char *end) {
  const Item *first = pattern == NULL ? NULL : pattern->first;
  if (first == NULL || s >= end)
    return s;
  if (first->kind == CHARACTER) {
    const char *found = (const char *)memchr(s, first->c, (size_t)(end - s));
    return found != NULL ? found : end;
  }
  while (s < end && !first->has[BYTE(s)])
    s++;
  return s;
}

const char *tlua_find_text (const char *s, size_t length, const char *text, size_t text_length) {
  const char *last = s + length - text_length;
  if (text_length == 0)
    return s;
  if (text_length > length)
    return NULL;
  while (s <= last) {
    s = (const char *)memchr(s, *text, (size_t)(last - s) + 1);
    if (s == NULL || memcmp(s, text, text_length) == 0)
      return s;
    s++;
  }
  return NULL;
}

void tlua_match_close (struct Tlua *jit) {
  struct TluaMatch *all = jit->match;
  if (all == NULL)
    return;
  for (unsigned n = 0; n < PLACES; n++)
    free(all->places[n].pattern);
  while (all->sets != NULL) {
    Set *set = all->sets;
    all->sets = set->next;
    free(set);
  }
  free(all);
  jit->match = NULL;
}
