/*
** Lowering of tables, upvalues, and lengths.
**
** Problem: 't[i]' may be an array element, a hash node, or a call of a metamethod; an upvalue may be a
** register of another frame.
**
** Design: only what is found in the table itself, without metamethods, is lowered. Positive integers use the
** array part and short strings that are constants the hash part, through the library's operations on records,
** so that it can tell one element from another. An upvalue is read through its pointer, open or closed, as
** the interpreter does it: the pointer is loaded in the trace, since it moves with the stack and when the
** upvalue is closed.
**
** Invariant: a store into a table without '__newindex' may make an absent element present; with one, only
** elements that are present (by a guard on the old value's tag) are written. Registers of the loop's frame
** are never reached through an upvalue's pointer.
**
** Example, 's = s + t[i]' with t an upvalue:
**   u = load closure.upvalue (item_addr closure 0); p = load upvalue.place u
**   guard_value(load upvalue.tag p, table)
**   t = load upvalue.ref p; x = get_item Table float t i; s' = float_add s x
*/

#include "lprefix.h"

#include <limits.h>
#include <stddef.h>

#include "tlua_rec.h"

#include "ldebug.h"
#include "lfunc.h"
#include "lgc.h"
#include "ltable.h"
#include "lvm.h"

/* --- metatables --- */

int tlua_rec_guard_no_metamethod (TluaRecorder *rec, Operand t, TMS event) {
  tl_vm *vm = rec->vm;
  Table *metatable = hvalue(t.now)->metatable;
  tl_value reference = tl_get(vm, rec->schema.metatable, t.value);
  if (metatable == NULL) {
    tlua_rec_guard_metatable(rec, reference, metatable);
    return 1;
  }
  /* fasttm leaves a mark in the flags when there is no such metamethod; stores of new keys take it away */
  if (fasttm(rec->thread, metatable, event) != NULL) {
    tlua_rec_give_up(rec, event == TM_INDEX ? "metamethod __index" : event == TM_NEWINDEX
                     ? "metamethod __newindex"
                        : event == TM_LEN ? "metamethod __len" : "metamethod __eq");
    return 0;
  }
  tlua_rec_guard_metatable(rec, reference, metatable);
  tl_value mark = tl_op2(vm, TL_INT_AND, tl_load(vm, rec->schema.flags, reference),
                         tl_const_int(vm, (int64_t)1 << event));
  tl_guard(vm, TL_GUARD_TRUE, mark, 0, TL_EXIT_GUARD);
  return 1;
}

/* --- tables --- */

static int is_table (TluaRecorder *rec, Operand t) {
  if (t.tt == ctb(LUA_VTABLE))
    return 1;
  tlua_rec_give_up(rec, "index of no table");
  return 0;
}

/* The tag of an element as it is now; nil and empty are two tags. 0 gives the recording up. */
static tl_tag element_tag (TluaRecorder *rec, const TValue *slot) {
  tl_tag tag = rec->schema.tag_of[rawtt(slot)];
  if (tag == 0)
    tlua_rec_give_up(rec, "value of an unknown type");
  return tag;
}

/*
** The array element at a positive integer, or NULL (then the recording is given up). Arrays that are appended
** to lie behind the hint that '#' leaves in 'alimit'.
*/
static const TValue *array_slot (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now) {
  Table *h = hvalue(t.now);
  lua_Unsigned place = (lua_Unsigned)index_now - 1u;
  if (place < h->alimit)
    return &h->array[place];
  if (place < luaH_realasize(h)) {
    tlua_rec_reach_item(rec, t, index);
    return &h->array[place];
  }
  tlua_rec_give_up(rec, "integer key outside the array part");  /* the callers have looked */
  return NULL;
}

static Operand integer_operand (TluaRecorder *rec, tl_value index, lua_Integer now, TValue *store) {
  setivalue(store, now);
  return (Operand){ .value = index, .tag = rec->schema.tag_of[LUA_VNUMINT], .tt = LUA_VNUMINT, .now = store };
}

