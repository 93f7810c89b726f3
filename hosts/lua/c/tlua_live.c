/*
** Liveness of registers, per function.
**
** Problem: a trace may forget a register at a loop head or at an exit only if no path of the interpreter
** reads it again. A guess that is too large makes temporaries loop-carried, a guess that is too small makes
** programs wrong.
**
** Design: two data-flow analyses over the bytecode, each opcode decoded on its own.
**   1. forward, "held": a register that an open upvalue or a pending to-be-closed variable may refer to. Set
**      by OP_CLOSURE, OP_TBC and OP_TFORPREP, cleared by OP_CLOSE. A held register can be read or written at
**      any time.
**   2. backward, "live": read on some path before it is written. An instruction within the scope of a named
**      variable counts as a read, since debug.getlocal in a function called there sees the variable whether
**      the program needs it or not.
** The result is the union, one bitmap for each instruction, kept in the function's TluaProto.
**
** Invariant: a register that is not live before an instruction may hold anything there without a change of
** the program's results. Both analyses err only towards live.
**
** Example, 'for i = 1, n do s = s + i * 2 end' with s in 1 and the loop in 2..5, the product in 6: before
** the first instruction of the body 1 to 5 are live and 6 is not.
*/

#define LUA_CORE

#include "lprefix.h"

#include <limits.h>
#include <string.h>

#include "tlua_internal.h"
#include "tlua_version.h"

#include "lopcodes.h"

/* Registers are at most 255. */
#define WORDS 4

typedef struct Registers {
  uint64_t word[WORDS];
} Registers;

static void include (Registers *set, int r) {
  set->word[r >> 6] |= (uint64_t)1 << (r & 63);
}

static void exclude (Registers *set, int r) {
  set->word[r >> 6] &= ~((uint64_t)1 << (r & 63));
}

static int includes (const Registers *set, int r) {
  return (int)(set->word[r >> 6] >> (r & 63)) & 1;
}

static void include_range (Registers *set, int first, int count) {
  for (int r = first; r < first + count; r++)
    include(set, r);
}

static void exclude_range (Registers *set, int first, int count) {
  for (int r = first; r < first + count; r++)
    exclude(set, r);
}

/* Adds 'more' and tells whether that changed anything. */
static int unite (Registers *set, const Registers *more) {
  uint64_t news = 0;
  for (int i = 0; i < WORDS; i++) {
    news |= more->word[i] & ~set->word[i];
    set->word[i] |= more->word[i];
  }
  return news != 0;
}

typedef struct Analysis {
  const Proto *p;
  int words;        /* of a row: as many as the function's registers need */
  uint64_t *live;   /* a row before each instruction; one more after the last, empty */
  uint64_t *held;
  lu_byte *named;   /* variables in scope at each instruction; they are in the first registers */
} Analysis;

static int limit_of (const Analysis *a) {
  return a->p->maxstacksize;
}

/* A row. */
static Registers row_of (const Analysis *a, const uint64_t *rows, int pc) {
  Registers set = { { 0 } };
  memcpy(set.word, rows + (size_t)pc * (size_t)a->words, (size_t)a->words * sizeof(uint64_t));
  return set;
}

static void unite_with_row (const Analysis *a, Registers *set, const uint64_t *rows, int pc) {
  Registers row = row_of(a, rows, pc);
  unite(set, &row);
}

/* Adds to a row and tells whether that changed anything. */
static int unite_row (const Analysis *a, uint64_t *rows, int pc, const Registers *more) {
  Registers row = row_of(a, rows, pc);
  int changed = unite(&row, more);
  memcpy(rows + (size_t)pc * (size_t)a->words, row.word, (size_t)a->words * sizeof(uint64_t));
  return changed;
}

static void include_from (const Analysis *a, Registers *set, int first) {
  for (int r = first; r < limit_of(a); r++)
    include(set, r);
}

static void exclude_from (const Analysis *a, Registers *set, int first) {
  for (int r = first; r < limit_of(a); r++)
    exclude(set, r);
}

/* Reads of 'count' registers, or of all up to the top when the instruction is an open one. */
static void include_list (const Analysis *a, Registers *set, int first, int count, int is_open) {
  if (is_open)
    include_from(a, set, first);
  else
    include_range(set, first, count);
}

static void include_constant_or_register (Registers *set, Instruction i) {
  if (!TESTARG_k(i))
    include(set, GETARG_C(i));
}

/* --- forward: held registers --- */

static void captured (const Analysis *a, Registers *set, Instruction i) {
  const Proto *inner = a->p->p[GETARG_Bx(i)];
  for (int u = 0; u < inner->sizeupvalues; u++) {
    if (inner->upvalues[u].instack)
      include(set, inner->upvalues[u].idx);
  }
}

