/*
** Lowering of functions of the base library and of 'table'.
**
** Problem and design: see tlua_rec_lib.h.
**
** Invariant: a table's length may move a hint, which doing the call again does not show; all guards come
** before what a function changes.
**
** Example, 'local p = setmetatable({ x = i }, Point)':
**   guard_value(f, luaB_setmetatable); guard_null(get Table.metatable t)
**   guard_true(int_and(load table.flags Point, 4))   -- no __gc
**   set Table.metatable t Point        -- t stays virtual if it was
*/

#include "lprefix.h"

#include "tlua_rec_lib.h"

#include "ltable.h"
#include "lvm.h"

/* in lbaselib.c */
extern const lua_CFunction tlua_next;
extern const lua_CFunction tlua_ipairs_step;

/* --- arguments --- */

/* Whether there is such an argument at all: without it most functions throw. */
static int has_value (TluaRecorder *rec, const LibraryCall *call, int n) {
  if (n < call->count)
    return 1;
  tlua_rec_give_up(rec, "missing argument");
  return 0;
}

static int has_table (TluaRecorder *rec, const LibraryCall *call, int n) {
  if (n < call->count && call->arguments[n].tt == ctb(LUA_VTABLE))
    return 1;
  tlua_rec_give_up(rec, "argument is no table");
  return 0;
}

/* --- metatables --- */

/* The metatable that the table has may be exchanged: it is not protected. */
static int guard_not_protected (TluaRecorder *rec, Operand t) {
  const Table *now = hvalue(t.now)->metatable;
  tl_value reference = tl_get(rec->vm, rec->schema.table.metatable, t.value);
  tlua_rec_guard_metatable(rec, reference, now);
  return now == NULL || tlua_lib_guard_lacks(rec, now, reference, "__metatable");
}

static void get_metatable (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  if (!has_value(rec, call, 0))
    return;
  Operand o = call->arguments[0];
  Table *now;
  tl_value reference;
  if (o.tt == ctb(LUA_VUSERDATA)) {
    tlua_rec_give_up(rec, "getmetatable of userdata");
    return;
  }
  if (o.tt == ctb(LUA_VTABLE)) {
    now = hvalue(o.now)->metatable;
    reference = tl_get(vm, rec->schema.table.metatable, o.value);
    tlua_rec_guard_metatable(rec, reference, now);
  }
  else {
    now = G(rec->trace.thread)->mt[novariant(o.tt)];
    reference = tlua_lib_guard_type_metatable(rec, novariant(o.tt));
  }
  if (now == NULL)
    tlua_lib_add(rec, call, LUA_VNIL, 0);
  else if (tlua_lib_guard_lacks(rec, now, reference, "__metatable"))
    tlua_lib_add(rec, call, ctb(LUA_VTABLE), reference);
}

/* The mark in the flags stays until the metatable gets a new key: then it may have a finalizer. */
static int guard_no_finalizer (TluaRecorder *rec, Operand metatable) {
  tl_vm *vm = rec->vm;
  if (gfasttm(G(rec->trace.thread), hvalue(metatable.now), TM_GC) != NULL) {
    tlua_rec_give_up(rec, "setmetatable with a finalizer");
    return 0;
  }
  tl_value flags = tl_load(vm, rec->schema.table.flags, metatable.value);
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_AND, flags, tl_const_int(vm, (int64_t)1 << TM_GC)), 0,
           TL_EXIT_GUARD);
  return 1;
}

static void set_metatable (TluaRecorder *rec, LibraryCall *call) {
  if (!has_table(rec, call, 0) || !has_value(rec, call, 1))
    return;
  Operand t = call->arguments[0], metatable = call->arguments[1];
  if (novariant(metatable.tt) != LUA_TNIL && !has_table(rec, call, 1))
    return;
  if (!guard_not_protected(rec, t))
    return;
  int is_none = novariant(metatable.tt) == LUA_TNIL;
  if (!is_none && !guard_no_finalizer(rec, metatable))
    return;
  if (!is_none || hvalue(t.now)->metatable != NULL)
    tl_set(rec->vm, rec->schema.table.metatable, t.value,
           is_none ? tl_const_ref(rec->vm, NULL) : metatable.value);
  tlua_lib_add_operand(call, t);
}

