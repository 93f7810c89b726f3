/*
** The part in C of a rock that LuaRocks installs for 'tlua'.
**
** Example: require("hello.core").add(1, 2) == 3
*/

#include <lauxlib.h>
#include <lua.h>

static int add (lua_State *L) {
  lua_pushinteger(L, luaL_checkinteger(L, 1) + luaL_checkinteger(L, 2));
  return 1;
}

int luaopen_hello_core (lua_State *L) {
  static const luaL_Reg functions[] = { { "add", add }, { NULL, NULL } };
  luaL_newlib(L, functions);
  return 1;
}
