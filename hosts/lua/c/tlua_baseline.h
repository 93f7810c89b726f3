/*
** Baseline code: what its parts share. See tlua_baseline.c.
*/
#ifndef tlua_baseline_h
#define tlua_baseline_h

#include "lobject.h"
#include "lstate.h"
#include "lstring.h"
#include "ltable.h"

#include "tlua_get.h"

/*
** What stencils and helpers get, and hand on. The fourth argument is for helpers that want to know which
** instruction it is; its register is free in stencils, since x86-64's shifts need it.
*/
#define TLUA_ARGS lua_State *L, CallInfo *ci, StkId base, const Instruction *pc, TValue *k
#define TLUA_PASS L, ci, base, pc, k
typedef int TluaCode (TLUA_ARGS);

/*
** Where an instruction has found its key last: in a hash part of so many nodes, so far from its start. It is
** an inline cache, as Smalltalk's (Deutsch, Schiffman: POPL 1984), that needs no shapes: the key that lies
** there is looked at, so that what it says may be wrong. Tables that are filled in one order have their keys
** at the same places.
*/
typedef struct TluaFieldCell {
  uint32_t offset;     /* in bytes */
  lu_byte log_size;    /* of the hash part; NO_SIZE: nothing was found so far */
} TluaFieldCell;
#define TLUA_NO_SIZE 0xff
/* The offsets in larger hash parts need more bits than a cell has. */
#define TLUA_MOST_LEARNT 27

/*
** What a constructor of tables has learned: how many nodes its tables come to. See tlua_room.c. It takes the
** room of one of the others.
*/
#define TLUA_ROOMS 5     /* 1, 2, 4, 8 and 16 nodes */
#define TLUA_WATCHED 20  /* tables before it is decided */
typedef struct TluaRoom {
  lu_byte room;                 /* nodes */
  lu_byte made;                 /* tables, as long as it is not decided */
  lu_byte reached[TLUA_ROOMS];  /* how many of them got so many nodes, by the logarithm */
} TluaRoom;

/*
** Does the call of the function below 'count' arguments, and leaves the result in its place; or returns 0,
** and has changed nothing.
*/
typedef int TluaQuickCall (lua_State *L, StkId func, ptrdiff_t count);
/* The same for so many results, or all: then L->top ends them. It ends the arguments. May move the stack. */
typedef int TluaMakeCall (lua_State *L, StkId func, ptrdiff_t count, int wanted);

/* Which C function a call has met last, and what does the call. It takes the room of three of the others. */
typedef struct TluaCallCell {
  lua_CFunction function;
  TluaQuickCall *quick;  /* of what neither collects nor throws; or NULL */
  TluaMakeCall *make;    /* of what may, once savedpc is set; or NULL */
} TluaCallCell;

/*
** Instructions whose rare cases, or all cases, a helper does. A helper does the whole instruction 'pc' as the
** interpreter would. These go on after it by a call in tail position.
*/
#define TLUA_SLOW_OPS(X) \
  X(SETUPVAL) X(GETTABUP) X(GETTABLE) X(GETI) X(GETFIELD) X(SETTABUP) X(SETTABLE) X(SETI) X(SETFIELD) \
  X(SELF) X(ADDI) X(ADDK) X(SUBK) X(MULK) X(MODK) X(DIVK) X(IDIVK) X(BANDK) X(BORK) X(BXORK) X(SHRI) X(ADD) \
  X(SUB) X(MUL) X(MOD) X(DIV) X(IDIV) X(BAND) X(BOR) X(BXOR) X(UNM) X(EQ) X(LT) X(LE) X(EQK) X(EQI) \
  X(LTI) X(LEI) X(GTI) X(GEI) X(CALL) X(TAILCALL) X(RETURN) X(RETURN0) X(RETURN1) X(FORPREP) \
  X(TFORPREP) X(TFORCALL) X(TFORLOOP)

#define TLUA_DECLARE_SLOW(name) TluaCode tlua_slow_##name;
TLUA_SLOW_OPS(TLUA_DECLARE_SLOW)
#undef TLUA_DECLARE_SLOW

/*
** Those that a helper always does, and after which the next instruction comes. They are called, and return 0
** if the code goes on there, or how the code ends. So the processor foresees where each of them returns to:
** of a jump to another place each time it would not.
*/
#define TLUA_WORK_OPS(X) \
  X(LOADKX) X(LOADNIL) X(POWK) X(POW) X(CONCAT) X(TBC) X(SETLIST) X(CLOSURE) X(VARARG) \
  X(VARARGPREP)
