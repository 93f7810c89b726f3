/*
** Variables that are never assigned after they were initialised, and closures that are the only ones of their
** function.
**
** Problem: most upvalues are local functions, modules and library functions, which a program sets once. To
** read them through the closure, the upvalue and its place, with a guard on what was found, takes a sixth of
** all operations of what programs make hot.
**
** Design: when a chunk is loaded, each function is told which of its upvalues no instruction assigns, other
** than the one that initialises the variable (LuaJIT's parser finds its immutable upvalues in the same way).
** Such a variable has one value as long as a closure that shares it. So a trace that knows which closure runs
** has the value as a constant. It knows by one guard: a closure that code relies on has a number of its own,
** in a field that is 0 in all others, so that a new closure at an old one's address is another one. What
** keeps the closure alive keeps the values, so that code keeps nothing alive. The closures of a function that
** has made a second one are told apart no more.
**
** Invariant: while a closure has a number, its upvalues are the same and those that are fixed have the same
** values. What may change them from outside (debug.setupvalue, debug.setlocal, debug.upvaluejoin) takes all
** numbers away, and code that has called such a function is left at its next resume point.
**
** Example:   local function half (x) return x / 2 end
**            for i = 1, n do s = s + half(i) end    -- 'half' is fixed: no load, no guard, no call
*/

#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "tlua_internal.h"

#include "lfunc.h"
#include "lgc.h"
#include "lopcodes.h"

/* --- what is fixed --- */

/* Upvalues with a higher index count as assigned. */
#define MOST_UPVALUES 64
#define UPVALUE_BIT(n) ((n) < MOST_UPVALUES ? (uint64_t)1 << (n) : 0)

#define MOST_VARIABLES SHRT_MAX  /* of one function, by Lua's parser */
#define MOST_REGISTERS 256

/* A walk over a function's instructions, which knows the variable that each register is at. */
typedef struct Walk {
  const Proto *p;
  int next;                       /* the first variable that has not begun */
  int count;                      /* registers that are variables at the instruction at hand */
  short variable[MOST_REGISTERS]; /* which */
  lu_byte is_assigned[MOST_VARIABLES / 8 + 1];
} Walk;

static void move_to (Walk *walk, int pc) {
  const LocVar *variables = walk->p->locvars;
  while (walk->count > 0 && variables[walk->variable[walk->count - 1]].endpc <= pc)
    walk->count--;
  for (; walk->next < walk->p->sizelocvars && variables[walk->next].startpc <= pc; walk->next++) {
    if (variables[walk->next].endpc > pc && walk->count < MOST_REGISTERS && walk->next < MOST_VARIABLES)
      walk->variable[walk->count++] = (short)walk->next;
  }
}

/*
** The variable that a register is where a closure over it is made, or -1. A local function is one from the
** next instruction on, and captures itself.
*/
static int captured (const Walk *walk, int pc, int r) {
  if (r < walk->count)
    return walk->variable[r];
  int is_own = r == walk->count && walk->next < walk->p->sizelocvars && walk->next < MOST_VARIABLES
      && walk->p->locvars[walk->next].startpc == pc + 1;
  return is_own ? walk->next : -1;
}

static void assign (Walk *walk, int variable) {
  walk->is_assigned[variable >> 3] |= (lu_byte)(1 << (variable & 7));
}

static int is_assigned (const Walk *walk, int variable) {
  return walk->is_assigned[variable >> 3] >> (variable & 7) & 1;
}

/* Registers that an instruction writes: from its A on, so many. */
static int count_written (const Proto *p, int pc) {
  Instruction i = p->code[pc];
  switch (GET_OPCODE(i)) {
    case OP_VARARGPREP: return 0;  /* its A is no register */
    case OP_SELF: return 2;
    case OP_LOADNIL: return GETARG_B(i) + 1;
    case OP_CALL: case OP_TAILCALL: case OP_VARARG: case OP_TFORCALL: return MOST_REGISTERS;
    default: return testAMode(GET_OPCODE(i)) ? 1 : 0;
  }
}

static void note_writes (Walk *walk, int pc) {
  int a = GETARG_A(walk->p->code[pc]);
  int end = a + count_written(walk->p, pc);
  for (int r = a; r < end && r < walk->count; r++)
    assign(walk, walk->variable[r]);
}

/* Until tell_functions has come to a function its 'jit_fixed' holds what it and those in it assign. */
static void note_assigned (Walk *walk, int pc, const Proto *inner) {
  for (int n = 0; n < inner->sizeupvalues; n++) {
    const Upvaldesc *upvalue = &inner->upvalues[n];
    int variable = upvalue->instack ? captured(walk, pc, upvalue->idx) : -1;
    if (variable >= 0 && (n >= MOST_UPVALUES || (inner->jit_fixed & UPVALUE_BIT(n))))
      assign(walk, variable);
  }
}

