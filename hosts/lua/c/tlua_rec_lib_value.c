/*
** Arguments and results of library functions.
**
** Problem and invariant: see tlua_rec_lib.h.
**
** Design: what functions of several libraries ask of their arguments, and how they answer. Strings that
** results need are made while recording, and live as long as the loop's function. The files that lower
** functions call this one, and this one calls none of them.
**
** Example, 'type(x)' of a table:   tlua_lib_add_name(rec, call, "table");
*/

#include "lprefix.h"

#include <string.h>

#include "tlua_rec_lib.h"

#include "lstring.h"
#include "ltable.h"

/* --- results --- */

void tlua_lib_add_operand (LibraryCall *call, Operand o) {
  call->results[call->returned++] = o;
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

int tlua_lib_keep (TluaRecorder *rec, GCObject *object) {
  TValue value;
  setgcovalue(rec->trace.thread, &value, object);
  return tlua_anchor(rec->trace.thread, rec->trace.bottom.owner, &value);
}

tl_value tlua_lib_name (TluaRecorder *rec, const char *text) {
  Name name = { .text = text, .string = NULL };
  if (!tlua_protected(rec->trace.thread, do_name, &name) || !tlua_lib_keep(rec, obj2gco(name.string))) {
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

tl_value tlua_lib_length (TluaRecorder *rec, Operand string) {
  int is_short = string.tt == ctb(LUA_VSHRSTR);
  const TluaStringIds *ids = &rec->schema.string;
  return tl_load(rec->vm, is_short ? ids->short_length : ids->long_length, string.value);
}

/* --- metatables --- */

tl_value tlua_lib_guard_type_metatable (TluaRecorder *rec, int type) {
  tl_vm *vm = rec->vm;
  tl_value global = tl_load(vm, rec->schema.state.global, tl_context(vm));
  tl_value reference = tl_load(vm, rec->schema.library.type_metatable[type], global);
  tl_guard(vm, G(rec->trace.thread)->mt[type] == NULL ? TL_GUARD_NULL : TL_GUARD_NONNULL, reference, 0,
           TL_EXIT_GUARD);
  return reference;
}

int tlua_lib_guard_lacks (TluaRecorder *rec, const Table *metatable, tl_value reference, const char *field) {
  Name name = { .text = field, .string = NULL };
  if (!tlua_protected(rec->trace.thread, do_name, &name) || !tlua_lib_keep(rec, obj2gco(name.string))) {
    tlua_rec_give_up(rec, "out of memory");
    return 0;
  }
  if (!isempty(tlua_slot_of_short((Table *)metatable, name.string))) {
    tlua_rec_give_up(rec, "metatable with a field for the library");
    return 0;
  }
  tlua_rec_guard_absent(rec, reference, metatable, name.string);
  return 1;
}
