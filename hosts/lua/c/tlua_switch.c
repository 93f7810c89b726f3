/*
** Functions that get code, or not.
**
** Problem: a program may forbid code for a function, or for all, and take back what there is, also while that
** code runs and has called the function that asks for it.
**
** Design: a bit in the function, and one for all, which the engine looks at when something is hot and before
** each instruction that it records. Taking back is what happens when a function is freed (tl_forget): the
** library enters the code no more, and frees it when no call from compiled code is open.
**
** Invariant: where code is switched off none is entered, and no recording goes through it. Code of other
** functions that has taken the function in stays, as in LuaJIT.
**
** Example: jit.off(f) -> f's bit is set, its loops and entries are forgotten.
*/

#define LUA_CORE

#include "lprefix.h"

#include "tlua_internal.h"
#include "tlua_switch.h"

#include "lauxlib.h"

void tlua_switch_all (lua_State *L, int is_on) {
  L->jit->is_switched_off = !is_on;
}

int tlua_is_switched_on (lua_State *L) {
  return L->jit->engine != NULL && L->jit->engine->on_flush != NULL && !L->jit->is_switched_off
      && !L->jit->is_library_off;
}

static void flush_range (lua_State *L, const void *low, const void *high) {
  const TluaEngine *engine = L->jit->engine;
  if (engine != NULL && engine->on_flush != NULL)
    engine->on_flush(L, low, high);
}

/* 'is_on' 0 or 1: switches as well; 2: only flushes. */
static void visit (lua_State *L, Proto *p, TluaSwitched which, int is_on) {
  if (which != TLUA_INNER) {
    if (is_on != 2)
      p->jit_is_off = (lu_byte)!is_on;
    if (is_on != 1)
      flush_range(L, p->code, p->code + p->sizecode);
  }
  for (int n = 0; which != TLUA_FUNCTION && n < p->sizep; n++)
    visit(L, p->p[n], TLUA_BOTH, is_on);
}

void tlua_switch (lua_State *L, const void *closure, TluaSwitched which, int is_on) {
  visit(L, ((const LClosure *)closure)->p, which, is_on);
}

void tlua_flush (lua_State *L, const void *closure, TluaSwitched which) {
  visit(L, ((const LClosure *)closure)->p, which, 2);
}

void tlua_flush_all (lua_State *L) {
  flush_range(L, NULL, (const void *)UINTPTR_MAX);
}

const char *tlua_set_option (lua_State *L, const char *text) {
  const TluaEngine *engine = L->jit->engine;
  return engine != NULL && engine->on_option != NULL ? engine->on_option(L, text) : NULL;
}

void tlua_push_function (lua_State *L, const void *closure) {
  const Proto *p = ((const LClosure *)closure)->p;
  lua_pushinteger(L, p->sizecode);
  lua_setfield(L, -2, "bytecodes");
  lua_pushinteger(L, p->maxstacksize);
  lua_setfield(L, -2, "stackslots");
  lua_pushinteger(L, p->sizep);
  lua_setfield(L, -2, "children");
  lua_pushboolean(L, !p->jit_is_off);
  lua_setfield(L, -2, "on");
}
