/*
** Places in programs, and what people call them.
**
** Problem: the library knows a loop by the address of an instruction, and says so in logs and statistics. Who
** has written the program knows files, lines and functions; and only the interpreter knows what a function is
** called, while it is called.
**
** Design: a function that the JIT looks at is put into a list, ordered by the addresses of code, which leads
** from an address to the function. Its name is that by which its caller has called it then, found as
** debug.getinfo finds it, and kept with the JIT's data of the function. A loop's line is that of its 'for',
** else of its first instruction; an entry's line that of its function, or that of the call that comes back
** there.
**
** Invariant: the list has living functions only, each once.
**
** Example: "app.lua:12 sum", "app.lua:3 main chunk", "[string "x = 1"]:1 function <[string "x = 1"]:1>".
*/

#define LUA_CORE

#include "lprefix.h"

#include <stdio.h>
#include <string.h>

#include "tlua_callinfo.h"
#include "tlua_places.h"

#include "lua.h"

#include "ldebug.h"
#include "lopcodes.h"

/* Bytes of a function's name, at most. */
#define LONGEST_NAME 60

/* --- loops --- */

const Instruction *tlua_back_target (const Instruction *pc) {
  switch (GET_OPCODE(*pc)) {
    case OP_JMP: return GETARG_sJ(*pc) < 0 ? pc + 1 + GETARG_sJ(*pc) : NULL;
    case OP_FORLOOP: case OP_TFORLOOP: return pc + 1 - GETARG_Bx(*pc);
    default: return NULL;
  }
}

const Instruction *tlua_last_of_loop (const Proto *p, const Instruction *head, int *edges) {
  const Instruction *last = head;
  *edges = 0;
  for (const Instruction *pc = head; pc < p->code + p->sizecode; pc++) {
    if (tlua_back_target(pc) == head) {
      last = pc;
      ++*edges;
    }
  }
  return last;
}

/* --- functions --- */

/* Where in the list a function with this instruction is, or would be: after all that begin before it. */
static int place_of (const TluaPlaces *places, const void *pc) {
  int low = 0, high = places->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if ((const void *)places->functions[middle]->code <= pc)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

Proto *tlua_places_find (const TluaPlaces *places, const void *pc) {
  int place = place_of(places, pc);
  if (place == 0)
    return NULL;
  Proto *p = places->functions[place - 1];
  return pc < (const void *)(p->code + p->sizecode) ? p : NULL;
}

/* Keeps what the running function was called by. */
static void keep_name (lua_State *L, CallInfo *ci, Proto *p) {
  lua_Debug ar = { .i_ci = ci };
  TluaProto *data = tlua_proto(L, p);
  lua_getinfo(L, "n", &ar);
  if (data == NULL || ar.name == NULL)
    return;
  size_t length = strlen(ar.name);
  if (length > LONGEST_NAME)
    length = LONGEST_NAME;
  data->name = (char *)tlua_own(L, NULL, 0, length + 1);
  if (data->name != NULL) {
    memcpy(data->name, ar.name, length);
    data->name[length] = '\0';
  }
}

void tlua_places_add (lua_State *L, TluaPlaces *places, CallInfo *ci) {
  Proto *p = ci_func(ci)->p;
  if (p->jit_has_place)
    return;
  if (places->count == places->room) {
    int room = places->room == 0 ? 16 : 2 * places->room;
    void *grown = tlua_own(L, places->functions, (size_t)places->room * sizeof(Proto *),
                               (size_t)room * sizeof(Proto *));
    if (grown == NULL)
      return;
    places->functions = (Proto **)grown;
    places->room = room;
  }
  int place = place_of(places, p->code);
  memmove(places->functions + place + 1, places->functions + place,
          (size_t)(places->count - place) * sizeof(Proto *));
  places->functions[place] = p;
  places->count++;
  p->jit_has_place = 1;
  keep_name(L, ci, p);
}

void tlua_places_remove (TluaPlaces *places, const Proto *p) {
  if (!p->jit_has_place)
    return;
  int place = place_of(places, p->code) - 1;
  lua_assert(places->functions[place] == p);
  places->count--;
  memmove(places->functions + place, places->functions + place + 1,
          (size_t)(places->count - place) * sizeof(Proto *));
}

void tlua_places_free (lua_State *L, TluaPlaces *places) {
  tlua_own(L, places->functions, (size_t)places->room * sizeof(Proto *), 0);
}

/* --- names --- */

/* The line that stands for the place; 0 or less: it is not known. */
static int line_of (const Proto *p, const void *pc, int is_head) {
  const Instruction *at = (const Instruction *)((uintptr_t)pc & ~(uintptr_t)(sizeof(Instruction) - 1));
  int edges;
  if (at != pc && at == p->code && p->linedefined > 0)
    return p->linedefined;
  if (at != pc && at != p->code)  /* the call before it */
    at--;
  else if (at == pc && is_head) {
    const Instruction *last = tlua_last_of_loop(p, at, &edges);
    if (GET_OPCODE(*last) != OP_JMP)
      at = last;
  }
  return luaG_getfuncline(p, (int)(at - p->code));
}

int tlua_place_name (const TluaPlaces *places, const void *pc, int is_head, char *name, size_t room) {
  Proto *p = tlua_places_find(places, pc);
  char file[LUA_IDSIZE], line[32], function[LUA_IDSIZE + 48];
  if (p == NULL)
    return 0;
  if (p->source != NULL)
    luaO_chunkid(file, getstr(p->source), tsslen(p->source));
  else
    strcpy(file, "?");
  int number = line_of(p, pc, is_head);
  if (number > 0)
    snprintf(line, sizeof(line), "%d", number);
  else
    strcpy(line, "?");
  if (p->jit != NULL && p->jit->name != NULL)
    snprintf(function, sizeof(function), "%s", p->jit->name);
  else if (p->linedefined == 0)
    strcpy(function, "main chunk");
  else
    snprintf(function, sizeof(function), "function <%s:%d>", file, p->linedefined);
  snprintf(name, room, "%s:%s %s", file, line, function);
  return 1;
}
