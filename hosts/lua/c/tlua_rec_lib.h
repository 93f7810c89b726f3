/*
** Calls of library functions, shared by the files that lower them.
**
** Problem: a library function takes its arguments from the stack, checks them and throws; a trace has typed
** values and no stack.
**
** Design: a lowering function gets the arguments as operands and answers with results; it says by guards, or
** by giving up, under which conditions they are what the C function would have pushed. Who called takes care
** of registers and frames.
**
** Invariant: what throws is not lowered: the guards make sure that the interpreter makes the call, and
** raises the error, itself. As everywhere, guards come before effects.
**
** Example, 'math.sqrt(i)':   x = tlua_lib_float(rec, call, 0);   tlua_lib_add(rec, call, LUA_VNUMFLT,
** float_sqrt(x))
*/
#ifndef tlua_rec_lib_h
#define tlua_rec_lib_h

#include "tlua_rec.h"

#include "lauxlib.h"

/* More arguments or results than this in one call are left to the interpreter. */
#define TLUA_MOST_VALUES 64

typedef struct LibraryCall {
  Operand function;
  int count;                  /* of arguments */
  int wanted;                 /* results, or LUA_MULTRET */
  int returned;               /* results so far */
  Operand arguments[TLUA_MOST_VALUES];
  Operand results[TLUA_MOST_VALUES];
} LibraryCall;

typedef struct LibraryRow {
  const char *name;
  void (*lower) (TluaRecorder *rec, LibraryCall *call);
} LibraryRow;

/* Ended by a row without a name; each in the file of that name. */
extern const LibraryRow tlua_lib_base[];
extern const LibraryRow tlua_lib_table[];  /* in tlua_rec_lib_base.c */
extern const LibraryRow tlua_lib_math[];
extern const LibraryRow tlua_lib_string[];

/* --- what functions that compiled code calls have in common --- */

/* From this place on, the first item of the array part that has a value; if none has, their number. */
static inline unsigned int tlua_item_from (const Table *t, lua_Unsigned place) {
  unsigned int size = tlua_array_size(t);
  while (place < size && tlua_item_is_empty(t, place))
    place++;
  return place < size ? (unsigned int)place : size;
}

/* The same of the nodes; NULL: none has. */
static inline const Node *tlua_node_from (const Table *t, size_t place) {
  for (; place < (size_t)sizenode(t); place++) {
    if (!isempty(gval(gnode(t, place))))
      return gnode(t, place);
  }
  return NULL;
}

/*
** The characters of a string from 'i' to 'j', where negative positions count from the end: how many, and
** where they begin.
*/
static inline size_t tlua_slice (size_t length, int64_t i, int64_t j, size_t *from) {
  int64_t whole = (int64_t)length;
  int64_t first = i > 0 ? i : i < -whole || i == 0 ? 1 : whole + i + 1;
  int64_t last = j > whole ? whole : j >= 0 ? j : j < -whole ? 0 : whole + j + 1;
  if (first > last)
    return 0;
  *from = (size_t)first - 1;
  return (size_t)(last - first) + 1;
}

/* --- inserted into Lua's libraries --- */

const luaL_Reg *tlua_base_functions (void);
const luaL_Reg *tlua_math_functions (void);
const luaL_Reg *tlua_random_functions (void);
const luaL_Reg *tlua_string_functions (void);
const luaL_Reg *tlua_table_functions (void);
const luaL_Reg *tlua_utf8_functions (void);
const luaL_Reg *tlua_os_functions (void);
lua_Number tlua_random_float (void *state);
lua_Integer tlua_random_bits (void *state);
/* A number from 0 to n, n included. */
lua_Integer tlua_random_below (void *state, lua_Unsigned n);

/* --- tlua_rec_lib_value.c --- */

/* Adds a result. */
void tlua_lib_add (TluaRecorder *rec, LibraryCall *call, int tt, tl_value value);
void tlua_lib_add_operand (LibraryCall *call, Operand o);
/* Adds a boolean that is 'now', by a guard on what decides it (0: the tags do). */
void tlua_lib_add_boolean (TluaRecorder *rec, LibraryCall *call, int now, tl_value condition);
/* Adds a (short) string. */
void tlua_lib_add_name (TluaRecorder *rec, LibraryCall *call, const char *name);
/* Makes sure that the object lives as long as the trace; returns 0 without memory. */
int tlua_lib_keep (TluaRecorder *rec, GCObject *object);
/* The reference to a short string that lives as long as the trace. */
tl_value tlua_lib_name (TluaRecorder *rec, const char *name);
/* Whether there is such an argument (from 0), and it is not nil. */
int tlua_lib_has (const LibraryCall *call, int n);
int tlua_lib_has_number (const LibraryCall *call, int n);
/* The argument as a double, or as an integer; gives up if it is none. */
tl_value tlua_lib_float (TluaRecorder *rec, const LibraryCall *call, int n);
tl_value tlua_lib_integer (TluaRecorder *rec, const LibraryCall *call, int n, lua_Integer *now);
/* The length of a string. */
tl_value tlua_lib_length (TluaRecorder *rec, Operand string);
/* Guards the outcome of a condition. */
void tlua_lib_guard (TluaRecorder *rec, int outcome, tl_value condition);

/* The metatable that all values of this type share, with a guard whether there is one. */
tl_value tlua_lib_guard_type_metatable (TluaRecorder *rec, int type);
/*
** Guards that a metatable lacks a field which the library looks up by its name; gives up and returns 0 if it
** has it.
*/
int tlua_lib_guard_lacks (TluaRecorder *rec, const Table *metatable, tl_value reference, const char *field);

/* --- tlua_rec_lib_math.c --- */

int tlua_describe_math (tl_vm *vm, TluaLibrary *library);

/* --- tlua_rec_lib_string.c --- */

int tlua_describe_string_functions (tl_vm *vm, TluaLibrary *library);

/* --- tlua_rec_lib.c --- */

int tlua_describe_library (tl_vm *vm, TluaSchema *schema);
/* Lowers a call of a C function: fills in the results, or gives up. */
void tlua_rec_library (TluaRecorder *rec, LibraryCall *call);

#endif
