/*
** Lowering of tables and lengths.
**
** Problem: 't[i]' may be an array element, a hash node, or the business of a metamethod, which may name
** another table to be asked.
**
** Design: positive integers use the array part and short strings that are constants the hash part, through
** the library's operations on records, so that it can tell one element from another; tlua_rec_key.c has all
** other keys. What is absent is asked of tlua_rec_meta.c, which calls the metamethod or returns the table
** that it is; here the search goes on in that one.
**
** Invariant: a store into a table without '__newindex' may make an absent element present; with one, only
** elements that are present (by a guard on the old value's tag) are written.
**
** Example, 's = s + t[i]' with t an upvalue:
**   u = load closure.upvalue (item_addr closure 0); p = load upvalue.place u
**   guard_value(load upvalue.tag p, table)
**   t = load upvalue.ref p; x = get_item Table float t i; s' = float_add s x
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "lgc.h"
#include "ltable.h"
#include "lvm.h"

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

static Operand integer_operand (TluaRecorder *rec, tl_value index, lua_Integer now, TValue *store) {
  setivalue(store, now);
  return (Operand){ .value = index, .tag = rec->schema.tag_of[LUA_VNUMINT], .tt = LUA_VNUMINT, .now = store };
}

/* The element is absent and stays so under a guard. */
static int guard_no_item (TluaRecorder *rec, Operand t, tl_value index, const TValue *slot) {
  tl_tag tag = element_tag(rec, slot);
  if (tag != 0)
    tlua_rec_load_item(rec, t.value, index, tag);
  return tag != 0;
}

/*
** The element in that slot of the array part, without metamethods; its tag is 0 if the recording is given
** up.
*/
static Operand read_item (TluaRecorder *rec, Operand t, tl_value index, const TValue *slot) {
  Operand o = { .tag = 0 };
  if (isempty(slot) && !tlua_rec_guard_no_metamethod(rec, t, TM_INDEX))
    return o;
  tl_tag tag = element_tag(rec, slot);
  if (tag == 0)
    return o;
  o.value = tlua_rec_load_item(rec, t.value, index, tag);
  o.tt = isempty(slot) ? LUA_VNIL : rawtt(slot);
  o.tag = rec->schema.tag_of[o.tt];
  o.now = slot;
  return o;
}

Operand tlua_rec_get_item (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now) {
  const TValue *slot = tlua_rec_item_now(rec, t, index, index_now);
  return slot != NULL ? read_item(rec, t, index, slot) : (Operand){ .tag = 0 };
}

/* Goes on in the table that a metamethod is, if it is one (tag 0: there is nothing left to do). */
static void get_in (TluaRecorder *rec, int result, Operand next, Operand key) {
  if (next.tag != 0)
    tlua_rec_get_element(rec, result, next, key);
}

static void set_element (TluaRecorder *rec, Operand t, Operand key, Operand value);

static void set_in (TluaRecorder *rec, Operand next, Operand key, Operand value) {
  if (next.tag != 0)
    set_element(rec, next, key, value);
}

/* Asks the metamethod; then, if it is a table, that one. */
static void ask_index (TluaRecorder *rec, int result, Operand t, Operand key) {
  get_in(rec, result, tlua_rec_ask_index(rec, result, t, key), key);
}

static void ask_newindex (TluaRecorder *rec, Operand t, Operand key, Operand value) {
  set_in(rec, tlua_rec_ask_newindex(rec, t, key, value), key, value);
}

static void get_item (TluaRecorder *rec, int result, Operand t, tl_value index, lua_Integer index_now) {
  TValue store;
  const TValue *slot = tlua_rec_item_now(rec, t, index, index_now);
  if (slot == NULL)
    return;
  if (!isempty(slot) || !tlua_rec_has_metamethod(rec, t, TM_INDEX))
    tlua_rec_write_operand(rec, result, read_item(rec, t, index, slot));
  else if (guard_no_item(rec, t, index, slot))
    ask_index(rec, result, t, integer_operand(rec, index, index_now, &store));
}

static void set_item (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now, Operand value) {
  TValue store;
  const TValue *slot = tlua_rec_item_now(rec, t, index, index_now);
  if (slot == NULL)
    return;
  int has_newindex = tlua_rec_has_metamethod(rec, t, TM_NEWINDEX);
  if (isempty(slot) && has_newindex) {
    if (guard_no_item(rec, t, index, slot))
      ask_newindex(rec, t, integer_operand(rec, index, index_now, &store), value);
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
    tlua_rec_load_item(rec, t.value, index, old);
  }
  tlua_rec_store_item(rec, t.value, index, value);
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
  TString *name = G(rec->trace.thread)->tmname[TM_INDEX];
  tl_value reference = tl_get(vm, rec->schema.table.metatable, t->value);
  tlua_rec_guard_metatable(rec, reference, metatable);
  const TValue *slot = tlua_slot_of_short(metatable, name);
  t->value = tl_get_key(vm, rec->schema.table.layout, rec->schema.tag_of[ctb(LUA_VTABLE)], reference,
                        tl_const_ref(vm, name),
                        metatable->lsizenode, tlua_rec_node_index(metatable, slot));
  t->now = next;
  return 1;
}

