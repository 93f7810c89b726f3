/*
** Lowering of short 'if's that only choose a number: both ways become one, by a select.
**
** Problem: 'if number < 0 then number = number + MODULUS end' goes one way or the other with each iteration, in no order. As a guard it
** makes a side trace for each way, with further ones behind each of these: n such tests make 2^n ways, each with code of its
** own that reads everything anew, and the processor guesses wrong half of the time.
**
** Design: a comparison over a few instructions that only compute numbers in registers, and that the comparison skips or not, is
** lowered together with them: the numbers are computed in any case, and a select chooses between the old one and the new one. The
** instructions are looked at first without recording anything; if there is anything else among them, or if a number that
** is needed afterwards would change its type, the comparison becomes a guard as usual. The interpreter then does what it
** does, and the recorder lets the instructions that are lowered already pass.
**
** Invariant: what is computed in vain can neither fail nor be seen: additions, subtractions, products, negations of numbers, moves,
** constants, upvalues that hold numbers. Guards (on an upvalue's type) leave where the comparison is done again.
**
** Example, 'if i == 0 then i = LONG end':   t = int_eq i 0; n = load upvalue.int ...; i' = select t n i
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "ldebug.h"

/* Instructions of an arm, and registers that they write. */
#define LONGEST_ARM 4

/* What a register holds behind the arm, if the arm is run. */
typedef struct Chosen {
  int r;
  int tt;
  tl_value value;
} Chosen;

typedef struct Arm {
  const Instruction *end;
  Chosen written[LONGEST_ARM];
  int count;
  int is_dry;                 /* whether it is only looked at */
} Arm;

static int is_number (int tt) {
  return tt == LUA_VNUMINT || tt == LUA_VNUMFLT;
}

static Operand of_constant (TluaRecorder *rec, const Arm *arm, const TValue *value) {
  if (arm->is_dry)
    return (Operand){ .tt = rawtt(value) };
  return tlua_rec_constant(rec, value);
}

/* A register as the arm sees it. */
static Operand of_register (TluaRecorder *rec, const Arm *arm, int r) {
  for (int n = 0; n < arm->count; n++) {
    if (arm->written[n].r == r)
      return (Operand){ .tt = arm->written[n].tt, .tag = rec->schema.tag_of[arm->written[n].tt], .value = arm->written[n].value };
  }
  if (arm->is_dry || !is_number(rawtt(s2v(rec->base + r))))
    return (Operand){ .tt = rawtt(s2v(rec->base + r)) };
  return tlua_rec_register(rec, r);
}

static Operand of_upvalue (TluaRecorder *rec, const Arm *arm, int n) {
  const TValue *now = ci_func(rec->ci)->upvals[n]->v.p;
  if (arm->is_dry || !is_number(rawtt(now)))
    return (Operand){ .tt = rawtt(now) };
  return tlua_rec_upvalue(rec, n);
}

/* Returns 0 unless it is a number. */
static int put (Arm *arm, int r, Operand o) {
  int n = 0;
  if (!is_number(o.tt))
    return 0;
  while (n < arm->count && arm->written[n].r != r)
    n++;
  if (n == arm->count)
    arm->count++;
  arm->written[n] = (Chosen){ .r = r, .tt = o.tt, .value = o.value };
  return 1;
}

/* Returns 0 unless both are numbers. */
static int compute (TluaRecorder *rec, Arm *arm, int r, TMS operation, Operand a, Operand b) {
  if (!is_number(a.tt) || !is_number(b.tt))
    return 0;
  Operand result = { .tt = a.tt == LUA_VNUMINT && b.tt == LUA_VNUMINT ? LUA_VNUMINT : LUA_VNUMFLT };
  if (!arm->is_dry)
    result.value = tlua_rec_total_operation(rec, operation, a, b);
  return put(arm, r, result);
}

static int negate (TluaRecorder *rec, Arm *arm, int r, Operand o) {
  if (!is_number(o.tt))
    return 0;
  if (!arm->is_dry)
    o.value = tl_op1(rec->vm, o.tt == LUA_VNUMINT ? TL_INT_NEG : TL_FLOAT_NEG, o.value);
  return put(arm, r, o);
}

