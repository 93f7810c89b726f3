/*
** Tables that grow.
**
** Problem: a table that is filled key by key grows at 1, 2, 4, 8 elements. Each time Lua counts all its keys
** by size in 32 counters, computes the best array part, makes the new parts, and inserts each key anew as if
** it might be there. Programs with many small tables spend up to a fifth of their time there.
**
** Design: what the sizes must come to is clear in the two commonest cases. An array without gaps, and without
** a hash part, that gets the item after its last one needs the next power of two. A table without an array
** part needs one node more, and its keys go into the new nodes without being looked for, if its integers are
** too far apart for an array; these are counted with nine counters. The nodes grow where they are if the
** table's block has room for them (tlua_room.c). All else is left to Lua.
**
** Invariant: sizes, and the places of keys in the nodes, are those of luaH_resize: programs see them in the
** order of 'next' and in borders. What is left to Lua has changed nothing.
**
** Example: t = {}; for i = 1, 9 do t[i] = i end    -- the array part grows to 1, 2, 4, 8 and 16 items here
*/

#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "tlua_internal.h"
#include "tlua_node.h"

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

/* --- nodes --- */

/* Of more integers than 2^(MOST_BITS - 1) Lua has to say whether they belong into an array. */
#define MOST_BITS 8

/* The keys of a table without an array part, and the new one. */
typedef struct Count {
  unsigned all, integers;
  unsigned char up_to[16];  /* [b]: integers above 2^(b - 1), up to 2^b */
} Count;

/* Adds an integer, as countint of ltable.c. */
static void count_integer (Count *count, lua_Integer key) {
  count->integers++;
  if (l_castS2U(key) - 1u < (1u << MOST_BITS))
    count->up_to[luaO_ceillog2((unsigned)key)]++;
}

/* Keys of other kinds are for Lua: floats and long strings, whose places take longer to compute. */
static int is_usual (int tag) {
  switch (tag) {
    case LUA_VSHRSTR: case LUA_VNUMINT: case LUA_VTABLE: case LUA_VUSERDATA: case LUA_VLCL: case LUA_VCCL:
    case LUA_VTHREAD:
      return 1;
    default:
      return 0;
  }
}

/* Adds what the nodes hold. Returns 0 if there is a key that is not usual. */
static int count_nodes (Count *count, const Table *t) {
  for (int n = 0; n < sizenode(t); n++) {
    const Node *node = gnode(t, n);
    if (isempty(gval(node)))
      continue;
    if (!is_usual(withvariant(keytt(node))))
      return 0;
    if (keyisinteger(node))
      count_integer(count, keyival(node));
    count->all++;
  }
  return 1;
}

/* The size of the array part of which more than half is used, as computesizes of ltable.c; and its use. */
static unsigned array_size (const Count *count, unsigned *used) {
  unsigned below = 0, best = 0;
  for (unsigned bit = 0; bit <= MOST_BITS && count->integers > (1u << bit) / 2; bit++) {
    below += count->up_to[bit];
    if (below > (1u << bit) / 2) {
      best = 1u << bit;
      *used = below;
    }
  }
  return best;
}

/* As mainposition of ltable.c, for the usual keys. */
static Node *place_of (const Table *t, int tag, const Value *key) {
  switch (tag) {
    case LUA_VSHRSTR: return tlua_place_of_string(t, gco2ts(key->gc));
    case LUA_VNUMINT: return tlua_place_of_integer(t, key->i);
    default: return tlua_place_of_object(t, key->gc);
  }
}

/* As luaH_newkey, for a key that the table lacks and has room for. Returns the place of its value. */
static Node *insert (Table *t, int tag, const Value *key) {
  Node *place = place_of(t, tag, key);
  if (isempty(gval(place)))
    return place;
  Node *free = tlua_free_node(t);
  lua_assert(free != NULL);
  return tlua_make_place(place, place_of(t, withvariant(keytt(place)), &keyval(place)), free);
}

/* Of nodes that grow where they are. */
#define MOST_IN_PLACE 16

/* The keys and values of so many old nodes go into the new ones. */
static void reinsert (lua_State *L, Table *t, const Node *old, unsigned count) {
  for (unsigned n = 0; n < count; n++) {
    if (!isempty(gval(&old[n]))) {
      TValue key;
      getnodekey(L, &key, &old[n]);
      Node *node = insert(t, ttypetag(&key), &val_(&key));
      setnodekey(L, node, &key);
      setobj2t(L, gval(node), gval(&old[n]));
    }
  }
}

