/*
** Lowering of calls of library functions: which function it is, and the functions of the base library and of
** 'table'.
**
** Problem: hot loops call 'math.floor', 'type', 'setmetatable' and their like, which are C functions; and a
** program may store them under any name, or other functions under theirs.
**
** Design: a function is what its address says. The address is guarded, and looked up in the tables with which
** the libraries register their functions; the name found there selects a lowering function. What has none, or
** none for the arguments at hand, is called as it is where tlua_rec_cfunc.c knows that to be safe; the rest
** gives the recording up under its name. The two functions that hold the state of random numbers are
** closures: there the address of what the closure calls is guarded.
**
** Invariant: see tlua_rec_lib.h. Strings that results need are made while recording, and live as long as the
** loop's function.
**
** Example, 'local p = setmetatable({ x = i }, Point)':
**   guard_value(f, luaB_setmetatable); guard_null(get Table.metatable t)
**   guard_true(int_and(load table.flags Point, 4))   -- no __gc
**   set Table.metatable t Point        -- t stays virtual if it was
*/

#include "lprefix.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tlua_rec_cfunc.h"

#include "lgc.h"
#include "lstring.h"
#include "ltable.h"
#include "lvm.h"

/* in lbaselib.c */
extern const lua_CFunction tlua_next;
extern const lua_CFunction tlua_ipairs_step;

/* --- results --- */

void tlua_lib_add_operand (LibraryCall *call, Operand o) {
  call->results[call->nresults++] = o;
}

void tlua_lib_add (TluaRecorder *rec, LibraryCall *call, int tt, tl_value value) {
  Operand o = { .value = value, .tag = rec->schema.tag_of[tt], .tt = tt, .now = NULL };
  tlua_lib_add_operand(call, o);
}

void tlua_lib_guard (TluaRecorder *rec, int outcome, tl_value condition) {
  tl_guard(rec->vm, outcome ? TL_GUARD_TRUE : TL_GUARD_FALSE, condition, 0, TL_EXIT_GUARD);
}

void tlua_lib_add_boolean (TluaRecorder *rec, LibraryCall *call, int now, tl_value condition) {
  if (condition != 0)
    tlua_lib_guard(rec, now, condition);
  tlua_lib_add(rec, call, now ? LUA_VTRUE : LUA_VFALSE, 0);
}

typedef struct Name {
  const char *text;
  TString *string;
} Name;

static void do_name (lua_State *L, void *data) {
  Name *name = (Name *)data;
  name->string = luaS_newlstr(L, name->text, strlen(name->text));
}

static int keep (TluaRecorder *rec, GCObject *object) {
  TValue value;
  setgcovalue(rec->thread, &value, object);
  return tlua_anchor(rec->thread, rec->frames[0].p, &value);
}

tl_value tlua_lib_name (TluaRecorder *rec, const char *text) {
  Name name = { .text = text, .string = NULL };
  if (!tlua_protected(rec->thread, do_name, &name) || !keep(rec, obj2gco(name.string))) {
    tlua_rec_give_up(rec, "out of memory");
    return 0;
  }
  return tl_const_ref(rec->vm, name.string);
}

void tlua_lib_add_name (TluaRecorder *rec, LibraryCall *call, const char *text) {
  tlua_lib_add(rec, call, ctb(LUA_VSHRSTR), tlua_lib_name(rec, text));
}

/* --- arguments --- */

int tlua_lib_has (const LibraryCall *call, int n) {
  return n < call->count && novariant(call->arguments[n].tt) != LUA_TNIL;
}

int tlua_lib_has_number (const LibraryCall *call, int n) {
  return n < call->count && novariant(call->arguments[n].tt) == LUA_TNUMBER;
}

tl_value tlua_lib_float (TluaRecorder *rec, const LibraryCall *call, int n) {
  if (tlua_lib_has_number(call, n))
    return tlua_rec_as_float(rec, call->arguments[n]);
  tlua_rec_give_up(rec, "argument is no number");
  return 0;
}

