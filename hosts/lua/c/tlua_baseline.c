/*
** Baseline code: the machine code of a Lua function, before anything is known of it.
**
** Problem: a trace is worth a millisecond of compiling only where a program comes by many thousand times,
** and always in the same way. Most of what programs do is not like that. It stays with the interpreter,
** which takes half of its time to fetch instructions, take them apart, and jump.
**
** Design: copy and patch (Xu, Kjolstad: Copy-and-Patch Compilation, OOPSLA 2021). The C compiler has
** compiled each kind of instruction when Tracelift was built (stencils/tlua_stencils.c, build/stencils.rs).
** Here their code is copied, one instruction after the other, and operands and addresses are written into
** the copies: some 100 ns for an instruction. What is rare comes after the last instruction, so that the
** common way goes straight on and lies close together. The code works on the interpreter's own frames and
** registers in memory. So it can be entered and left at nearly every instruction, at no cost; it counts loops
** and entries as the interpreter does, and traces are recorded and entered as always. How it is entered is in
** tlua_baseline_run.c.
**
** Invariant: baseline code does what the interpreter would. No hook is set while it runs, no recording is on:
** wherever the interpreter would look at its trap, the code does, or the helper.
**
** Example: a function of 30 instructions is called for the 16th time: 2 KB of code are made in 4 us, and from
** now on a call of it jumps there.
*/

#define LUA_CORE

#include "lprefix.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tlua_baseline.h"
#include "tlua_callinfo.h"
#include "tlua_internal.h"

#include "ldebug.h"
#include "lopcodes.h"
#include "ltm.h"
#include "lvm.h"

/*
** What the build script has found: an array 'stencils', an enumeration of their names (S_MOVE), the holes'
** (H_a), and 'helpers', which are numbered after the holes. Where there are no stencils for a machine
** TLUA_HAVE_STENCILS is 0.
*/
enum { HOLE_WORD, HOLE_OFFSET, HOLE_BRANCH };

/* Parts of a stencil, and of a function's code: the common way, and what is rare, which comes after all. */
enum { COMMON, RARE, PARTS };

typedef struct Hole {
  unsigned short at;
  unsigned char kind;
  unsigned char what;
  int addend;
} Hole;

typedef struct Stencil {
  const unsigned char *code;
  unsigned short size;
  unsigned short holes;
  const Hole *hole;
} Stencil;

#include "tlua_stencils.h"

#if TLUA_HAVE_STENCILS

_Static_assert(sizeof(TluaCallCell) == 3 * sizeof(TluaFieldCell), "its room");
_Static_assert(sizeof(TluaRoom) <= sizeof(TluaFieldCell), "its room");

/* --- the code of one function, while it is made --- */

/* A branch to the code of an instruction, or to a helper's address, that is to be written. */
typedef struct Branch {
  int part;        /* where it lies */
  size_t at;
  int target;      /* instruction, ~helper, or one of those below */
  size_t place;    /* of those that lead to a place */
} Branch;

/*
** Places that are no instruction's: that which comes after a call, and the code that is copied next. When
** it is known where that is it is a place in a part.
*/
enum { AT_COMMON = INT_MAX - 3, AT_RARE, AFTER_CALL, HERE };

typedef struct Part {
  unsigned char *code;
  size_t size, room;
} Part;

typedef struct Maker {
  const Proto *p;
  const lua_State *L;
  Part parts[PARTS];
  int *places;     /* of each instruction's code; -1: none */
  TluaFieldCell *cell;  /* the instruction's own ones */
  Branch *branches;
  size_t branch_count, branch_room;
  int has_failed;  /* memory is short, or an operand too large */
  /* of the instruction at hand */
  int pc, next, jump;          /* instructions, or HERE */
  ptrdiff_t operand[4];        /* a, b, c, i */
} Maker;

static void *grow (Maker *maker, void *block, size_t *room, size_t element) {
  size_t wanted = *room == 0 ? 256 : 2 * *room;
  void *result = realloc(block, wanted * element);
  if (result == NULL) {
    maker->has_failed = 1;
    return block;
  }
  *room = wanted;
  return result;
}

