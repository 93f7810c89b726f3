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

/*
** Of Lua's own requests for small blocks, those of a state with such a heap go there without the allocator's
** questions: in lmem.c. A program that counts or limits memory has put its own allocator before it.
*/
#define TLUA_SMALL_BLOCK 512
void *tlua_allocate (void *heap, void *block, size_t old_size, size_t new_size);
void *tlua_take (void *heap, size_t size);
/*
** A block for a table and the parts that follow it there. The table is given back with its own size, in
** whatever order with its parts, which may have been given back long before.
*/
void *tlua_take_whole (void *heap, size_t size);
/* The size of the block of a table in such a heap; 0 if it is no such block. */
size_t tlua_whole_size (const void *table);
void tlua_give (void *heap, void *block, size_t size);

/* So many bytes are the program's from now on; they may be less than nothing. 5.5 counts down. */
#if LUA_VERSION_NUM == 504
#define tlua_take_account(g, bytes) ((g)->GCdebt += (bytes))
#else
#define tlua_take_account(g, bytes) ((g)->GCdebt -= (bytes))
#endif

#define tlua_quick_malloc(L, size) \
  if (l_likely((size) - 1 < TLUA_SMALL_BLOCK && G(L)->frealloc == tlua_allocate)) { \
    void *taken = tlua_take(G(L)->ud, size); \
    if (l_likely(taken != NULL)) { \
      tlua_take_account(G(L), (l_mem)(size)); \
      return taken; \
    } \
  }
#define tlua_quick_free(L, block, size) \
  if (l_likely((size) - 1 < TLUA_SMALL_BLOCK && G(L)->frealloc == tlua_allocate)) { \
    tlua_give(G(L)->ud, block, size); \
    tlua_take_account(G(L), -(l_mem)(size)); \
    return; \
  }

/* As luaL_newstate, with an allocator. In lauxlib.c, as the functions for panics and warnings are private. */
lua_State *tlua_newstate_with (lua_Alloc allocate, void *user);

#endif
