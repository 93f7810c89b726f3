/*
** New integers and short strings in the hash part of a table.
**
** Problem: a queue, an array with few items and a count of words get keys there one by one. Lua searches for
** such a key, and where there is none searches for a place for it, in functions that call one another.
**
** Design: for integers one search tells both. Of new keys only the commonest are put in here: integers whose
** place is free, and strings as long as there is a free node and no other type of key in the way; all else is
** luaH_newkey's. A search for a free node that finds none leaves what luaH_newkey's would leave.
**
** Invariant: nodes are what 'hashint', 'luaH_getint' and 'luaH_newkey' of ltable.c would make of them. The
** array part is the caller's concern.
**
** Example, 't[last + 1] = x':   node = tlua_integer_node(t, n, &place); tlua_add_integer(t, n, place)
*/
#ifndef tlua_node_h
#define tlua_node_h

#include <limits.h>

#include "lgc.h"
#include "lobject.h"
#include "ltable.h"

/* Where a key belongs. */
static inline Node *tlua_place_of_integer (const Table *t, lua_Integer n) {
  lua_Unsigned u = l_castS2U(n), size = (lua_Unsigned)((sizenode(t) - 1) | 1);
  if (u <= cast_uint(INT_MAX))
    return gnode(t, (uint32_t)u % (uint32_t)size);
  return gnode(t, u % size);
}

/* Where an object belongs that is no string. */
static inline Node *tlua_place_of_object (const Table *t, const GCObject *object) {
  return gnode(t, point2uint(object) % ((sizenode(t) - 1) | 1));
}

/* The node of a key, or NULL; and its place. */
static inline Node *tlua_integer_node (const Table *t, lua_Integer n, Node **place) {
  Node *node = *place = tlua_place_of_integer(t, n);
  while (!(keyisinteger(node) && keyival(node) == n)) {
    if (gnext(node) == 0)
      return NULL;
    node += gnext(node);
  }
  return node;
}

/* The node of a key that the table lacks, put where it belongs; NULL if that place is taken. */
static inline Node *tlua_add_integer (const Table *t, lua_Integer n, Node *place) {
  if (isdummy(t) || !isempty(gval(place)))  /* the node of tables without a hash part is not theirs */
    return NULL;
  place->u.key_tt = LUA_VNUMINT;
  keyval(place).i = n;
  return place;
}

/* A node without a key, from the last one on that was given out; NULL if there is none. */
static inline Node *tlua_free_node (Table *t) {
  while (t->lastfree > t->node) {
    if (keyisnil(--t->lastfree))
      return t->lastfree;
  }
  return NULL;
}

/*
** Makes a node free that is another key's place: what is in it belongs elsewhere, and moves. NULL if it
** belongs there, or where it does is not seen at once; then the node is as it was.
*/
static inline Node *tlua_move_away (const Table *t, Node *taken, Node *to) {
  Node *before;
  if (!keyisshrstr(taken) || (before = gnode(t, lmod(keystrval(taken)->hash, sizenode(t)))) == taken)
    return NULL;
  while (before + gnext(before) != taken)
    before += gnext(before);
  gnext(before) = cast_int(to - before);
  *to = *taken;
  if (gnext(taken) != 0) {
    gnext(to) += cast_int(taken - to);
    gnext(taken) = 0;
  }
  setempty(gval(taken));
  return taken;
}

/* The value of a short string that the table lacks, put in; NULL if the table would have to grow. */
static inline TValue *tlua_add_string (lua_State *L, Table *t, const TValue *key) {
  Node *n = gnode(t, lmod(tsvalue(key)->hash, sizenode(t)));
  if (isdummy(t))
    return NULL;
  if (!isempty(gval(n))) {
    Node *first = n, *other;
    if (!keyisshrstr(n) || (other = tlua_free_node(t)) == NULL)
      return NULL;
    if ((n = tlua_move_away(t, first, other)) == NULL) {
      gnext(other) = gnext(first) != 0 ? cast_int(first + gnext(first) - other) : 0;
      gnext(first) = cast_int(other - first);
      n = other;
    }
  }
  setnodekey(L, n, key);
  luaC_barrierback(L, obj2gco(t), key);
  return gval(n);
}

#endif
