/*
** Calls of C functions as they are, shared by the files that record and make them.
**
** Problem and design: see tlua_rec_cfunc.c.
**
** Invariant: the stack where arguments and results lie is touched by compiled code and the functions that
** make calls only, and matters only between the first argument's store and the last result's load.
**
** Example, 'string.find(s, "b")':   c = tlua_cfunc_find(rec, f, "string.find");   tlua_cfunc_call(rec, c,
** call)
*/
#ifndef tlua_rec_cfunc_h
#define tlua_rec_cfunc_h

#include "tlua_rec_lib.h"

/*
** What a call may do besides making objects: TLUA_PURE reads nothing that changes, TLUA_STEPS goes on with a
** search of 'string.gmatch'.
*/
enum { TLUA_PURE, TLUA_STEPS, TLUA_READS, TLUA_WRITES, TLUA_ACTS };

/* What the results are: what a call during the recording finds, or one of these, known beforehand. */
enum { TLUA_BY_CALL, TLUA_NOTHING, TLUA_FIRST, TLUA_DESTINATION, TLUA_ELEMENT };

/*
** 'kinds' has a letter per argument, the last one stands for all that follow:
**   b  string, number, boolean or nil       p  a value that 'tostring' prints without metamethods
**   l  table without metatable              t  any table
**   a  anything                             -  no argument
*/
typedef struct TluaCallable {
  const char *name;
  const char *kinds;
  int effects;
  int answer;
  /* besides: whether the call does all or nothing */
  int (*is_ready) (lua_State *L, const TValue *arguments, int count);
  int (*shortcut) (lua_State *L, const TValue *arguments, int count, TValue *results);
  lua_CFunction f;            /* if it is not found by its name */
  struct TluaCallable *next;  /* of those that the application declared */
} TluaCallable;

/* What calls need: a thread, on whose stack arguments and results are handed over. */
struct TluaCalls {
  lua_State *thread;          /* of its own, in the registry */
  TluaCallable *declared;     /* by the application, a list */
  int found;                  /* results of the last call that did not fail */
  TValue results[TLUA_MOST_VALUES];  /* where they are not on the stack */
};

/* --- inserted into lstrlib.c: searches of 'string.gmatch' --- */

/* Where a search is; with 'back' it goes there again. */
void tlua_gmatch_places (void *state, const char *places[2], int back);
/* The next match, or its only capture: 1. 0: there is none; -1: it is something else, nothing was done. */
int tlua_gmatch_part (void *state, const char **part, size_t *length);

/* What the function that takes the steps keeps of its search. */
static inline void *tlua_gmatch_state (const CClosure *step) {
  return getudatamem(uvalue(&step->upvalue[2]));
}

/* --- tlua_rec_cfunc.c --- */

/* Makes and frees what calls need; 0: no memory. */
int tlua_cfunc_open (lua_State *L, TluaRecorder *rec);
void tlua_cfunc_close (lua_State *L, TluaRecorder *rec);
int tlua_describe_calls (tl_vm *vm, TluaLibrary *library);

/* Records the call, whose function is guarded already: fills in the results, or gives up. */
void tlua_cfunc_call (TluaRecorder *rec, const TluaCallable *callable, LibraryCall *call);
/*
** Gives up: nobody knows how to call this function. The reason names it, by the name under which a library
** has registered it, or the one that a module has for it ("": none is known).
*/
void tlua_cfunc_give_up (TluaRecorder *rec, lua_CFunction f, const char *registered);

/*
** The application promises that the function may be called; see tlua_declare_safe. Returns 0 if it is in the
** list already, a flag is unknown, or memory is short.
*/
int tlua_cfunc_declare (lua_State *L, TluaRecorder *rec, lua_CFunction f, unsigned int flags);

/* --- tlua_rec_cfunc_list.c --- */

/*
** The function, which a library has registered under that name ("": none has), if it may be called; NULL if
** not.
*/
const TluaCallable *tlua_cfunc_find (TluaRecorder *rec, lua_CFunction f, const char *name);

#endif
