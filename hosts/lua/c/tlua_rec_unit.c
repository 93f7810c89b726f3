/*
** Functions that call themselves, as units: code that code calls.
**
** Problem: recursion as traces linked in a circle makes a record of the interpreter's for each call, keeps
** all values in registers of Lua's, and asks at each return who has called. A function that only computes,
** and calls itself, needs none of that.
**
** Design: where a recording comes to a call of a function within itself, and that function could be a unit,
** it is given up, and the function is recorded as one at its next entry: its parameters are the unit's
** arguments, its closure is a constant, and a return ends the recording. A call of it with arguments of the
** same types is a call of the unit, in whatever recording; with others it is taken in as far as that goes.
** The interpreter enters a unit by a gateway, a small trace that is put together here. What a unit cannot do,
** since its frames are nowhere, makes it none: calls of the host, loops, closures over its registers.
**
** Invariant: the code of a unit is right for one closure only, which is its function's only one; whoever
** calls it has made sure of that.
**
** Example, in 'local function fib (n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end':
**   guard_true(uint_le(frame_base, limit)); guard_false(int_lt(n, 2))
**   i4 = call_unit(fib, 2, int_sub(n, 1)); i5 = unit_result(i4, 1: integer); ... return_unit(sum, integer)
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "ldebug.h"

/* A unit has no more parameters than this, and no more registers. */
#define MOST_ARGUMENTS 16
#define MOST_REGISTERS 120

/* Whether the function's instructions are those of a unit. */
static int has_fitting_code (const Proto *p) {
  if (tlua_is_vararg(p) || p->sizep > 0 || p->numparams > MOST_ARGUMENTS || p->maxstacksize > MOST_REGISTERS)
    return 0;
  for (int pc = 0; pc < p->sizecode; pc++) {
    switch (GET_OPCODE(p->code[pc])) {
      case OP_FORLOOP: case OP_TFORLOOP: case OP_TAILCALL: case OP_TBC: case OP_CONCAT:
        return 0;
      case OP_JMP:
        if (GETARG_sJ(p->code[pc]) < 0)
          return 0;
        break;
      default:
        break;
    }
  }
  return 1;
}

int tlua_rec_may_be_unit (const LClosure *closure) {
  const Proto *p = closure->p;
  return p->jit_unit < TLUA_NO_UNIT && tlua_is_single(closure) && has_fitting_code(p);
}

int tlua_rec_becomes_unit (TluaRecorder *rec, LClosure *closure) {
  if (rec->trace.is_unit || !tlua_rec_may_be_unit(closure))
    return 0;
  if (closure->p->jit_unit == TLUA_NOT_ASKED) {
    closure->p->jit_unit = TLUA_UNIT_WANTED;
    tl_drop_entries(rec->vm, tlua_entry_key(closure->p->code));
  }
  tlua_rec_give_up(rec, "becomes a unit");
  return 1;
}

/* The tags of a call's arguments; those that are missing are nil. Returns 0 if one is of no known type. */
static int find_tags (TluaRecorder *rec, const Proto *p, StkId first, int count, tl_argument *tags) {
  TValue nil;
  setnilvalue(&nil);
  for (int r = 0; r < p->numparams; r++) {
    Operand o = tlua_rec_operand(rec, r < count ? s2v(first + r) : &nil);
    if (o.tag == 0)
      return 0;
    tags[r] = (tl_argument){ .slot = r, .tag = o.tag };
  }
  return 1;
}

static uint32_t find_unit (TluaRecorder *rec, const Proto *p, StkId first, int count) {
  tl_argument tags[MOST_ARGUMENTS];
  return find_tags(rec, p, first, count, tags)
      ? tl_find_unit(rec->vm, tlua_entry_key(p->code), tags, p->numparams) : 0;
}

/* --- calls --- */

/* Whether all frames of the trace are those of calls by Lua: C code of the interpreter counts its levels. */
static int has_c_levels (const TluaRecorder *rec) {
  for (int depth = 1; depth <= rec->trace.depth; depth++) {
    if (rec->trace.frames[depth].status & TLUA_STATUS_FRESH)
      return 1;
  }
  return 0;
}

