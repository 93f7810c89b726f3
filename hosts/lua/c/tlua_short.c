/*
** Short strings: those that are there already, and new ones.
**
** Problem: programs that take texts apart make the same few words again and again. Each time Lua hashes the
** word, one character after the other, and asks the C library whether it is the one in the table of strings.
** Most of these words have few characters, many only one.
**
** Design: strings of up to seven characters are kept, by a number that consists of all characters and the
** length: each in the one place that the number leads to. All others are looked for with their hash and
** compared in place. Where there is none yet, and the state has a heap of its own (tlua_heap.c), it is made
** here, so that it is not looked for twice; else Lua makes it. Words that follow one another are of
** different lengths, which no processor foresees: the number of a part of a string is found without a branch.
**
** Invariant: a string that is kept is alive: when the collector has marked all that is reached it takes all
** that is kept away (tlua_forget_short), and what is made later has that cycle's colour. Nothing here throws,
** or collects.
**
** Example: s:sub(i, i + 2) -> tlua_find_short(L, "end", 3): a product, and two loads
*/

#define LUA_CORE

#include "lprefix.h"

#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tlua_heap.h"
#include "tlua_internal.h"
#include "tlua_match.h"

#include "tlua_version.h"

#include "lgc.h"
#include "lstring.h"

/* Words of eight characters: the last one may overlap with the one before. */
static int is_same (const char *a, const char *b, size_t length) {
  uint64_t x, y;
  if (length < 8) {
    for (size_t n = 0; n < length; n++) {
      if (a[n] != b[n])
        return 0;
    }
    return 1;
  }
  for (size_t n = 0; n + 8 < length; n += 8) {
    memcpy(&x, a + n, 8);
    memcpy(&y, b + n, 8);
    if (x != y)
      return 0;
  }
  memcpy(&x, a + length - 8, 8);
  memcpy(&y, b + length - 8, 8);
  return x == y;
}

#if defined(TLUA_SAME_HASHES)

/* For tests that compare the order of keys with stock Lua's. */
unsigned tlua_hash (const char *characters, size_t length, unsigned seed) {
  unsigned hash = seed ^ (unsigned)length;
  for (; length > 0; length--)
    hash ^= (hash << 5) + (hash >> 2) + (unsigned char)characters[length - 1];
  return hash;
}

#else

static inline uint64_t mix (uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

/*
** Of eight characters at once. The last ones may be read twice, and of few characters half of a word: strings
** of other lengths begin with another number.
*/
unsigned tlua_hash (const char *characters, size_t length, unsigned seed) {
  uint64_t hash = mix(seed, length), word = 0;
  size_t n = 0;
  for (; n + 8 < length; n += 8) {
    memcpy(&word, characters + n, 8);
    hash = mix(hash, word);
  }
  if (length >= 8) {
    memcpy(&word, characters + length - 8, 8);
  }
  else if (length >= 4) {
    uint32_t first, last;
    memcpy(&first, characters, 4);
    memcpy(&last, characters + length - 4, 4);
    word = first | (uint64_t)last << 32;
  }
  else {
    for (; n < length; n++)
      word = word << 8 | (unsigned char)characters[n];
  }
  hash = mix(hash, word);
  return (unsigned)(hash ^ hash >> 47);
}

#endif

/* As createstrobj and internshrstr. NULL if the table has to grow, or there is no memory at hand. */
static TString *make (lua_State *L, const char *characters, size_t length, unsigned hash) {
  global_State *g = G(L);
  stringtable *all = &g->strt;
  size_t size = TLUA_SHORT_BYTES(length);
  if (all->nuse >= all->size || g->frealloc != tlua_allocate)
    return NULL;
  TString *s = (TString *)tlua_take(g->ud, size);
  if (l_unlikely(s == NULL))
    return NULL;
  TString **list = &all->hash[lmod(hash, all->size)];
  tlua_take_account(g, (l_mem)size);
  s->marked = luaC_white(g);
  s->tt = LUA_VSHRSTR;
  s->next = g->allgc;
  g->allgc = obj2gco(s);
  s->hash = hash;
  s->extra = 0;
  s->shrlen = cast_byte(length);
  tlua_copy_text(getshrstr(s), characters, length);
  getshrstr(s)[length] = '\0';
  s->u.hnext = *list;
  *list = s;
  all->nuse++;
  return s;
}

/* Among all short strings; it may be one that the collector has given up on. */
static inline TString *find (const global_State *g, const char *characters, size_t length, unsigned hash) {
  for (TString *s = g->strt.hash[lmod(hash, g->strt.size)]; s != NULL; s = s->u.hnext) {
    if (s->hash == hash && (size_t)s->shrlen == length && is_same(getshrstr(s), characters, length))
      return s;
  }
  return NULL;
}

/* A string that the collector has given up on is wanted again. */
static TString *find_or_make (lua_State *L, const char *characters, size_t length) {
  global_State *g = G(L);
  unsigned hash = tlua_hash(characters, length, g->seed);
  TString *s = find(g, characters, length, hash);
  if (s == NULL)
    return make(L, characters, length, hash);
  if (isdead(g, s))
    changewhite(s);
  return s;
}

/* --- what is kept --- */

#define MOST_KEPT 7
#define PLACES_BITS 9

typedef struct Word {
  uint64_t number;  /* 0: none */
  TString *string;
} Word;

#define PARTS 8
#define PART_ROOM 32

struct TluaKept {
  int is_used;
  Word words[1 << PLACES_BITS];
  unsigned next_part;
  union {
    TString string;
    char room[offsetof(TString, contents) + PART_ROOM];
  } parts[PARTS];
};

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define IS_LITTLE_ENDIAN 1
#else
#define IS_LITTLE_ENDIAN 0
#endif

/* Of one to seven characters: they come first, the length is the last byte. */
static uint64_t number_of (const char *characters, size_t length) {
  uint64_t number = 0;
  if (IS_LITTLE_ENDIAN && length >= 4) {  /* both halves, which may overlap */
    uint32_t first, last;
    memcpy(&first, characters, 4);
    memcpy(&last, characters + length - 4, 4);
    number = first | (uint64_t)last << (8 * (length - 4));
  }
  else {
    for (size_t n = 0; n < length; n++)
      number |= (uint64_t)(unsigned char)characters[n] << (8 * n);
  }
  return number | (uint64_t)length << 56;
}

/* The same of a part of a string: what lies in the eight bytes before the part's end is the string's own. */
static uint64_t number_of_part (const TString *s, size_t from, size_t length) {
#if IS_LITTLE_ENDIAN && TLUA_STRINGS_ARE_WHOLE
  enum { BEFORE = offsetof(TString, contents) };
  uint64_t bytes;
  _Static_assert(BEFORE >= sizeof(bytes), "before its characters");
  memcpy(&bytes, (const char *)s + BEFORE + from + length - sizeof(bytes), sizeof(bytes));
  return bytes >> (64 - 8 * length) | (uint64_t)length << 56;
#else
  return number_of(getstr(s) + from, length);
#endif
}

static struct TluaKept *kept_of (lua_State *L) {
  struct TluaKept *kept = L->jit->kept;
  if (l_unlikely(kept == NULL))
    kept = L->jit->kept = (struct TluaKept *)calloc(1, sizeof(struct TluaKept));
  return kept;
}

/* By the golden ratio: single characters, which all programs use, lie far from one another. */
static inline Word *place_of (struct TluaKept *kept, uint64_t number) {
  return &kept->words[number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACES_BITS)];
}

