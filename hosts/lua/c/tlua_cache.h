/*
** What a run leaves to the next one in a directory: see tlua_cache.c.
*/
#ifndef tlua_cache_h
#define tlua_cache_h

#include <stdint.h>

struct lua_State;
struct Proto;
struct tl_vm;

/*
** Takes hints from the directory, and puts what this run has learned there when the state is closed or the
** process exits. The text must live as long. Returns NULL, or what is wrong with the directory. With the JIT
** off nothing happens.
*/
const char *tlua_cache_open (struct lua_State *L, const char *directory);
/* The state is about to be closed. */
void tlua_cache_close (struct lua_State *L);

/* A function has got baseline code. */
void tlua_cache_note_code (struct tl_vm *vm, struct Proto *p);
/* Whether it had some in an earlier run, and whether its entry had a trace that has paid. */
int tlua_cache_has_code (struct tl_vm *vm, struct Proto *p);
int tlua_cache_has_entry (struct tl_vm *vm, struct Proto *p);

#endif