/* Ways that a function may go at most, in tests, and still be taken into itself. */
#define MOST_TESTS 1
#define MOST_INSTRUCTIONS 20

/* A small function is taken into itself so many times before it is called. */
#define SELF_INLINED 2

static int count_tests (const Proto *p) {
  int tests = 0;
  for (int pc = 0; pc < p->sizecode; pc++) {
    OpCode op = GET_OPCODE(p->code[pc]);
    tests += (op >= OP_EQ && op <= OP_TESTSET);
  }
  return tests;
}

/*
** Whether the unit that is recorded takes this call of itself in. With few ways that makes few traces, and
** calls are most of what a small function does; each of several ways would be followed by all others.
*/
static int takes_itself_in (const TluaRecorder *rec, const Proto *p, int a) {
  int same = 0;
  for (int depth = 0; depth <= rec->trace.depth; depth++)
    same += rec->trace.frames[depth].p == p;
  int end = rec->trace.frames[rec->trace.depth].base + a + 1 + 2 * p->maxstacksize;
  return rec->trace.is_unit && rec->trace.frames[0].p == p && same <= SELF_INLINED
      && end + 8 <= tlua_unit_needs(p) && p->sizecode <= MOST_INSTRUCTIONS && count_tests(p) <= MOST_TESTS;
}

int tlua_rec_call_unit (TluaRecorder *rec, Operand function, int a, int count, int wanted) {
  const LClosure *closure = clLvalue(function.now);
  Proto *p = closure->p;
  Operand values[MOST_ARGUMENTS];
  tl_value arguments[MOST_ARGUMENTS];
  TluaChanged changed;
  uint32_t passed = 0;
  if (p->jit_unit == TLUA_NOT_ASKED || wanted < 0 || wanted > 1 || !tlua_rec_may_be_unit(closure)
      || count > MOST_ARGUMENTS || has_c_levels(rec) || !tl_may_guard(rec->vm))
    return 0;
  uint32_t unit = find_unit(rec, p, rec->at.base + a + 1, count);
  if (unit == 0 || takes_itself_in(rec, p, a))
    return 0;
  int parameters = count < p->numparams ? count : p->numparams;
  tlua_rec_begin_changed(&changed);
  tlua_rec_add_captured(rec, &changed, a);
  if (changed.is_full || (rec->trace.is_unit && changed.count > 0))  /* frames of a unit are nowhere */
    return 0;
  if (!tlua_rec_read_values(rec, a + 1, parameters, values))
    return 1;
  for (int n = 0; n < parameters; n++) {
    if (values[n].value != 0)
      arguments[passed++] = values[n].value;
  }
  if (!tlua_rec_push_unit(rec, function, a, count, wanted, !rec->trace.is_unit))
    return 1;
  tl_call_unit(rec->vm, unit, arguments, passed, wanted > 0 ? a : TL_NO_SLOT, changed.registers,
               changed.count);
  tlua_rec_unit_called(rec);
  rec->trace.called.has_returned = 1;
  return 1;
}

void tlua_rec_take_result (TluaRecorder *rec) {
  const Instruction *call = rec->at.pc - 1;
  int wanted = GETARG_C(*call) - 1;
  tl_tag tag = 0;
  rec->trace.called.has_returned = 0;
  if (wanted > 0) {
    Operand o = tlua_rec_operand(rec, s2v(rec->at.base + GETARG_A(*call)));
    if (o.tag == 0)
      return;
    tag = o.tag;
  }
  tl_unit_returned(rec->vm, tag);
}

/* --- in a unit --- */

void tlua_rec_guard_limit (TluaRecorder *rec) {
  tl_vm *vm = rec->vm;
  tl_value limit = tl_load(vm, rec->schema.frame.room, tl_const_addr(vm, tl_unit_limit(vm)));
  tl_value needs = tl_const_int(vm, tlua_unit_needs(rec->at.p));
  tl_value end = tl_item_addr(vm, tl_frame_base(vm), needs, sizeof(StackValue), 0);
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_UINT_LE, tl_op1(vm, TL_ADDR_TO_INT, end), limit), 0,
           TL_EXIT_INTERRUPT);
}