/* The element is absent and stays so under a guard. */
static int guard_no_item (TluaRecorder *rec, Operand t, tl_value index, const TValue *slot) {
  tl_tag tag = element_tag(rec, slot);
  if (tag != 0)
    tl_get_item(rec->vm, rec->schema.table, tag, t.value, index);
  return tag != 0;
}

/*
** The element in that slot of the array part, without metamethods; its tag is 0 if the recording is given up.
*/
static Operand read_item (TluaRecorder *rec, Operand t, tl_value index, const TValue *slot) {
  Operand o = { .tag = 0 };
  if (isempty(slot) && !tlua_rec_guard_no_metamethod(rec, t, TM_INDEX))
    return o;
  tl_tag tag = element_tag(rec, slot);
  if (tag == 0)
    return o;
  o.value = tl_get_item(rec->vm, rec->schema.table, tag, t.value, index);
  o.tt = isempty(slot) ? LUA_VNIL : rawtt(slot);
  o.tag = rec->schema.tag_of[o.tt];
  o.now = slot;
  return o;
}

Operand tlua_rec_get_item (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now) {
  const TValue *slot = array_slot(rec, t, index, index_now);
  return slot != NULL ? read_item(rec, t, index, slot) : (Operand){ .tag = 0 };
}

static void get_item (TluaRecorder *rec, int result, Operand t, tl_value index, lua_Integer index_now) {
  TValue store;
  const TValue *slot = array_slot(rec, t, index, index_now);
  if (slot == NULL)
    return;
  if (!isempty(slot) || !tlua_rec_has_metamethod(rec, t, TM_INDEX))
    tlua_rec_write_operand(rec, result, read_item(rec, t, index, slot));
  else if (guard_no_item(rec, t, index, slot))
    tlua_rec_index_behind(rec, result, t, integer_operand(rec, index, index_now, &store));
}

static void set_item (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now, Operand value) {
  tl_vm *vm = rec->vm;
  TValue store;
  const TValue *slot = array_slot(rec, t, index, index_now);
  if (slot == NULL)
    return;
  int has_newindex = tlua_rec_has_metamethod(rec, t, TM_NEWINDEX);
  if (isempty(slot) && has_newindex) {
    if (guard_no_item(rec, t, index, slot))
      tlua_rec_newindex_behind(rec, t, integer_operand(rec, index, index_now, &store), value);
    return;
  }
  if (!has_newindex) {
    if (!tlua_rec_guard_no_metamethod(rec, t, TM_NEWINDEX))
      return;
  }
  else {
    tl_tag old = element_tag(rec, slot);
    if (old == 0)
      return;
    tl_get_item(vm, rec->schema.table, old, t.value, index);
  }
  tl_put_item(vm, rec->schema.table, value.tag, t.value, index, value.value);
}

uint32_t tlua_rec_node_index (Table *h, const TValue *slot) {
  return (uint32_t)(nodefromval(slot) - h->node);
}

/* Tables that are asked one for the other by '__index'; longer chains are left to the interpreter. */
#define LONGEST_CHAIN 8

/*
** The table in the field '__index' of the table's metatable, under guards; the key is absent in the table
** itself.
*/
static int follow_index (TluaRecorder *rec, Operand *t, const TValue *next) {
  tl_vm *vm = rec->vm;
  Table *metatable = hvalue(t->now)->metatable;
  TString *name = G(rec->thread)->tmname[TM_INDEX];
  tl_value reference = tl_get(vm, rec->schema.metatable, t->value);
  tlua_rec_guard_metatable(rec, reference, metatable);
  const TValue *slot = luaH_getshortstr(metatable, name);
  t->value = tl_get_key(vm, rec->schema.table, rec->schema.tag_of[ctb(LUA_VTABLE)], reference,
                        tl_const_ref(vm, name),
                        metatable->lsizenode, tlua_rec_node_index(metatable, slot));
  t->now = next;
  return 1;
}

