/*
** Calls of C functions as they are, shared by the files that record and make them.
**
** Problem and design: see tlua_rec_cfunc.c.
**
** Invariant: the stack where arguments and results lie is touched by compiled code and the functions that make calls only,
** and matters only between the first argument's store and the last result's load.
**
** Example, 'string.find(s, "b")':   c = tlua_cfunc_find(rec, f, "string.find");   tlua_cfunc_call(rec, c, call)
*/
#ifndef tlua_rec_cfunc_h
#define tlua_rec_cfunc_h

#include "tlua_rec_lib.h"

/* A function that may be called from compiled code. */
typedef struct TluaCallable TluaCallable;

/* What calls need: a thread, on whose stack arguments and results are handed over. */
struct TluaCalls {
  lua_State *thread;          /* of its own, in the registry */
  TluaCallable *declared;     /* by the application, a list */
  int found;                  /* results of the last call that did not fail */
  TValue results[TLUA_MOST_VALUES];  /* where they are not on the stack */
};

/* Makes and frees what calls need; 0: no memory. */
int tlua_cfunc_open (lua_State *L, TluaRecorder *rec);
void tlua_cfunc_close (lua_State *L, TluaRecorder *rec);
int tlua_describe_calls (tl_vm *vm, TluaLibrary *library);

/* The function, which a library has registered under that name ("": none has), if it may be called; NULL if not. */
const TluaCallable *tlua_cfunc_find (TluaRecorder *rec, lua_CFunction f, const char *name);
/* Records the call, whose function is guarded already: fills in the results, or gives up. */
void tlua_cfunc_call (TluaRecorder *rec, const TluaCallable *callable, LibraryCall *call);
/*
** Gives up: nobody knows how to call this function. The reason names it, by the name under which a library has
** registered it, or the one that a module has for it ("": none is known).
*/
void tlua_cfunc_give_up (TluaRecorder *rec, lua_CFunction f, const char *registered);

#endif
