/*
** Short strings that are there already.
**
** Problem: programs that take texts apart make the same few words again and again. Each time Lua hashes the
** word, and asks the C library whether it is the one in the table of strings. Most of these words are single
** characters.
**
** Design: strings of one character are kept by that character, all others are looked for with their hash and
** compared in place. Who does not find his string has it made by Lua.
**
** Invariant: a string that is kept is alive: the collector takes the others away when it has marked all that
** is reached (tlua_forget_characters), and what is made later has that cycle's colour.
**
** Example: s:sub(i, i) -> tlua_find_short(L, "x", 1): two loads
*/

#define LUA_CORE

#include "lprefix.h"

#include <limits.h>
#include <string.h>

#include "tlua_internal.h"

#include "lgc.h"
#include "lstring.h"

/* Of more characters than a call of the C library is worth. */
#define LONG 16

static int is_same (const char *a, const char *b, size_t length) {
  if (length > LONG)
    return memcmp(a, b, length) == 0;
  for (size_t n = 0; n < length; n++) {
    if (a[n] != b[n])
      return 0;
  }
  return 1;
}

/* The hash is that of luaS_hash. A string that the collector has given up on is wanted again. */
static TString *find (lua_State *L, const char *characters, size_t length) {
  global_State *g = G(L);
  unsigned int hash = g->seed ^ cast_uint(length);
  for (size_t n = length; n > 0; n--)
    hash ^= (hash << 5) + (hash >> 2) + cast_byte(characters[n - 1]);
  for (TString *s = g->strt.hash[lmod(hash, g->strt.size)]; s != NULL; s = s->u.hnext) {
    if (s->hash == hash && s->shrlen == length && is_same(getshrstr(s), characters, length)) {
      if (isdead(g, s))
        changewhite(s);
      return s;
    }
  }
  return NULL;
}

TString *tlua_find_short (lua_State *L, const char *characters, size_t length) {
  if (length != 1)
    return find(L, characters, length);
  TString **kept = &L->jit->characters[(unsigned char)*characters];
  if (*kept == NULL)
    *kept = find(L, characters, 1);
  return *kept;
}

void tlua_forget_characters (global_State *g) {
  TString **kept = g->tlua->characters;
  for (int c = 0; c <= UCHAR_MAX; c++) {
    if (kept[c] != NULL && iswhite(kept[c]))
      kept[c] = NULL;
  }
}