tl_value tlua_lib_integer (TluaRecorder *rec, const LibraryCall *call, int n, lua_Integer *now) {
  *now = 0;
  if (tlua_lib_has_number(call, n))
    return tlua_rec_as_integer(rec, call->arguments[n], now);
  tlua_rec_give_up(rec, "argument is no number");
  return 0;
}

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

tl_value tlua_lib_length (TluaRecorder *rec, Operand string) {
  int is_short = string.tt == ctb(LUA_VSHRSTR);
  return tl_load(rec->vm, is_short ? rec->schema.short_length : rec->schema.long_length, string.value);
}

/* --- metatables --- */

static int guard_no_metatable (TluaRecorder *rec, Operand t) {
  if (hvalue(t.now)->metatable != NULL) {
    tlua_rec_give_up(rec, "library function on a table with a metatable");
    return 0;
  }
  tl_guard(rec->vm, TL_GUARD_NULL, tl_get(rec->vm, rec->schema.metatable, t.value), 0, TL_EXIT_GUARD);
  return 1;
}

tl_value tlua_lib_guard_type_metatable (TluaRecorder *rec, int type) {
  tl_vm *vm = rec->vm;
  tl_value global = tl_load(vm, rec->schema.global, tl_context(vm));
  tl_value reference = tl_load(vm, rec->schema.library.type_metatable[type], global);
  tl_guard(vm, G(rec->thread)->mt[type] == NULL ? TL_GUARD_NULL : TL_GUARD_NONNULL, reference, 0,
           TL_EXIT_GUARD);
  return reference;
}

