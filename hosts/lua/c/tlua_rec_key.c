/*
** Lowering of table accesses whose key is known only when they run, or is no part of a record.
**
** Problem: 't[k]' with a string in a variable, an integer beyond the array part, a float, a boolean or an object as key: the
** library's operations on records want constant keys, and the trace cannot guard a key that differs each time.
**
** Design: the entry is searched by a function of Lua's own, which answers its place or NULL; the trace guards that answer, then
** the tag of what is there, and reads or writes it directly. A new key takes a free node, or leaves the trace; the
** interpreter then builds the table anew.
**
** Invariant: no search moves the hint in 'alimit', and none answers a place in the array part, whose cells have other alias
** classes than the nodes. An entry that was found has a value that is not nil.
**
** Example, 'n = count[word]':   a = try_call find_key(context, layout, count, word)   -- leaves if absent
**                               guard_value(load(a, node.tag), integer); n = load(a, node.int)
*/

#include "lprefix.h"

#include <stddef.h>

#include "tlua_rec.h"

#include "lgc.h"
#include "ltable.h"
#include "lvm.h"

/* --- functions that compiled code calls --- */

static int is_in_array (const Table *t, int64_t index) {
  return l_castS2U(index) - 1u < luaH_realasize(t);
}

static const TValue *found (const TValue *slot) {
  return isempty(slot) ? NULL : slot;
}

static const TValue *find_integer (Table *t, int64_t index) {
  return is_in_array(t, index) ? NULL : found(luaH_getint(t, index));
}

/*
** Whether there is no value, in the array part or elsewhere. Not answered for the array part behind the hint in 'alimit': there
** the interpreter's search moves the hint, which decides what '#' makes of an array with holes, so it is left to it.
*/
static int64_t lacks_integer (Table *t, int64_t index) {
  if (is_in_array(t, index))
    return l_castS2U(index) - 1u < t->alimit && isempty(&t->array[index - 1]);
  return isempty(luaH_getint(t, index));
}

/* A float that stands for an integer is that integer as a key. */
static const TValue *find_float (Table *t, double number) {
  TValue key;
  lua_Integer index;
  if (luaV_flttointeger(number, &index, F2Ieq))
    return find_integer(t, index);
  setfltvalue(&key, number);
  return found(luaH_get(t, &key));
}

static int64_t lacks_float (Table *t, double number) {
  TValue key;
  lua_Integer index;
  if (luaV_flttointeger(number, &index, F2Ieq))
    return lacks_integer(t, index);
  setfltvalue(&key, number);
  return isempty(luaH_get(t, &key));
}

static const TValue *find_object (Table *t, GCObject *object, int64_t tt) {
  TValue key;
  val_(&key).gc = object;
  settt_(&key, cast_byte(tt));
  return found(luaH_get(t, &key));
}

static const TValue *find_boolean (Table *t, int64_t tt) {
  TValue key;
  settt_(&key, cast_byte(tt));
  return found(luaH_get(t, &key));
}

/* Whether 'luaH_newkey' will find a place for whatever key. Its own search gives nodes up as it goes; this one only looks. */
static int has_free_node (const Table *t) {
  if (isdummy(t))
    return 0;
  for (const Node *n = t->lastfree; n > t->node; ) {
    if (keyisnil(--n))
      return 1;
  }
  return 0;
}

/* The place for a key that has no value, with whatever value: the trace writes the real one at once. */
static const TValue *insert (lua_State *L, Table *t, const TValue *key) {
  const TValue *slot = luaH_get(t, key);
  if (isabstkey(slot)) {
    TValue any;
    if (!has_free_node(t))
      return NULL;
    setbfvalue(&any);
    luaH_finishset(L, t, key, slot, &any);
    luaC_barrierback(L, obj2gco(t), key);
    slot = luaH_get(t, key);
  }
  invalidateTMcache(t);
  return slot;
}

static const TValue *insert_integer (lua_State *L, Table *t, int64_t index) {
  TValue key;
  if (is_in_array(t, index))
    return NULL;
  setivalue(&key, index);
  return insert(L, t, &key);
}

static const TValue *insert_object (lua_State *L, Table *t, GCObject *object, int64_t tt) {
  TValue key;
  val_(&key).gc = object;
  settt_(&key, cast_byte(tt));
  return insert(L, t, &key);
}

/* --- what the library is told --- */