/* A string's methods: the table in the field '__index' of the metatable that all strings share. */
static int string_methods (TluaRecorder *rec, Operand *t) {
  tl_vm *vm = rec->vm;
  Table *metatable = G(rec->thread)->mt[LUA_TSTRING];
  const TValue *next = fasttm(rec->thread, metatable, TM_INDEX);
  if (next == NULL || !ttistable(next)) {
    tlua_rec_give_up(rec, "index of no table");
    return 0;
  }
  TString *name = G(rec->thread)->tmname[TM_INDEX];
  tl_value reference = tl_load(vm, rec->schema.string_metatable,
                               tl_load(vm, rec->schema.global, tl_context(vm)));
  tl_guard(vm, TL_GUARD_NONNULL, reference, 0, TL_EXIT_GUARD);
  t->value = tl_get_key(vm, rec->schema.table, rec->schema.tag_of[ctb(LUA_VTABLE)], reference,
                        tl_const_ref(vm, name),
                        metatable->lsizenode, tlua_rec_node_index(metatable,
                                                                  luaH_getshortstr(metatable, name)));
  t->now = next;
  t->tt = ctb(LUA_VTABLE);
  return 1;
}

static Operand string_operand (TluaRecorder *rec, tl_value key, TString *name, TValue *store) {
  setsvalue(rec->thread, store, name);
  return (Operand){ .value = key, .tag = rec->schema.tag_of[rawtt(store)], .tt = rawtt(store), .now = store };
}

static void get_key (TluaRecorder *rec, int result, Operand t, TString *name) {
  tl_vm *vm = rec->vm;
  TValue store;
  tl_value key = tl_const_ref(vm, name);
  if (ttisstring(t.now) ? !string_methods(rec, &t) : !is_table(rec, t))
    return;
  for (int n = 0; n < LONGEST_CHAIN; n++) {
    Table *h = hvalue(t.now);
    const TValue *slot = luaH_getshortstr(h, name);
    if (!isempty(slot)) {
      tl_tag tag = element_tag(rec, slot);
      if (tag != 0) {
        tl_value value = tl_get_key(vm, rec->schema.table, tag, t.value, key, h->lsizenode,
                                    tlua_rec_node_index(h, slot));
        tlua_rec_write(rec, result, rawtt(slot), value);
      }
      return;
    }
    const TValue *next = fasttm(rec->thread, h->metatable, TM_INDEX);
    if (next == NULL && !tlua_rec_guard_no_metamethod(rec, t, TM_INDEX))
      return;
    tl_guard_key_absent(vm, rec->schema.table, t.value, key);
    if (next == NULL) {
      tlua_rec_write(rec, result, LUA_VNIL, 0);
      return;
    }
    if (!ttistable(next)) {
      tlua_rec_index_behind(rec, result, t, string_operand(rec, key, name, &store));
      return;
    }
    if (!follow_index(rec, &t, next))
      return;
  }
  tlua_rec_give_up(rec, "long chain of metatables");
}

/* 'object:name()': the method, and the object as its first argument. */
void tlua_lower_get_method (TluaRecorder *rec, Instruction i) {
  Operand object = tlua_rec_register(rec, GETARG_B(i));
  Operand key = tlua_rec_register_or_constant(rec, i);
  if (key.tt != ctb(LUA_VSHRSTR)) {
    tlua_rec_give_up(rec, "method with a long name");
    return;
  }
  int depth = rec->depth;
  get_key(rec, GETARG_A(i), object, tsvalue(key.now));
  if (rec->reason == NULL && rec->depth == depth)  /* else a metamethod was called, and it is written */
    tlua_rec_write_operand(rec, GETARG_A(i) + 1, object);
}

/* A nil for an absent key changes nothing. */
static void add_key (TluaRecorder *rec, Operand t, TString *name, Operand value) {
  tl_vm *vm = rec->vm;
  Table *h = hvalue(t.now);
  tl_value key = tl_const_ref(vm, name);
  TValue store;
  int is_nil = novariant(value.tt) == LUA_TNIL;
  if (tlua_rec_has_metamethod(rec, t, TM_NEWINDEX)) {
    tl_guard_key_absent(vm, rec->schema.table, t.value, key);
    tlua_rec_newindex_behind(rec, t, string_operand(rec, key, name, &store), value);
    return;
  }
  if (!tlua_rec_guard_no_metamethod(rec, t, TM_NEWINDEX))
    return;
  if (!is_nil && isabstkey(luaH_getshortstr(h, name)) && !tlua_rec_can_insert(h, name)) {
    tlua_rec_set_growing(rec, t, string_operand(rec, key, name, &store), value);
    return;
  }
  tl_guard_key_absent(vm, rec->schema.table, t.value, key);
  if (!is_nil)
    tl_insert_key(vm, rec->schema.table, value.tag, t.value, key, value.value);
}

