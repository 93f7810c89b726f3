/*
** Tables that are made with their parts.
**
** Problem: '{ x = 1, y = 2 }' is a table and two nodes: two blocks of memory to take, to free, and, where the
** program looks at many such objects, to wait for.
**
** Design: in a state with a heap of its own (tlua_heap.c) the parts that a constructor asks for follow the
** table in one block, which lives as long as the table. A table is freed with them at once. A part that grows
** moves to a block of its own; then Lua frees the parts as ever, and the heap knows by the page which of them
** are no blocks.
**
** Invariant: nothing here throws, collects, or runs Lua code; sizes, and the places of keys, are those of
** luaH_resize. Where there is no such heap, or the table would be too large, nothing has happened.
**
** Example: { x = 1, y = 2 } is 56 bytes and two nodes of 24, one after the other.
*/

#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "tlua_heap.h"
#include "tlua_internal.h"

#include "lgc.h"
#include "lmem.h"
#include "lobject.h"
#include "ltable.h"

/*
** All tables without nodes share one that is private to ltable.c. A table on the C stack is made to let go
** of its node: as no part of it was or becomes longer than nothing, no memory is asked for.
*/
Node *tlua_no_nodes (lua_State *L) {
  Node one;
  Table t;
  memset(&one, 0, sizeof one);
  memset(&t, 0, sizeof t);
  setnilkey(&one);
  setempty(gval(&one));
  t.node = &one;
  luaH_resize(L, &t, 0, 0);
  return t.node;
}

/* Code looks at a key before, or together with, the key's tag. */
static void clear_nodes (Node *nodes, size_t count) {
  for (size_t n = 0; n < count; n++) {
    gnext(&nodes[n]) = 0;
    setnilkey(&nodes[n]);
    keyval(&nodes[n]).gc = NULL;
    setempty(gval(&nodes[n]));
  }
}

Node *tlua_new_nodes (lua_State *L, int count) {
  Node *nodes = luaM_newvector(L, count, Node);
  clear_nodes(nodes, (size_t)count);
  return nodes;
}

unsigned tlua_node_room (const lua_State *L, const Table *t) {
  if (G(L)->frealloc != tlua_allocate)
    return 0;
  const char *parts = (const char *)(t + 1), *end = (const char *)t + tlua_whole_size(t);
  if (end < parts || (t->lastfree != NULL && (const char *)t->node != parts))
    return 0;
  const char *array = (const char *)t->array;
  if (array >= parts && array < end)
    end = array;
  return (unsigned)((size_t)(end - parts) / sizeof(Node));
}

Node *tlua_place_nodes (lua_State *L, Table *t, unsigned count) {
  unsigned before = t->lastfree == NULL ? 0 : (unsigned)sizenode(t);
  Node *nodes = (Node *)(t + 1);
  clear_nodes(nodes, count);
  G(L)->GCdebt += ((l_mem)count - (l_mem)before) * (l_mem)sizeof(Node);
  return nodes;
}

static inline void set_nodes (const lua_State *L, Table *t, Node *nodes, size_t count) {
  if (count == 0) {
    t->node = L->jit->no_nodes;
    t->lsizenode = 0;
    t->lastfree = NULL;
    return;
  }
  clear_nodes(nodes, count);
  t->node = nodes;
  t->lsizenode = (lu_byte)luaO_ceillog2((unsigned)count);
  t->lastfree = nodes + count;
}

static inline void set_array (Table *t, TValue *array, size_t count) {
  t->array = array;
  t->alimit = (unsigned)count;
  for (size_t n = 0; n < count; n++)
    setempty(&array[n]);
}

void tlua_set_nodes (lua_State *L, Table *t, void *block, size_t count) {
  set_nodes(L, t, (Node *)block, count);
}

void tlua_set_array (Table *t, void *block, size_t count) {
  set_array(t, (TValue *)block, count);
}

int tlua_grow_array (lua_State *L, Table *t, unsigned wanted) {
  unsigned size = luaH_realasize(t);
  TValue *array = (TValue *)tlua_realloc(L, t->array, size * sizeof(TValue), wanted * sizeof(TValue));
  if (array == NULL)
    return 0;
  t->array = array;
  t->alimit = wanted;
  setrealasize(t);
  for (unsigned n = size; n < wanted; n++)
    setempty(&array[n]);
  return 1;
}

/* As luaC_newobj and luaH_new: white, and the first of all objects. */
static inline void link_table (lua_State *L, Table *t) {
  global_State *g = G(L);
  t->marked = luaC_white(g);
  t->tt = LUA_VTABLE;
  t->metatable = NULL;
  t->flags = cast_byte(maskflags);
  t->next = g->allgc;
  g->allgc = obj2gco(t);
}

void tlua_link_table (lua_State *L, Table *t) {
  link_table(L, t);
}

Table *tlua_new_whole (lua_State *L, size_t items, size_t nodes, size_t room) {
  global_State *g = G(L);
  if (g->frealloc != tlua_allocate || items > TLUA_SMALL_BLOCK || nodes > TLUA_SMALL_BLOCK)
    return NULL;
  size_t nodes_size = nodes * sizeof(Node), size = sizeof(Table) + nodes_size + items * sizeof(TValue);
  size_t more = room > nodes ? (room - nodes) * sizeof(Node) : 0;
  if (size > TLUA_SMALL_BLOCK || (nodes & (nodes - 1)) != 0)
    return NULL;
  if (size + more > TLUA_SMALL_BLOCK)
    more = 0;
  Table *t = (Table *)tlua_take_whole(g->ud, size + more);
  if (l_unlikely(t == NULL))
    return NULL;
  g->GCdebt += (l_mem)size;
  nodes_size += more;
  char *parts = (char *)(t + 1);
  set_nodes(L, t, (Node *)parts, nodes);
  set_array(t, items > 0 ? (TValue *)(parts + nodes_size) : NULL, items);
  link_table(L, t);
  return t;
}

int tlua_free_whole (lua_State *L, Table *t) {
  global_State *g = G(L);
  size_t size = g->frealloc == tlua_allocate ? tlua_whole_size(t) : 0;
  if (size == 0)
    return 0;
  const char *parts = (const char *)(t + 1), *end = (const char *)t + size;
  const char *array = (const char *)t->array, *nodes = (const char *)t->node;
  size_t bytes = sizeof(Table);
  if (!isdummy(t)) {
    if (nodes < parts || nodes >= end)
      return 0;
    bytes += (size_t)sizenode(t) * sizeof(Node);
  }
  if (array != NULL) {
    if (array < parts || array >= end)
      return 0;
    bytes += luaH_realasize(t) * sizeof(TValue);
  }
  g->GCdebt -= (l_mem)bytes;
  tlua_give(g->ud, t, sizeof(Table));
  return 1;
}
