/*
** What differs between the versions of Lua that are built: 5.4, and 5.5 with the feature 'lua55'.
**
** Problem: the hooks and the recorder serve two versions, whose tables, loops, strings and accounts are laid
** out differently.
**
** Design: each difference has one name here, a macro or a small function, and hardly any other file asks
** which version it is. Frames are the business of tlua_callinfo.h, and what the hooks of Lua's own files need
** stands in their headers. What takes more than a few lines has a file for each version: tlua_rec_item.c and
** tlua_new.c, and their namesakes in lua55.
**
** Invariant: a name means the same in both versions.
**
** Example:   if (tlua_owes(g)) luaC_step(L);   -- the debt is above 0 in 5.4, and used up at 0 in 5.5
*/
#ifndef tlua_version_h
#define tlua_version_h

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lua.h"

#include "lgc.h"
#include "lobject.h"
#include "lopcodes.h"
#include "lstate.h"
#include "lstring.h"
#include "ltable.h"
#include "lvm.h"

#include "tlua_get.h"

#if LUA_VERSION_NUM == 504

/* --- the collector's accounts --- */

/* Bytes are taken by tlua_take_account, of tlua_heap.h. */
#define tlua_owes(g) ((g)->GCdebt > 0)
/* The operation that tells whether the debt, and 0, let a loop go on without the collector. */
#define TLUA_OWES_NOT TL_INT_LE
/* Moves so many bytes of the debt to the total, or back. */
#define tlua_put_off_debt(g, bytes) ((g)->GCdebt -= (bytes), (g)->totalbytes += (bytes))
#define tlua_main_thread(g) ((g)->mainthread)

/* Slots that a stack has at most, but for those that errors need. */
#define TLUA_MOST_STACK LUAI_MAXSTACK

/* --- instructions --- */

#define tlua_is_open(i) isIT(i)
#define TLUA_LIST_COUNT(i) GETARG_B(i)
#define TLUA_LIST_BEFORE(i) GETARG_C(i)
#define TLUA_LIST_UNIT (MAXARG_C + 1)
#define TLUA_NEW_LOG(i) GETARG_B(i)
#define TLUA_NEW_ITEMS(i) GETARG_C(i)
/* Whether the name of a method may stand in a register, as 'k' says. */
#define TLUA_METHOD_IN_REGISTER(i) (!TESTARG_k(i))
/* Whether the instruction takes arguments from a table. */
#define TLUA_FROM_TABLE(i) 0
/* How the liveness of registers sees instructions that the other version has not. */
#define TLUA_CASES_OF_55

/* Rows of tlua_rec_ops.c that are not the same in both versions. */
#define TLUA_SHIFT_OPCODES(LOWERED) LOWERED(SHRI, tlua_lower_arith) LOWERED(SHLI, tlua_lower_arith)
#define TLUA_OPCODES_OF_55(LOWERED, LEFT)

/* Registers of a numeric loop, from its first one, while it runs. */
#define TLUA_FOR_INDEX(a) (a)
#define TLUA_FOR_COUNT(a) ((a) + 1)  /* the limit where the loop is one of floats */
#define TLUA_FOR_STEP(a) ((a) + 2)
#define TLUA_FOR_VARIABLE(a) ((a) + 3)

/* Registers of a generic loop, while it runs. The results begin with the first variable. */
#define TLUA_ITER_CONTROL(a) ((a) + 2)
#define TLUA_ITER_CLOSING(a) ((a) + 3)
#define TLUA_ITER_RESULT(a) ((a) + 4)
/* Whether the control variable is a register beside the first variable. */
#define TLUA_HIDES_CONTROL 1

/* --- functions --- */

#define tlua_is_vararg(p) ((p)->is_vararg)
/* Whether its variable arguments lie below its frame, which is moved. */
#define tlua_hides_arguments(p) ((p)->is_vararg)
#define tlua_has_argument_table(p) 0
/* Whether a register after the parameters stands for its variable arguments, and is set to nil. */
#define TLUA_HAS_ARGUMENT_REGISTER 0
/* What 'pairs' returns beside iterator, table and nil. */
#define TLUA_MORE_OF_PAIRS 0

/* --- tables --- */

