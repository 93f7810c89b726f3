/*
** Short ways from four functions of the library into Lua functions, and out of them.
**
** Problem: a sort calls its order a dozen times for each element, a generator is resumed for each value and
** yields it, and pcall is called for the sake of what it calls. The API, which all use, checks and counts
** what these functions know already, and moves values one by one: a third of the time of a sort passes there.
** A yield is a long jump out of the C stack, whose returns the processor cannot foresee then.
**
** Design: what is common goes a short way here, through the same inner functions of the interpreter; what is
** not is left to the library's own text, which follows where these functions are inserted. So hooks, errors,
** tracebacks and limits are those of the interpreter.
**
** Invariant: a function that leaves the work to the library has changed nothing.
**
** Example, inserted at the start of 'sort_comp':   int less = tlua_sort_less(L, a, b); if (less >= 0) ...
*/

#define LUA_CORE

#include "lprefix.h"

#include "tlua_callinfo.h"
#include "tlua_internal.h"
#include "tlua_version.h"

#include "lapi.h"
#include "ldo.h"
#include "lgc.h"
#include "lopcodes.h"

/*
** Whether the value at 'a' comes before that at 'b', which count from the top; -1 if the order, the second
** argument of the running function, is no Lua function. The caller has room for three values.
*/
int tlua_sort_less (lua_State *L, int a, int b) {
  StkId top = L->top.p;
  const TValue *order = s2v(L->ci->func.p + 2);
  if (!ttisLclosure(order))
    return -1;
  setobj2s(L, top, order);
  setobj2s(L, top + 1, s2v(top + a));
  setobj2s(L, top + 2, s2v(top + b));
  L->top.p = top + 3;
  if (!tlua_is_coded(top) || !tlua_call_fresh(L, top, 1, nyci))
    luaD_callnoyield(L, top, 1);
  L->top.p--;
  return !l_isfalse(s2v(L->top.p));
}

/* As lua_geti, of an argument of the running function: an item of an array is taken where it lies. */
int tlua_geti (lua_State *L, int index, lua_Integer n) {
  const TValue *t = s2v(L->ci->func.p + index);
  if (l_unlikely(index < 0 || !ttistable(t) || !tlua_is_reached(hvalue(t), l_castS2U(n) - 1u)))
    return lua_geti(L, index, n);
  TValue room;
  const TValue *item = tlua_item(hvalue(t), n - 1, &room);
  if (l_unlikely(isempty(item)))
    return lua_geti(L, index, n);
  setobj2s(L, L->top.p, item);
  L->top.p++;
  return ttype(item);
}

/* As lua_seti, in the same way. */
void tlua_seti (lua_State *L, int index, lua_Integer n) {
  const TValue *t = s2v(L->ci->func.p + index);
  if (l_unlikely(index < 0 || !ttistable(t) || !tlua_is_reached(hvalue(t), l_castS2U(n) - 1u))) {
    lua_seti(L, index, n);
    return;
  }
  if (l_unlikely(tlua_item_is_empty(hvalue(t), n - 1) && hvalue(t)->metatable != NULL)) {
    lua_seti(L, index, n);
    return;
  }
  L->top.p--;
  tlua_put_item(L, hvalue(t), n - 1, s2v(L->top.p));
  luaC_barrierback(L, gcvalue(t), s2v(L->top.p));
}

/* Whether so many values have room above the top, in the stack and in what the running function may use. */
static int has_room (const lua_State *L, int n) {
  return L->stack_last.p - L->top.p > n && L->ci->top.p - L->top.p >= n;
}

/* The topmost values of one thread go to another one, which has room. */
static void move_values (lua_State *from, lua_State *to, int count) {
  from->top.p -= count;
  for (int n = 0; n < count; n++)
    setobjs2s(to, to->top.p + n, from->top.p + n);
  to->top.p += count;
}

/*
** As lua_resume. The processor foresees where the last 16 to 32 functions that were called return to. Where
** generators resume one another, more have been called: each function of C between two of them takes time.
*/
static int resume (lua_State *co, lua_State *from, int arguments, int *results) {
  if (!tlua_waits_for_values(co) || getCcalls(from) >= LUAI_MAXCCALLS)
    return lua_resume(co, from, arguments, results);
  co->nCcalls = getCcalls(from) + 1;
  co->jit_level = co->nCcalls;
  co->jit->running = co;
  int status = tlua_end_resume(co, luaD_rawrunprotected(co, tlua_resumed, &arguments), results);
  co->jit->running = from;
  return status;
}

/*
** Resumes a coroutine with the topmost values. Returns how many values lie on the top instead; -1 after an
** error, whose message lies there; -2 if the library is to do it.
*/
int tlua_resume (lua_State *L, lua_State *co, int arguments) {
  int results;
  if (L == co || !has_room(co, arguments))
    return -2;
  move_values(L, co, arguments);
  int status = resume(co, L, arguments, &results);
  if (l_unlikely(status != LUA_OK && status != LUA_YIELD)) {
    move_values(co, L, 1);  /* the arguments have left room for it, or the function's own slots */
    return -1;
  }
  if (l_unlikely(!has_room(L, results + 1)) && !lua_checkstack(L, results + 1)) {
    co->top.p -= results;
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  move_values(co, L, results);
  return results;
}

/*
** 'coroutine.yield' was called by the coroutine's own run of the interpreter, with nothing of C in between:
** a metamethod or a protected call would be another level of C calls. Compiled code may be, and has no level.
** Then all that lies on the C stack can return. Says whether that is so; the thread is suspended then.
*/
int tlua_yield (lua_State *L) {
  CallInfo *ci = L->ci;
  const CallInfo *caller = ci->previous;
  if (L->nCcalls != L->jit_level || !isLua(caller) || GET_OPCODE(tlua_saved_pc(caller)[-1]) != OP_CALL)
    return 0;
  if (l_unlikely(L->jit->recording != NULL))
    tlua_thrown(L);
  tlua_suspend(L, ci, (int)(L->top.p - (ci->func.p + 1)));
  return 1;
}

static void call_function (lua_State *L, void *data) {
  luaD_callnoyield(L, *(StkId *)data, LUA_MULTRET);
}

/*
** pcall's first argument is called with the others. Returns the number of pcall's results; -1 if the library
** is to do it: without a function, and where what is called may yield.
*/
int tlua_pcall (lua_State *L) {
  StkId base = L->ci->func.p + 1;
  if (L->top.p == base || yieldable(L))
    return -1;
  for (StkId to = L->top.p; to > base; to--)
    setobjs2s(L, to, to - 1);
  setbtvalue(s2v(base));
  L->top.p++;
  StkId function = base + 1;
  int status = luaD_pcall(L, call_function, &function, savestack(L, function), 0);
  adjustresults(L, LUA_MULTRET);
  base = L->ci->func.p + 1;
  if (l_unlikely(status != LUA_OK))  /* the message lies where the function was */
    setbfvalue(s2v(base));
  return (int)(L->top.p - base);
}