static void add_branch (Maker *maker, int part, size_t at, int target, size_t place) {
  if (maker->branch_count == maker->branch_room)
    maker->branches = (Branch *)grow(maker, maker->branches, &maker->branch_room, sizeof(Branch));
  if (maker->has_failed)
    return;
  maker->branches[maker->branch_count++] = (Branch){ part, at, target, place };
}

/* Words are written by their bytes: code is not aligned. */
static void put_word (unsigned char *place, uint64_t word) {
  memcpy(place, &word, sizeof(word));
}
static void put_offset (Maker *maker, unsigned char *place, int64_t value) {
  int32_t offset = (int32_t)value;
  if (offset != value)
    maker->has_failed = 1;
  memcpy(place, &offset, sizeof(offset));
}

/* What a jump back counts with. */
static uint64_t counter_of (const Maker *maker, int target) {
  return (uint64_t)(uintptr_t)tlua_counter(maker->L->jit, maker->p->code + target);
}

static uint64_t word_of (const Maker *maker, int hole, int counted) {
  switch (hole) {
    case H_pc:
      return (uint64_t)(uintptr_t)(maker->p->code + maker->pc);
    case H_other:
      return (uint64_t)(uintptr_t)(maker->p->code + (counted >= 0 ? counted : maker->pc + 1));
    case H_cell:
      return (uint64_t)(uintptr_t)maker->cell;
    case H_index:
      return (uint64_t)(uintptr_t)G(maker->L)->tmname[TM_INDEX];
    case H_k:
      return (uint64_t)(uintptr_t)maker->p->k;
    default:
      lua_assert(hole == H_counter);
      return counted >= 0 ? counter_of(maker, counted) : (uint64_t)(uintptr_t)&maker->p->jit_entries;
  }
}

/* What leads to a place that has no number leads to what comes next: of the branches from 'first' on. */
static void put_here (Maker *maker, size_t first, int target) {
  for (size_t n = first; n < maker->branch_count; n++) {
    Branch *branch = &maker->branches[n];
    if (branch->target == target) {
      branch->target = AT_COMMON;
      branch->place = maker->parts[COMMON].size;
    }
  }
}

/* Whether the code that a hole leads to comes right after this stencil. */
static int falls_through (const Maker *maker, int hole) {
  if (hole == H_jump)
    return maker->jump == HERE;
  /* If the stencil jumps HERE more code of this instruction comes first. */
  return hole == H_next && (maker->next == HERE || (maker->next > maker->pc && maker->jump != HERE));
}

static void fill_branch (Maker *maker, int part, const Hole *hole) {
  size_t at = maker->parts[part].size + hole->at;
  if (hole->what >= H_COUNT)
    add_branch(maker, part, at, ~(hole->what - H_COUNT), 0);
  else if (hole->what == H_own_common || hole->what == H_own_rare) {
    int own = hole->what == H_own_common ? COMMON : RARE;
    add_branch(maker, part, at, AT_COMMON + own, maker->parts[own].size + (size_t)hole->addend);
  }
  else if (hole->what == H_after)
    add_branch(maker, part, at, AFTER_CALL, 0);
  else
    add_branch(maker, part, at, hole->what == H_next ? maker->next : maker->jump, 0);
}

/* Copies a part of a stencil. Returns its size, which is not counted yet. */
static size_t copy_part (Maker *maker, int part, const Stencil *stencil, int counted) {
  Part *to = &maker->parts[part];
  size_t size = stencil->size;
  while (to->room < to->size + size && !maker->has_failed)
    to->code = (unsigned char *)grow(maker, to->code, &to->room, 1);
  if (maker->has_failed)
    return 0;
  unsigned char *code = to->code + to->size;
  memcpy(code, stencil->code, size);
  for (int n = 0; n < stencil->holes; n++) {
    const Hole *hole = &stencil->hole[n];
    unsigned char *place = code + hole->at;
    if (hole->kind == HOLE_WORD)
      put_word(place, word_of(maker, hole->what, counted) + (uint64_t)(int64_t)hole->addend);
    else if (hole->kind == HOLE_OFFSET)
      put_offset(maker, place, maker->operand[hole->what - H_a] + hole->addend);
    else if (part == COMMON && (size_t)hole->at + 4 == stencil->size && place[-1] == 0xe9
             && falls_through(maker, hole->what))
      size -= 5;
    else
      fill_branch(maker, part, hole);
  }
  return size;
}

