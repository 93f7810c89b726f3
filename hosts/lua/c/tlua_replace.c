/*
** Replacing matches by what a table has for them.
**
** Problem: 'gsub' with a table pushes the first capture as a string, which may have to be made, takes the
** value as any program would, and adds it to its buffer by way of the stack: three matches in a text of
** twelve characters take longer than to find them.
**
** Design: a short key that no string of the program is cannot be in the table. One that is there is looked
** up where it lies, and its replacement is copied into the buffer if that has room. Nothing is pushed,
** nothing is made, nothing can be collected meanwhile.
**
** Invariant: what has happened is what the library would have done; where it is asked, nothing has happened.
**
** Example: ("a < b"):gsub("[<>&]", { ["<"] = "&lt;" }) looks for "<" among the program's strings, and copies
** four characters.
*/

#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "tlua_match.h"

#include "tlua_internal.h"
#include "tlua_version.h"

#include "lauxlib.h"
#include "lstate.h"
#include "ltable.h"
#include "ltm.h"

void tlua_add_text (luaL_Buffer *b, const char *text, size_t length) {
  if (l_likely(b->size - b->n >= length)) {
    tlua_copy_text(b->b + b->n, text, length);
    b->n += length;
  }
  else
    luaL_addlstring(b, text, length);
}

int tlua_replace (lua_State *L, luaL_Buffer *b, const TluaCapture *key, const char *match, size_t length) {
  const TValue *replacements = s2v(L->ci->func.p + 3);
  if (!ttistable(replacements) || key->len < 0 || key->len > LUAI_MAXSHORTLEN)
    return -1;
  Table *t = hvalue(replacements);
  const TString *name = tlua_known_short(L, key->init, (size_t)key->len);
  const TValue *value = name != NULL ? tlua_slot_of_short(t, (TString *)name) : NULL;
  if (value == NULL || isempty(value)) {
    if (fasttm(L, t->metatable, TM_INDEX) != NULL)
      return -1;
  }
  else if (ttisstring(value)) {
    size_t new_length = tsslen(tsvalue(value));
    if (b->size - b->n < new_length)
      return -1;  /* a buffer that grows may run finalizers */
    tlua_add_text(b, getstr(tsvalue(value)), new_length);
    return 1;
  }
  else if (!l_isfalse(value))
    return -1;
  tlua_add_text(b, match, length);
  return 0;
}