/* --- other functions of the base library --- */

static void type (TluaRecorder *rec, LibraryCall *call) {
  if (has_value(rec, call, 0))
    tlua_lib_add_name(rec, call, luaT_typenames_[novariant(call->arguments[0].tt) + 1]);
}

/* All arguments come back. */
static void assert_true (TluaRecorder *rec, LibraryCall *call) {
  if (!tlua_lib_has(call, 0) || call->arguments[0].tt == LUA_VFALSE) {
    tlua_rec_give_up(rec, "assertion failed");
    return;
  }
  for (int n = 0; n < call->count; n++)
    tlua_lib_add_operand(call, call->arguments[n]);
}

/* A string that is constant in most programs, and in a compiled loop always. */
static int guard_string (TluaRecorder *rec, Operand o) {
  if (o.tt != ctb(LUA_VSHRSTR) || !tlua_lib_keep(rec, gcvalue(o.now))) {
    tlua_rec_give_up(rec, o.tt == ctb(LUA_VSHRSTR) ? "out of memory" : "select with a long string");
    return 0;
  }
  tl_guard(rec->vm, TL_GUARD_VALUE, o.value, tl_const_ref(rec->vm, gcvalue(o.now)), TL_EXIT_GUARD);
  return 1;
}

static void select_values (TluaRecorder *rec, LibraryCall *call) {
  lua_Integer first;
  if (call->count > 0 && ttisstring(call->arguments[0].now)) {
    if (*getstr(tsvalue(call->arguments[0].now)) != '#')
      tlua_rec_give_up(rec, "select with a numeral");
    else if (guard_string(rec, call->arguments[0]))
      tlua_lib_add(rec, call, LUA_VNUMINT, tl_const_int(rec->vm, call->count - 1));
    return;
  }
  tl_value index = tlua_lib_integer(rec, call, 0, &first);
  if (rec->at.reason != NULL)
    return;
  tl_guard(rec->vm, TL_GUARD_VALUE, index, tl_const_int(rec->vm, first), TL_EXIT_GUARD);
  if (first < 0)
    first += call->count;
  if (first < 1)
    tlua_rec_give_up(rec, "select out of range");
  for (int n = first > call->count ? call->count : (int)first; n < call->count && rec->at.reason == NULL; n++)
    tlua_lib_add_operand(call, call->arguments[n]);
}

/* The iterator, the value, and where the iterator begins. */
static void add_triple (TluaRecorder *rec, LibraryCall *call, lua_CFunction iterator, int tt,
                        tl_value start) {
  tlua_lib_add(rec, call, LUA_VLCF, tl_const_addr(rec->vm, (const void *)(uintptr_t)iterator));
  tlua_lib_add_operand(call, call->arguments[0]);
  tlua_lib_add(rec, call, tt, start);
}

static void index_pairs (TluaRecorder *rec, LibraryCall *call) {
  if (has_value(rec, call, 0))
    add_triple(rec, call, tlua_ipairs_step, LUA_VNUMINT, tl_const_int(rec->vm, 0));
}

static void all_pairs (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  if (!has_table(rec, call, 0))
    return;
  Operand t = call->arguments[0];
  const Table *now = hvalue(t.now)->metatable;
  tl_value metatable = tl_get(vm, rec->schema.table.metatable, t.value);
  tl_guard(vm, now == NULL ? TL_GUARD_NULL : TL_GUARD_NONNULL, metatable, 0, TL_EXIT_GUARD);
  if (now == NULL || tlua_lib_guard_lacks(rec, now, metatable, "__pairs"))
    add_triple(rec, call, tlua_next, LUA_VNIL, 0);
  for (int n = 0; n < TLUA_MORE_OF_PAIRS && rec->at.reason == NULL; n++)
    tlua_lib_add(rec, call, LUA_VNIL, 0);
}

