/*
** A C module as people write them: objects, upvalues, the registry, buffers, errors, calls back, coroutines.
**
** Problem: compiled code calls functions that it knows nothing of, in modules that were built for stock Lua.
** Design: compiled against stock Lua's headers, and loaded by stock Lua's command and by 'tlua'; own.lua uses
** it in loops. Invariant: nothing here knows which of the two it is in.
**
** Example: local own = require("own"); print(own.vector(1, 2):dot(own.vector(3, 4)))
*/

#include <string.h>

#include "lua.h"

#include "lauxlib.h"

#define VECTOR "own.vector"

typedef struct Vector {
  lua_Integer n;
  lua_Number at[];
} Vector;

static Vector *to_vector (lua_State *L, int i) {
  return (Vector *)luaL_checkudata(L, i, VECTOR);
}

static Vector *push_vector (lua_State *L, lua_Integer n) {
  Vector *vector = (Vector *)lua_newuserdatauv(L, sizeof(Vector) + (size_t)n * sizeof(lua_Number), 1);
  vector->n = n;
  luaL_setmetatable(L, VECTOR);
  return vector;
}

static int vector_new (lua_State *L) {
  int n = lua_gettop(L);
  Vector *vector = push_vector(L, n);
  for (int i = 0; i < n; i++)
    vector->at[i] = luaL_checknumber(L, i + 1);
  return 1;
}

static int vector_add (lua_State *L) {
  Vector *a = to_vector(L, 1), *b = to_vector(L, 2);
  luaL_argcheck(L, a->n == b->n, 2, "another length");
  Vector *sum = push_vector(L, a->n);
  for (lua_Integer i = 0; i < a->n; i++)
    sum->at[i] = a->at[i] + b->at[i];
  return 1;
}

static int vector_dot (lua_State *L) {
  Vector *a = to_vector(L, 1), *b = to_vector(L, 2);
  lua_Number sum = 0;
  for (lua_Integer i = 0; i < a->n && i < b->n; i++)
    sum += a->at[i] * b->at[i];
  lua_pushnumber(L, sum);
  return 1;
}

static int vector_index (lua_State *L) {
  Vector *vector = to_vector(L, 1);
  if (lua_type(L, 2) != LUA_TNUMBER) {
    lua_pushvalue(L, 2);
    lua_rawget(L, lua_upvalueindex(1));
    return 1;
  }
  lua_Integer i = luaL_checkinteger(L, 2);
  if (i < 1 || i > vector->n)
    return 0;
  lua_pushnumber(L, vector->at[i - 1]);
  return 1;
}

static int vector_newindex (lua_State *L) {
  Vector *vector = to_vector(L, 1);
  lua_Integer i = luaL_checkinteger(L, 2);
  luaL_argcheck(L, 1 <= i && i <= vector->n, 2, "out of range");
  vector->at[i - 1] = luaL_checknumber(L, 3);
  return 0;
}

static int vector_len (lua_State *L) {
  lua_pushinteger(L, to_vector(L, 1)->n);
  return 1;
}

static int vector_text (lua_State *L) {
  Vector *vector = to_vector(L, 1);
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  luaL_addchar(&text, '(');
  for (lua_Integer i = 0; i < vector->n; i++) {
    if (i > 0)
      luaL_addstring(&text, ", ");
    lua_pushfstring(L, "%f", vector->at[i]);
    luaL_addvalue(&text);
  }
  luaL_addchar(&text, ')');
  luaL_pushresult(&text);
  return 1;
}

/* Collected objects are counted in the registry. */
static int vector_gc (lua_State *L) {
  (void)to_vector(L, 1);
  lua_getfield(L, LUA_REGISTRYINDEX, "own.collected");
  lua_pushinteger(L, lua_tointeger(L, -1) + 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "own.collected");
  return 0;
}

static int collected (lua_State *L) {
  lua_getfield(L, LUA_REGISTRYINDEX, "own.collected");
  return 1;
}

/* counter(step): a closure with two upvalues. */
static int count (lua_State *L) {
  lua_Integer value = lua_tointeger(L, lua_upvalueindex(1)) + lua_tointeger(L, lua_upvalueindex(2));
  lua_pushinteger(L, value);
  lua_copy(L, -1, lua_upvalueindex(1));
  return 1;
}

static int counter (lua_State *L) {
  lua_pushinteger(L, 0);
  lua_pushinteger(L, luaL_optinteger(L, 1, 1));
  lua_pushcclosure(L, count, 2);
  return 1;
}