static void set_nodes (Table *t, Node *nodes, int log_size) {
  t->node = nodes;
  t->lsizenode = cast_byte(log_size);
  t->lastfree = nodes + ((size_t)1 << log_size);
}

/* The hash part gets so many nodes in the table's own block; returns 0 if there is no room. */
static int grow_in_place (lua_State *L, Table *t, int log_size) {
  Node old[MOST_IN_PLACE];
  unsigned old_size = t->lastfree == NULL ? 0 : (unsigned)sizenode(t);
  if (old_size > MOST_IN_PLACE || (1u << log_size) > tlua_node_room(L, t))
    return 0;
  memcpy(old, t->node, old_size * sizeof(Node));
  set_nodes(t, tlua_place_nodes(L, t, 1u << log_size), log_size);
  reinsert(L, t, old, old_size);
  return 1;
}

/* The hash part gets room for so many keys. */
static void grow_nodes (lua_State *L, Table *t, unsigned count) {
  int log_size = luaO_ceillog2(count);
  if (grow_in_place(L, t, log_size))
    return;
  Node *old = t->node;
  unsigned old_size = t->lastfree == NULL ? 0 : (unsigned)sizenode(t);
  set_nodes(t, tlua_new_nodes(L, 1 << log_size), log_size);
  reinsert(L, t, old, old_size);
  if (old_size > 0)
    luaM_freearray(L, old, old_size);
}

/* --- for ltable.c --- */

/* Whether the array part, whose items are all there, is to hold the new key. */
static int extends_array (const Table *t, unsigned size, const TValue *key) {
  return ttisinteger(key) && t->lastfree == NULL && l_castS2U(ivalue(key)) == (lua_Unsigned)size + 1
         && size < MOST_ITEMS && !has_gap(t->array, size);
}

/* Returns 0 if that is for Lua to do. */
static int grow_hash (lua_State *L, Table *t, const TValue *key, TValue *value) {
  Count count;
  memset(&count, 0, sizeof(count));
  count.all = 1;
  if (ttisinteger(key))
    count_integer(&count, ivalue(key));
  if (t->lastfree != NULL && !count_nodes(&count, t))
    return 0;
  if (count.integers > 0) {
    if (count.integers > 1u << (MOST_BITS - 1))
      return 0;
    unsigned used = 0, items = array_size(&count, &used);
    if (items != 0) {
      luaH_resize(L, t, items, count.all - used);
      luaH_set(L, t, key, value);
      return 1;
    }
  }
  grow_nodes(L, t, count.all);
  tlua_room_grew(L, t);
  Node *node = insert(t, ttypetag(key), &val_(key));
  setnodekey(L, node, key);
  luaC_barrierback(L, obj2gco(t), key);
  setobj2t(L, gval(node), value);
  return 1;
}

/*
** The table has no free node for a key that it lacks: both get their places here, or 0 is returned. The value
** is not nil.
*/
int tlua_grow (lua_State *L, Table *t, const TValue *key, TValue *value) {
  unsigned size = luaH_realasize(t);
  if (extends_array(t, size, key)) {
    grow_array(L, t, size);
    setobj2t(L, &t->array[size], value);
    return 1;
  }
  if (l_unlikely(size != 0 || !is_usual(ttypetag(key)) || sizenode(t) > MOST_NODES))
    return 0;
  return grow_hash(L, t, key, value);
}

/* --- for code --- */

/* How many strings the nodes hold; 0 if there is another key, or place for one more. */
static unsigned count_strings (const Table *t, const TString *key) {
  unsigned count = 0;
  for (const Node *n = t->lastfree; n > t->node; ) {
    if (keyisnil(--n))
      return 0;
  }
  if (isempty(gval(tlua_place_of_string(t, key))))
    return 0;
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

TValue *tlua_grow_by_string (lua_State *L, Table *t, const TValue *key) {
  unsigned count = 0;
  if (t->alimit != 0 || t->array != NULL || (!isdummy(t) && (count = count_strings(t, tsvalue(key))) == 0))
    return NULL;
  if (!grow_in_place(L, t, luaO_ceillog2(count + 1)))
    return NULL;
  tlua_room_grew(L, t);
  Node *node = insert(t, LUA_VSHRSTR, &val_(key));
  setnodekey(L, node, key);
  luaC_barrierback(L, obj2gco(t), key);
  return gval(node);
}