int tlua_describe_keys (tl_vm *vm, TluaSchema *schema) {
  const tl_class reads[] = {
    tl_alias_class(vm, "table.log_size"), tl_alias_class(vm, "table.nodes"), tl_alias_class(vm, "table.last_free"),
    tl_alias_class(vm, "table.count"), tl_alias_class(vm, "table.array"), tl_alias_class(vm, "table.flags"),
    tl_alias_class(vm, "array.tag"), tl_alias_class(vm, "node.key"), tl_alias_class(vm, "node.key_tag"),
    tl_alias_class(vm, "node.tag"), tl_alias_class(vm, "node.value"), tl_alias_class(vm, "node.next"),
    tl_alias_class(vm, "object.marked"), 0 };
  const tl_class writes[] = {
    tl_alias_class(vm, "table.last_free"), tl_alias_class(vm, "table.flags"), tl_alias_class(vm, "node.key"),
    tl_alias_class(vm, "node.key_tag"), tl_alias_class(vm, "node.tag"), tl_alias_class(vm, "node.value"),
    tl_alias_class(vm, "node.next"), tl_alias_class(vm, "object.marked"), 0 };
  struct { tl_func *id; const char *name; const void *address; const char *signature; int inserts; } const rows[] = {
    { &schema->find_integer, "find_integer", (const void *)find_integer, "ri>a", 0 },
    { &schema->lacks_integer, "lacks_integer", (const void *)lacks_integer, "ri>i", 0 },
    { &schema->find_float, "find_float", (const void *)find_float, "rf>a", 0 },
    { &schema->lacks_float, "lacks_float", (const void *)lacks_float, "rf>i", 0 },
    { &schema->find_object, "find_object", (const void *)find_object, "rri>a", 0 },
    { &schema->find_boolean, "find_boolean", (const void *)find_boolean, "ri>a", 0 },
    { &schema->insert_integer, "insert_integer", (const void *)insert_integer, "ari>a", 1 },
    { &schema->insert_object, "insert_object", (const void *)insert_object, "arri>a", 1 }
  };
  for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
    *rows[n].id = tl_add_func(vm, rows[n].name, rows[n].address, rows[n].signature, 0, reads, rows[n].inserts ? writes : NULL);
    if (*rows[n].id == 0)
      return 0;
  }
  return 1;
}

/* --- lowering --- */

/* A search for a key: the function, its arguments, and what it finds now (absent: an empty value). */
typedef struct Search {
  tl_func find;
  tl_func insert;             /* 0: new keys of this kind are left to the interpreter */
  tl_value arguments[3];
  uint32_t count;
  const TValue *now;
} Search;

/* Returns 0 if the recording is given up. */
static int search (TluaRecorder *rec, Operand t, Operand key, Search *s) {
  tl_vm *vm = rec->vm;
  const TluaSchema *schema = &rec->schema;
  s->arguments[0] = t.value;
  s->arguments[1] = key.value;
  s->count = 2;
  s->insert = 0;
  switch (key.tt) {
    case LUA_VNUMINT: s->find = schema->find_integer; s->insert = schema->insert_integer; break;
    case LUA_VNUMFLT: s->find = schema->find_float; break;
    case LUA_VFALSE: case LUA_VTRUE:
      s->find = schema->find_boolean;
      s->arguments[1] = tl_const_int(vm, key.tt);
      break;
    case ctb(LUA_VSHRSTR): case ctb(LUA_VLNGSTR): case ctb(LUA_VTABLE): case ctb(LUA_VLCL): case ctb(LUA_VCCL):
    case ctb(LUA_VUSERDATA): case ctb(LUA_VTHREAD):
      s->find = schema->find_object;
      s->insert = schema->insert_object;
      s->arguments[2] = tl_const_int(vm, key.tt);
      s->count = 3;
      break;
    default: tlua_rec_give_up(rec, "key of another type"); return 0;
  }
  s->now = luaH_get(hvalue(t.now), key.now);
  return 1;
}

