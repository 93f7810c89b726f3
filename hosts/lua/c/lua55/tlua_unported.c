/*
** What Lua 5.5 does without: baseline code, and library functions that need no call.
**
** Problem: the hooks and the recorder ask for both, which know the tables and strings of 5.4.
**
** Design: each answers here that it cannot do it, as it does where a case is too rare for it; the
** interpreter, or the library itself, does it then. No function has code, so that most are never called.
**
** Invariant: nothing has happened when a function here returns.
**
** Example: tlua_search(L, arguments, count, 1, &found) is 0, and 'string.find' is called as it is.
*/

#define LUA_CORE

#include "lprefix.h"

#include "tlua_callinfo.h"
#include "tlua_internal.h"
#include "tlua_match.h"

#include "ldo.h"
#include "lgc.h"
#include "lvm.h"

/* --- baseline code --- */

void tlua_baseline_make (lua_State *L, Proto *p) {
  (void)L;
  p->jit_has_no_code = 1;
}

void tlua_baseline_freed (Proto *p) {
  (void)p;
}

void tlua_baseline_close (Tlua *jit) {
  (void)jit;
}

int tlua_baseline_enter (lua_State *L, CallInfo *ci, const Instruction *pc) {
  (void)L, (void)ci, (void)pc;
  return TLUA_STAY;
}

/* Only its address is wanted: who has no code is never asked where it goes on. */
int tlua_find_way_back (lua_State *L, CallInfo *ci, StkId base, const Instruction *pc, TValue *k) {
  (void)L, (void)ci, (void)base, (void)pc, (void)k;
  return TLUA_LEFT;
}

int tlua_call_fresh (lua_State *L, StkId func, int wanted, unsigned levels) {
  (void)L, (void)func, (void)wanted, (void)levels;
  return 0;
}

int tlua_run_resumed (lua_State *L, CallInfo *ci) {
  (void)L, (void)ci;
  return 0;
}

/* The values that it is resumed with are the results of the yield; then all that its stack holds goes on. */
void tlua_resumed (lua_State *L, void *count) {
  L->status = LUA_OK;
  luaD_poscall(L, L->ci, *(int *)count);
  tlua_unroll(L);
}

/* --- library functions without a call --- */

int tlua_search (lua_State *L, const TValue *arguments, ptrdiff_t count, int find, TluaFound *found) {
  (void)L, (void)arguments, (void)count, (void)find, (void)found;
  return 0;
}

#define WRITES_NOTHING(name) \
  ptrdiff_t name (lua_State *L, const TValue *arguments, ptrdiff_t count, char *to) { \
    (void)L, (void)arguments, (void)count, (void)to; \
    return -1; \
  }
WRITES_NOTHING(tlua_write_format)
WRITES_NOTHING(tlua_write_reverse)
WRITES_NOTHING(tlua_write_lower)
WRITES_NOTHING(tlua_write_upper)
WRITES_NOTHING(tlua_write_rep)
