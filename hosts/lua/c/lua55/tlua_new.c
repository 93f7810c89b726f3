/*
** Tables of Lua 5.5, put together from blocks.
**
** Problem: compiled code, and exits of it, make tables where Lua's own functions must not be called, since
** they may collect and throw.
**
** Design: the parts are blocks of the sizes that Lua gives back. How nodes lie in theirs is known to ltable.c
** only, and inserted there. Arrays are copied as 'resizearray' copies them. Nothing lies in a table's own
** block here.
**
** Invariant: nothing here throws, collects, or runs Lua code.
**
** Example: tlua_link_table(L, t); tlua_set_nodes(L, t, block, 2)
*/

#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "tlua_internal.h"
#include "tlua_version.h"

#include "lgc.h"
#include "ltm.h"

/* Inserted into ltable.c. */
void tlua_lay_nodes (Table *t, void *block, unsigned count);
void tlua_place_no_nodes (lua_State *L, Table *t);

/* --- keys that no array part holds --- */

/* A float that stands for an integer is that integer. */
static int integer_of (const TValue *key, lua_Integer *n) {
  if (ttisinteger(key)) {
    *n = ivalue(key);
    return 1;
  }
  return ttisfloat(key) && luaV_flttointeger(fltvalue(key), n, F2Ieq);
}

const TValue *tlua_slot_of_integer (Table *t, lua_Integer n, TValue *store) {
  if (l_castS2U(n) - 1u < t->asize)
    return tlua_item(t, (size_t)n - 1, store);
  TValue key;
  setivalue(&key, n);
  return tlua_hash_slot(t, &key);
}

const TValue *tlua_slot (Table *t, const TValue *key, TValue *store) {
  lua_Integer n;
  return integer_of(key, &n) ? tlua_slot_of_integer(t, n, store) : tlua_hash_slot(t, key);
}

/* The caller knows that the key is absent, and that there is a node for it or memory may be asked for. */
void tlua_finish_set (lua_State *L, Table *t, const TValue *key, const TValue *slot, TValue *value) {
  if (isabstkey(slot))
    luaH_finishset(L, t, key, value, HNOTFOUND);
  else
    setobj2t(L, (TValue *)slot, value);
}

/* --- parts --- */

/* Before 'tlua_link_table' the table has no flags, and after it they say that it has no nodes. */
void tlua_set_nodes (lua_State *L, Table *t, void *block, size_t count) {
  if (count > 0)
    tlua_lay_nodes(t, block, (unsigned)count);
  else
    tlua_place_no_nodes(L, t);
}

static size_t array_bytes (unsigned size) {
  return size == 0 ? 0 : size * (sizeof(Value) + 1) + sizeof(unsigned);
}

/* All tables that are made from blocks begin without an array. */
void tlua_set_array (Table *t, void *block, size_t count) {
  lua_assert(block == NULL && count == 0);
  (void)block;
  t->array = NULL;
  t->asize = (unsigned)count;
}

int tlua_grow_array (lua_State *L, Table *t, unsigned size) {
  unsigned before = t->asize;
  char *block = (char *)tlua_realloc(L, NULL, 0, array_bytes(size));
  if (block == NULL)
    return 0;
  Value *array = (Value *)block + size;
  if (before > 0) {
    Value *old = t->array;
    memcpy(array - before, old - before, array_bytes(before));
    tlua_realloc(L, old - before, array_bytes(before), 0);
  }
  t->array = array;
  t->asize = size;
  *lenhint(t) = size / 2u;
  for (unsigned n = before; n < size; n++)
    *getArrTag(t, n) = LUA_VEMPTY;
  return 1;
}

/* As luaC_newobj and luaH_new: white, and the first of all objects. */
void tlua_link_table (lua_State *L, Table *t) {
  global_State *g = G(L);
  t->marked = luaC_white(g);
  t->tt = LUA_VTABLE;
  t->metatable = NULL;
  t->flags = maskflags;
  t->next = g->allgc;
  g->allgc = obj2gco(t);
}

Table *tlua_new_whole (lua_State *L, size_t items, size_t nodes, size_t room) {
  (void)L, (void)items, (void)nodes, (void)room;
  return NULL;
}

Node *tlua_no_nodes (lua_State *L) {
  (void)L;
  return NULL;
}

TValue *tlua_grow_by_string (lua_State *L, Table *t, const TValue *key) {
  (void)L, (void)t, (void)key;
  return NULL;
}

/* No constructor learns how much room its tables need. */
void tlua_room_forget (Tlua *jit, const Proto *p) {
  (void)jit, (void)p;
}