/* Guards that there is no such key. */
static void guard_lacks (TluaRecorder *rec, Operand key, const Search *s) {
  tl_vm *vm = rec->vm;
  switch (key.tt) {
    case LUA_VNUMFLT:
      tl_guard(vm, TL_GUARD_TRUE, tl_call(vm, rec->schema.lacks_float, s->arguments, 2), 0, TL_EXIT_GUARD);
      return;
    case LUA_VNUMINT:
      tl_guard(vm, TL_GUARD_TRUE, tl_call(vm, rec->schema.lacks_integer, s->arguments, 2), 0, TL_EXIT_GUARD);
      return;
    default:
      tl_guard(vm, TL_GUARD_NULL, tl_call(vm, s->find, s->arguments, s->count), 0, TL_EXIT_GUARD);
      return;
  }
}

/* Guards that there is no such key, and no metamethod that would be asked for it (TM_N: none is). */
static int guard_absent (TluaRecorder *rec, Operand t, Operand key, const Search *s, TMS event) {
  if (event != TM_N && !tlua_rec_guard_no_metamethod(rec, t, event))
    return 0;
  guard_lacks(rec, key, s);
  return 1;
}

Operand tlua_rec_find_entry (TluaRecorder *rec, Operand t, Operand key, TMS event) {
  tl_vm *vm = rec->vm;
  Operand o = { .tag = 0 };
  Search s;
  if (!search(rec, t, key, &s))
    return o;
  if (isempty(s.now)) {
    if (guard_absent(rec, t, key, &s, event)) {
      o.tt = LUA_VNIL;
      o.tag = rec->schema.tag_of[LUA_VNIL];
    }
    return o;
  }
  o.tt = rawtt(s.now);
  o.now = s.now;
  tl_type type = tlua_payload(o.tt);
  if (rec->schema.tag_of[o.tt] == 0) {
    tlua_rec_give_up(rec, "value of an unknown type");
    return o;
  }
  o.tag = rec->schema.tag_of[o.tt];
  tl_value place = tl_try_call(vm, s.find, s.arguments, s.count);
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, rec->schema.node_tag, place), tl_const_int(vm, o.tt), TL_EXIT_GUARD);
  o.value = type != TL_VOID ? tl_load(vm, rec->schema.node_value[type], place) : 0;
  return o;
}

void tlua_rec_get_entry (TluaRecorder *rec, int result, Operand t, Operand key) {
  Search s;
  if (!search(rec, t, key, &s))
    return;
  if (!isempty(s.now) || !tlua_rec_has_metamethod(rec, t, TM_INDEX))
    tlua_rec_write_operand(rec, result, tlua_rec_find_entry(rec, t, key, TM_INDEX));
  else {
    guard_lacks(rec, key, &s);
    tlua_rec_index_behind(rec, result, t, key);
  }
}

static void store (TluaRecorder *rec, tl_value place, Operand value) {
  tl_type type = tlua_payload(value.tt);
  if (type != TL_VOID)
    tl_store(rec->vm, rec->schema.node_value[type], place, value.value);
  tl_store(rec->vm, rec->schema.node_tag, place, tl_const_int(rec->vm, value.tt));
}

static void set_new (TluaRecorder *rec, Operand t, Operand key, const Search *s, Operand value) {
  tl_vm *vm = rec->vm;
  int is_nil = novariant(value.tt) == LUA_TNIL;
  if (tlua_rec_has_metamethod(rec, t, TM_NEWINDEX)) {
    guard_lacks(rec, key, s);
    tlua_rec_newindex_behind(rec, t, key, value);
    return;
  }
  if (!is_nil && (s->insert == 0 || (isabstkey(s->now) && !has_free_node(hvalue(t.now))))) {
    tlua_rec_give_up(rec, "new key without a free node");
    return;
  }
  if (!guard_absent(rec, t, key, s, TM_NEWINDEX) || is_nil)  /* a nil for an absent key changes nothing */
    return;
  tlua_rec_guard_barrier(rec, t.value, value);
  tl_value arguments[4] = { tl_context(vm), s->arguments[0], s->arguments[1], s->count == 3 ? s->arguments[2] : 0 };
  store(rec, tl_try_call(vm, s->insert, arguments, s->count + 1), value);
}

void tlua_rec_set_entry (TluaRecorder *rec, Operand t, Operand key, Operand value) {
  Search s;
  if (!search(rec, t, key, &s) || value.tag == 0)
    return;
  if (isempty(s.now)) {
    set_new(rec, t, key, &s, value);
    return;
  }
  tl_value place = tl_try_call(rec->vm, s.find, s.arguments, s.count);
  tlua_rec_guard_barrier(rec, t.value, value);
  store(rec, place, value);
}