int tlua_lib_guard_lacks (TluaRecorder *rec, const Table *metatable, tl_value reference, const char *field) {
  Name name = { .text = field, .string = NULL };
  if (!tlua_protected(rec->thread, do_name, &name) || !keep(rec, obj2gco(name.string))) {
    tlua_rec_give_up(rec, "out of memory");
    return 0;
  }
  if (!isempty(luaH_getshortstr((Table *)metatable, name.string))) {
    tlua_rec_give_up(rec, "metatable with a field for the library");
    return 0;
  }
  tl_guard_key_absent(rec->vm, rec->schema.table, reference, tl_const_ref(rec->vm, name.string));
  return 1;
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
    reference = tl_get(vm, rec->schema.metatable, o.value);
    tlua_rec_guard_metatable(rec, reference, now);
  }
  else {
    now = G(rec->thread)->mt[novariant(o.tt)];
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
  if (gfasttm(G(rec->thread), hvalue(metatable.now), TM_GC) != NULL) {
    tlua_rec_give_up(rec, "setmetatable with a finalizer");
    return 0;
  }
  tl_value flags = tl_load(vm, rec->schema.flags, metatable.value);
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
  if (!guard_no_metatable(rec, t))
    return;
  if (novariant(metatable.tt) != LUA_TNIL) {
    if (!guard_no_finalizer(rec, metatable))
      return;
    tl_set(rec->vm, rec->schema.metatable, t.value, metatable.value);
  }
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
  if (o.tt != ctb(LUA_VSHRSTR) || !keep(rec, gcvalue(o.now))) {
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
  if (rec->reason != NULL)
    return;
  tl_guard(rec->vm, TL_GUARD_VALUE, index, tl_const_int(rec->vm, first), TL_EXIT_GUARD);
  if (first < 0)
    first += call->count;
  if (first < 1)
    tlua_rec_give_up(rec, "select out of range");
  for (int n = first > call->count ? call->count : (int)first; n < call->count && rec->reason == NULL; n++)
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
  tl_value metatable = tl_get(vm, rec->schema.metatable, t.value);
  tl_guard(vm, now == NULL ? TL_GUARD_NULL : TL_GUARD_NONNULL, metatable, 0, TL_EXIT_GUARD);
  if (now == NULL || tlua_lib_guard_lacks(rec, now, metatable, "__pairs"))
    add_triple(rec, call, tlua_next, LUA_VNIL, 0);
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
    tlua_lib_add(rec, call, LUA_VNUMINT, tl_call(rec->vm, rec->schema.length, &o.value, 1));
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
  else if (isempty(&h->array[ivalue(key.now) - 1]) && h->metatable != NULL)
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
  const Table *now = G(rec->thread)->mt[type];
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

/* The length of a table without metatable. It may move a hint, which doing the call again does not show. */
static tl_value list_length (TluaRecorder *rec, Operand t, lua_Integer *now) {
  tl_value length = tl_call(rec->vm, rec->schema.length, &t.value, 1);
  *now = (lua_Integer)luaH_getn(hvalue(t.now));
  tlua_rec_resume_here(rec);
  return length;
}

static void insert (TluaRecorder *rec, LibraryCall *call) {
  lua_Integer now;
  if (call->count != 2) {
    tlua_rec_give_up(rec, "table.insert at a position");
    return;
  }
  if (!has_table(rec, call, 0) || !guard_no_metatable(rec, call->arguments[0]))
    return;
  tl_value length = list_length(rec, call->arguments[0], &now);
  tl_value index = tl_op2(rec->vm, TL_INT_ADD, length, tl_const_int(rec->vm, 1));
  tlua_rec_set_index(rec, call->arguments[0], index, (lua_Integer)((lua_Unsigned)now + 1u),
                     call->arguments[1]);
}

/* Of an empty list the element 0 would be taken away. */
static void take_last (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  lua_Integer now;
  if (tlua_lib_has(call, 1)) {
    tlua_rec_give_up(rec, "table.remove at a position");
    return;
  }
  if (!has_table(rec, call, 0) || !guard_no_metatable(rec, call->arguments[0]))
    return;
  Operand t = call->arguments[0];
  tl_value length = list_length(rec, t, &now);
  if (now < 1 || !tlua_rec_is_in_array(hvalue(t.now), now)) {
    tlua_rec_give_up(rec, now < 1 ? "table.remove of nothing" : "table.remove outside the array part");
    return;
  }
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_LT, tl_const_int(vm, 0), length), 0, TL_EXIT_GUARD);
  Operand last = tlua_rec_get_item(rec, t, length, now);
  if (rec->reason != NULL)
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
  if (!has_table(rec, call, 0) || !guard_no_metatable(rec, call->arguments[0]))
    return;
  Operand t = call->arguments[0];
  tl_value length = list_length(rec, t, &now);
  if (now > MOST_UNPACKED || (now > 0 && !tlua_rec_is_in_array(hvalue(t.now), now))) {
    tlua_rec_give_up(rec, "table.unpack of a long list");
    return;
  }
  tl_guard(rec->vm, TL_GUARD_VALUE, length, tl_const_int(rec->vm, now), TL_EXIT_GUARD);
  for (lua_Integer n = 1; n <= now && rec->reason == NULL; n++)
    tlua_lib_add_operand(call, tlua_rec_get_item(rec, t, tl_const_int(rec->vm, n), n));
}

/* --- dispatch --- */

static const LibraryRow base_rows[] = {
  { "assert", assert_true }, { "getmetatable", get_metatable }, { "ipairs", index_pairs },
  { "pairs", all_pairs },
  { "rawequal", raw_equal }, { "rawget", raw_get }, { "rawlen", raw_length }, { "select", select_values },
  { "setmetatable", set_metatable }, { "tonumber", to_number }, { "tostring", to_string }, { "type", type },
  { NULL, NULL }
};

static const LibraryRow table_rows[] = {
  { "insert", insert }, { "remove", take_last }, { "unpack", unpack }, { NULL, NULL }
};

static const LibraryRow no_rows[] = { { NULL, NULL } };

