/*
** Lowering of 'if's that only choose numbers: all ways become one, by selects.
**
** Problem: 'if number < 0 then number = number + MODULUS end' goes one way or the other with each iteration,
** in no order. As a guard it makes a side trace for each way, with further ones after each of these: n such
** tests make 2^n ways, each with code of its own that reads everything anew, and the processor guesses wrong
** half of the time.
**
** Design: after a comparison the ways part, and meet again. If there are only a few instructions up to
** there, which compute numbers in registers, or compare them, then the comparison is lowered together with
** them: both ways are walked, what they compute is computed in any case, and for each register that is
** needed where they meet a select chooses between their numbers. A comparison on a way is lowered in the
** same manner, so that 'else', 'elseif', 'and', 'or' and 'goto continue' come out by themselves. The
** instructions are walked at first without recording anything; if there is anything else among them, or if a
** number that is needed would have another type on another way, the comparison becomes a guard as usual. The
** interpreter then does what it does, and the recorder lets the instructions that are lowered already pass.
**
** Invariant: what is computed in vain can neither fail nor be seen: arithmetic of numbers that has a result
** for all operands of these types, and has it soon, moves, constants, upvalues that hold numbers. Guards (on
** an upvalue's type) leave where the comparison is done again.
**
** Example, 'if i == 0 then i = LONG else j = j - 1 end':
**   t = int_eq i 0; n = load upvalue.int ...; m = int_sub j 1; i' = select t n i; j' = select t j m
*/

#include "lprefix.h"

#include <string.h>

#include "tlua_rec.h"

#include "ldebug.h"
#include "lvm.h"

/* Words of instructions, and comparisons among them. */
#define LONGEST_REGION 24

/*
** The cycles of one way, were each instruction to wait for the one before. Whoever needs the number waits
** for all ways, however seldom the program takes some: a way that is too long costs more than a test that
** the processor guesses. The limits are the library's advice.
*/
#define CYCLES_OF_PRODUCT 3
#define CYCLES_OF_FLOAT 3

#define MOST_WRITTEN 12

/* What a register holds on a way, if it was written there. */
typedef struct Chosen {
  int r;
  int tt;
  tl_value value;
} Chosen;

/* The instructions from a comparison to where its ways meet, walked along one of them. */
typedef struct Way {
  Chosen written[MOST_WRITTEN];
  int count;
  int cycles;
} Way;

typedef struct Region {
  const Instruction *first;   /* after the comparison and its jump */
  const Instruction *join;    /* here, or after a jump to the same place, all ways come together */
  lu_byte live[32];           /* registers that are needed there */
  int tests;
  int is_dry;                 /* whether it is only looked at */
} Region;

static int is_number (int tt) {
  return tt == LUA_VNUMINT || tt == LUA_VNUMFLT;
}

/* --- where the ways meet --- */

static const Instruction *target_of (const Instruction *jump) {
  return jump + 1 + GETARG_sJ(*jump);
}

/* Where jumps to jumps end. The compiler shortens them, so that two ways to one place may look different. */
static const Instruction *after_jumps (const Instruction *pc) {
  for (int n = 0; n < LONGEST_REGION && GET_OPCODE(*pc) == OP_JMP; n++)
    pc = target_of(pc);
  return pc;
}

static int is_within (const Instruction *pc, const Instruction *first, const Instruction *join) {
  return first <= pc && pc < join;
}

/*
** Whether each jump from the comparison's own on leads further down, or out of the region to where it ends.
*/
static int all_meet (const Region *region) {
  for (const Instruction *pc = region->first - 1; pc < region->join; pc++) {
    if (GET_OPCODE(*pc) != OP_JMP)
      continue;
    const Instruction *target = target_of(pc);
    if ((target <= pc || target > region->join) && after_jumps(target) != after_jumps(region->join))
      return 0;
  }
  return 1;
}