#define tlua_array_size(t) luaH_realasize(t)
/* Where the array's size, or a hint that is not larger, is told in the table. */
#define TLUA_COUNT_OFFSET offsetof(Table, alimit)
#define tlua_is_reached(t, place) ((place) < (t)->alimit)
#define tlua_has_array(t) ((t)->array != NULL)
#define tlua_border(L, t) luaH_getn(t)
/* The element at a place from 0 on, for which there may be room in 'store'. */
#define tlua_item(t, place, store) ((void)(store), (const TValue *)&(t)->array[place])
#define tlua_item_is_empty(t, place) isempty(&(t)->array[place])
#define tlua_put_item(L, t, place, value) setobj2t(L, &(t)->array[place], value)
/* The element at an index of the array part, as Lua's own functions look for it, which moves the hint. */
static inline const TValue *tlua_reach (Table *t, lua_Integer n, TValue *store) {
  (void)store;
  return l_castS2U(n) - 1u < t->alimit ? &t->array[n - 1] : luaH_getint(t, n);
}
static inline void tlua_reach_and_put (lua_State *L, Table *t, lua_Integer n, const TValue *value) {
  TValue *place = (TValue *)tlua_reach(t, n, NULL);
  setobj2t(L, place, value);
}
/* The value of a key, empty if there is none, for which there may be room in 'store'. */
#define tlua_slot(t, key, store) ((void)(store), luaH_get(t, key))
#define tlua_slot_of_integer(t, n, store) ((void)(store), luaH_getint(t, n))
#define tlua_slot_of_short(t, name) luaH_getshortstr(t, name)
/* Stores where that slot says that the key belongs. */
#define tlua_finish_set(L, t, key, slot, value) luaH_finishset(L, t, key, slot, value)
#define tlua_last_free(t) ((t)->lastfree)
#define tlua_set_key(L, node, key) setnodekey(L, node, key)
/* The first node without a key that a search which gives nodes up comes to. */
static inline Node *tlua_free_node (Table *t) {
  while (t->lastfree > t->node) {
    if (keyisnil(--t->lastfree))
      return t->lastfree;
  }
  return NULL;
}
#define TLUA_NODES_BYTES(count) ((count) * sizeof(Node))
/* Whether tables may lie in one block with their parts, and be virtual with items. */
#define TLUA_HAS_WHOLE_TABLES 1

/* The instructions for any table and key, with metamethods. */
static inline void tlua_do_get (lua_State *L, const TValue *t, TValue *key, StkId result) {
  const TValue *slot;
  if (luaV_fastget(L, t, key, slot, luaH_get)) {
    setobj2s(L, result, slot);
  }
  else
    luaV_finishget(L, t, key, result, slot);
}
static inline void tlua_do_set (lua_State *L, const TValue *t, TValue *key, TValue *value) {
  const TValue *slot;
  if (luaV_fastget(L, t, key, slot, luaH_get)) {
    luaV_finishfastset(L, t, slot, value);
  }
  else
    luaV_finishset(L, t, key, value, slot);
}

/* --- strings --- */

#define tlua_equal_long(a, b) luaS_eqlngstr(a, b)
/* Whether strings of different tags differ. */
#define TLUA_TAGS_TELL_STRINGS 1
#define TLUA_SHORT_BYTES(length) sizelstring(length)
/* Whether a string's characters follow it, so that what lies before them is its own. */
#define TLUA_STRINGS_ARE_WHOLE 1
/* Whether the value is a string that is no key of a table as it is. */
#define tlua_is_external(v) 0
/* Whether floats are written with as many places at most; else with as many as they need. */
#define TLUA_FLOATS_HAVE_14_PLACES 1
/* The length of a float as text. The '.0' of one that looks like an integer is added by hand, as in Lua. */
static inline size_t tlua_float_length (const TValue *number, char *buffer, size_t room) {
  int length = lua_number2str(buffer, room, fltvalue(number));
  return (size_t)length + (buffer[strspn(buffer, "-0123456789")] == '\0' ? 2 : 0);
}

#else

/* --- the collector's accounts --- */

#define tlua_owes(g) ((g)->GCdebt <= 0)
#define TLUA_OWES_NOT TL_INT_GT
#define tlua_put_off_debt(g, bytes) ((g)->GCdebt += (bytes), (g)->GCtotalbytes += (bytes))
#define tlua_main_thread(g) mainthread(g)

/* As in ldo.c, which keeps it to itself. */
#if defined(LUAI_MAXSTACK)
#define TLUA_MOST_STACK LUAI_MAXSTACK
#else
#define TLUA_MOST_STACK 1000000
#endif

/* --- instructions --- */

#define tlua_is_open(i) luaP_isIT(i)
#define TLUA_LIST_COUNT(i) GETARG_vB(i)
#define TLUA_LIST_BEFORE(i) GETARG_vC(i)
#define TLUA_LIST_UNIT (MAXARG_vC + 1)
#define TLUA_NEW_LOG(i) GETARG_vB(i)
#define TLUA_NEW_ITEMS(i) GETARG_vC(i)
#define TLUA_METHOD_IN_REGISTER(i) 0
#define TLUA_FROM_TABLE(i) TESTARG_k(i)
#define TLUA_CASES_OF_55 \
    case OP_GETVARG: return WRITES_A | READS_B | READS_C; \
    case OP_ERRNNIL: return READS_A;

