/*
** A test aid: a function of our own runs inside each call that compiled code makes.
**
** Problem: what a called function does to code that waits for it is rarely more than a program's tests need:
** other code is entered and left, exits take what was held for them, loops are compiled, objects are made.
**
** Design: if the state was opened so, a Lua function with a hot loop is called above the arguments before the
** function that is to be called. It has no effect that a program can see, but for memory counts.
**
** Invariant: the stack holds what it held before, up to the top. Near a limit, of the stack or of C levels,
** nothing runs, so that errors come where they would.
**
** Example:   tracelift run --nested-calls --threshold=3 program.lua
*/

#include "lprefix.h"

#include <string.h>

#include "tlua_rec.h"

#include "lauxlib.h"
#include "lgc.h"
#include "lua.h"

/* Its table is virtual but where the loop is left, its loop is compiled on its own and entered each time. */
static const char text[] =
    "local sum, t = 0, {} for i = 1, 7 do t = { sum } sum = sum + t[1] % 3 + i end return sum, t";

static void do_make (lua_State *L, void *data) {
  TluaRecorder *rec = (TluaRecorder *)data;
  if (luaL_loadbufferx(L, text, sizeof(text) - 1, "=nested", "t") != LUA_OK)
    luaD_throw(L, LUA_ERRMEM);
  rec->host.nested = clLvalue(s2v(L->top.p - 1));
  lua_rawsetp(L, LUA_REGISTRYINDEX, rec);
}

int tlua_rec_make_nested (lua_State *L, TluaRecorder *rec) {
  return tlua_protected(L, do_make, rec);
}

/* Slots and C levels that must be left for the function. */
#define SLOTS 64
#define LEVELS 40

void tlua_rec_run_nested (lua_State *L, TluaRecorder *rec) {
  if (rec->host.nested == NULL || L->stack_last.p - L->top.p < SLOTS
      || getCcalls(L) > LUAI_MAXCCALLS - LEVELS)
    return;
  ptrdiff_t top = savestack(L, L->top.p);
  setclLvalue2s(L, L->top.p, rec->host.nested);
  L->top.p++;
  luaD_callnoyield(L, L->top.p - 1, 0);
  L->top.p = restorestack(L, top);
}