static int may_be_lowered (OpCode op) {
  switch (op) {
    case OP_MOVE: case OP_LOADI: case OP_LOADF: case OP_LOADK: case OP_GETUPVAL: case OP_UNM: case OP_BNOT:
    case OP_MMBIN: case OP_MMBINI: case OP_MMBINK:
    case OP_EQ: case OP_LT: case OP_LE: case OP_EQK: case OP_EQI: case OP_LTI: case OP_LEI: case OP_GTI:
    case OP_GEI:
    case OP_TEST: case OP_TESTSET: case OP_JMP:
      return 1;
    default: return tlua_rec_operation_of(op) != TM_N;
  }
}

/* Sets the region's end; returns 0 if something else comes before it. An empty 'if' has an empty region. */
static int find_join (Region *region) {
  const Instruction *longest = region->first + LONGEST_REGION;
  for (region->join = region->first; !all_meet(region); ) {
    if (region->join >= longest || !may_be_lowered(GET_OPCODE(*region->join)))
      return 0;
    /*
    ** the jump after a comparison is no place to meet; there is an instruction: the last one of a function
    ** is a return
    */
    region->join += testTMode(GET_OPCODE(*region->join)) ? 2 : 1;
  }
  return 1;
}

static int add_live (TluaRecorder *rec, Region *region, const Instruction *pc) {
  const lu_byte *row = tlua_live(rec->trace.thread, rec->at.p, (int)(pc - rec->at.p->code));
  if (row == NULL)
    return 0;
  for (int n = 0; n < (rec->at.p->maxstacksize + 7) / 8; n++)
    region->live[n] |= row[n];
  return 1;
}

/* What is needed at the region's end, or where jumps lead that leave it in another way. */
static int find_live (TluaRecorder *rec, Region *region) {
  memset(region->live, 0, sizeof region->live);
  for (const Instruction *pc = region->first - 1; pc < region->join; pc++) {
    if (GET_OPCODE(*pc) == OP_JMP && !is_within(target_of(pc), region->first, region->join)
        && !add_live(rec, region, target_of(pc)))
      return 0;
  }
  return add_live(rec, region, region->join);
}

/* --- operands --- */

/* Only constants have a 'now'. */
static Operand of_constant (TluaRecorder *rec, const Region *region, const TValue *value) {
  if (region->is_dry)
    return (Operand){ .tt = rawtt(value), .now = value };
  return tlua_rec_constant(rec, value);
}

static const Chosen *find (const Way *way, int r) {
  for (int n = 0; n < way->count; n++) {
    if (way->written[n].r == r)
      return &way->written[n];
  }
  return NULL;
}

/* A register as the way sees it. */
static Operand of_register (TluaRecorder *rec, const Region *region, const Way *way, int r) {
  const Chosen *c = find(way, r);
  Operand o = { .tt = c != NULL ? c->tt : rawtt(s2v(rec->at.base + r)), .value = c != NULL ? c->value : 0 };
  if (c == NULL && !region->is_dry)
    o.value = tlua_rec_register(rec, r).value;
  return o;
}

static Operand of_upvalue (TluaRecorder *rec, const Region *region, int n) {
  Operand o = { .tt = rawtt(ci_func(rec->trace.ci)->upvals[n]->v.p) };
  if (!region->is_dry)
    o.value = tlua_rec_upvalue(rec, n).value;
  return o;
}

/* --- instructions --- */

/* Returns 0 unless it is a number. */
static int put (Way *way, int r, Operand o) {
  int n = 0;
  while (n < way->count && way->written[n].r != r)
    n++;
  if (!is_number(o.tt) || n == MOST_WRITTEN)
    return 0;
  if (n == way->count)
    way->count++;
  way->written[n] = (Chosen){ .r = r, .tt = o.tt, .value = o.value };
  return 1;
}

/* Returns 0 if the way is too long. */
static int spend (Way *way, int cycles) {
  way->cycles += cycles;
  return way->cycles <= (int)tl_get_advice()->choice_cycles;
}

/* Whether a number is divided by it with a shift or a mask: a constant power of two. */
static int is_power (Operand b) {
  lua_Unsigned divisor = b.now == NULL || !ttisinteger(b.now) ? 0 : l_castS2U(ivalue(b.now));
  return divisor != 0 && divisor <= (lua_Unsigned)LUA_MAXINTEGER && (divisor & (divisor - 1)) == 0;
}

