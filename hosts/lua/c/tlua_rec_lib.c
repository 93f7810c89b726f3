/*
** Lowering of calls of library functions: which function it is, and who lowers it.
**
** Problem: hot loops call 'math.floor', 'type', 'setmetatable' and their like, which are C functions; and a
** program may store them under any name, or other functions under theirs.
**
** Design: a function is what its address says. The address is guarded, and looked up in the tables with
** which the libraries register their functions; the name found there selects a lowering function, of
** tlua_rec_lib_base.c, tlua_rec_lib_math.c or tlua_rec_lib_string.c. What has none, or none for the
** arguments at hand, is called as it is where tlua_rec_cfunc.c knows that to be safe; the rest gives the
** recording up under its name. The two functions that hold the state of random numbers are closures: there
** the address of what the closure calls is guarded.
**
** Invariant: see tlua_rec_lib.h.
**
** Example, 'floor(x)' with 'local floor = math.floor':
**   guard_value(f, math_floor); then what the row { "floor", ... } of tlua_lib_math records
*/

#include "lprefix.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tlua_rec_cfunc.h"

/* --- dispatch --- */

static const LibraryRow no_rows[] = { { NULL, NULL } };

static const struct {
  const char *prefix;
  const luaL_Reg *(*functions) (void);
  const LibraryRow *rows;
} libraries[] = {
  { "", tlua_base_functions, tlua_lib_base },
  { "math.", tlua_math_functions, tlua_lib_math },
  { "math.", tlua_random_functions, tlua_lib_math },
  { "string.", tlua_string_functions, tlua_lib_string },
  { "table.", tlua_table_functions, tlua_lib_table },
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
  call->returned = 0;
  if (row == NULL && callable == NULL) {
    tlua_cfunc_give_up(rec, f, name);
    return;
  }
  guard_function(rec, call->function, f);
  if (row != NULL) {
    row->lower(rec, call);
    if (rec->at.reason == NULL || callable == NULL)
      return;
    rec->at.reason = NULL;
    call->returned = 0;
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