static Registers held_after (const Analysis *a, int pc) {
  Instruction i = a->p->code[pc];
  Registers set = row_of(a, a->held, pc);
  switch (GET_OPCODE(i)) {
    case OP_CLOSURE: captured(a, &set, i); break;
    case OP_TBC: include(&set, GETARG_A(i)); break;
    case OP_TFORPREP: include(&set, TLUA_ITER_CLOSING(GETARG_A(i))); break;
    case OP_CLOSE: exclude_from(a, &set, GETARG_A(i)); break;
    default: break;
  }
  return set;
}

/*
** Indexes of the instructions that may follow; returns how many there are. A test's jump is an instruction
** of its own here.
*/
static int successors (const Proto *p, int pc, int next[2]) {
  Instruction i = p->code[pc];
  int count = 0;
  switch (GET_OPCODE(i)) {
    case OP_RETURN: case OP_RETURN0: case OP_RETURN1: case OP_TAILCALL:
      return 0;
    case OP_JMP:
      next[count++] = pc + 1 + GETARG_sJ(i);
      break;
    case OP_LFALSESKIP:
      next[count++] = pc + 2;
      break;
    case OP_ADDI:
    case OP_ADDK: case OP_SUBK: case OP_MULK: case OP_MODK: case OP_POWK: case OP_DIVK: case OP_IDIVK:
    case OP_BANDK: case OP_BORK: case OP_BXORK: case OP_SHRI: case OP_SHLI:
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_MOD: case OP_POW: case OP_DIV: case OP_IDIV:
    case OP_BAND: case OP_BOR: case OP_BXOR: case OP_SHL: case OP_SHR:
    case OP_EQ: case OP_LT: case OP_LE: case OP_EQK: case OP_EQI: case OP_LTI: case OP_LEI: case OP_GTI:
    case OP_GEI:
    case OP_TEST: case OP_TESTSET:
      next[count++] = pc + 1;
      next[count++] = pc + 2;
      break;
    case OP_FORPREP:
      next[count++] = pc + 1;
      next[count++] = pc + 2 + GETARG_Bx(i);
      break;
    case OP_TFORPREP:
      next[count++] = pc + 1 + GETARG_Bx(i);
      break;
    case OP_FORLOOP: case OP_TFORLOOP:
      next[count++] = pc + 1;
      next[count++] = pc + 1 - GETARG_Bx(i);
      break;
    default:  /* EXTRAARG is walked over as an instruction without effect */
      next[count++] = pc + 1;
      break;
  }
  return count;
}

static void find_held (Analysis *a) {
  int changed = 1;
  while (changed) {
    changed = 0;
    for (int pc = 0; pc < a->p->sizecode; pc++) {
      Registers after = held_after(a, pc);
      int next[2];
      int count = successors(a->p, pc, next);
      for (int n = 0; n < count; n++)
        changed |= unite_row(a, a->held, next[n], &after);
    }
  }
}

/* --- variables in scope --- */

/*
** The changes of the number at each instruction, and then their sums. Without debug information there are
** none.
*/
static void find_named (Analysis *a) {
  const Proto *p = a->p;
  for (int n = 0; n < p->sizelocvars; n++) {
    a->named[p->locvars[n].startpc]++;
    a->named[p->locvars[n].endpc]--;
  }
  for (int pc = 1; pc <= p->sizecode; pc++)
    a->named[pc] = (lu_byte)(a->named[pc] + a->named[pc - 1]);
}

/* --- backward: live registers --- */

/* Where a metamethod instruction puts its result: the register of the operation that failed. */
static int metamethod_result (const Proto *p, int pc) {
  return GETARG_A(p->code[pc - 1]);
}

/* How an instruction uses the registers that its arguments name. */
enum {
  WRITES_A = 1, READS_A = 2, READS_B = 4, READS_C = 8,
  READS_VALUE = 16,      /* register C, or a constant */
  SKIPS_METAMETHOD = 32, /* after the metamethod instruction A is written; before it, A has its old value */
  MAY_SKIP = 64,         /* a test: the next instruction may be passed over */
  OTHERWISE = 128        /* see change_others */
};