/* Whether all numbers of these types have a result, which is found soon. */
static int is_total (TMS operation, Operand a, Operand b) {
  int are_integers = a.tt == LUA_VNUMINT && b.tt == LUA_VNUMINT;
  switch (operation) {
    case TM_ADD: case TM_SUB: case TM_MUL: return is_number(a.tt) && is_number(b.tt);
    case TM_MOD: case TM_IDIV: return are_integers && is_power(b);
    case TM_BAND: case TM_BOR: case TM_BXOR: return are_integers;
    case TM_SHL: case TM_SHR: return are_integers && b.now != NULL;
    default: return 0;
  }
}

static int compute (TluaRecorder *rec, Region *region, Way *way, int r, TMS operation, Operand a, Operand b) {
  Operand result = { .tt = tlua_rec_result_type(operation, a, b) };
  int cycles = result.tt == LUA_VNUMFLT ? CYCLES_OF_FLOAT : operation == TM_MUL ? CYCLES_OF_PRODUCT : 1;
  if (!is_total(operation, a, b) || !spend(way, cycles))
    return 0;
  if (!region->is_dry)
    result.value = tlua_rec_total_operation(rec, operation, a, b);
  return put(way, r, result);
}

/* '-' or '~' */
static int compute_one (TluaRecorder *rec, Region *region, Way *way, int r, TMS operation, Operand o) {
  int is_total = operation == TM_UNM ? is_number(o.tt) : o.tt == LUA_VNUMINT;
  if (!is_total || !spend(way, 1))
    return 0;
  if (!region->is_dry)
    o.value = tlua_rec_unary_operation(rec, operation, o.tt, o.value);
  return put(way, r, o);
}

/* An arithmetic instruction; returns 0 if it is something else. */
static int arithmetic (TluaRecorder *rec, Region *region, Way *way, Instruction i) {
  TMS operation = tlua_rec_operation_of(GET_OPCODE(i));
  TValue small;
  Operand b;
  if (operation == TM_N)
    return 0;
  switch (tlua_rec_form_of(GET_OPCODE(i))) {
    case TLUA_REGISTERS: b = of_register(rec, region, way, GETARG_C(i)); break;
    case TLUA_CONSTANT: b = of_constant(rec, region, rec->at.k + GETARG_C(i)); break;
    case TLUA_SMALL: setivalue(&small, GETARG_sC(i)); b = of_constant(rec, region, &small); break;
    default: return 0;
  }
  return compute(rec, region, way, GETARG_A(i), operation, of_register(rec, region, way, GETARG_B(i)), b);
}

/*
** One instruction that computes; returns how many words it is with what belongs to it, 0 if it does anything
** else.
*/
static int instruction (TluaRecorder *rec, Region *region, Way *way, const Instruction *pc) {
  Instruction i = *pc;
  int a = GETARG_A(i);
  TValue number;
  switch (GET_OPCODE(i)) {
    case OP_MOVE: return put(way, a, of_register(rec, region, way, GETARG_B(i)));
    case OP_LOADI: setivalue(&number, GETARG_sBx(i)); return put(way, a, of_constant(rec, region, &number));
    case OP_LOADF:
      setfltvalue(&number, cast_num(GETARG_sBx(i)));
      return put(way, a, of_constant(rec, region, &number));
    case OP_LOADK: return put(way, a, of_constant(rec, region, rec->at.k + GETARG_Bx(i)));
    case OP_GETUPVAL: return put(way, a, of_upvalue(rec, region, GETARG_B(i)));
    case OP_UNM:
      return compute_one(rec, region, way, a, TM_UNM, of_register(rec, region, way, GETARG_B(i)));
    case OP_BNOT:
      return compute_one(rec, region, way, a, TM_BNOT, of_register(rec, region, way, GETARG_B(i)));
    default: return arithmetic(rec, region, way, i) ? 2 : 0;
  }
}

/* --- comparisons --- */