/*
** The guard on the old value's tag makes sure that the entry is present, and not nil. A nil takes it away,
** which the library must know: the next new key may get its node. Both encodings of nil mean the same to Lua;
** the one that is declared as absent says so.
*/
static void set_key (TluaRecorder *rec, Operand t, TString *name, Operand value) {
  tl_vm *vm = rec->vm;
  if (!is_table(rec, t))
    return;
  Table *h = hvalue(t.now);
  const TValue *slot = luaH_getshortstr(h, name);
  if (isempty(slot)) {
    add_key(rec, t, name, value);
    return;
  }
  tl_tag old = element_tag(rec, slot);
  if (old == 0)
    return;
  tl_value key = tl_const_ref(vm, name);
  uint32_t entry = tlua_rec_node_index(h, slot);
  tl_tag tag = novariant(value.tt) == LUA_TNIL ? rec->schema.tag_of[LUA_VEMPTY] : value.tag;
  tl_get_key(vm, rec->schema.table, old, t.value, key, h->lsizenode, entry);
  tl_set_key(vm, rec->schema.table, tag, t.value, key, value.value, h->lsizenode, entry);
}

int tlua_rec_is_in_array (const Table *t, lua_Integer index) {
  return l_castS2U(index) - 1u < luaH_realasize(t);
}

/* The integer that the key stands for, as an operand of its own. */
static Operand integer_key (TluaRecorder *rec, Operand key, lua_Integer now, TValue *store) {
  Operand o = key;
  setivalue(store, now);
  o.value = tlua_rec_as_integer(rec, key, &now);
  o.tt = LUA_VNUMINT;
  o.tag = rec->schema.tag_of[LUA_VNUMINT];
  o.now = store;
  return o;
}

/* The key as an integer if it is one, or a float that stands for one; 0 if not. */
static int is_integer_key (Operand key, lua_Integer *now) {
  return novariant(key.tt) == LUA_TNUMBER && luaV_tointegerns(key.now, now, F2Ieq);
}

/* A metamethod gets the key as it is, though the table is searched for an integer. */
static int is_float_for_metamethod (TluaRecorder *rec, Operand t, Operand key, lua_Integer now, TMS event) {
  if (key.tt != LUA_VNUMFLT || !tlua_rec_has_metamethod(rec, t, event)
      || !isempty(luaH_getint(hvalue(t.now), now)))
    return 0;
  tlua_rec_give_up(rec, "float key for a metamethod");
  return 1;
}

void tlua_rec_get_element (TluaRecorder *rec, int result, Operand t, Operand key) {
  lua_Integer now;
  TValue store;
  if (is_integer_key(key, &now) && is_float_for_metamethod(rec, t, key, now, TM_INDEX))
    return;
  if (!is_integer_key(key, &now))
    tlua_rec_get_entry(rec, result, t, key);
  else if (tlua_rec_is_in_array(hvalue(t.now), now))
    get_item(rec, result, t, tlua_rec_as_integer(rec, key, &now), now);
  else
    tlua_rec_get_entry(rec, result, t, integer_key(rec, key, now, &store));
}

void tlua_lower_get_table (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_register(rec, GETARG_B(i));
  Operand key = tlua_rec_register(rec, GETARG_C(i));
  if (rec->reason == NULL && is_table(rec, t))
    tlua_rec_get_element(rec, GETARG_A(i), t, key);
}

void tlua_rec_set_element (TluaRecorder *rec, Operand t, Operand key, Operand value) {
  lua_Integer now;
  TValue store;
  if (is_integer_key(key, &now) && is_float_for_metamethod(rec, t, key, now, TM_NEWINDEX))
    return;
  if (!is_integer_key(key, &now))
    tlua_rec_set_entry(rec, t, key, value);
  else if (tlua_rec_is_in_array(hvalue(t.now), now))
    set_item(rec, t, tlua_rec_as_integer(rec, key, &now), now, value);
  else
    tlua_rec_set_entry(rec, t, integer_key(rec, key, now, &store), value);
}