static int uses_of (OpCode op) {
  switch (op) {
    case OP_LOADI: case OP_LOADF: case OP_LOADK: case OP_LOADKX: case OP_LOADFALSE: case OP_LFALSESKIP:
    case OP_LOADTRUE:
    case OP_GETUPVAL: case OP_GETTABUP: case OP_NEWTABLE:
      return WRITES_A;
    case OP_MOVE: case OP_GETI: case OP_GETFIELD: case OP_UNM: case OP_BNOT: case OP_NOT: case OP_LEN:
      return WRITES_A | READS_B;
    case OP_GETTABLE: return WRITES_A | READS_B | READS_C;
    case OP_SETUPVAL: case OP_TBC: case OP_RETURN1: return READS_A;
    case OP_SETTABUP: return READS_VALUE;
    case OP_SETTABLE: return READS_A | READS_B | READS_VALUE;
    case OP_SETI: case OP_SETFIELD: return READS_A | READS_VALUE;
    case OP_ADDI:
    case OP_ADDK: case OP_SUBK: case OP_MULK: case OP_MODK: case OP_POWK: case OP_DIVK: case OP_IDIVK:
    case OP_BANDK: case OP_BORK: case OP_BXORK: case OP_SHRI: case OP_SHLI:
      return SKIPS_METAMETHOD | READS_B;
    case OP_ADD: case OP_SUB: case OP_MUL: case OP_MOD: case OP_POW: case OP_DIV: case OP_IDIV:
    case OP_BAND: case OP_BOR: case OP_BXOR: case OP_SHL: case OP_SHR:
      return SKIPS_METAMETHOD | READS_B | READS_C;
    case OP_EQ: case OP_LT: case OP_LE: return MAY_SKIP | READS_A | READS_B;
    case OP_EQK: case OP_EQI: case OP_LTI: case OP_LEI: case OP_GTI: case OP_GEI: case OP_TEST:
      return MAY_SKIP | READS_A;
    /* neither reads nor writes; what OP_CLOSE touches is held */
    case OP_JMP: case OP_CLOSE: case OP_RETURN0: case OP_EXTRAARG: return 0;
    TLUA_CASES_OF_55
    default: return OTHERWISE;
  }
}

/* Lists of registers; for a call the callee's frame lies over everything from A on. */
static void change_lists (const Analysis *a, Registers *set, Instruction i) {
  int A = GETARG_A(i);
  switch (GET_OPCODE(i)) {
    case OP_LOADNIL:
      exclude_range(set, A, GETARG_B(i) + 1);
      break;
    case OP_SELF:
      exclude_range(set, A, 2);
      include(set, GETARG_B(i));
      if (TLUA_METHOD_IN_REGISTER(i))
        include(set, GETARG_C(i));
      break;
    case OP_SETLIST:
      include(set, A);
      include_list(a, set, A + 1, TLUA_LIST_COUNT(i), TLUA_LIST_COUNT(i) == 0);
      break;
    case OP_CONCAT:  /* the operands are also where the partial results go */
      include_range(set, A, GETARG_B(i));
      break;
    case OP_CALL:
      exclude_from(a, set, A);
      include_list(a, set, A, GETARG_B(i), GETARG_B(i) == 0);
      break;
    case OP_TAILCALL:
      include_list(a, set, A, GETARG_B(i), GETARG_B(i) == 0);
      break;
    case OP_RETURN:
      include_list(a, set, A, GETARG_B(i) - 1, GETARG_B(i) == 0);
      break;
    case OP_VARARG:
      if (GETARG_C(i) == 0)
        exclude_from(a, set, A);
      else
        exclude_range(set, A, GETARG_C(i) - 1);
      if (TLUA_FROM_TABLE(i))
        include(set, GETARG_B(i));
      break;
    case OP_VARARGPREP:  /* the extra arguments still lie in the frame */
      include_from(a, set, 0);
      break;
    default:
      lua_assert(0);
      include_from(a, set, 0);
      break;
  }
}

/* What the body of a loop reads, but for the register that the jump back to it writes. */
static void include_body (const Analysis *a, Registers *set, int pc, int written) {
  Registers body = row_of(a, a->live, pc + 1 - GETARG_Bx(a->p->code[pc]));
  exclude(&body, written);
  unite(set, &body);
}

/* Instructions whose registers depend on the way that they go, or on other instructions. */
static void change_others (const Analysis *a, Registers *set, int pc) {
  Instruction i = a->p->code[pc];
  int A = GETARG_A(i);
  switch (GET_OPCODE(i)) {
    case OP_MMBINI: case OP_MMBINK:
      exclude(set, metamethod_result(a->p, pc));
      include(set, A);
      break;
    case OP_MMBIN:
      exclude(set, metamethod_result(a->p, pc));
      include(set, A);
      include(set, GETARG_B(i));
      break;
    case OP_TESTSET:  /* A is written only on the way that jumps */
      exclude(set, A);
      unite_with_row(a, set, a->live, pc + 2);
      include(set, GETARG_B(i));
      break;
    case OP_FORPREP:  /* the variable is written only when the body is entered */
      exclude(set, TLUA_FOR_VARIABLE(A));
      unite_with_row(a, set, a->live, pc + 2 + GETARG_Bx(i));
      include_range(set, A, 3);
      break;
    case OP_FORLOOP:
      include_body(a, set, pc, TLUA_FOR_VARIABLE(A));
      include_range(set, A, 3);
      break;
    case OP_TFORPREP:  /* one of them is the value to be closed */
      include_range(set, A, 4);
      break;
    case OP_TFORCALL:
      exclude_from(a, set, TLUA_ITER_RESULT(A));
      include_range(set, A, 2);
      include(set, TLUA_ITER_CONTROL(A));
      break;
    case OP_TFORLOOP:
      include_body(a, set, pc, TLUA_HIDES_CONTROL ? TLUA_ITER_CONTROL(A) : TLUA_ITER_RESULT(A));
      include(set, TLUA_ITER_RESULT(A));
      break;
    case OP_CLOSURE: {  /* a function that refers to itself captures A before A is written */
      Registers slots;
      memset(&slots, 0, sizeof slots);
      captured(a, &slots, i);
      unite(set, &slots);
      exclude(set, A);
      break;
    }
    default:
      change_lists(a, set, i);
      break;
  }
}