/* Those that a helper does where the stencil does not, in the same way. */
#define TLUA_RARE_WORK_OPS(X) X(LEN) X(SHLI) X(SHR) X(SHL) X(BNOT) X(CLOSE) X(NEWTABLE)
#define TLUA_DECLARE_WORK(name) TluaCode tlua_work_##name;
TLUA_WORK_OPS(TLUA_DECLARE_WORK)
TLUA_RARE_WORK_OPS(TLUA_DECLARE_WORK)
#undef TLUA_DECLARE_WORK
/* A black table got a reference to a white object; the instruction 'pc' is over but for the barrier. */
TluaCode tlua_slow_barrier;
/* The call 'pc' of a C function; L->top ends the arguments. Its cell stands where the constants do. */
TluaCode tlua_work_call;
/* A short string that a table lacks, where its metatables' __index lead to: nil; NULL if it is not known. */
const TValue *tlua_work_inherited (lua_State *L, const Table *t, const TString *key);
/*
** The value of an integer that is not in the array part, or of a key of another type than these two: nil
** where there is none, what its metatables' __index lead to, NULL if that is not known.
*/
const TValue *tlua_work_integer (lua_State *L, Table *t, lua_Integer n);
const TValue *tlua_work_key (lua_State *L, Table *t, const TValue *key);
/*
** Where the value of such a key is, or is to be put, if it is not nil; NULL if there is more to it. The
** integer is not in the array part, and the key no short string.
*/
TValue *tlua_work_place (lua_State *L, Table *t, const TValue *key);
/* Whether a string is below another one, or not above it. */
int tlua_work_less (lua_State *L, const TValue *x, const TValue *y);
int tlua_work_at_most (lua_State *L, const TValue *x, const TValue *y);
/* luaD_precall, of a C function. */
CallInfo *tlua_work_precall (lua_State *L, StkId func, int wanted);
/* Whether a step of a loop, 'pc', is done: see tlua_baseline_step. */
TluaCode tlua_work_step;
/*
** As tlua_work_call, for a call in tail position. Returns whether it is done: then all results lie from the
** function's place up to L->top.
*/
TluaCode tlua_work_tail;
/* Returns those results from the frame, where a hook wants to see that. */
TluaCode tlua_slow_results;

/* Whether a C function could be called now, with arguments up to 'top', and nobody would see it. */
#define tlua_may_call(L, top) ((L)->hookmask == 0 && (L)->stack_last.p - (top) > LUA_MINSTACK)

/* A function's entry has counted enough, or hooks are set: nothing of it has run. */
TluaCode tlua_slow_entry;
/* The loop whose head is 'pc' is hot; its jump back has been made. */
TluaCode tlua_slow_hot;
/* The trap is set; the frame goes on at 'pc'. */
TluaCode tlua_slow_trap;

/* What does calls of a C function with so many results. */
TluaCallCell tlua_baseline_meet (lua_State *L, lua_CFunction function, int wanted);
/*
** Does the call of a C function without a frame, if it is one that can be done so: the results, as many as
** are wanted, replace the function; L->top ends them if all are. L->top ends the arguments. Or returns 0. May
** collect.
*/
int tlua_baseline_call (lua_State *L, StkId func, int wanted);
/* As a TluaMakeCall: 'string.find', or 'string.match'. */
int tlua_baseline_search (lua_State *L, StkId func, ptrdiff_t count, int wanted, int find);
/* The same for the functions of these names. */
TluaMakeCall tlua_make_format, tlua_make_reverse, tlua_make_lower, tlua_make_upper, tlua_make_rep;
TluaMakeCall tlua_make_tostring;
/* A result that is a string. May collect. */
void tlua_put_string (lua_State *L, StkId func, const char *text, size_t length);
/* The same of a part of a string, which lives. */
void tlua_put_part (lua_State *L, StkId func, const TString *s, size_t from, size_t length);
/*
** As tlua_baseline_call, for the iterator of a loop: function, state and control value lie at 'ra'. The cell,
** or NULL, learns in which node the key lies.
*/
int tlua_baseline_step (lua_State *L, StkId ra, int wanted, TluaFieldCell *cell);

#endif
