/*
** New integers and short strings in the hash part of a table.
**
** Problem: a queue, an array with few items and a count of words get keys there one by one. Lua searches for
** such a key, and where there is none searches for a place for it, in functions that call one another.
**
** Design: for integers, objects and booleans one search tells both. Of new keys only the commonest are put
** in here: those whose place is free, or taken by an integer or a short string, as long as there is a free
** node; all else is luaH_newkey's. A search for a free node that finds none leaves what luaH_newkey's
** would leave.
**
** Invariant: nodes are what 'hashint', 'luaH_getint' and 'luaH_newkey' of ltable.c would make of them. The
** array part is the caller's concern.
**
** Example, 't[last + 1] = x':   node = tlua_integer_node(t, n, &place); tlua_add_integer(t, n, place)
*/
#ifndef tlua_node_h
#define tlua_node_h

#include <limits.h>

#include "tlua_version.h"

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

/* Keys that are compared by tag and address, or by the tag alone: objects but for strings, and booleans. */
static inline int tlua_is_plain (const TValue *key) {
  return iscollectable(key) ? !ttisstring(key) : ttisboolean(key);
}

static inline Node *tlua_place_of_plain (const Table *t, const TValue *key) {
  if (iscollectable(key))
    return tlua_place_of_object(t, gcvalue(key));
  return gnode(t, lmod(ttistrue(key), sizenode(t)));
}

/* The node of such a key, or NULL; and its place. */
static inline Node *tlua_plain_node (const Table *t, const TValue *key, Node **place) {
  Node *node = *place = tlua_place_of_plain(t, key);
  while (node->u.key_tt != rawtt(key) || (iscollectable(key) && keyval(node).gc != gcvalue(key))) {
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

/*
** The node for a new key whose place is taken by one that belongs to 'other'. If that is the same place the
** new key goes into the free node; else what is there moves into it.
*/
static inline Node *tlua_make_place (Node *place, Node *other, Node *free) {
  if (other == place) {
    gnext(free) = gnext(place) != 0 ? cast_int((place + gnext(place)) - free) : 0;
    gnext(place) = cast_int(free - place);
    return free;
  }
  while (other + gnext(other) != place)
    other += gnext(other);
  gnext(other) = cast_int(free - other);
  *free = *place;
  if (gnext(place) != 0) {
    gnext(free) += cast_int(place - free);
    gnext(place) = 0;
  }
  setempty(gval(place));
  return place;
}

static inline Node *tlua_place_of_string (const Table *t, const TString *s) {
  return gnode(t, lmod(s->hash, sizenode(t)));
}

/*
** The node for an integer or an object that the table lacks; NULL if the table would have to grow, or the
** place is taken by a key whose own place takes longer to compute.
*/
static inline Node *tlua_node_for_plain (Table *t, Node *place) {
  if (isempty(gval(place)))
    return place;
  Node *other = NULL, *free;
  if (keyisinteger(place))
    other = tlua_place_of_integer(t, keyival(place));
  else if (keyisshrstr(place))
    other = tlua_place_of_string(t, keystrval(place));
  if (other == NULL || (free = tlua_free_node(t)) == NULL)
    return NULL;
  return tlua_make_place(place, other, free);
}

/*
** The value of a short string that the table lacks, put in; NULL if the table would have to grow, or the
** place is taken by a key of another type.
*/
static inline TValue *tlua_add_string (lua_State *L, Table *t, const TValue *key) {
  Node *n = tlua_place_of_string(t, tsvalue(key));
  if (isdummy(t))
    return NULL;
  if (!isempty(gval(n))) {
    Node *free = keyisshrstr(n) ? tlua_free_node(t) : NULL;
    if (free == NULL)
      return NULL;
    n = tlua_make_place(n, tlua_place_of_string(t, keystrval(n)), free);
  }
  tlua_set_key(L, n, key);
  luaC_barrierback(L, obj2gco(t), key);
  return gval(n);
}

#endif
