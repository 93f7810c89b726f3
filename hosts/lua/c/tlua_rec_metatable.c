/*
** Metatables: which one an object has, and what is in it.
**
** Problem: most accesses of objects ask a metatable, if only to find that a metamethod is absent.
**
** Design: the metamethod is looked up in the metatable as a field is, so that the trace holds as long as
** what it finds there is the same kind of value. Absence is guarded by the mark that Lua leaves in the
** metatable's flags, or by a guard on the key. Objects of one class share a metatable that the recording has
** met before.
**
** Invariant: nothing here calls a metamethod, so that all lowerings can use it.
**
** Example, a 't.x' that is absent:   m = get table.metatable t; guard_nonnull(m)
**                                    guard_true(int_and(load table.flags m, 1))   -- no __index
*/

#include "lprefix.h"

#include <stddef.h>

#include "tlua_rec.h"

#include "ltable.h"

int tlua_describe_metatables (tl_vm *vm, TluaSchema *schema) {
  static const char *const names[LUA_NUMTYPES] = {
    "global.nil_metatable", "global.boolean_metatable", "global.address_metatable", "global.number_metatable",
    NULL,
    NULL, "global.function_metatable", NULL, "global.thread_metatable" };
  for (int type = 0; type < LUA_NUMTYPES; type++) {
    if (names[type] == NULL)
      continue;
    size_t offset = offsetof(global_State, mt) + (size_t)type * sizeof(Table *);
    schema->state.metatables[type] = tl_add_cell(vm, names[type], (int32_t)offset, 8, TL_REF,
                                                 tl_alias_class(vm, "global.metatables"), 0);
    if (schema->state.metatables[type] == 0)
      return 0;
  }
  schema->state.metatables[LUA_TSTRING] = schema->state.string_metatable;
  return 1;
}

/* --- metatables --- */

/*
** Objects of one class have one metatable. If the recording has met it before, the guard says that it is the
** same one: then the trace knows all about it already, and asks nothing of it again.
*/
void tlua_rec_guard_metatable (TluaRecorder *rec, tl_value reference, const Table *now) {
  tl_vm *vm = rec->vm;
  TluaMetatables *met = &rec->trace.metatables;
  if (now == NULL) {
    tl_guard(vm, TL_GUARD_NULL, reference, 0, TL_EXIT_GUARD);
    return;
  }
  for (int n = 0; n < met->count; n++) {
    if (met->known[n].now == now) {
      tl_value is_same = tl_op2(vm, TL_REF_EQ, reference, met->known[n].value);
      tl_guard(vm, TL_GUARD_TRUE, is_same, 0, TL_EXIT_GUARD);
      return;
    }
  }
  tl_guard(vm, TL_GUARD_NONNULL, reference, 0, TL_EXIT_GUARD);
  if (met->count < TLUA_METATABLES)
    met->known[met->count++] = (TluaMetatable){ .now = now, .value = reference };
}

/* The value's metatable under a guard that it is there, or is not; 'now' is what it is. */
static tl_value metatable_of (TluaRecorder *rec, Operand o, Table **now) {
  tl_vm *vm = rec->vm;
  tl_value reference;
  if (o.tt == ctb(LUA_VTABLE)) {
    *now = hvalue(o.now)->metatable;
    reference = tl_get(vm, rec->schema.table.metatable, o.value);
  }
  else {
    int type = novariant(o.tt);
    *now = G(rec->trace.thread)->mt[type];
    tl_value global = tl_load(vm, rec->schema.state.global, tl_context(vm));
    reference = tl_load(vm, rec->schema.state.metatables[type], global);
  }
  tlua_rec_guard_metatable(rec, reference, *now);
  return reference;
}

/* --- metamethods --- */

uint32_t tlua_rec_node_index (Table *h, const TValue *slot) {
  return (uint32_t)(nodefromval(slot) - h->node);
}

/* A search that passes more nodes is a call, and so is one that finds the key's node with a nil in it. */
#define MOST_FOLLOWED 3

void tlua_rec_guard_absent (TluaRecorder *rec, tl_value t, const Table *now, TString *name) {
  const Node *first = gnode(now, lmod(name->hash, sizenode(now))), *node = first;
  uint32_t followed = 0;
  while (gnext(node) != 0 && keyval(node).gc != obj2gco(name) && followed < MOST_FOLLOWED) {
    node += gnext(node);
    followed++;
  }
  int is_seen = gnext(node) == 0 && keyval(node).gc != obj2gco(name);
  tl_guard_key_absent(rec->vm, rec->schema.table.layout, t, tl_const_ref(rec->vm, name),
                      is_seen ? now->lsizenode : UINT32_MAX, (uint32_t)(first - now->node), followed);
}

int tlua_rec_has_metamethod (TluaRecorder *rec, Operand t, TMS event) {
  return fasttm(rec->trace.thread, hvalue(t.now)->metatable, event) != NULL;
}

int tlua_rec_guard_no_metamethod (TluaRecorder *rec, Operand t, TMS event) {
  tl_vm *vm = rec->vm;
  Table *metatable = hvalue(t.now)->metatable;
  tl_value reference = tl_get(vm, rec->schema.table.metatable, t.value);
  if (metatable == NULL) {
    tlua_rec_guard_metatable(rec, reference, metatable);
    return 1;
  }
  /* fasttm leaves a mark in the flags when there is no such metamethod; stores of new keys take it away */
  if (fasttm(rec->trace.thread, metatable, event) != NULL) {
    tlua_rec_give_up(rec, event == TM_INDEX ? "metamethod __index" : event == TM_NEWINDEX
                     ? "metamethod __newindex"
                        : event == TM_LEN ? "metamethod __len" : "metamethod __eq");
    return 0;
  }
  tlua_rec_guard_metatable(rec, reference, metatable);
  tl_value mark = tl_op2(vm, TL_INT_AND, tl_load(vm, rec->schema.table.flags, reference),
                         tl_const_int(vm, (int64_t)1 << event));
  tl_guard(vm, TL_GUARD_TRUE, mark, 0, TL_EXIT_GUARD);
  return 1;
}

int tlua_rec_metamethod (TluaRecorder *rec, Operand o, TMS event, Operand *method) {
  tl_vm *vm = rec->vm;
  TString *name = G(rec->trace.thread)->tmname[event];
  Table *metatable;
  *method = (Operand){ .tt = LUA_VNIL, .tag = rec->schema.tag_of[LUA_VNIL], .value = 0 };
  if (rec->at.reason != NULL)
    return 0;
  if (novariant(o.tt) == LUA_TUSERDATA) {
    tlua_rec_give_up(rec, "metamethod of userdata");
    return 0;
  }
  tl_value reference = metatable_of(rec, o, &metatable);
  if (metatable == NULL)
    return 1;
  const TValue *slot = tlua_slot_of_short(metatable, name);
  if (isempty(slot)) {
    tlua_rec_guard_absent(rec, reference, metatable, name);
    return 1;
  }
  tl_value key = tl_const_ref(vm, name);
  method->now = slot;
  method->tt = rawtt(slot);
  method->tag = rec->schema.tag_of[rawtt(slot)];
  if (method->tag == 0) {
    tlua_rec_give_up(rec, "value of an unknown type");
    return 0;
  }
  method->value = tl_get_key(vm, rec->schema.table.layout, method->tag, reference, key, metatable->lsizenode,
                             tlua_rec_node_index(metatable, slot));
  return 1;
}