void tlua_rec_set_index (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now, Operand value) {
  TValue store;
  Operand key = { .value = index, .tag = rec->schema.tag_of[LUA_VNUMINT], .tt = LUA_VNUMINT, .now = &store };
  setivalue(&store, index_now);
  if (tlua_rec_is_in_array(hvalue(t.now), index_now))
    set_item(rec, t, index, index_now, value);
  else
    tlua_rec_set_entry(rec, t, key, value);
}

void tlua_lower_set_table (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_register(rec, GETARG_A(i));
  Operand key = tlua_rec_register(rec, GETARG_B(i));
  Operand value = tlua_rec_register_or_constant(rec, i);
  if (rec->reason == NULL && is_table(rec, t))
    tlua_rec_set_element(rec, t, key, value);
}

void tlua_lower_get_index (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_register(rec, GETARG_B(i));
  int index = GETARG_C(i);
  TValue store;
  if (!is_table(rec, t))
    return;
  setivalue(&store, index);
  if (tlua_rec_is_in_array(hvalue(t.now), index))
    get_item(rec, GETARG_A(i), t, tl_const_int(rec->vm, index), index);
  else
    tlua_rec_get_entry(rec, GETARG_A(i), t, tlua_rec_constant(rec, &store));
}

void tlua_lower_set_index (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_register(rec, GETARG_A(i));
  Operand value = tlua_rec_register_or_constant(rec, i);
  int index = GETARG_B(i);
  if (is_table(rec, t))
    tlua_rec_set_index(rec, t, tl_const_int(rec->vm, index), index, value);
}

/* --- upvalues --- */

/* The upvalue object, read from the closure that runs: all closures of one function share its traces. */
static tl_value upvalue (TluaRecorder *rec, int n) {
  tl_vm *vm = rec->vm;
  tl_value closure = tl_op1(vm, TL_REF_TO_ADDR, tlua_rec_closure(rec));
  tl_value element = tl_item_addr(vm, closure, tl_const_int(vm, n), sizeof(UpVal *),
                                  (int32_t)offsetof(LClosure, upvals));
  return tl_load(vm, rec->schema.upvalue, element);
}

static UpVal *upvalue_now (TluaRecorder *rec, int n) {
  return ci_func(rec->ci)->upvals[n];
}

/*
** An upvalue may be a register of the loop's own frame, which a called function shares: then it is that
** register here too, in the trace's hands. Closures that traces make refer to no registers, so that those of
** called functions are nobody's upvalues. Returns the register, counted from the running frame, under a
** guard; or NOT_HERE, also under a guard.
*/
#define NOT_HERE INT_MAX

static int guard_register (TluaRecorder *rec, const UpVal *u, tl_value place) {
  tl_vm *vm = rec->vm;
  const TluaFrame *loop = &rec->frames[0];
  StkId base = rec->entry->func.p + 1;
  StkId now = (StkId)u->v.p;
  tl_value distance = tl_op2(vm, TL_INT_SUB, tl_op1(vm, TL_ADDR_TO_INT, place),
                             tl_op1(vm, TL_ADDR_TO_INT, tl_frame_base(vm)));
  if (upisopen(u) && base <= now && now < base + loop->p->maxstacksize) {
    tl_value there = tl_const_int(vm, (int64_t)((now - base) * (ptrdiff_t)sizeof(StackValue)));
    tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_EQ, distance, there), 0, TL_EXIT_GUARD);
    return (int)(now - base) - rec->frames[rec->depth].base;
  }
  tl_value size = tl_const_int(vm, (int64_t)(loop->p->maxstacksize * sizeof(StackValue)));
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_UINT_GE, distance, size), 0, TL_EXIT_GUARD);
  return NOT_HERE;
}