/* map(list, f): f may yield. */
static int map_step (lua_State *L, int status, lua_KContext i) {
  lua_Integer n = luaL_len(L, 1);
  if (status == LUA_YIELD) {
    lua_seti(L, 3, (lua_Integer)i);
    i++;
  }
  for (; i <= n; i++) {
    lua_pushvalue(L, 2);
    lua_geti(L, 1, (lua_Integer)i);
    lua_callk(L, 1, 1, i, map_step);
    lua_seti(L, 3, (lua_Integer)i);
  }
  return 1;
}

static int map (lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_createtable(L, (int)luaL_len(L, 1), 0);
  return map_step(L, LUA_OK, 1);
}

/* try(f, ...): true and the results, or false and the message with a traceback. */
static int explain (lua_State *L) {
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}

static int try (lua_State *L) {
  lua_pushcfunction(L, explain);
  lua_insert(L, 1);
  int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
  lua_pushboolean(L, status == LUA_OK);
  lua_replace(L, 1);
  return lua_gettop(L);
}

/* run(f, ...): in a thread of its own, resumed until it ends; the sum of what it yields. */
static int run (lua_State *L) {
  int n = lua_gettop(L) - 1, results;
  lua_State *thread = lua_newthread(L);
  lua_insert(L, 1);
  lua_xmove(L, thread, n + 1);
  lua_Integer sum = 0;
  int status;
  while ((status = lua_resume(thread, L, n, &results)) == LUA_YIELD) {
    sum += lua_tointeger(thread, -1);
    lua_pop(thread, results);
    n = 0;
  }
  if (status != LUA_OK) {
    lua_xmove(thread, L, 1);
    return lua_error(L);
  }
  lua_pushinteger(L, sum);
  return 1;
}

/* each(n, f): calls f with a kept reference, and lets it go. */
static int each (lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  lua_settop(L, 2);
  int reference = luaL_ref(L, LUA_REGISTRYINDEX);
  for (lua_Integer i = 1; i <= n; i++) {
    lua_rawgeti(L, LUA_REGISTRYINDEX, reference);
    lua_pushinteger(L, i);
    lua_call(L, 1, 0);
  }
  luaL_unref(L, LUA_REGISTRYINDEX, reference);
  return 0;
}

/* lines(f, ...): how many lines it runs, by a hook. */
static int lines_seen;

static void see_line (lua_State *L, lua_Debug *activation) {
  lua_getinfo(L, "l", activation);
  lines_seen += activation->currentline > 0;
}

static int lines (lua_State *L) {
  lines_seen = 0;
  lua_sethook(L, see_line, LUA_MASKLINE, 0);
  lua_call(L, lua_gettop(L) - 1, 0);
  lua_sethook(L, NULL, 0, 0);
  lua_pushinteger(L, lines_seen);
  return 1;
}

/* caller(): the line that called, and the value of its first local variable. */
static int caller (lua_State *L) {
  lua_Debug activation;
  if (!lua_getstack(L, 1, &activation))
    return 0;
  lua_getinfo(L, "Sl", &activation);
  lua_pushinteger(L, activation.currentline);
  if (lua_getlocal(L, &activation, 1) == NULL)
    lua_pushnil(L);
  return 2;
}

static const luaL_Reg functions[] = {
  { "vector", vector_new }, { "collected", collected }, { "counter", counter }, { "map", map },
  { "try", try }, { "run", run }, { "each", each }, { "lines", lines }, { "caller", caller }, { NULL, NULL },
};

static const luaL_Reg metamethods[] = {
  { "__add", vector_add }, { "__len", vector_len }, { "__tostring", vector_text }, { "__gc", vector_gc },
  { "__newindex", vector_newindex }, { NULL, NULL },
};

__attribute__((visibility("default"))) int luaopen_own (lua_State *L) {
  lua_pushinteger(L, 0);
  lua_setfield(L, LUA_REGISTRYINDEX, "own.collected");
  luaL_newmetatable(L, VECTOR);
  luaL_setfuncs(L, metamethods, 0);
  lua_newtable(L);
  lua_pushcfunction(L, vector_dot);
  lua_setfield(L, -2, "dot");
  lua_pushcclosure(L, vector_index, 1);
  lua_setfield(L, -2, "__index");
  luaL_newlib(L, functions);
  return 1;
}