static TString *keep_word (lua_State *L, Word *word, uint64_t number, const char *characters) {
  TString *found = find_or_make(L, characters, (size_t)(number >> 56));
  if (found != NULL) {
    L->jit->kept->is_used = 1;
    *word = (Word){ number, found };
  }
  return found;
}

static inline TString *find_word (lua_State *L, struct TluaKept *kept, uint64_t number,
                                  const char *characters) {
  Word *word = place_of(kept, number);
  return l_likely(word->number == number) ? word->string : keep_word(L, word, number, characters);
}

TString *tlua_find_short (lua_State *L, const char *characters, size_t length) {
  struct TluaKept *kept;
  if (length - 1 >= MOST_KEPT || (kept = kept_of(L)) == NULL)
    return find_or_make(L, characters, length);
  return find_word(L, kept, number_of(characters, length), characters);
}

const TString *tlua_known_short (lua_State *L, const char *characters, size_t length) {
  struct TluaKept *kept;
  if (length - 1 < MOST_KEPT && (kept = kept_of(L)) != NULL) {
    uint64_t number = number_of(characters, length);
    const Word *word = place_of(kept, number);
    if (word->number == number)
      return word->string;
  }
  global_State *g = G(L);
  return find(g, characters, length, tlua_hash(characters, length, g->seed));
}

TString *tlua_find_part (lua_State *L, const TString *s, size_t from, size_t length) {
  struct TluaKept *kept = L->jit->kept;
  const char *characters = getstr(s) + from;
  if (l_unlikely(length - 1 >= MOST_KEPT) || l_unlikely(kept == NULL))
    return tlua_find_short(L, characters, length);
  return find_word(L, kept, number_of_part(s, from, length), characters);
}

TString *tlua_text_part (lua_State *L, const char *characters, size_t length) {
  struct TluaKept *kept = kept_of(L);
  if (kept == NULL || length > PART_ROOM)
    return NULL;
  TString *part = &kept->parts[kept->next_part++ % PARTS].string;
  part->tt = LUA_VSHRSTR;
  part->shrlen = cast_byte(length);
  tlua_copy_text(getshrstr(part), characters, length);
  return part;
}

/*
** A program that makes and drops many strings in turn has several collections in each round, and only one of
** them finds many. So the most that there were is forgotten slowly: in each collection a sixteenth of what it
** is more than there are now.
*/
#define FORGETS 16

void tlua_forget_short (global_State *g) {
  struct TluaKept *kept = g->tlua->kept;
  int now = g->strt.nuse, most = g->tlua->most_short;
  g->tlua->most_short = now > most ? now : most - (most - now) / FORGETS;
  if (kept != NULL && kept->is_used)
    memset(kept->words, 0, sizeof(kept->words));
}

void tlua_short_close (Tlua *jit) {
  free(jit->kept);
  jit->kept = NULL;
}
