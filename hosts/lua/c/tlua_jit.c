/*
** The library 'jit': what a program may ask of the JIT that runs it.
**
** Problem: a program wants to switch compiling on and off, for a function or for all, to take code back, and
** to look at what was counted. LuaJIT's programs have a library 'jit' for that. But a program that knows
** nothing of us must see what stock Lua shows it.
**
** Design: the library is no global, and neither 'package.preload' nor 'package.searchers' knows of it. Where
** 'require' has found no module of this name, and would raise an error, it takes this one (the insertion in
** loadlib.c). So a program's own module 'jit' comes first. Functions are named and behave as LuaJIT's do, as
** far as there is something like it here; what is counted comes as a table that is read from the library's
** JSON. Baseline code is no trace: it stays.
**
** Invariant: before "require 'jit'" nothing in the state differs from stock Lua's.
**
** Example: local jit = require "jit"; jit.off(parse, true); print(jit.stats().recordings)
*/

#include "lprefix.h"

#include <stdlib.h>
#include <string.h>

#include "lua.h"

#include "tlua_switch.h"

#include "lauxlib.h"
#include "lualib.h"

/* The workspace's version, as in Cargo.toml: a test compares. */
#define VERSION_TEXT "Tracelift 0.1.0"
#define VERSION_NUMBER 100

#if defined(__x86_64__)
#define ARCHITECTURE "x64"
#elif defined(__aarch64__)
#define ARCHITECTURE "arm64"
#else
#define ARCHITECTURE "other"
#endif

#if defined(__linux__)
#define SYSTEM "Linux"
#elif defined(__APPLE__)
#define SYSTEM "OSX"
#else
#define SYSTEM "Other"
#endif

/* --- on, off, flush --- */

/* What the first argument names: all, or the function at index 1, which 'true' makes the caller. */
static int names_all (lua_State *L) {
  if (lua_isnoneornil(L, 1))
    return 1;
  if (lua_isboolean(L, 1) && lua_toboolean(L, 1)) {
    lua_Debug ar;
    if (!lua_getstack(L, 1, &ar) || !lua_getinfo(L, "f", &ar))
      return luaL_argerror(L, 1, "no function has called");
    lua_replace(L, 1);
  }
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_argcheck(L, !lua_iscfunction(L, 1), 1, "Lua function expected");
  return 0;
}

/* LuaJIT's second argument: true is the function and those in it, false those in it, none the function. */
static TluaSwitched which (lua_State *L) {
  if (lua_isnoneornil(L, 2))
    return TLUA_FUNCTION;
  luaL_checktype(L, 2, LUA_TBOOLEAN);
  return lua_toboolean(L, 2) ? TLUA_BOTH : TLUA_INNER;
}

static int switch_to (lua_State *L, int is_on) {
  if (names_all(L))
    tlua_switch_all(L, is_on);
  else
    tlua_switch(L, lua_topointer(L, 1), which(L), is_on);
  return 0;
}

static int jit_on (lua_State *L) {
  return switch_to(L, 1);
}

static int jit_off (lua_State *L) {
  return switch_to(L, 0);
}

static int jit_flush (lua_State *L) {
  if (names_all(L))
    tlua_flush_all(L);
  else
    tlua_flush(L, lua_topointer(L, 1), which(L));
  return 0;
}

static int jit_status (lua_State *L) {
  lua_pushboolean(L, tlua_is_switched_on(L));
  return 1;
}

/* Each argument is a setting: "threshold=20", "side-threshold=4", "-fold"; or one of LuaJIT's names. */
static int opt_start (lua_State *L) {
  int count = lua_gettop(L);
  luaL_checkstack(L, count + LUA_MINSTACK, "settings");
  for (int i = 1; i <= count; i++) {
    const char *text = luaL_checkstring(L, i);
    if (strncmp(text, "hotloop=", 8) == 0)
      text = lua_pushfstring(L, "threshold=%s", text + 8);
    else if (strncmp(text, "hotexit=", 8) == 0)
      text = lua_pushfstring(L, "side-threshold=%s", text + 8);
    const char *why = tlua_set_option(L, text);
    if (why != NULL)
      return luaL_argerror(L, i, lua_pushfstring(L, "%s", why));
  }
  return 0;
}

/* --- what is counted --- */

/* Pushes the value that the JSON text begins with, and returns what follows it. It is the library's own. */
static const char *push_value (lua_State *L, const char *json);

static const char *skip (const char *json) {
  return json + strspn(json, " \n\t\r,:");
}

static const char *push_text (lua_State *L, const char *json) {
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (json++; *json != '"' && *json != '\0'; json++) {
    if (*json == '\\' && json[1] == 'u')  /* a control character: names have none */
      json += 5;
    else {
      json += *json == '\\';
      luaL_addchar(&text, *json);
    }
  }
  luaL_pushresult(&text);
  return json + (*json == '"');
}

