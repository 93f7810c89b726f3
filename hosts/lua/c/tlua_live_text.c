/*
** Liveness as text, for tests and for people.
**
** Problem: whether the analysis is exact is a claim about single registers at single instructions; one must
** be able to see it.
**
** Design: a file is compiled, not run, and each of its functions listed: index, opcode, live registers
** before it.
**
** Invariant: the listing depends on the file alone.
**
** Example line: "   7 FORLOOP      1 2 3 4".
*/

#define LUA_CORE
#define _XOPEN_SOURCE 700  /* for open_memstream; Lua's prefix asks for less */

#include "lprefix.h"

#include <stdio.h>
#include <stdlib.h>

#include "tlua_internal.h"

#include "lauxlib.h"
#include "lopcodes.h"
#include "lopnames.h"

static void list_function (lua_State *L, Proto *p, FILE *out) {
  fprintf(out, "function at line %d\n", p->linedefined);
  for (int pc = 0; pc < p->sizecode; pc++) {
    const lu_byte *row = tlua_live(L, p, pc);
    fprintf(out, "%4d %-10s", pc, opnames[GET_OPCODE(p->code[pc])]);
    for (int r = 0; row != NULL && r < p->maxstacksize; r++) {
      if (tlua_is_live(row, r))
        fprintf(out, " %d", r);
    }
    fputc('\n', out);
  }
  for (int i = 0; i < p->sizep; i++)
    list_function(L, p->p[i], out);
}

/*
** Returns text from malloc: the listing, or the message when the file does not compile ('is_error' is set).
*/
char *tlua_live_text (const char *path, int *is_error) {
  char *text = NULL;
  size_t size = 0;
  *is_error = 1;
  FILE *out = open_memstream(&text, &size);
  lua_State *L = luaL_newstate();
  if (out != NULL && L != NULL) {
    if (luaL_loadfile(L, path) == LUA_OK) {
      *is_error = 0;
      list_function(L, clLvalue(s2v(L->top.p - 1))->p, out);
    }
    else
      fputs(lua_tostring(L, -1), out);
  }
  if (L != NULL)
    lua_close(L);
  if (out != NULL)
    fclose(out);
  return text;
}
