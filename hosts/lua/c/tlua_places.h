/*
** Places in programs, and what people call them: see tlua_places.c.
**
** Example: tlua_place_name(&places, pc, text, sizeof(text)) writes "app.lua:12 sum".
*/
#ifndef tlua_places_h
#define tlua_places_h

#include "tlua_internal.h"

/* Functions that the JIT has looked at, by the addresses of their code. */
typedef struct TluaPlaces {
  Proto **functions;
  int count, room;
} TluaPlaces;

/* Where an instruction jumps back to, or NULL. */
const Instruction *tlua_back_target (const Instruction *pc);
/* The jump back to a loop's head that is farthest down; the head if there is none. Counts all such jumps. */
const Instruction *tlua_last_of_loop (const Proto *p, const Instruction *head, int *edges);

/* The function that runs in this frame has code that will be told of. No memory: it has no name then. */
void tlua_places_add (lua_State *L, TluaPlaces *places, CallInfo *ci);
/* A function is freed. */
void tlua_places_remove (TluaPlaces *places, const Proto *p);
void tlua_places_free (lua_State *L, TluaPlaces *places);
/* The function with this instruction, or with the place right after its first byte; NULL: it is unknown. */
Proto *tlua_places_find (const TluaPlaces *places, const void *pc);

/*
** Writes "file:line function" of an instruction. If 'is_head' it is where a loop begins, whose own line is
** wanted; an address right after its first byte is an entry (tlua_entry_key). Returns 0 if it is not known.
*/
int tlua_place_name (const TluaPlaces *places, const void *pc, int is_head, char *name, size_t room);

#endif
