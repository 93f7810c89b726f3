/*
** Room for the keys that tables get after they were made.
**
** Problem: '{}' that gets its fields one by one, as in 'local self = setmetatable({}, Point); self.x = 1',
** grows with the first, second, third and fifth of them: each time all keys move to a new block. And
** compiled code could not do without the table, as a key that makes it grow would be a call that may throw.
**
** Design: the block of a table may have room for more nodes than the table has; then it grows where it is
** (tlua_grow.c). Baseline code watches the first tables that a constructor makes: which ones these are is
** kept for the last few of all constructors, and a table that grows tells the one that made it. Later ones
** get as much room as half of the first came to. V8 calls it slack tracking. A trace knows how far the
** tables grow that it makes: it makes them with that much room, and so a new key of theirs needs no memory
** (tlua_rec_alloc.c).
**
** Invariant: programs cannot tell. A table grows at the same keys as ever, to the same number of nodes, and
** with its keys in the same places; and the memory that Lua counts is that of its nodes.
**
** Example: local self = setmetatable({}, Point); self.x = x; self.y = y
**   -- after twenty points: blocks of a table and two nodes
*/

#define LUA_CORE

#include "lprefix.h"

#include "tlua_baseline.h"
#include "tlua_internal.h"

#include "ldebug.h"
#include "lobject.h"
#include "lstate.h"

static TluaWatched *place_of (Tlua *jit, const Table *t) {
  return &jit->made[(point2uint(t) >> 4) % TLUA_LAST_MADE];
}

/* The largest room that at least half of the tables came to. */
static void decide (TluaRoom *site) {
  for (int log = 0; log < TLUA_ROOMS; log++) {
    if (site->reached[log] >= TLUA_WATCHED / 2)
      site->room = (lu_byte)(1 << log);
  }
}

void tlua_room_watch (lua_State *L, const Table *t, TluaRoom *site) {
  *place_of(L->jit, t) = (TluaWatched){ t, site, ci_func(L->ci)->p };
  if (++site->made == TLUA_WATCHED)
    decide(site);
}

void tlua_room_grew (lua_State *L, const Table *t) {
  TluaWatched *made = place_of(L->jit, t);
  if (made->table == t && t->lsizenode < TLUA_ROOMS && made->site->made < TLUA_WATCHED)
    made->site->reached[t->lsizenode]++;
}

void tlua_room_forget (Tlua *jit, const Proto *p) {
  for (int n = 0; n < TLUA_LAST_MADE; n++) {
    if (jit->made[n].owner == p)
      jit->made[n] = (TluaWatched){ NULL, NULL, NULL };
  }
}