/*
** Copies a stencil. 'counted' is the target of the jump back that it counts, or -1. A branch at the end to
** what comes next is left out.
*/
static void copy (Maker *maker, int number, int counted) {
  size_t first = maker->branch_count, sizes[PARTS];
  for (int part = 0; part < PARTS; part++)
    sizes[part] = copy_part(maker, part, &stencils[number][part], counted);
  for (int part = 0; part < PARTS; part++)
    maker->parts[part].size += sizes[part];
  put_here(maker, first, HERE);
}

/* --- instructions --- */

#define OFFSET_OF(n) ((ptrdiff_t)(n) * (ptrdiff_t)sizeof(TValue))
/* Registers of an instruction, whatever its format: those that it does not have are not used. */
#define A_OF(i) OFFSET_OF(getarg(i, POS_A, SIZE_A))
#define B_OF(i) OFFSET_OF(getarg(i, POS_B, SIZE_B))
#define C_OF(i) OFFSET_OF(getarg(i, POS_C, SIZE_C))

static void set_operands (Maker *maker, ptrdiff_t a, ptrdiff_t b, ptrdiff_t c, ptrdiff_t i) {
  maker->operand[0] = a;
  maker->operand[1] = b;
  maker->operand[2] = c;
  maker->operand[3] = i;
}

static ptrdiff_t upvalue_offset (int n) {
  return (ptrdiff_t)offsetof(LClosure, upvals) + n * (ptrdiff_t)sizeof(UpVal *);
}

/* The comparison before a jump: 'if_true' is its stencil that jumps if the condition holds. */
static void copy_comparison (Maker *maker, Instruction i, int if_true) {
  int jump = maker->pc + 1;
  int target = jump + 1 + GETARG_sJ(maker->p->code[jump]);
  maker->next = maker->pc + 2;
  maker->jump = target;
  int is_back = target <= jump;
  if (!is_back) {
    copy(maker, GETARG_k(i) ? if_true : if_true + 1, -1);
    return;
  }
  /* the other way round, over the code that counts */
  maker->next = HERE;
  maker->jump = maker->pc + 2;
  copy(maker, GETARG_k(i) ? if_true + 1 : if_true, -1);
  maker->jump = target;
  copy(maker, S_BACK_EDGE, target);
}

/*
** TESTSET and the jump after it. It jumps back where an expression ends a loop:  while n do n = a or b end.
** Then both its branches are written, as the code that counts comes right after it.
*/
static void copy_test_and_set (Maker *maker, Instruction i) {
  int target = maker->pc + 2 + GETARG_sJ(maker->p->code[maker->pc + 1]);
  int stencil = GETARG_k(i) ? S_TESTSET_T : S_TESTSET_F;
  maker->next = maker->pc + 2;
  if (target > maker->pc + 1) {
    maker->jump = target;
    copy(maker, stencil, -1);
  }
  else {
    maker->jump = HERE;
    copy(maker, stencil, -1);
    maker->jump = target;
    copy(maker, S_BACK_EDGE, target);
  }
}

static int constant_kind (const TValue *value) {
  if (ttisinteger(value))
    return 0;
  return ttisfloat(value) ? 1 : -1;
}

static void copy_constant_arithmetic (Maker *maker, Instruction i, int integer, int real, int slow) {
  int kind = constant_kind(&maker->p->k[GETARG_C(i)]);
  int number = kind == 0 ? integer : kind == 1 ? real : -1;
  copy(maker, number >= 0 ? number : slow, -1);
}