/* A string's methods: the table in the field '__index' of the metatable that all strings share. */
static int string_methods (TluaRecorder *rec, Operand *t) {
  tl_vm *vm = rec->vm;
  Table *metatable = G(rec->trace.thread)->mt[LUA_TSTRING];
  const TValue *next = fasttm(rec->trace.thread, metatable, TM_INDEX);
  if (next == NULL || !ttistable(next)) {
    tlua_rec_give_up(rec, "index of no table");
    return 0;
  }
  TString *name = G(rec->trace.thread)->tmname[TM_INDEX];
  tl_value reference = tl_load(vm, rec->schema.state.string_metatable,
                               tl_load(vm, rec->schema.state.global, tl_context(vm)));
  tl_guard(vm, TL_GUARD_NONNULL, reference, 0, TL_EXIT_GUARD);
  t->value = tl_get_key(vm, rec->schema.table.layout, rec->schema.tag_of[ctb(LUA_VTABLE)], reference,
                        tl_const_ref(vm, name),
                        metatable->lsizenode, tlua_rec_node_index(metatable,
                                                                  tlua_slot_of_short(metatable, name)));
  t->now = next;
  t->tt = ctb(LUA_VTABLE);
  return 1;
}

static Operand string_operand (TluaRecorder *rec, tl_value key, TString *name, TValue *store) {
  setsvalue(rec->trace.thread, store, name);
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
    const TValue *slot = tlua_slot_of_short(h, name);
    if (!isempty(slot)) {
      tl_tag tag = element_tag(rec, slot);
      if (tag != 0) {
        tl_value value = tl_get_key(vm, rec->schema.table.layout, tag, t.value, key, h->lsizenode,
                                    tlua_rec_node_index(h, slot));
        tlua_rec_write(rec, result, rawtt(slot), value);
      }
      return;
    }
    const TValue *next = fasttm(rec->trace.thread, h->metatable, TM_INDEX);
    if (next == NULL && !tlua_rec_guard_no_metamethod(rec, t, TM_INDEX))
      return;
    tlua_rec_guard_absent(rec, t.value, h, name);
    if (next == NULL) {
      tlua_rec_write(rec, result, LUA_VNIL, 0);
      return;
    }
    if (!ttistable(next)) {
      ask_index(rec, result, t, string_operand(rec, key, name, &store));
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
  Operand key = TLUA_METHOD_IN_REGISTER(i) ? tlua_rec_register(rec, GETARG_C(i))
      : tlua_rec_constant(rec, rec->at.k + GETARG_C(i));
  if (key.tt != ctb(LUA_VSHRSTR)) {
    tlua_rec_give_up(rec, "method with a long name");
    return;
  }
  int depth = rec->trace.depth;
  get_key(rec, GETARG_A(i), object, tsvalue(key.now));
  /* else a metamethod was called, and it is written */
  if (rec->at.reason == NULL && rec->trace.depth == depth)
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
    tlua_rec_guard_absent(rec, t.value, h, name);
    ask_newindex(rec, t, string_operand(rec, key, name, &store), value);
    return;
  }
  if (!tlua_rec_guard_no_metamethod(rec, t, TM_NEWINDEX))
    return;
  if (!is_nil && isabstkey(tlua_slot_of_short(h, name)) && !tlua_rec_can_insert(rec, t, name)) {
    tlua_rec_set_growing(rec, t, string_operand(rec, key, name, &store), value);
    return;
  }
  tlua_rec_guard_absent(rec, t.value, h, name);
  if (!is_nil)
    tl_insert_key(vm, rec->schema.table.layout, value.tag, t.value, key, value.value);
}

/*
** The guard on the old value's tag makes sure that the entry is present, and not nil. A nil takes it away,
** which the library must know: the next new key may get its node. Both encodings of nil mean the same to
** Lua; the one that is declared as absent says so.
*/
static void set_key (TluaRecorder *rec, Operand t, TString *name, Operand value) {
  tl_vm *vm = rec->vm;
  if (!is_table(rec, t))
    return;
  Table *h = hvalue(t.now);
  const TValue *slot = tlua_slot_of_short(h, name);
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
  tl_get_key(vm, rec->schema.table.layout, old, t.value, key, h->lsizenode, entry);
  tl_set_key(vm, rec->schema.table.layout, tag, t.value, key, value.value, h->lsizenode, entry);
}

int tlua_rec_is_in_array (const Table *t, lua_Integer index) {
  return l_castS2U(index) - 1u < tlua_array_size(t);
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
  TValue store;
  if (key.tt != LUA_VNUMFLT || !tlua_rec_has_metamethod(rec, t, event)
      || !isempty(tlua_slot_of_integer(hvalue(t.now), now, &store)))
    return 0;
  tlua_rec_give_up(rec, "float key for a metamethod");
  return 1;
}

/* A short string that the trace knows, as in 't[name]' of a function that got a constant: a field's name. */
static TString *known_name (TluaRecorder *rec, Operand key) {
  const void *object;
  return key.tt == ctb(LUA_VSHRSTR) && tl_is_const_ref(rec->vm, key.value, &object) ? tsvalue(key.now) : NULL;
}