void tlua_rec_return_unit (TluaRecorder *rec, Instruction i) {
  OpCode op = GET_OPCODE(i);
  const Instruction *first = rec->at.p->jit_return;
  if (op == OP_RETURN || (first != NULL && GET_OPCODE(*first) != op)) {
    tlua_rec_give_up(rec, "return of another kind");
    return;
  }
  rec->at.result = op == OP_RETURN1 ? tlua_rec_register(rec, GETARG_A(i)) : tlua_rec_nil(rec);
  rec->at.ends_unit = rec->at.reason == NULL;
  if (rec->at.ends_unit)
    rec->at.p->jit_return = rec->at.pc;
}

void tlua_rec_unit_failed (TluaRecorder *rec) {
  Proto *p = rec->trace.frames[0].p;
  if (p->jit_unit < TLUA_NO_UNIT && !rec->trace.is_side_of_unit)
    p->jit_unit++;
}

/* --- recording one --- */

int tlua_rec_begin_unit (TluaRecorder *rec, lua_State *L, CallInfo *ci) {
  LClosure *closure = ci_func(ci);
  tl_argument tags[MOST_ARGUMENTS];
  if (tlua_identify(L, closure) == 0 || !find_tags(rec, closure->p, ci->func.p + 1, MOST_ARGUMENTS, tags))
    return 0;
  for (int r = 0; r < closure->p->numparams; r++)
    tl_unit_argument(rec->vm, tags[r].slot, tags[r].tag);
  rec->trace.is_unit = 1;
  rec->trace.frames[0].closure = tl_const_ref(rec->vm, closure);
  rec->trace.frames[0].is_known = 1;
  return 1;
}

void tlua_rec_gateway (TluaRecorder *rec, CallInfo *ci, uint32_t unit) {
  LClosure *closure = ci_func(ci);
  Proto *p = closure->p;
  tl_value arguments[MOST_ARGUMENTS];
  uint32_t passed = 0;
  tlua_rec_resume_here(rec);
  if (!tlua_rec_guard_identity(rec, tlua_rec_closure(rec), closure, TL_EXIT_GUARD))
    tlua_rec_give_up(rec, "no number for a closure");
  for (int r = 0; r < p->numparams; r++) {
    Operand o = tlua_rec_register(rec, r);
    if (o.value != 0)
      arguments[passed++] = o.value;
  }
  if (rec->at.reason != NULL)
    return;
  int is_wanted = GET_OPCODE(*p->jit_return) == OP_RETURN1;
  tl_call_unit(rec->vm, unit, arguments, passed, is_wanted ? GETARG_A(*p->jit_return) : TL_NO_SLOT, NULL, 0);
  rec->at.pc = p->jit_return;
  tlua_rec_resume_here(rec);
  tl_unit_returned(rec->vm, 0);
}

/* Whether the closure has itself as an upvalue: a local function that calls itself, most likely. */
static int knows_itself (const LClosure *closure) {
  for (int n = 0; n < closure->nupvalues; n++) {
    const TValue *value = closure->upvals[n]->v.p;
    if (ttisLclosure(value) && clLvalue(value) == closure)
      return 1;
  }
  return 0;
}

int tlua_rec_wants_unit (const CallInfo *ci) {
  const LClosure *closure = ci_func(ci);
  if (closure->p->jit_unit == TLUA_NOT_ASKED && tlua_rec_may_be_unit(closure) && knows_itself(closure))
    closure->p->jit_unit = TLUA_UNIT_WANTED;
  return closure->p->jit_unit != TLUA_NOT_ASKED && tlua_rec_may_be_unit(closure);
}

uint32_t tlua_rec_unit_of (TluaRecorder *rec, const CallInfo *ci) {
  const Proto *p = ci_func(ci)->p;
  return find_unit(rec, p, ci->func.p + 1, p->numparams);
}
