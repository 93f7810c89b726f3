/*
** A first look for a short string in a table, in the interpreter's own code.
**
** Problem: programs read fields and globals more often than anything else, and each read is a call of a
** function that most often finds the key at once.
**
** Design: the interpreter's loop looks at the key's main position itself, and calls the function if another
** key is there. Baseline code and traces make the whole search themselves.
**
** Invariant: the answer is the function's.
**
** Example, in lvm.c:   luaV_fastget(L, rb, key, slot, luaH_getshortstr)
*/
#ifndef tlua_get_h
#define tlua_get_h

#include "lobject.h"
#include "lstring.h"
#include "ltable.h"

/* Rare cases stand apart, so that the others save no registers for them. */
#if !defined(l_noinline)
#if defined(__GNUC__)
#define l_noinline __attribute__((noinline))
#else
#define l_noinline
#endif
#endif

/* The value of a short string in a table, or NULL. */
static inline const TValue *tlua_field (const Table *t, const TString *key) {
  const Node *n = gnode(t, lmod(key->hash, sizenode(t)));
  for (;;) {
    int next;
    if (luai_likely(keyisshrstr(n) && eqshrstr(keystrval(n), key)))
      return gval(n);
    next = gnext(n);
    if (next == 0)
      return NULL;
    n += next;
  }
}

/* 5.5 gets values in another way, and its own functions are inlined there. */
#if LUA_VERSION_NUM == 504

static inline const TValue *tlua_getshortstr (Table *t, TString *key) {
  Node *n = gnode(t, lmod(key->hash, sizenode(t)));
  if (luai_likely(keyisshrstr(n) && eqshrstr(keystrval(n), key)))
    return gval(n);
  return luaH_getshortstr(t, key);
}

#define luaH_getshortstr(t,key) tlua_getshortstr(t, key)

#endif

#endif