static const char *push_table (lua_State *L, const char *json) {
  int is_list = *json == '[';
  luaL_checkstack(L, 4, "counts");
  lua_newtable(L);
  json = skip(json + 1);
  for (lua_Integer n = 1; *json != ']' && *json != '}' && *json != '\0'; n++) {
    if (is_list)
      lua_pushinteger(L, n);
    else
      json = skip(push_text(L, json));
    json = skip(push_value(L, json));
    lua_rawset(L, -3);
  }
  return json + (*json != '\0');
}

static const char *push_value (lua_State *L, const char *json) {
  size_t length = strcspn(json, ",]} \n\t\r");
  if (*json == '[' || *json == '{')
    return push_table(L, json);
  if (*json == '"')
    return push_text(L, json);
  if (*json == 't' || *json == 'f')
    lua_pushboolean(L, *json == 't');
  else {
    lua_pushlstring(L, json, length);
    if (lua_stringtonumber(L, lua_tostring(L, -1)) == 0)
      lua_pushnil(L);
    lua_remove(L, -2);
  }
  return json + length;
}

/* All counts as a table: keys and values are those of '-jcounts=FILE.json'. */
static int jit_stats (lua_State *L) {
  /* the library's text lasts until its next call, and a collection may free functions */
  lua_pushstring(L, tlua_jit_stats_json(L));
  push_value(L, lua_tostring(L, -1));
  return 1;
}

static int util_traceinfo (lua_State *L) {
  lua_Integer wanted = luaL_checkinteger(L, 1);
  jit_stats(L);
  if (lua_getfield(L, -1, "traces") != LUA_TTABLE)
    return 0;
  for (lua_Integer n = 1; lua_rawgeti(L, -1, n) == LUA_TTABLE; n++) {
    lua_getfield(L, -1, "number");
    int is_it = lua_tointeger(L, -1) == wanted;
    lua_pop(L, 1);
    if (is_it)
      return 1;
    lua_pop(L, 1);
  }
  return 0;
}

static int util_funcinfo (lua_State *L) {
  lua_Debug ar;
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_pushvalue(L, 1);
  lua_getinfo(L, ">Su", &ar);
  lua_createtable(L, 0, 10);
  lua_pushinteger(L, ar.nups);
  lua_setfield(L, -2, "upvalues");
  if (lua_iscfunction(L, 1))
    return 1;
  lua_pushinteger(L, ar.nparams);
  lua_setfield(L, -2, "params");
  lua_pushboolean(L, ar.isvararg);
  lua_setfield(L, -2, "isvararg");
  lua_pushinteger(L, ar.linedefined);
  lua_setfield(L, -2, "linedefined");
  lua_pushinteger(L, ar.lastlinedefined);
  lua_setfield(L, -2, "lastlinedefined");
  lua_pushlstring(L, ar.source, ar.srclen);
  lua_setfield(L, -2, "source");
  lua_pushfstring(L, "%s:%d", ar.short_src, ar.linedefined);
  lua_setfield(L, -2, "loc");
  tlua_push_function(L, lua_topointer(L, 1));
  return 1;
}

/* --- the module --- */

static int open_jit (lua_State *L) {
  static const luaL_Reg functions[] = {
    { "on", jit_on }, { "off", jit_off }, { "flush", jit_flush }, { "status", jit_status },
    { "stats", jit_stats }, { NULL, NULL }
  };
  static const luaL_Reg opt[] = { { "start", opt_start }, { NULL, NULL } };
  static const luaL_Reg util[] = {
    { "funcinfo", util_funcinfo }, { "traceinfo", util_traceinfo }, { NULL, NULL }
  };
  luaL_newlib(L, functions);
  luaL_newlib(L, opt);
  lua_setfield(L, -2, "opt");
  luaL_newlib(L, util);
  lua_setfield(L, -2, "util");
  lua_pushliteral(L, VERSION_TEXT);
  lua_setfield(L, -2, "version");
  lua_pushinteger(L, VERSION_NUMBER);
  lua_setfield(L, -2, "version_num");
  lua_pushliteral(L, SYSTEM);
  lua_setfield(L, -2, "os");
  lua_pushliteral(L, ARCHITECTURE);
  lua_setfield(L, -2, "arch");
  return 1;
}

/* Called by 'require' where nobody else knows a module. Pushes what opens it and ":tlua:", if it is ours. */
int tlua_finds_module (lua_State *L, const char *name) {
  if (strcmp(name, "jit") != 0)
    return 0;
  lua_pushcfunction(L, open_jit);
  lua_pushliteral(L, ":tlua:");
  return 1;
}