static void raw_equal (TluaRecorder *rec, LibraryCall *call) {
  if (!has_value(rec, call, 1))
    return;
  Operand a = call->arguments[0], b = call->arguments[1];
  tlua_lib_add_boolean(rec, call, luaV_rawequalobj(a.now, b.now) != 0, tlua_rec_raw_equal(rec, a, b));
}

static void raw_length (TluaRecorder *rec, LibraryCall *call) {
  if (!has_value(rec, call, 0))
    return;
  Operand o = call->arguments[0];
  if (ttisstring(o.now))
    tlua_lib_add(rec, call, LUA_VNUMINT, tlua_lib_length(rec, o));
  else if (has_table(rec, call, 0))
    tlua_lib_add(rec, call, LUA_VNUMINT, tlua_rec_border(rec, o.value));
}

/* A hole in the array part is looked at under the guard that nobody else is asked for it. */
static void raw_get (TluaRecorder *rec, LibraryCall *call) {
  if (!has_table(rec, call, 0) || !has_value(rec, call, 1))
    return;
  Operand t = call->arguments[0], key = call->arguments[1];
  Table *h = hvalue(t.now);
  if (key.tt == LUA_VNUMFLT || novariant(key.tt) == LUA_TNIL)
    tlua_rec_give_up(rec, "rawget with a float or nil");
  else if (key.tt != LUA_VNUMINT || !tlua_rec_is_in_array(h, ivalue(key.now)))
    tlua_lib_add_operand(call, tlua_rec_find_entry(rec, t, key, TM_N));
  else if (tlua_item_is_empty(h, ivalue(key.now) - 1) && h->metatable != NULL)
    tlua_rec_give_up(rec, "rawget of a hole");
  else
    tlua_lib_add_operand(call, tlua_rec_get_item(rec, t, key.value, ivalue(key.now)));
}

/* Strings with a base, and without, are left to the interpreter. */
static void to_number (TluaRecorder *rec, LibraryCall *call) {
  if (!has_value(rec, call, 0))
    return;
  Operand o = call->arguments[0];
  if (tlua_lib_has(call, 1) || ttisstring(o.now))
    tlua_rec_give_up(rec, "tonumber of a string");
  else if (novariant(o.tt) == LUA_TNUMBER)
    tlua_lib_add_operand(call, o);
  else
    tlua_lib_add(rec, call, LUA_VNIL, 0);
}

/* Values of these types have no metatable but one that all share, where a program may put '__tostring'. */
static void to_string (TluaRecorder *rec, LibraryCall *call) {
  if (!has_value(rec, call, 0))
    return;
  Operand o = call->arguments[0];
  int type = novariant(o.tt);
  if (type != LUA_TNUMBER && type != LUA_TSTRING && type != LUA_TBOOLEAN && type != LUA_TNIL) {
    tlua_rec_give_up(rec, "tostring of an object");
    return;
  }
  const Table *now = G(rec->trace.thread)->mt[type];
  tl_value metatable = tlua_lib_guard_type_metatable(rec, type);
  if (now != NULL && !tlua_lib_guard_lacks(rec, now, metatable, "__tostring"))
    return;
  switch (type) {
    case LUA_TNUMBER: tlua_lib_add(rec, call, ctb(LUA_VSHRSTR), tlua_rec_number_string(rec, o)); break;
    case LUA_TSTRING: tlua_lib_add_operand(call, o); break;
    case LUA_TBOOLEAN: tlua_lib_add_name(rec, call, o.tt == LUA_VTRUE ? "true" : "false"); break;
    default: tlua_lib_add_name(rec, call, "nil"); break;
  }
}

/* --- tables as lists --- */

/* The table's metatable, if it has one, has none of two metamethods. */
static int guard_neither (TluaRecorder *rec, Operand t, TMS one, TMS other) {
  return tlua_rec_guard_no_metamethod(rec, t, one)
      && (hvalue(t.now)->metatable == NULL || tlua_rec_guard_no_metamethod(rec, t, other));
}

