/*
** Closures over registers of a frame.
**
** Problem: a function expression in a loop makes a closure each time, and an upvalue for each register that
** it shares with the frame. Most are called a few times and forgotten: 'each(list, function (x) sum = sum + x
** end)'. But whoever gets hold of one, a debug function too, must find what the interpreter makes.
**
** Design: such a closure is an object of the trace (seed 002), with the upvalues of the function around it as
** its fields. As long as it is virtual nothing is made. What is called and known to be it is inlined with no
** guard, and its upvalues are registers of the trace (tlua_rec_upvalue.c). Where it must exist after all, at
** an exit, before a call that may see it, in a table, 'make_closure' makes it, and it shares the registers by
** open upvalues, as if the interpreter had made it: they are found by the base that the trace was entered
** with, and by the site, which knows the frame. What is shared lies in registers of the trace, too, and in
** memory wherever the program could look.
** Before the registers are closed nobody may know a closure that is virtual still (tlua_rec_made.c).
**
** Invariant: registers are shared as long as their frame has them. Nothing here throws or collects.
**
** Example, 'local k = i % 7; local f = function () return k + 1 end; s = s + f()':
**   r1 = new(closure, site 1)          -- site 1: that function, registers of the frame at 0
**   s' = int_add(s, int_add(k, 1))     -- and r1 is made nowhere
*/

#include "lprefix.h"

#include <stddef.h>
#include <stdio.h>

#include "tlua_rec.h"

#include "lfunc.h"
#include "lgc.h"

/* --- making them --- */

/* The open upvalue of a place in the stack, or where its successor hangs. */
static UpVal *find_open (lua_State *L, StkId level, UpVal ***where) {
  UpVal **at = &L->openupval;
  while (*at != NULL && uplevel(*at) > level)
    at = &(*at)->u.open.next;
  *where = at;
  return *at != NULL && uplevel(*at) == level ? *at : NULL;
}

/* A block becomes an object. */
static void set_header (lua_State *L, void *block, int tag) {
  global_State *g = G(L);
  GCObject *o = (GCObject *)block;
  o->marked = luaC_white(g);
  o->tt = (lu_byte)tag;
  o->next = g->allgc;
  g->allgc = o;
}

/* As 'luaF_findupval' does, in memory that is there. */
static UpVal *open_upvalue (lua_State *L, StkId level, UpVal **where, UpVal *u) {
  UpVal *next = *where;
  set_header(L, u, LUA_VUPVAL);
  u->v.p = s2v(level);
  u->jit_state = 0;
  u->u.open.next = next;
  u->u.open.previous = where;
  if (next != NULL)
    next->u.open.previous = &u->u.open.next;
  *where = u;
  if (!isintwups(L)) {
    L->twups = G(L)->twups;
    G(L)->twups = L;
  }
  return u;
}

/* A closure is white, so that what it shares, and what it is filled with, needs no barrier. */
static LClosure *make_closure (lua_State *L, StkId base, int64_t layout, int64_t number, int64_t keys) {
  const TluaShape shape = { .layout = (tl_layout)layout, .items = (uint32_t)number,
                            .keys = (uint32_t)keys };
  const TluaSite *site = tlua_rec_site((const TluaRecorder *)L->jit->engine_state, shape.items);
  Proto *p = site->p;
  UpVal *blocks[TLUA_MOST_UPVALUES], **where;
  int count = p->sizeupvalues, taken = 0, used = 0;
  LClosure *closure = (LClosure *)tlua_rec_block(L, &shape, TLUA_PART_CLOSURE);
  for (int n = 0; n < count && closure != NULL; n++) {
    StkId level = base + site->base + p->upvalues[n].idx;
    if (!p->upvalues[n].instack || find_open(L, level, &where) != NULL)
      continue;
    blocks[taken] = (UpVal *)tlua_rec_block(L, &shape, TLUA_PART_UPVALUES);
    if (blocks[taken] == NULL) {
      while (taken-- > 0)
        tlua_rec_free_block(L, &shape, TLUA_PART_UPVALUES, blocks[taken]);
      tlua_rec_free_block(L, &shape, TLUA_PART_CLOSURE, closure);
      return NULL;
    }
    taken++;
  }
  if (closure == NULL)
    return NULL;
  set_header(L, closure, LUA_VLCL);
  closure->nupvalues = cast_byte(count);
  closure->jit_identity = 0;
  closure->p = p;
  tlua_made(p);
  for (int n = 0; n < count; n++) {
    StkId level = base + site->base + p->upvalues[n].idx;
    UpVal *open = NULL;
    if (p->upvalues[n].instack && (open = find_open(L, level, &where)) == NULL)
      open = open_upvalue(L, level, where, blocks[used++]);
    closure->upvals[n] = open;
  }
  return closure;
}

