/*
** Functions that get code, or not: see tlua_switch.c.
**
** Example: tlua_switch(L, lua_topointer(L, 1), TLUA_BOTH, 0) keeps a function and those in it from getting
** any.
*/
#ifndef tlua_switch_h
#define tlua_switch_h

#include "lua.h"

#include "tlua.h"

/* A Lua function itself, the functions in it, or both. */
typedef enum TluaSwitched { TLUA_FUNCTION, TLUA_INNER, TLUA_BOTH } TluaSwitched;

/* Recordings and code of all functions. What has no JIT stays as it is. */
void tlua_switch_all (lua_State *L, int is_on);
int tlua_is_switched_on (lua_State *L);
/* Those of a closure's function. What is switched off loses the code that it has. */
void tlua_switch (lua_State *L, const void *closure, TluaSwitched which, int is_on);
/* Code is entered no more, and freed when the program has left it. It may be made again. */
void tlua_flush_all (lua_State *L);
void tlua_flush (lua_State *L, const void *closure, TluaSwitched which);
/* A setting that can be changed on the way. Returns NULL, or what is wrong. */
const char *tlua_set_option (lua_State *L, const char *text);
/* Adds to the table on the top what the JIT knows of a closure's function. */
void tlua_push_function (lua_State *L, const void *closure);

#endif
