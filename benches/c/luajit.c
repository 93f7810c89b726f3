/*
** LuaJIT as a command: luajit [-joff] [-O-loop] SCRIPT ARGUMENTS...
**
** The library comes without its command's Lua modules, which the options of the real command need; these two
** are all that the benchmarks use, and both are functions of the library itself.
*/
#include <stdio.h>
#include <string.h>

#include "lauxlib.h"
#include "lua.h"
#include "luajit.h"
#include "lualib.h"

static int complain (lua_State *L) {
  const char *text = lua_tostring(L, -1);
  fprintf(stderr, "luajit: %s\n", text != NULL ? text : "(error object is not a string)");
  lua_close(L);
  return 1;
}

int main (int argc, char **argv) {
  lua_State *L = luaL_newstate();
  if (L == NULL) {
    fputs("luajit: out of memory\n", stderr);
    return 1;
  }
  luaL_openlibs(L);
  int script = 1;
  for (; script < argc && argv[script][0] == '-'; script++) {
    if (strcmp(argv[script], "-joff") == 0)
      luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    else if (strcmp(argv[script], "-O-loop") == 0) {
      if (luaL_dostring(L, "require('jit.opt').start('-loop')") != 0)
        return complain(L);
    }
    else if (strcmp(argv[script], "-v") == 0)
      puts(LUAJIT_VERSION);
    else {
      fprintf(stderr, "luajit: unknown option %s\n", argv[script]);
      lua_close(L);
      return 1;
    }
  }
  if (script < argc) {
    lua_createtable(L, argc - script, script + 1);
    for (int i = 0; i < argc; i++) {
      lua_pushstring(L, argv[i]);
      lua_rawseti(L, -2, i - script);
    }
    lua_setglobal(L, "arg");
    if (luaL_loadfile(L, argv[script]) != 0 || lua_pcall(L, 0, 0, 0) != 0)
      return complain(L);
  }
  lua_close(L);
  return 0;
}
