/*
** Closures over registers that a recording makes: which there are, and how long they may be virtual.
**
** Problem: such a closure shares registers of a frame (tlua_rec_share.c). It may be made late, at an exit;
** but when the registers have been closed, and are others' by then, it is too late.
**
** Design: the recording keeps a list of those whose registers are not closed, by the values that they are in
** the trace; a side trace begins with those that its exit has left behind. Whoever meets such a value knows
** the function, and which registers its upvalues are. Where registers are about to be closed, the library
** tells whether anything but registers that die then knows the closure. If so, it is made, and leaves
** the list. It may share registers that are closed later as well: for these its frame is marked as shared.
** What a closure is and whose registers it shares is its *site*, whose number the code passes on.
**
** Invariant: a closure in the list shares registers of a frame of the recording.
**
** Example, 'return function () return k end': OP_RETURN closes k, and the closure is a result: it is made.
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "lfunc.h"

/* --- sites --- */

/* Site 0 is none. */
#define FIRST_SITE 1
#define MOST_SITES 65536

const TluaSite *tlua_rec_site (const TluaRecorder *rec, uint32_t site) {
  return &rec->sites[site];
}

void tlua_rec_free_sites (lua_State *L, TluaRecorder *rec) {
  tlua_own(L, rec->sites, rec->site_room * sizeof(TluaSite), 0);
  rec->sites = NULL;
  rec->site_room = rec->site_count = 0;
}

static int grow_sites (TluaRecorder *rec) {
  lua_State *L = rec->trace.thread;
  uint32_t room = rec->site_room == 0 ? 16 : 2 * rec->site_room;
  if (room > MOST_SITES)
    return 0;
  TluaSite *sites = (TluaSite *)tlua_own(L, rec->sites, rec->site_room * sizeof(TluaSite),
                                             room * sizeof(TluaSite));
  if (sites == NULL)
    return 0;
  if (rec->site_room == 0)
    sites[0] = (TluaSite){ .p = NULL };
  rec->sites = sites;
  rec->site_room = room;
  return 1;
}

/*
** A site is found again. So it is for a function that lies where another one was that has been freed: its
** closures take the same memory, and all else is read from the function.
*/
uint32_t tlua_rec_find_site (TluaRecorder *rec, Proto *p) {
  TluaSite wanted = { .p = p, .base = running_frame(rec)->base, .upvalues = p->sizeupvalues };
  for (int n = 0; n < p->sizeupvalues; n++)
    wanted.shared += p->upvalues[n].instack;
  for (uint32_t n = FIRST_SITE; n < rec->site_count; n++) {
    const TluaSite *site = &rec->sites[n];
    if (site->p == p && site->base == wanted.base && site->upvalues == wanted.upvalues
        && site->shared == wanted.shared)
      return n;
  }
  if (rec->site_count < FIRST_SITE)
    rec->site_count = FIRST_SITE;
  if (rec->site_count >= rec->site_room && !grow_sites(rec))
    return 0;
  rec->sites[rec->site_count] = wanted;
  return rec->site_count++;
}

/* --- the list --- */

/* Whether it shares a register below that one. */
static int shares_below (const Proto *p, int level) {
  for (int n = 0; n < p->sizeupvalues; n++) {
    if (p->upvalues[n].instack && p->upvalues[n].idx < level)
      return 1;
  }
  return 0;
}

static int highest_shared (const Proto *p) {
  int highest = -1;
  for (int n = 0; n < p->sizeupvalues; n++) {
    if (p->upvalues[n].instack && p->upvalues[n].idx > highest)
      highest = p->upvalues[n].idx;
  }
  return highest;
}

TluaMade *tlua_rec_add_made (TluaRecorder *rec, tl_value closure, uint32_t site, int depth) {
  TluaMades *made = &rec->trace.made;
  if (made->count == TLUA_MOST_MADE)
    return NULL;
  TluaMade *added = &made->closures[made->count++];
  *added = (TluaMade){ .closure = closure, .site = site, .depth = depth,
                       .highest = highest_shared(tlua_rec_site(rec, site)->p),
                       .calls = rec->trace.called.count };
  return added;
}

void tlua_rec_adopt_made (TluaRecorder *rec) {
  uint32_t site;
  tl_value closure;
  for (uint32_t n = 0; (closure = tl_nth_made(rec->vm, rec->schema.object.closure, n, &site)) != 0; n++) {
    int depth = rec->trace.depth;
    while (depth > 0 && rec->trace.frames[depth].base != tlua_rec_site(rec, site)->base)
      depth--;
    if (tlua_rec_add_made(rec, closure, site, depth) == NULL)
      tlua_rec_give_up(rec, "an exit leaves too many closures behind");
  }
}

const TluaMade *tlua_rec_made (const TluaRecorder *rec, tl_value closure) {
  const TluaMades *made = &rec->trace.made;
  for (int n = 0; n < made->count; n++) {
    if (made->closures[n].closure == closure)
      return &made->closures[n];
  }
  return NULL;
}

/* Whether a closure of the recording shares a register of the running frame. */
static int is_shared (const TluaRecorder *rec, const TluaMade *made, int r) {
  const Proto *p = tlua_rec_site(rec, made->site)->p;
  for (int n = 0; n < p->sizeupvalues && made->depth == rec->trace.depth; n++) {
    if (p->upvalues[n].instack && p->upvalues[n].idx == r)
      return 1;
  }
  return 0;
}

/* Whether an upvalue that is open from that register on is none that the recording's closures would share. */
static int has_others (const TluaRecorder *rec, int level) {
  const TluaMades *made = &rec->trace.made;
  for (const UpVal *u = rec->trace.thread->openupval; u != NULL; u = u->u.open.next) {
    int r = (int)(uplevel(u) - rec->at.base), n = 0;
    if (r < level)
      return 0;
    while (n < made->count && !is_shared(rec, &made->closures[n], r))
      n++;
    if (n == made->count)
      return 1;
  }
  return 0;
}

static int is_among (tl_value closure, const Operand *values, int count) {
  for (int n = 0; n < count; n++) {
    if (values[n].value == closure)
      return 1;
  }
  return 0;
}

int tlua_rec_settle_made (TluaRecorder *rec, int level, int dead, const Operand *values, int count) {
  tl_vm *vm = rec->vm;
  TluaMades *made = &rec->trace.made;
  int is_real = has_others(rec, level);
  for (int n = 0; n < made->count; n++) {
    TluaMade *this = &made->closures[n];
    if (this->depth != rec->trace.depth || this->highest < level)
      continue;
    if (tl_is_in_use(vm, this->closure, dead) || is_among(this->closure, values, count)) {
      const tl_value arguments[2] = { tl_context(vm), this->closure };
      if (this->calls == rec->trace.called.count)
        tl_call(vm, rec->schema.object.keep, arguments, 2);
      is_real = 1;
      if (shares_below(tlua_rec_site(rec, this->site)->p, level))
        running_frame(rec)->is_shared = 1;  /* these stay open, and the list forgets the closure */
    }
    *this = made->closures[--made->count];
    n--;
  }
  return is_real;
}