Operand tlua_rec_upvalue (TluaRecorder *rec, int n) {
  tl_vm *vm = rec->vm;
  UpVal *u = upvalue_now(rec, n);
  Operand o = tlua_rec_operand(rec, u->v.p);
  if (o.tag == 0)
    return o;
  tl_value place = tl_load(vm, rec->schema.upvalue_place, upvalue(rec, n));
  int r = guard_register(rec, u, place);
  if (r != NOT_HERE) {
    o.value = tl_slot_read(vm, r, o.tag);
    return o;
  }
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, rec->schema.upvalue_tag, place), tl_const_int(vm, o.tt),
           TL_EXIT_GUARD);
  tl_type type = tlua_payload(o.tt);
  if (type != TL_VOID)
    o.value = tl_load(vm, rec->schema.upvalue_value[type], place);
  return o;
}

void tlua_lower_set_upvalue (TluaRecorder *rec, Instruction i) {
  tl_vm *vm = rec->vm;
  int n = GETARG_B(i);
  UpVal *u = upvalue_now(rec, n);
  Operand value = tlua_rec_register(rec, GETARG_A(i));
  if (value.tag == 0)
    return;
  tl_value object = upvalue(rec, n);
  tl_value place = tl_load(vm, rec->schema.upvalue_place, object);
  int r = guard_register(rec, u, place);
  if (r != NOT_HERE) {
    tlua_rec_write_operand(rec, r, value);
    return;
  }
  if (iscollectable(value.now) && isblack(u) && iswhite(gcvalue(value.now))) {
    tlua_rec_give_up(rec, "upvalue barrier");
    return;
  }
  tlua_rec_guard_barrier(rec, object, value);
  tl_type type = tlua_payload(value.tt);
  if (type != TL_VOID)
    tl_store(vm, rec->schema.upvalue_value[type], place, value.value);
  tl_store(vm, rec->schema.upvalue_tag, place, tl_const_int(vm, value.tt));
}

/* --- lengths --- */

void tlua_lower_length (TluaRecorder *rec, Instruction i) {
  tl_vm *vm = rec->vm;
  Operand b = tlua_rec_register(rec, GETARG_B(i));
  tl_value result;
  switch (b.tt) {
    case ctb(LUA_VSHRSTR): result = tl_load(vm, rec->schema.short_length, b.value); break;
    case ctb(LUA_VLNGSTR): result = tl_load(vm, rec->schema.long_length, b.value); break;
    case ctb(LUA_VTABLE):
      if (tlua_rec_has_metamethod(rec, b, TM_LEN)) {
        tlua_rec_binary_metamethod(rec, b, b, TM_LEN, TLUA_META_VALUE, GETARG_A(i));
        return;
      }
      if (!tlua_rec_guard_no_metamethod(rec, b, TM_LEN))
        return;
      result = tl_call(vm, rec->schema.length, &b.value, 1);
      break;
    default: tlua_rec_give_up(rec, "length of no table or string"); return;
  }
  tlua_rec_write(rec, GETARG_A(i), LUA_VNUMINT, result);
}

/* --- instructions --- */

void tlua_lower_get_upvalue (TluaRecorder *rec, Instruction i) {
  Operand o = tlua_rec_upvalue(rec, GETARG_B(i));
  if (rec->reason == NULL)
    tlua_rec_write(rec, GETARG_A(i), o.tt, o.value);
}

void tlua_lower_get_field (TluaRecorder *rec, Instruction i) {
  get_key(rec, GETARG_A(i), tlua_rec_register(rec, GETARG_B(i)), tsvalue(rec->k + GETARG_C(i)));
}

void tlua_lower_set_field (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_register(rec, GETARG_A(i));
  set_key(rec, t, tsvalue(rec->k + GETARG_B(i)), tlua_rec_register_or_constant(rec, i));
}

void tlua_lower_get_upvalue_field (TluaRecorder *rec, Instruction i) {
  get_key(rec, GETARG_A(i), tlua_rec_upvalue(rec, GETARG_B(i)), tsvalue(rec->k + GETARG_C(i)));
}

void tlua_lower_set_upvalue_field (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_upvalue(rec, GETARG_A(i));
  set_key(rec, t, tsvalue(rec->k + GETARG_B(i)), tlua_rec_register_or_constant(rec, i));
}