void tlua_rec_get_element (TluaRecorder *rec, int result, Operand t, Operand key) {
  TString *name = known_name(rec, key);
  if (name != NULL) {
    get_key(rec, result, t, name);
    return;
  }
  lua_Integer now;
  TValue store;
  int is_integer = is_integer_key(key, &now);
  if (is_integer && is_float_for_metamethod(rec, t, key, now, TM_INDEX))
    return;
  if (is_integer && tlua_rec_is_in_array(hvalue(t.now), now)) {
    get_item(rec, result, t, tlua_rec_as_integer(rec, key, &now), now);
    return;
  }
  if (is_integer)
    key = integer_key(rec, key, now, &store);
  get_in(rec, result, tlua_rec_get_entry(rec, result, t, key), key);
}

void tlua_lower_get_table (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_register(rec, GETARG_B(i));
  Operand key = tlua_rec_register(rec, GETARG_C(i));
  if (rec->at.reason == NULL && is_table(rec, t))
    tlua_rec_get_element(rec, GETARG_A(i), t, key);
}

static void set_element (TluaRecorder *rec, Operand t, Operand key, Operand value) {
  TString *name = known_name(rec, key);
  if (name != NULL) {
    set_key(rec, t, name, value);
    return;
  }
  lua_Integer now;
  TValue store;
  int is_integer = is_integer_key(key, &now);
  if (is_integer && is_float_for_metamethod(rec, t, key, now, TM_NEWINDEX))
    return;
  if (is_integer && tlua_rec_is_in_array(hvalue(t.now), now)) {
    set_item(rec, t, tlua_rec_as_integer(rec, key, &now), now, value);
    return;
  }
  if (is_integer)
    key = integer_key(rec, key, now, &store);
  set_in(rec, tlua_rec_set_entry(rec, t, key, value), key, value);
}

void tlua_rec_set_index (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now, Operand value) {
  TValue store;
  set_element(rec, t, integer_operand(rec, index, index_now, &store), value);
}

void tlua_lower_set_table (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_register(rec, GETARG_A(i));
  Operand key = tlua_rec_register(rec, GETARG_B(i));
  Operand value = tlua_rec_register_or_constant(rec, i);
  if (rec->at.reason == NULL && is_table(rec, t))
    set_element(rec, t, key, value);
}

void tlua_lower_get_index (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_register(rec, GETARG_B(i));
  TValue store;
  setivalue(&store, GETARG_C(i));
  if (is_table(rec, t))
    tlua_rec_get_element(rec, GETARG_A(i), t, tlua_rec_constant(rec, &store));
}

void tlua_lower_set_index (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_register(rec, GETARG_A(i));
  Operand value = tlua_rec_register_or_constant(rec, i);
  int index = GETARG_B(i);
  if (is_table(rec, t))
    tlua_rec_set_index(rec, t, tl_const_int(rec->vm, index), index, value);
}

/* --- lengths --- */

void tlua_lower_length (TluaRecorder *rec, Instruction i) {
  tl_vm *vm = rec->vm;
  Operand b = tlua_rec_register(rec, GETARG_B(i));
  tl_value result;
  switch (b.tt) {
    case ctb(LUA_VSHRSTR): result = tl_load(vm, rec->schema.string.short_length, b.value); break;
    case ctb(LUA_VLNGSTR): result = tl_load(vm, rec->schema.string.long_length, b.value); break;
    case ctb(LUA_VTABLE):
      if (tlua_rec_has_metamethod(rec, b, TM_LEN)) {
        tlua_rec_binary_metamethod(rec, b, b, TM_LEN, TLUA_META_VALUE, GETARG_A(i));
        return;
      }
      if (!tlua_rec_guard_no_metamethod(rec, b, TM_LEN))
        return;
      result = tlua_rec_border(rec, b.value);
      break;
    default: tlua_rec_give_up(rec, "length of no table or string"); return;
  }
  tlua_rec_write(rec, GETARG_A(i), LUA_VNUMINT, result);
}

/* --- instructions --- */

void tlua_lower_get_field (TluaRecorder *rec, Instruction i) {
  get_key(rec, GETARG_A(i), tlua_rec_register(rec, GETARG_B(i)), tsvalue(rec->at.k + GETARG_C(i)));
}

void tlua_lower_set_field (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_register(rec, GETARG_A(i));
  set_key(rec, t, tsvalue(rec->at.k + GETARG_B(i)), tlua_rec_register_or_constant(rec, i));
}

void tlua_lower_get_upvalue_field (TluaRecorder *rec, Instruction i) {
  get_key(rec, GETARG_A(i), tlua_rec_upvalue(rec, GETARG_B(i)), tsvalue(rec->at.k + GETARG_C(i)));
}

void tlua_lower_set_upvalue_field (TluaRecorder *rec, Instruction i) {
  Operand t = tlua_rec_upvalue(rec, GETARG_A(i));
  set_key(rec, t, tsvalue(rec->at.k + GETARG_B(i)), tlua_rec_register_or_constant(rec, i));
}
