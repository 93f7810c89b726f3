/*
** The heap of a Lua state: see tlua_heap.c.
**
** Example: lua_State *L = tlua_newstate(); luaL_openlibs(L); ... lua_close(L);
*/
#ifndef tlua_heap_h
#define tlua_heap_h

#include <stddef.h>

#include "lua.h"

/*
** Makes a state as luaL_newstate does, with a heap of its own that is gone after lua_close. NULL if there
** is no memory. Whoever puts another allocator before it (lua_setallocf) passes all requests on, with their
** sizes, to what lua_getallocf has told.
*/
lua_State *tlua_newstate (void);

/* As luaL_newstate, with an allocator. In lauxlib.c, as the functions for panics and warnings are private. */
lua_State *tlua_newstate_with (lua_Alloc allocate, void *user);

/* Zeros from the system itself, of which only what is touched becomes memory. NULL if there is none. */
void *tlua_map_zeros (size_t bytes);
void tlua_unmap (void *start, size_t bytes);

#endif