static int is_equality (OpCode op) {
  return op == OP_EQ || op == OP_EQK || op == OP_EQI;
}

/* Returns 0 unless it compares numbers, of one type where their order matters. */
static int compare (TluaRecorder *rec, const Region *region, Way *way, const Instruction *pc,
                    tl_value *condition) {
  Instruction i = *pc;
  OpCode op = GET_OPCODE(i);
  TValue number;
  Operand a = of_register(rec, region, way, GETARG_A(i)), b;
  switch (op) {
    case OP_EQ: case OP_LT: case OP_LE: b = of_register(rec, region, way, GETARG_B(i)); break;
    case OP_EQK: b = of_constant(rec, region, rec->at.k + GETARG_B(i)); break;
    case OP_EQI: case OP_LTI: case OP_LEI: case OP_GTI: case OP_GEI:
      if (a.tt == LUA_VNUMFLT) {
        setfltvalue(&number, cast_num(GETARG_sB(i)));
      }
      else {
        setivalue(&number, GETARG_sB(i));
      }
      b = of_constant(rec, region, &number);
      break;
    default: return 0;
  }
  if (!is_number(a.tt) || !is_number(b.tt) || (a.tt != b.tt && !is_equality(op)) || !spend(way, 1))
    return 0;
  if (region->is_dry)
    return 1;
  if (is_equality(op))
    *condition = tlua_rec_raw_equal(rec, a, b);
  else if (op == OP_GTI || op == OP_GEI)
    *condition = tlua_rec_number_order(rec, b, a, op == OP_GEI);
  else
    *condition = tlua_rec_number_order(rec, a, b, op == OP_LE || op == OP_LEI);
  return 1;
}

/* How a comparison of numbers comes out now. */
static int outcome_now (TluaRecorder *rec, const Instruction *pc) {
  Instruction i = *pc;
  StkId base = rec->trace.ci->func.p + 1;
  const TValue *a = s2v(base + GETARG_A(i));
  TValue number;
  switch (GET_OPCODE(i)) {
    case OP_EQ: return luaV_rawequalobj(a, s2v(base + GETARG_B(i)));
    case OP_LT: return luaV_lessthan(NULL, a, s2v(base + GETARG_B(i)));
    case OP_LE: return luaV_lessequal(NULL, a, s2v(base + GETARG_B(i)));
    case OP_EQK: return luaV_rawequalobj(a, rec->at.k + GETARG_B(i));
    case OP_EQI: setivalue(&number, GETARG_sB(i)); return luaV_rawequalobj(a, &number);
    case OP_LTI: setivalue(&number, GETARG_sB(i)); return luaV_lessthan(NULL, a, &number);
    case OP_LEI: setivalue(&number, GETARG_sB(i)); return luaV_lessequal(NULL, a, &number);
    case OP_GTI: setivalue(&number, GETARG_sB(i)); return luaV_lessthan(NULL, &number, a);
    case OP_GEI: setivalue(&number, GETARG_sB(i)); return luaV_lessequal(NULL, &number, a);
    default: return 1;  /* OP_TEST, OP_TESTSET: a number is true */
  }
}

/* --- ways --- */

/* Adds what a register holds where two ways meet; returns 0 if that is no number of one type. */
static int meet (TluaRecorder *rec, Region *region, Way *way, int r, tl_value condition, const Way *yes,
                 const Way *no) {
  if (!tlua_is_live(region->live, r) || find(way, r) != NULL)
    return 1;
  Operand a = of_register(rec, region, yes, r), b = of_register(rec, region, no, r);
  if (a.tt != b.tt)
    return 0;
  if (a.value != b.value)
    a.value = tl_op3(rec->vm, TL_SELECT, condition, a.value, b.value);
  return put(way, r, a);
}

static int walk (TluaRecorder *rec, Region *region, Way *way, const Instruction *pc);