static const struct {
  const char *prefix;
  const luaL_Reg *(*functions) (void);
  const LibraryRow *rows;
} libraries[] = {
  { "", tlua_base_functions, base_rows },
  { "math.", tlua_math_functions, tlua_lib_math },
  { "math.", tlua_random_functions, tlua_lib_math },
  { "string.", tlua_string_functions, tlua_lib_string },
  { "table.", tlua_table_functions, table_rows },
  { "utf8.", tlua_utf8_functions, no_rows },
  { "os.", tlua_os_functions, no_rows }
};

#define LIBRARIES (sizeof(libraries) / sizeof(libraries[0]))

/* The name under which a library registers the function, or NULL. */
static const char *registered_name (const luaL_Reg *functions, lua_CFunction f) {
  for (; functions->name != NULL; functions++) {
    if (functions->func == f)
      return functions->name;
  }
  return NULL;
}

/* Longer than any name of the libraries. */
#define LONGEST_NAME 40

/* How to lower the function, or NULL; and its name with its library's, "" if it is of no library. */
static const LibraryRow *find_row (lua_CFunction f, char full_name[LONGEST_NAME]) {
  full_name[0] = '\0';
  for (size_t n = 0; n < LIBRARIES; n++) {
    const char *name = registered_name(libraries[n].functions(), f);
    if (name == NULL)
      continue;
    snprintf(full_name, LONGEST_NAME, "%s%s", libraries[n].prefix, name);
    for (const LibraryRow *row = libraries[n].rows; row->name != NULL; row++) {
      if (strcmp(row->name, name) == 0)
        return row;
    }
    return NULL;
  }
  return NULL;
}

static void guard_function (TluaRecorder *rec, Operand o, lua_CFunction f) {
  tl_vm *vm = rec->vm;
  tl_value function = o.value;
  if (o.tt != LUA_VLCF)
    function = tl_load(vm, rec->schema.library.c_function, function);
  tl_guard(vm, TL_GUARD_VALUE, function, tl_const_addr(vm, (const void *)(uintptr_t)f), TL_EXIT_GUARD);
}

/* What has no lowering, or none for these arguments, is called as it is where that is safe. */
void tlua_rec_library (TluaRecorder *rec, LibraryCall *call) {
  const TValue *now = call->function.now;
  lua_CFunction f = call->function.tt == LUA_VLCF ? fvalue(now) : clCvalue(now)->f;
  char name[LONGEST_NAME];
  const LibraryRow *row = find_row(f, name);
  const TluaCallable *callable = tlua_cfunc_find(rec, f, name);
  call->nresults = 0;
  if (row == NULL && callable == NULL) {
    tlua_cfunc_give_up(rec, f, name);
    return;
  }
  guard_function(rec, call->function, f);
  if (row != NULL) {
    row->lower(rec, call);
    if (rec->reason == NULL || callable == NULL)
      return;
    rec->reason = NULL;
    call->nresults = 0;
    tlua_rec_resume_here(rec);
  }
  tlua_cfunc_call(rec, callable, call);
}

/* --- what the library is told --- */

int tlua_describe_library (tl_vm *vm, TluaSchema *schema) {
  TluaLibrary *library = &schema->library;
  tl_class metatables = tl_alias_class(vm, "global.metatables");
  for (int type = 0; type < LUA_NUMTYPES; type++) {
    char name[32];
    snprintf(name, sizeof name, "global.metatable_%d", type);
    size_t offset = offsetof(global_State, mt) + (size_t)type * sizeof(Table *);
    library->type_metatable[type] = tl_add_cell(vm, name, (int32_t)offset, 8, TL_REF, metatables, 0);
    if (library->type_metatable[type] == 0)
      return 0;
  }
  library->c_function = tl_add_cell(vm, "c_closure.function", (int32_t)offsetof(CClosure, f), 8, TL_ADDR,
                                    tl_alias_class(vm, "c_closure.function"), TL_IMMUTABLE);
  return library->c_function != 0 && tlua_describe_math(vm, library)
      && tlua_describe_string_functions(vm, library)
      && tlua_describe_calls(vm, library);
}