/* Its argument has been made before that. */
static void keep (lua_State *L, LClosure *closure) {
  (void)L;
  (void)closure;
}

int tlua_describe_shared (tl_vm *vm, TluaSchema *schema, lua_State *main_thread) {
  TluaObjectIds *object = &schema->object;
  const size_t size = offsetof(LClosure, upvals) + TLUA_MOST_UPVALUES * sizeof(UpVal *);
  const tl_class reads[] = { tl_alias_class(vm, "thread.upvalues"), tl_alias_class(vm, "upvalue.place"), 0 };
  const tl_class writes[] = { tl_alias_class(vm, "thread.upvalues"), tl_alias_class(vm, "global.debt"), 0 };
  const tl_class kept[] = { tl_alias_class(vm, "global.debt"), 0 };
  object->closure = tl_add_layout(vm, "Closure", (uint32_t)size, 0, 0);
  for (int n = 0; n < TLUA_MOST_UPVALUES; n++) {
    char name[32];
    snprintf(name, sizeof(name), "closure.upvalue_%d", n + 1);
    size_t offset = offsetof(LClosure, upvals) + (size_t)n * sizeof(UpVal *);
    tl_cell cell = tl_add_cell(vm, name, (int32_t)offset, 8, TL_REF, tl_alias_class(vm, "closure.upvalue"),
                               0);
    object->shared[n] = tl_add_field(vm, object->closure, cell);
    if (object->shared[n] == 0)
      return 0;
  }
  tl_func make = tl_add_func(vm, "make_closure", (const void *)(uintptr_t)make_closure, "aaiii>r",
                             TL_EFFECT_ALLOCATES, reads, writes);
  object->keep = tl_add_func(vm, "keep", (const void *)(uintptr_t)keep, "ar>v", 0, NULL, kept);
  return make != 0 && object->keep != 0 && tl_set_alloc_in_frame(vm, object->closure, make) == TL_OK
      && tl_set_reserve(vm, object->closure, tlua_rec_reserve, main_thread) == TL_OK;
}

/* --- recording --- */

tl_value tlua_rec_make_shared (TluaRecorder *rec, Proto *p) {
  tl_vm *vm = rec->vm;
  if (p->sizeupvalues > TLUA_MOST_UPVALUES || rec->trace.made.count == TLUA_MOST_MADE)
    return 0;
  uint32_t site = tlua_rec_find_site(rec, p);
  if (site == 0)
    return 0;
  tl_value upvalues[TLUA_MOST_UPVALUES];
  for (int n = 0; n < p->sizeupvalues; n++) {
    if (!p->upvalues[n].instack)
      upvalues[n] = tlua_rec_upvalue_object(rec, p->upvalues[n].idx);
  }
  tl_value closure = tl_new_record(vm, rec->schema.object.closure, site, 0);
  for (int n = 0; n < p->sizeupvalues; n++) {
    if (!p->upvalues[n].instack)
      tl_set(vm, rec->schema.object.shared[n], closure, upvalues[n]);
  }
  tlua_rec_add_made(rec, closure, site, rec->trace.depth);
  return closure;
}