static void copy_jump (Maker *maker, int target) {
  maker->jump = target;
  if (target <= maker->pc)
    copy(maker, S_BACK_EDGE, target);
  else
    copy(maker, S_JMP, -1);
}

#define SLOWLY(name) case OP_##name: copy(maker, S_SLOW_##name, -1); break
#define DIRECTLY(name) case OP_##name: copy(maker, S_##name, -1); break
/* The instruction after it calls the metamethod; it has no code of its own. */
#define ARITHMETIC(name) case OP_##name: maker->next = maker->pc + 2; copy(maker, S_##name, -1); break
#define SLOW_ARITHMETIC(name) case OP_##name: \
  maker->next = maker->pc + 2; \
  copy(maker, S_SLOW_##name, -1); \
  break
/* An argument may stand in the instruction after it. */
#define WITH_SECOND_PART(name, has_one) case OP_##name: \
  maker->next = maker->pc + 1 + ((has_one) != 0); \
  copy(maker, S_SLOW_##name, -1); \
  break
#define WITH_RK(name) case OP_##name: \
  copy(maker, GETARG_k(i) ? S_##name##_K : S_##name##_R, -1); break

static void copy_loads (Maker *maker, Instruction i) {
  set_operands(maker, A_OF(i), B_OF(i), C_OF(i), 0);
  switch (GET_OPCODE(i)) {
    DIRECTLY(MOVE);
    case OP_LOADI:
      maker->operand[3] = GETARG_sBx(i);
      copy(maker, S_LOADI, -1);
      break;
    case OP_LOADF:
      maker->operand[3] = GETARG_sBx(i);
      copy(maker, S_LOADF, -1);
      break;
    case OP_LOADK:
      maker->operand[1] = OFFSET_OF(GETARG_Bx(i));
      copy(maker, S_LOADK, -1);
      break;
    DIRECTLY(LOADFALSE);
    case OP_LFALSESKIP:
      maker->jump = maker->pc + 2;
      copy(maker, S_LOADFALSE, -1);
      copy(maker, S_JMP, -1);
      break;
    DIRECTLY(LOADTRUE);
    case OP_LOADNIL:
      copy(maker, GETARG_B(i) == 0 ? S_LOADNIL1 : GETARG_B(i) == 1 ? S_LOADNIL2 : S_SLOW_LOADNIL, -1);
      break;
    case OP_GETUPVAL:
      maker->operand[1] = upvalue_offset(GETARG_B(i));
      copy(maker, S_GETUPVAL, -1);
      break;
    case OP_SETUPVAL:
      maker->operand[1] = upvalue_offset(GETARG_B(i));
      copy(maker, S_SETUPVAL, -1);
      break;
    case OP_GETTABUP:
      maker->operand[1] = upvalue_offset(GETARG_B(i));
      copy(maker, S_GETTABUP, -1);
      break;
    case OP_SETTABUP:
      maker->operand[0] = upvalue_offset(GETARG_A(i));
      copy(maker, GETARG_k(i) ? S_SETTABUP_K : S_SETTABUP_R, -1);
      break;
    DIRECTLY(GETTABLE);
    DIRECTLY(GETFIELD);
    case OP_GETI:
      maker->operand[3] = GETARG_C(i);
      copy(maker, S_GETI, -1);
      break;
    WITH_RK(SETTABLE);
    WITH_RK(SETFIELD);
    case OP_SETI:
      maker->operand[3] = GETARG_B(i);
      copy(maker, GETARG_k(i) ? S_SETI_K : S_SETI_R, -1);
      break;
    case OP_SELF:
      copy(maker, GETARG_k(i) && ttisshrstring(&maker->p->k[GETARG_C(i)]) ? S_SELF : S_SLOW_SELF, -1);
      break;
    case OP_NEWTABLE:
      maker->next = maker->pc + 2;
      copy(maker, S_NEWTABLE, -1);
      break;
    WITH_SECOND_PART(SETLIST, TESTARG_k(i));
    WITH_SECOND_PART(LOADKX, 1);
    SLOWLY(CLOSURE);
    SLOWLY(CONCAT);
    DIRECTLY(CLOSE);
    SLOWLY(TBC);
    SLOWLY(VARARG);
    SLOWLY(VARARGPREP);
    default:
      lua_assert(0);
      maker->has_failed = 1;
      break;
  }
}

static void copy_shift (Maker *maker, int slow, int n) {
  maker->next = maker->pc + 2;
  maker->operand[3] = n < 0 ? -n : n;
  if (n <= -64 || n >= 64)
    copy(maker, slow, -1);
  else
    copy(maker, n < 0 ? S_SHIFT_LEFT : S_SHIFT_RIGHT, -1);
}

static void copy_arithmetic (Maker *maker, Instruction i) {
  set_operands(maker, A_OF(i), B_OF(i), C_OF(i), 0);
  switch (GET_OPCODE(i)) {
    case OP_ADDI:
      maker->operand[3] = GETARG_sC(i);
      maker->next = maker->pc + 2;
      copy(maker, S_ADDI, -1);
      break;
    case OP_ADDK:
      maker->next = maker->pc + 2;
      copy_constant_arithmetic(maker, i, S_ADDK_I, S_ADDK_F, S_SLOW_ADDK);
      break;
    case OP_SUBK:
      maker->next = maker->pc + 2;
      copy_constant_arithmetic(maker, i, S_SUBK_I, S_SUBK_F, S_SLOW_SUBK);
      break;
    case OP_MULK:
      maker->next = maker->pc + 2;
      copy_constant_arithmetic(maker, i, S_MULK_I, S_MULK_F, S_SLOW_MULK);
      break;
    case OP_DIVK:
      maker->next = maker->pc + 2;
      copy_constant_arithmetic(maker, i, S_DIVK_I, S_DIVK_F, S_SLOW_DIVK);
      break;
    case OP_SHRI:
      copy_shift(maker, S_SLOW_SHRI, GETARG_sC(i));
      break;
    ARITHMETIC(ADD);
    ARITHMETIC(SUB);
    ARITHMETIC(MUL);
    ARITHMETIC(DIV);
    ARITHMETIC(MOD);
    ARITHMETIC(MODK);
    ARITHMETIC(IDIV);
    ARITHMETIC(IDIVK);
    ARITHMETIC(BAND);
    ARITHMETIC(BOR);
    ARITHMETIC(BXOR);
    ARITHMETIC(BANDK);
    ARITHMETIC(BORK);
    ARITHMETIC(BXORK);
    SLOW_ARITHMETIC(POW);
    case OP_POWK: {
      const TValue *power = &maker->p->k[GETARG_C(i)];
      maker->next = maker->pc + 2;
      copy(maker, ttisnumber(power) && nvalue(power) == 2 ? S_POWK_SQUARE : S_SLOW_POWK, -1);
      break;
    }
    ARITHMETIC(SHL);
    ARITHMETIC(SHR);
    case OP_SHLI:
      maker->operand[3] = GETARG_sC(i);
      maker->next = maker->pc + 2;
      copy(maker, S_SHLI, -1);
      break;
    DIRECTLY(UNM);
    DIRECTLY(NOT);
    DIRECTLY(LEN);
    DIRECTLY(BNOT);
    default:
      copy_loads(maker, i);
      break;
  }
}

static void copy_equal_constant (Maker *maker, Instruction i) {
  const TValue *value = &maker->p->k[GETARG_B(i)];
  if (ttisnil(value) || ttisboolean(value)) {
    maker->operand[3] = rawtt(value);
    copy_comparison(maker, i, S_EQK_TAG_T);
  }
  else if (ttisinteger(value))
    copy_comparison(maker, i, S_EQK_INTEGER_T);
  else if (ttisshrstring(value))
    copy_comparison(maker, i, S_EQK_STRING_T);
  else
    copy(maker, S_SLOW_EQK, -1);
}

/* TFORCALL and the TFORLOOP after it. */
static void copy_step (Maker *maker, Instruction i) {
  int loop = maker->pc + 1;
  maker->jump = loop + 1 - GETARG_Bx(maker->p->code[loop]);
  maker->operand[3] = GETARG_C(i);
  copy(maker, GETARG_C(i) <= 2 ? S_TFORCALL : S_TFORCALL_MANY, maker->jump);
}

static void copy_call (Maker *maker, Instruction i) {
  int count = GETARG_B(i), wanted = GETARG_C(i) - 1;
  size_t first = maker->branch_count;
  set_operands(maker, A_OF(i), A_OF(i) + OFFSET_OF(count), count - 1, (uint16_t)wanted);
  maker->jump = HERE;
  copy(maker, count == 0 ? S_CALL_OPEN : S_CALL, -1);
  maker->jump = 0;
  if (wanted < 0)
    copy(maker, count == 0 ? S_CALL_OTHER_OPEN_ALL : S_CALL_OTHER_ALL, -1);
  else
    copy(maker, count == 0 ? S_CALL_OTHER_OPEN : S_CALL_OTHER, -1);
  put_here(maker, first, AFTER_CALL);
  copy(maker, S_AFTER_CALL, -1);
}

static void copy_tail_call (Maker *maker, Instruction i) {
  int is_open = GETARG_B(i) == 0;
  maker->operand[3] = GETARG_B(i) - 1;
  if (GETARG_C(i) != 0)
    copy(maker, S_SLOW_TAILCALL, -1);
  else if (TESTARG_k(i))
    copy(maker, is_open ? S_TAILCALL_OPEN_CLOSED : S_TAILCALL_CLOSED, -1);
  else
    copy(maker, is_open ? S_TAILCALL_OPEN : S_TAILCALL, -1);
}

static void copy_return (Maker *maker, Instruction i) {
  int is_open = GETARG_B(i) == 0, number;
  if (GETARG_C(i) != 0)
    number = is_open ? S_RETURN_OPEN_EXTRA : S_RETURN_EXTRA;
  else if (TESTARG_k(i))
    number = is_open ? S_RETURN_OPEN_CLOSED : S_RETURN_CLOSED;
  else
    number = is_open ? S_RETURN_OPEN : S_RETURN;
  set_operands(maker, A_OF(i), 0, GETARG_C(i), GETARG_B(i) - 1);
  copy(maker, number, -1);
}

#define COMPARISON(name) case OP_##name: copy_comparison(maker, i, S_##name##_T); break
#define WITH_NUMBER(name) case OP_##name: \
  maker->operand[3] = GETARG_sB(i); \
  copy_comparison(maker, i, S_##name##_T); \
  break

static void copy_branches (Maker *maker, Instruction i) {
  set_operands(maker, A_OF(i), B_OF(i), 0, 0);
  switch (GET_OPCODE(i)) {
    COMPARISON(EQ);
    COMPARISON(LT);
    COMPARISON(LE);
    COMPARISON(TEST);
    WITH_NUMBER(EQI);
    WITH_NUMBER(LTI);
    WITH_NUMBER(LEI);
    WITH_NUMBER(GTI);
    WITH_NUMBER(GEI);
    case OP_EQK:
      copy_equal_constant(maker, i);
      break;
    case OP_TESTSET:
      copy_test_and_set(maker, i);
      break;
    case OP_JMP:
      copy_jump(maker, maker->pc + 1 + GETARG_sJ(i));
      break;
    case OP_FORLOOP:
      maker->jump = maker->pc + 1 - GETARG_Bx(i);
      copy(maker, S_FORLOOP, maker->jump);
      break;
    case OP_TFORLOOP:
      maker->jump = maker->pc + 1 - GETARG_Bx(i);
      copy(maker, S_TFORLOOP, maker->jump);
      break;
    case OP_FORPREP:
      maker->jump = maker->pc + 2 + GETARG_Bx(i);
      copy(maker, S_FORPREP, -1);
      break;
    case OP_TFORPREP:
      maker->jump = maker->pc + 1 + GETARG_Bx(i);
      copy(maker, S_TFORPREP, -1);
      break;
    case OP_TFORCALL:
      copy_step(maker, i);
      break;
    case OP_CALL:
      copy_call(maker, i);
      break;
    case OP_TAILCALL:
      copy_tail_call(maker, i);
      break;
    DIRECTLY(RETURN0);
    case OP_RETURN:
      copy_return(maker, i);
      break;
    DIRECTLY(RETURN1);
    default:
      copy_arithmetic(maker, i);
      break;
  }
}

/* What has no code of its own: the second parts of other instructions. */
static int is_second_part (const Proto *p, int pc) {
  switch (GET_OPCODE(p->code[pc])) {
    case OP_MMBIN: case OP_MMBINI: case OP_MMBINK: case OP_EXTRAARG:
      return 1;
    case OP_JMP:
      return pc > 0 && testTMode(GET_OPCODE(p->code[pc - 1]));
    default:
      return 0;
  }
}

/* How many cells an instruction has. */
static int cells_of (Instruction i) {
  switch (GET_OPCODE(i)) {
    case OP_GETTABUP: case OP_GETFIELD: case OP_SETTABUP: case OP_SETFIELD: case OP_NEWTABLE:
    case OP_TFORCALL:
      return 1;
    case OP_SELF: case OP_CALL: case OP_TAILCALL:
      return 3;
    default:
      return 0;
  }
}

/* --- the whole function --- */

static void copy_all (Maker *maker) {
  const Proto *p = maker->p;
  maker->pc = -1;
  maker->next = 0;
  copy(maker, S_ENTRY, -1);
  for (int pc = 0; pc < p->sizecode && !maker->has_failed; pc++) {
    maker->places[pc] = is_second_part(p, pc) ? -1 : (int)maker->parts[COMMON].size;
    maker->pc = pc;
    maker->next = pc + 1;
    if (maker->places[pc] >= 0)
      copy_branches(maker, p->code[pc]);
    maker->cell += cells_of(p->code[pc]);
  }
}

/* Room for so many bytes more after the common way. */
static unsigned char *add_room (Maker *maker, size_t size) {
  Part *to = &maker->parts[COMMON];
  while (to->room < to->size + size && !maker->has_failed)
    to->code = (unsigned char *)grow(maker, to->code, &to->room, 1);
  if (maker->has_failed)
    return NULL;
  to->size += size;
  return to->code + to->size - size;
}

#define VENEER 14

/*
** A helper may be too far for a branch: it is reached by way of its address, once for each that is used. -1
** if memory is short.
*/
static int veneer_of (Maker *maker, int *veneers, int helper) {
  if (veneers[helper] < 0) {
    static const unsigned char jump[] = { 0xff, 0x25, 0, 0, 0, 0 };  /* jmp *0(%rip) */
    unsigned char *code = add_room(maker, VENEER);
    if (code == NULL)
      return -1;
    memcpy(code, jump, sizeof(jump));
    put_word(code + sizeof(jump), (uint64_t)(uintptr_t)helpers[helper]);
    veneers[helper] = (int)(code - maker->parts[COMMON].code);
  }
  return veneers[helper];
}

/* What is rare comes after the common way, and then the veneers. */
static void set_branches (Maker *maker) {
  int veneers[sizeof(helpers) / sizeof(helpers[0])];
  for (size_t n = 0; n < sizeof(veneers) / sizeof(veneers[0]); n++)
    veneers[n] = -1;
  size_t starts[PARTS] = { 0, maker->parts[COMMON].size };
  unsigned char *rare = add_room(maker, maker->parts[RARE].size);
  if (rare == NULL)
    return;
  if (maker->parts[RARE].size > 0)
    memcpy(rare, maker->parts[RARE].code, maker->parts[RARE].size);
  for (size_t n = 0; n < maker->branch_count && !maker->has_failed; n++) {
    Branch branch = maker->branches[n];
    size_t at = starts[branch.part] + branch.at;
    int place;
    if (branch.target == AT_COMMON || branch.target == AT_RARE)
      place = (int)(starts[branch.target - AT_COMMON] + branch.place);
    else
      place = branch.target < 0 ? veneer_of(maker, veneers, ~branch.target) : maker->places[branch.target];
    if (place < 0)
      maker->has_failed = 1;
    else
      put_offset(maker, maker->parts[COMMON].code + at, (int64_t)place - (int64_t)(at + 4));
  }
}

/*
** What a function has beside its code, in one block: the address of each instruction's code, and the cells.
** NULL if memory is short.
*/
static void **new_places (const Proto *p) {
  size_t cells = 0;
  for (int pc = 0; pc < p->sizecode; pc++)
    cells += (size_t)cells_of(p->code[pc]);
  size_t size = (size_t)p->sizecode * sizeof(void *);
  void **places = (void **)malloc(size + cells * sizeof(TluaFieldCell));
  TluaFieldCell *cell = places == NULL ? NULL : (TluaFieldCell *)(places + p->sizecode);
  for (int pc = 0; cell != NULL && pc < p->sizecode; pc++) {
    OpCode op = GET_OPCODE(p->code[pc]);
    if (op == OP_CALL || op == OP_TAILCALL) {
      *(TluaCallCell *)cell = (TluaCallCell){ NULL, NULL, NULL };
      cell += 3;
    }
    else if (op == OP_NEWTABLE) {
      *(TluaRoom *)cell++ = (TluaRoom){ .room = 0 };
    }
    else {
      for (int n = cells_of(p->code[pc]); n > 0; n--)
        *cell++ = (TluaFieldCell){ 0, TLUA_NO_SIZE };
    }
  }
  return places;
}

/* Takes the code into memory where it can run. Returns 0 if there is none. */
static int install (lua_State *L, Proto *p, const Maker *maker, void **places) {
  const Part *all = &maker->parts[COMMON];
  const char *code = (const char *)L->jit->engine->on_code(L, p, all->code, all->size);
  if (code == NULL)
    return 0;
  for (int pc = 0; pc < p->sizecode; pc++)
    places[pc] = maker->places[pc] < 0 ? NULL : (void *)(code + maker->places[pc]);
  p->jit_places = places;
  p->jit_code = (void *)code;
  p->jit_has_no_code = 0;
  return 1;
}

/* Instructions. The code of a larger function is not worth its memory; branches could not reach all of it. */
#define LARGEST 50000

/* The code lies in 'maker' if this returns 1. */
static int make (Maker *maker) {
  const Proto *p = maker->p;
  maker->places = (int *)malloc((size_t)p->sizecode * sizeof(int));
  if (maker->places == NULL)
    return 0;
  copy_all(maker);
  if (!maker->has_failed)
    set_branches(maker);
  return !maker->has_failed;
}

void tlua_baseline_make (lua_State *L, Proto *p) {
  const TluaEngine *engine = L->jit->engine;
  if (p->jit_code != NULL || p->jit_has_no_code || engine == NULL || engine->on_code == NULL
      || L->jit->config.no_baseline)
    return;
  p->jit_has_no_code = 1;
  void **places = p->sizecode > LARGEST ? NULL : new_places(p);
  Maker maker = { .p = p, .L = L };
  maker.cell = places == NULL ? NULL : (TluaFieldCell *)(places + p->sizecode);
  if (places == NULL || !make(&maker)) {
    engine->on_code(L, p, NULL, 0);
    free(places);
  }
  else if (!install(L, p, &maker, places))
    free(places);
  free(maker.places);
  free(maker.branches);
  for (int part = 0; part < PARTS; part++)
    free(maker.parts[part].code);
}

#else

void tlua_baseline_make (lua_State *L, Proto *p) {
  (void)L;
  p->jit_has_no_code = 1;
}

#endif

void tlua_baseline_freed (Proto *p) {
  free(p->jit_places);
  p->jit_places = NULL;
  p->jit_code = NULL;
}
