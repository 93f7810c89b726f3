/*
** Tables that grow.
**
** Problem: a table that is filled key by key grows at 1, 2, 4, 8 elements. Each time Lua counts all its keys
** by size in 32 counters, computes the best array part, makes the new parts, and inserts each key anew as if
** it might be there. Programs with many small tables spend up to a fifth of their time there.
**
** Design: what the sizes must come to is clear in the two commonest cases. An array without gaps, and without
** a hash part, that gets the item after its last one needs the next power of two. A table with short strings
** only needs one node more, and its strings go into the new nodes without being looked for. All else is left
** to Lua.
**
** Invariant: sizes, and the places of keys in the nodes, are those of luaH_resize: programs see them in the
** order of 'next' and in borders. What is left to Lua has changed nothing.
**
** Example: t = {}; for i = 1, 9 do t[i] = i end    -- the array part grows to 1, 2, 4, 8 and 16 items here
*/

#define LUA_CORE

#include "lprefix.h"

#include "tlua_internal.h"

#include "lgc.h"
#include "lmem.h"
#include "lobject.h"
#include "lstring.h"
#include "ltable.h"

/* --- arrays --- */

/* Where Lua is to check the sizes: items, and nodes. */
#define MOST_ITEMS (1u << 26)
#define MOST_NODES (1 << 24)

static int has_gap (const TValue *array, unsigned size) {
  for (unsigned n = 0; n < size; n++) {
    if (isempty(&array[n]))
      return 1;
  }
  return 0;
}

/* The array of 'size' items, all of them there, gets room for one more. */
static void grow_array (lua_State *L, Table *t, unsigned size) {
  unsigned wanted = 1u << luaO_ceillog2(size + 1);
  TValue *array = luaM_reallocvector(L, t->array, size, wanted, TValue);
  if (l_unlikely(array == NULL))
    luaM_error(L);
  t->array = array;
  t->alimit = wanted;
  setrealasize(t);
  for (unsigned n = size; n < wanted; n++)
    setempty(&array[n]);
}

/* --- strings --- */

/* How many strings the nodes hold that have values; 0 if there are other keys. */
static unsigned count_strings (const Table *t) {
  unsigned count = 0;
  for (int n = 0; n < sizenode(t); n++) {
    const Node *node = gnode(t, n);
    if (isempty(gval(node)))
      continue;
    if (!keyisshrstr(node))
      return 0;
    count++;
  }
  return count;
}

static Node *place_of (const Table *t, const TString *key) {
  return gnode(t, lmod(key->hash, sizenode(t)));
}

/* As getfreepos of ltable.c; there is one. */
static Node *free_node (Table *t) {
  do
    t->lastfree--;
  while (!keyisnil(t->lastfree));
  lua_assert(t->lastfree >= t->node);
  return t->lastfree;
}

/* As luaH_newkey, for a string that the table lacks and has room for. Returns the place of its value. */
static Node *insert (Table *t, const TString *key) {
  Node *place = place_of(t, key);
  if (isempty(gval(place)))
    return place;
  Node *free = free_node(t);
  Node *other = place_of(t, keystrval(place));
  if (other == place) {  /* it is where it should be: the new one goes into the free node */
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

static void put_key (lua_State *L, Node *node, TString *key) {
  TValue value;
  setsvalue(L, &value, key);
  setnodekey(L, node, &value);
}

/* The hash part gets room for so many strings. */
static void grow_nodes (lua_State *L, Table *t, unsigned count) {
  Node *old = t->node;
  int old_size = sizenode(t), is_dummy = t->lastfree == NULL;
  int log_size = luaO_ceillog2(count), size = 1 << log_size;
  Node *nodes = tlua_new_nodes(L, size);
  t->node = nodes;
  t->lsizenode = cast_byte(log_size);
  t->lastfree = nodes + size;
  for (int n = 0; n < old_size; n++) {
    if (!isempty(gval(&old[n]))) {
      Node *node = insert(t, keystrval(&old[n]));
      put_key(L, node, keystrval(&old[n]));
      setobj2t(L, gval(node), gval(&old[n]));
    }
  }
  if (!is_dummy)
    luaM_freearray(L, old, cast_sizet(old_size));
}

/* --- for ltable.c --- */

/*
** The table has no free node for a key that it lacks: both get their places here, or 0 is returned. The value
** is not nil.
*/
int tlua_grow (lua_State *L, Table *t, const TValue *key, const TValue *value) {
  if (ttisinteger(key)) {
    unsigned size = luaH_realasize(t);
    if (t->lastfree != NULL || l_castS2U(ivalue(key)) != (lua_Unsigned)size + 1 || size >= MOST_ITEMS
        || has_gap(t->array, size))
      return 0;
    grow_array(L, t, size);
    setobj2t(L, &t->array[size], value);
    return 1;
  }
  if (!ttisshrstring(key) || t->alimit != 0 || sizenode(t) > MOST_NODES)
    return 0;
  unsigned count = t->lastfree == NULL ? 0 : count_strings(t);
  if (count == 0 && t->lastfree != NULL)
    return 0;
  grow_nodes(L, t, count + 1);
  Node *node = insert(t, tsvalue(key));
  setnodekey(L, node, key);
  luaC_barrierback(L, obj2gco(t), key);
  setobj2t(L, gval(node), value);
  return 1;
}