#define TLUA_SHIFT_OPCODES(LOWERED) LOWERED(SHLI, tlua_lower_arith) LOWERED(SHRI, tlua_lower_arith)
#define TLUA_OPCODES_OF_55(LOWERED, LEFT) LEFT(GETVARG) LOWERED(ERRNNIL, tlua_lower_define)

#define TLUA_FOR_INDEX(a) ((a) + 2)
#define TLUA_FOR_COUNT(a) (a)
#define TLUA_FOR_STEP(a) ((a) + 1)
#define TLUA_FOR_VARIABLE(a) ((a) + 2)

#define TLUA_ITER_CONTROL(a) ((a) + 3)
#define TLUA_ITER_CLOSING(a) ((a) + 2)
#define TLUA_ITER_RESULT(a) ((a) + 3)
#define TLUA_HIDES_CONTROL 0

/* --- functions --- */

#define tlua_is_vararg(p) (isvararg(p) != 0)
#define tlua_hides_arguments(p) (((p)->flag & PF_VAHID) != 0)
#define tlua_has_argument_table(p) (((p)->flag & PF_VATAB) != 0)
#define TLUA_HAS_ARGUMENT_REGISTER 1
#define TLUA_MORE_OF_PAIRS 1

/* --- tables --- */

/* Inserted into ltable.c: the value of a key that is no index of the array part. */
const TValue *tlua_hash_slot (Table *t, const TValue *key);
const Node *tlua_last_free (const Table *t);
size_t tlua_nodes_bytes (unsigned count);

#define tlua_array_size(t) ((t)->asize)
#define TLUA_COUNT_OFFSET offsetof(Table, asize)
#define tlua_is_reached(t, place) ((place) < (t)->asize)
#define tlua_has_array(t) ((t)->asize != 0)
#define tlua_border(L, t) luaH_getn(L, t)
static inline const TValue *tlua_item (const Table *t, size_t place, TValue *store) {
  arr2obj(t, place, store);
  return store;
}
#define tlua_item_is_empty(t, place) tagisempty(*getArrTag(t, place))
#define tlua_put_item(L, t, place, value) obj2arr(t, place, value)
#define tlua_reach(t, n, store) tlua_item(t, (size_t)(n) - 1, store)
#define tlua_reach_and_put(L, t, n, value) obj2arr(t, (n) - 1, value)
const TValue *tlua_slot (Table *t, const TValue *key, TValue *store);
const TValue *tlua_slot_of_integer (Table *t, lua_Integer n, TValue *store);
#define tlua_slot_of_short(t, name) luaH_Hgetshortstr(t, name)
void tlua_finish_set (lua_State *L, Table *t, const TValue *key, const TValue *slot, TValue *value);
#define tlua_set_key(L, node, key) setnodekey(node, key)
/* No search gives nodes up here. */
#define tlua_free_node(t) ((void)(t), (Node *)NULL)
#define TLUA_NODES_BYTES(count) tlua_nodes_bytes(count)
#define TLUA_HAS_WHOLE_TABLES 0

static inline void tlua_do_get (lua_State *L, const TValue *t, TValue *key, StkId result) {
  lu_byte tag;
  luaV_fastget(t, key, s2v(result), luaH_get, tag);
  if (tagisempty(tag))
    luaV_finishget(L, t, key, result, tag);
}
static inline void tlua_do_set (lua_State *L, const TValue *t, TValue *key, TValue *value) {
  int found;
  luaV_fastset(t, key, value, found, luaH_pset);
  if (found == HOK)
    luaV_finishfastset(L, t, value);
  else
    luaV_finishset(L, t, key, value, found);
}

/* --- strings --- */

#define tlua_equal_long(a, b) luaS_eqstr(a, b)
#define TLUA_TAGS_TELL_STRINGS 0
#define TLUA_SHORT_BYTES(length) sizestrshr(length)
#define TLUA_STRINGS_ARE_WHOLE 0
#define tlua_is_external(v) isextstr(v)
#define TLUA_FLOATS_HAVE_14_PLACES 0
static inline size_t tlua_float_length (const TValue *number, char *buffer, size_t room) {
  lua_assert(room >= LUA_N2SBUFFSZ);
  (void)room;
  return luaO_tostringbuff(number, buffer);
}

#endif

#endif