static Registers live_before (const Analysis *a, int pc) {
  Instruction i = a->p->code[pc];
  int uses = uses_of(GET_OPCODE(i));
  int next[2];
  int count = successors(a->p, pc, next);
  Registers set;
  memset(&set, 0, sizeof set);
  if (count > 0)
    set = row_of(a, a->live, next[0]);
  if (uses & OTHERWISE) {
    change_others(a, &set, pc);
    return set;
  }
  if (uses & SKIPS_METAMETHOD) {
    set = row_of(a, a->live, pc + 2);
    exclude(&set, GETARG_A(i));
    unite_with_row(a, &set, a->live, pc + 1);
  }
  if (uses & MAY_SKIP)
    unite_with_row(a, &set, a->live, pc + 2);
  if (uses & WRITES_A)
    exclude(&set, GETARG_A(i));
  if (uses & READS_A)
    include(&set, GETARG_A(i));
  if (uses & READS_B)
    include(&set, GETARG_B(i));
  if (uses & READS_C)
    include(&set, GETARG_C(i));
  if (uses & READS_VALUE)
    include_constant_or_register(&set, i);
  return set;
}

static void find_live (Analysis *a) {
  int changed = 1;
  while (changed) {
    changed = 0;
    for (int pc = a->p->sizecode - 1; pc >= 0; pc--) {
      Registers before = live_before(a, pc);
      include_range(&before, 0, a->named[pc]);
      changed |= unite_row(a, a->live, pc, &before);
    }
  }
}

/* --- result --- */

static void pack (const Analysis *a, lu_byte *rows, size_t row_bytes) {
  memset(rows, 0, row_bytes * (size_t)a->p->sizecode);
  for (int pc = 0; pc < a->p->sizecode; pc++) {
    lu_byte *row = rows + row_bytes * (size_t)pc;
    Registers live = row_of(a, a->live, pc), held = row_of(a, a->held, pc);
    for (int r = 0; r < limit_of(a); r++) {
      if (includes(&live, r) || includes(&held, r))
        row[r >> 3] |= (lu_byte)(1 << (r & 7));
    }
  }
}

const lu_byte *tlua_live (lua_State *L, Proto *p, int pc) {
  size_t row_bytes = ((size_t)p->maxstacksize + 7) / 8;
  TluaProto *data = tlua_proto(L, p);
  if (data == NULL)
    return NULL;
  if (data->live == NULL) {
    /* two more than there are instructions: an arithmetic instruction looks two further */
    size_t count = (size_t)p->sizecode + 2;
    size_t words = ((size_t)p->maxstacksize + 63) / 64;
    size_t scratch_bytes = count * (2 * words * sizeof(uint64_t) + 1);
    size_t live_bytes = row_bytes * (size_t)p->sizecode;
    uint64_t *scratch = (uint64_t *)tlua_own(L, NULL, 0, scratch_bytes);
    lu_byte *rows = (lu_byte *)tlua_own(L, NULL, 0, live_bytes);
    if (scratch != NULL && rows != NULL) {
      Analysis a = { .p = p, .words = (int)words, .live = scratch, .held = scratch + words * count,
                     .named = (lu_byte *)(scratch + 2 * words * count) };
      memset(scratch, 0, scratch_bytes);
      find_named(&a);
      find_held(&a);
      find_live(&a);
      pack(&a, rows, row_bytes);
      data->live = rows;
      data->live_bytes = live_bytes;
    }
    else
      tlua_own(L, rows, live_bytes, 0);
    tlua_own(L, scratch, scratch_bytes, 0);
  }
  return data->live == NULL ? NULL : data->live + row_bytes * (size_t)pc;
}

int tlua_named (const Proto *p, int pc) {
  int count = 0;
  for (int n = 0; n < p->sizelocvars && p->locvars[n].startpc <= pc; n++)
    count += pc < p->locvars[n].endpc;
  return count;
}