/*
** The length of a table without the metamethod. It may move a hint, which doing the call again does not show.
*/
static tl_value list_length (TluaRecorder *rec, Operand t, lua_Integer *now) {
  tl_value length = tlua_rec_border(rec, t.value);
  *now = (lua_Integer)tlua_border(rec->trace.thread, hvalue(t.now));
  tlua_rec_resume_here(rec);
  return length;
}

static void insert (TluaRecorder *rec, LibraryCall *call) {
  lua_Integer now;
  if (call->count != 2) {
    tlua_rec_give_up(rec, "table.insert at a position");
    return;
  }
  if (!has_table(rec, call, 0) || !guard_neither(rec, call->arguments[0], TM_LEN, TM_NEWINDEX))
    return;
  tl_value length = list_length(rec, call->arguments[0], &now);
  tl_value index = tl_op2(rec->vm, TL_INT_ADD, length, tl_const_int(rec->vm, 1));
  tlua_rec_set_index(rec, call->arguments[0], index, (lua_Integer)((lua_Unsigned)now + 1u),
                     call->arguments[1]);
}

/*
** Of an empty list the element 0 would be taken away. The last element is not nil, so that it is the table's
** own.
*/
static void take_last (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  lua_Integer now;
  if (tlua_lib_has(call, 1)) {
    tlua_rec_give_up(rec, "table.remove at a position");
    return;
  }
  if (!has_table(rec, call, 0) || !tlua_rec_guard_no_metamethod(rec, call->arguments[0], TM_LEN))
    return;
  Operand t = call->arguments[0];
  tl_value length = list_length(rec, t, &now);
  if (now < 1 || !tlua_rec_is_in_array(hvalue(t.now), now)) {
    tlua_rec_give_up(rec, now < 1 ? "table.remove of nothing" : "table.remove outside the array part");
    return;
  }
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_LT, tl_const_int(vm, 0), length), 0, TL_EXIT_GUARD);
  Operand last = tlua_rec_get_item(rec, t, length, now);
  if (rec->at.reason != NULL)
    return;
  Operand nil = { .value = 0, .tag = rec->schema.tag_of[LUA_VNIL], .tt = LUA_VNIL, .now = NULL };
  tlua_rec_set_index(rec, t, length, now, nil);
  tlua_lib_add_operand(call, last);
}

/* More elements than this are not worth a trace of their number. */
#define MOST_UNPACKED 16

static void unpack (TluaRecorder *rec, LibraryCall *call) {
  lua_Integer now;
  if (tlua_lib_has(call, 1) || tlua_lib_has(call, 2)) {
    tlua_rec_give_up(rec, "table.unpack of a range");
    return;
  }
  if (!has_table(rec, call, 0) || !guard_neither(rec, call->arguments[0], TM_LEN, TM_INDEX))
    return;
  Operand t = call->arguments[0];
  tl_value length = list_length(rec, t, &now);
  if (now > MOST_UNPACKED || (now > 0 && !tlua_rec_is_in_array(hvalue(t.now), now))) {
    tlua_rec_give_up(rec, "table.unpack of a long list");
    return;
  }
  tl_guard(rec->vm, TL_GUARD_VALUE, length, tl_const_int(rec->vm, now), TL_EXIT_GUARD);
  for (lua_Integer n = 1; n <= now && rec->at.reason == NULL; n++)
    tlua_lib_add_operand(call, tlua_rec_get_item(rec, t, tl_const_int(rec->vm, n), n));
}

/* --- rows --- */

const LibraryRow tlua_lib_base[] = {
  { "assert", assert_true }, { "getmetatable", get_metatable }, { "ipairs", index_pairs },
  { "pairs", all_pairs },
  { "rawequal", raw_equal }, { "rawget", raw_get }, { "rawlen", raw_length }, { "select", select_values },
  { "setmetatable", set_metatable }, { "tonumber", to_number }, { "tostring", to_string }, { "type", type },
  { NULL, NULL }
};

const LibraryRow tlua_lib_table[] = {
  { "insert", insert }, { "remove", take_last }, { "unpack", unpack }, { NULL, NULL }
};