/* Walks both ways after the comparison at 'pc', to the end; 'way' then is what comes of them. */
static int walk_both (TluaRecorder *rec, Region *region, Way *way, const Instruction *pc,
                      tl_value condition) {
  Way jump = *way, skip = *way;
  const Way *yes = GETARG_k(*pc) ? &jump : &skip, *no = GETARG_k(*pc) ? &skip : &jump;
  if (++region->tests > (int)rec->advice->choice_tests || !walk(rec, region, &jump, target_of(pc + 1))
      || !walk(rec, region, &skip, pc + 2))
    return 0;
  way->count = 0;
  for (int n = 0; n < jump.count; n++) {
    if (!meet(rec, region, way, jump.written[n].r, condition, yes, no))
      return 0;
  }
  for (int n = 0; n < skip.count; n++) {
    if (!meet(rec, region, way, skip.written[n].r, condition, yes, no))
      return 0;
  }
  return 1;
}

/* Walks from 'pc' to the end; returns 0 if there is something on the way that cannot be lowered. */
static int walk (TluaRecorder *rec, Region *region, Way *way, const Instruction *pc) {
  tl_value condition = 0;
  while (is_within(pc, region->first, region->join)) {
    OpCode op = GET_OPCODE(*pc);
    if (op == OP_JMP)
      pc = target_of(pc);
    else if (op == OP_TEST || op == OP_TESTSET) {
      Operand o = of_register(rec, region, way, op == OP_TEST ? GETARG_A(*pc) : GETARG_B(*pc));
      int jumps = GETARG_k(*pc);
      if (!is_number(o.tt) || (op == OP_TESTSET && jumps && !put(way, GETARG_A(*pc), o)))
        return 0;
      pc = jumps ? target_of(pc + 1) : pc + 2;
    }
    else if (testTMode(op))
      return compare(rec, region, way, pc, &condition) && walk_both(rec, region, way, pc, condition);
    else {
      int length = instruction(rec, region, way, pc);
      if (length == 0)
        return 0;
      pc += length;
    }
  }
  return 1;
}

/* The interpreter goes on there, within the region or after it. */
static void go_on (TluaRecorder *rec, const Instruction *target) {
  rec->trace.next = target;
  if (!is_within(target, rec->trace.choice.first, rec->trace.choice.join)) {
    rec->trace.choice.join = NULL;
    tlua_rec_go_to(rec, target);
  }
}

/* Finds the region, and walks its ways without recording anything. */
static int may_choose (TluaRecorder *rec, Region *region) {
  Way way = { .count = 0 };
  *region = (Region){ .first = rec->at.pc + 2, .is_dry = 1 };
  return find_join(region) && find_live(rec, region) && walk_both(rec, region, &way, rec->at.pc, 0);
}

int tlua_rec_may_choose (TluaRecorder *rec) {
  Region region;
  return may_choose(rec, &region);
}

int tlua_rec_choice (TluaRecorder *rec, int outcome, tl_value condition) {
  Region region;
  Way way = { .count = 0 };
  if (!may_choose(rec, &region))
    return 0;
  region.is_dry = region.tests = 0;
  walk_both(rec, &region, &way, rec->at.pc, condition);
  if (rec->at.reason != NULL)
    return 1;
  for (int n = 0; n < way.count; n++)
    tlua_rec_write(rec, way.written[n].r, way.written[n].tt, way.written[n].value);
  rec->trace.choice.first = region.first;
  rec->trace.choice.join = region.join;
  go_on(rec, outcome == GETARG_k(*rec->at.pc) ? target_of(rec->at.pc + 1) : region.first);
  return 1;
}

int tlua_rec_is_lowered (TluaRecorder *rec, const Instruction *pc) {
  if (rec->trace.choice.join == NULL)
    return 0;
  OpCode op = GET_OPCODE(*pc);
  rec->at.pc = pc;
  if (op == OP_JMP)
    go_on(rec, target_of(pc));
  else if (testTMode(op))
    go_on(rec, outcome_now(rec, pc) == GETARG_k(*pc) ? target_of(pc + 1) : pc + 2);
  else if (testMMMode(GET_OPCODE(pc[1])))
    go_on(rec, pc + 2);
  else
    go_on(rec, pc + 1);
  return 1;
}