static void tell (const Walk *walk, int pc, Proto *inner) {
  uint64_t fixed = 0;
  for (int n = 0; n < inner->sizeupvalues; n++) {
    const Upvaldesc *upvalue = &inner->upvalues[n];
    int variable = upvalue->instack ? captured(walk, pc, upvalue->idx) : -1;
    if (upvalue->instack ? variable >= 0 && !is_assigned(walk, variable)
                         : (walk->p->jit_fixed & UPVALUE_BIT(upvalue->idx)) != 0)
      fixed |= UPVALUE_BIT(n);
  }
  inner->jit_fixed = fixed;
}

/* Tells the functions that are made in this one which of their upvalues are fixed; its own are known. */
static void tell_inner (const Proto *p) {
  Walk walk;
  int variables = p->sizelocvars < MOST_VARIABLES ? p->sizelocvars : MOST_VARIABLES;
  memset(&walk, 0, offsetof(Walk, is_assigned) + (size_t)variables / 8 + 1);
  walk.p = p;
  for (int pc = 0; pc < p->sizecode; pc++) {
    move_to(&walk, pc);
    note_writes(&walk, pc);
    if (GET_OPCODE(p->code[pc]) == OP_CLOSURE)
      note_assigned(&walk, pc, p->p[GETARG_Bx(p->code[pc])]);
  }
  walk.next = walk.count = 0;
  for (int pc = 0; pc < p->sizecode; pc++) {
    move_to(&walk, pc);
    if (GET_OPCODE(p->code[pc]) == OP_CLOSURE)
      tell(&walk, pc, p->p[GETARG_Bx(p->code[pc])]);
  }
}

static void tell_functions (const Proto *p) {
  if (p->sizep > 0)
    tell_inner(p);
  for (int n = 0; n < p->sizep; n++)
    tell_functions(p->p[n]);
}

static uint64_t collect_assigned (Proto *p) {
  uint64_t assigned = 0;
  for (int pc = 0; pc < p->sizecode; pc++) {
    if (GET_OPCODE(p->code[pc]) == OP_SETUPVAL)
      assigned |= UPVALUE_BIT(GETARG_B(p->code[pc]));
  }
  for (int n = 0; n < p->sizep; n++) {
    uint64_t inner = collect_assigned(p->p[n]);
    for (int m = 0; m < p->p[n]->sizeupvalues; m++) {
      const Upvaldesc *upvalue = &p->p[n]->upvalues[m];
      int may_assign = m >= MOST_UPVALUES || (inner & UPVALUE_BIT(m));
      if (!upvalue->instack && may_assign)
        assigned |= UPVALUE_BIT(upvalue->idx);
    }
  }
  p->jit_fixed = assigned;
  return assigned;
}

void tlua_loaded (lua_State *L, Proto *chunk) {
  const TluaEngine *engine = L->jit->engine;
  chunk->jit_fixed = ~collect_assigned(chunk);
  tell_functions(chunk);
  if (engine != NULL && engine->on_loaded != NULL)
    engine->on_loaded(L, chunk);
}

int tlua_is_fixed (const LClosure *closure, int n) {
  return (closure->p->jit_fixed & UPVALUE_BIT(n)) != 0 && closure->upvals[n]->jit_state != TLUA_SHARED;
}

/* --- closures with numbers --- */

int tlua_is_single (const LClosure *closure) {
  return closure->p->jit_made <= 1;
}

uint32_t tlua_identify (lua_State *L, LClosure *closure) {
  if (closure->jit_identity == 0 && L->jit->identities != UINT32_MAX)
    closure->jit_identity = ++L->jit->identities;
  return closure->jit_identity;
}

/*
** No code may rely any more on what it knows of closures. This takes long, and is rare: it happens when a
** variable is changed from outside that code has as a constant.
*/
static void distrust (lua_State *L) {
  L->jit->locals_set++;
  for (GCObject *o = G(L)->allgc; o != NULL; o = o->next) {
    if (o->tt == LUA_VLCL && gco2lcl(o)->jit_identity != 0) {
      gco2lcl(o)->jit_identity = 0;
      if (!isdead(G(L), o))  /* else its function may have been freed already */
        gco2lcl(o)->p->jit_made = 2;
    }
  }
}

static void changed (lua_State *L, UpVal *variable) {
  if (variable->jit_state == TLUA_RELIED_ON) {
    variable->jit_state = TLUA_SHARED;
    distrust(L);
  }
}

void tlua_upvalue_set (lua_State *L, GCObject *owner) {
  if (owner->tt == LUA_VUPVAL)
    changed(L, gco2upv(owner));
}

void tlua_upvalue_joined (lua_State *L, const LClosure *closure, UpVal *variable) {
  changed(L, variable);
  variable->jit_state = TLUA_SHARED;  /* functions may assign it that know nothing of the others */
  if (closure->jit_identity != 0)
    distrust(L);
}

void tlua_local_set (lua_State *L, StkId place) {
  L->jit->locals_set++;
  for (UpVal *variable = L->openupval; variable != NULL; variable = variable->u.open.next) {
    if (variable->v.p == s2v(place))
      changed(L, variable);
  }
}