/* One instruction of the arm; returns how many it is with what belongs to it, 0 if it does anything else. */
static int instruction (TluaRecorder *rec, Arm *arm, const Instruction *pc) {
  Instruction i = *pc;
  int a = GETARG_A(i);
  TValue number;
  Operand b = { .tt = LUA_VNIL };
  TMS operation = TM_ADD;
  switch (GET_OPCODE(i)) {
    case OP_MOVE: return put(arm, a, of_register(rec, arm, GETARG_B(i)));
    case OP_LOADI: setivalue(&number, GETARG_sBx(i)); return put(arm, a, of_constant(rec, arm, &number));
    case OP_LOADF: setfltvalue(&number, cast_num(GETARG_sBx(i))); return put(arm, a, of_constant(rec, arm, &number));
    case OP_LOADK: return put(arm, a, of_constant(rec, arm, rec->k + GETARG_Bx(i)));
    case OP_GETUPVAL: return put(arm, a, of_upvalue(rec, arm, GETARG_B(i)));
    case OP_UNM: return negate(rec, arm, a, of_register(rec, arm, GETARG_B(i)));
    case OP_ADDI: setivalue(&number, GETARG_sC(i)); b = of_constant(rec, arm, &number); break;
    case OP_ADDK: b = of_constant(rec, arm, rec->k + GETARG_C(i)); break;
    case OP_SUBK: operation = TM_SUB; b = of_constant(rec, arm, rec->k + GETARG_C(i)); break;
    case OP_MULK: operation = TM_MUL; b = of_constant(rec, arm, rec->k + GETARG_C(i)); break;
    case OP_ADD: b = of_register(rec, arm, GETARG_C(i)); break;
    case OP_SUB: operation = TM_SUB; b = of_register(rec, arm, GETARG_C(i)); break;
    case OP_MUL: operation = TM_MUL; b = of_register(rec, arm, GETARG_C(i)); break;
    default: return 0;
  }
  return compute(rec, arm, a, operation, of_register(rec, arm, GETARG_B(i)), b) ? 2 : 0;
}

static int run (TluaRecorder *rec, Arm *arm, const Instruction *pc) {
  while (pc < arm->end) {
    int length = instruction(rec, arm, pc);
    if (length == 0 || length > arm->end - pc)
      return 0;
    pc += length;
  }
  return 1;
}

/* The numbers that are needed behind the arm keep their types; returns how many there are, or 0 if one does not. */
static int chosen (TluaRecorder *rec, Arm *arm, const lu_byte *live) {
  int needed = 0;
  for (int n = 0; n < arm->count; n++) {
    int r = arm->written[n].r;
    if (!tlua_is_live(live, r))
      continue;
    if (rawtt(s2v(rec->base + r)) != arm->written[n].tt)
      return 0;
    needed++;
  }
  return needed;
}

int tlua_rec_choice (TluaRecorder *rec, int outcome, tl_value condition) {
  tl_vm *vm = rec->vm;
  const Instruction *first = rec->pc + 2;
  int jumps_if = GETARG_k(*rec->pc);
  Arm arm = { .end = first + GETARG_sJ(rec->pc[1]), .is_dry = 1 };
  if (arm.end <= first || arm.end - first > LONGEST_ARM)
    return 0;
  const lu_byte *live = tlua_live(rec->thread, rec->p, (int)(arm.end - rec->p->code));
  if (live == NULL || !run(rec, &arm, first) || !chosen(rec, &arm, live))
    return 0;
  arm.count = arm.is_dry = 0;
  run(rec, &arm, first);
  for (int n = 0; n < arm.count; n++) {
    Chosen *c = &arm.written[n];
    tl_value old = tlua_is_live(live, c->r) ? tlua_rec_register(rec, c->r).value : c->value;
    c->value = tl_op3(vm, TL_SELECT, condition, jumps_if ? old : c->value, jumps_if ? c->value : old);
  }
  if (rec->reason != NULL)
    return 1;
  for (int n = 0; n < arm.count; n++) {
    if (tlua_is_live(live, arm.written[n].r))
      tlua_rec_write(rec, arm.written[n].r, arm.written[n].tt, arm.written[n].value);
  }
  rec->join = arm.end;
  rec->next = outcome == jumps_if ? arm.end : first;
  return 1;
}

int tlua_rec_is_lowered (TluaRecorder *rec, const Instruction *pc) {
  if (rec->join == NULL || pc >= rec->join) {
    rec->join = NULL;
    return 0;
  }
  switch (GET_OPCODE(*pc)) {
    case OP_MOVE: case OP_LOADI: case OP_LOADF: case OP_LOADK: case OP_GETUPVAL: case OP_UNM: rec->next = pc + 1; break;
    default: rec->next = pc + 2; break;  /* behind the metamethod instruction */
  }
  return 1;
}
