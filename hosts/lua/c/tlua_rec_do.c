/*
** Instructions that are done by a call.
**
** Problem: an instruction may run any code: a metamethod that is a C function, one of userdata, the '__close'
** of a variable; a step of a generic loop may call any C function. Others are too rare, or too much, for
** operations of their own: a closure over registers, a list of open length. None of them should end a
** recording.
**
** Design: such an instruction is a call of the host (tlua_rec_host.c) of a function that does with the
** registers in memory what the interpreter does, by the interpreter's own functions; errors, yields and
** collections come in it as they do there. While recording the interpreter does it, and the recording waits
** for what comes next. This is what the recorder falls back on when a lowering gives up before it has had an
** effect. Instructions that jump are not done so.
**
** Invariant: the registers that an instruction writes are among those that are forgotten after it.
**
** Example, 'file:write(x)': OP_SELF finds the method of userdata by   call(do_instruction, context, frame,
** site, 0); then OP_CALL is a call of the host's own.
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "ldebug.h"
#include "lfunc.h"
#include "lgc.h"
#include "lobject.h"
#include "ltable.h"
#include "lvm.h"

/* --- what the instructions do --- */

/* Where they stand: the frame that runs, and its registers, which may move. */
#define register_of(ci, r) ((ci)->func.p + 1 + (r))
#define value_of(ci, r) s2v(register_of(ci, r))

static const TValue *constant_of (const CallInfo *ci, int n) {
  return &ci_func(ci)->p->k[n];
}

static const TValue *register_or_constant (CallInfo *ci, Instruction i) {
  return TESTARG_k(i) ? constant_of(ci, GETARG_C(i)) : value_of(ci, GETARG_C(i));
}

static const TValue *upvalue_of (const CallInfo *ci, int n) {
  return ci_func(ci)->upvals[n]->v.p;
}

static void get (lua_State *L, CallInfo *ci, Instruction i, const TValue *t, TValue *key) {
  tlua_do_get(L, t, key, register_of(ci, GETARG_A(i)));
}

static void do_get (lua_State *L, CallInfo *ci, Instruction i) {
  TValue key;
  switch (GET_OPCODE(i)) {
    case OP_GETTABUP:
      setobj(L, &key, constant_of(ci, GETARG_C(i)));
      get(L, ci, i, upvalue_of(ci, GETARG_B(i)), &key);
      return;
    case OP_GETTABLE: setobj(L, &key, value_of(ci, GETARG_C(i))); break;
    case OP_GETI: setivalue(&key, GETARG_C(i)); break;
    case OP_GETFIELD: setobj(L, &key, constant_of(ci, GETARG_C(i))); break;
    default:  /* OP_SELF */
      setobj(L, &key, TLUA_METHOD_IN_REGISTER(i) ? value_of(ci, GETARG_C(i)) : constant_of(ci, GETARG_C(i)));
      setobj2s(L, register_of(ci, GETARG_A(i) + 1), value_of(ci, GETARG_B(i)));
      break;
  }
  get(L, ci, i, value_of(ci, GETARG_B(i)), &key);
}

static void do_set (lua_State *L, CallInfo *ci, Instruction i) {
  TValue key, value;
  setobj(L, &value, register_or_constant(ci, i));
  switch (GET_OPCODE(i)) {
    case OP_SETTABUP:
      setobj(L, &key, constant_of(ci, GETARG_B(i)));
      tlua_do_set(L, upvalue_of(ci, GETARG_A(i)), &key, &value);
      return;
    case OP_SETTABLE: setobj(L, &key, value_of(ci, GETARG_B(i))); break;
    case OP_SETI: setivalue(&key, GETARG_B(i)); break;
    default: setobj(L, &key, constant_of(ci, GETARG_B(i))); break;  /* OP_SETFIELD */
  }
  tlua_do_set(L, value_of(ci, GETARG_A(i)), &key, &value);
}

/* The result is for the instruction before, whose operands these are. */
static void do_metamethod (lua_State *L, CallInfo *ci, const Instruction *pc) {
  Instruction i = *pc;
  StkId result = register_of(ci, GETARG_A(pc[-1]));
  const TValue *a = value_of(ci, GETARG_A(i));
  TMS event = (TMS)GETARG_C(i);
  switch (GET_OPCODE(i)) {
    case OP_MMBIN: luaT_trybinTM(L, a, value_of(ci, GETARG_B(i)), result, event); break;
    case OP_MMBINI: luaT_trybiniTM(L, a, GETARG_sB(i), GETARG_k(i), result, event); break;
    default:
      luaT_trybinassocTM(L, a, constant_of(ci, GETARG_B(i)), GETARG_k(i), result, event);
      break;
  }
}

static void do_unary (lua_State *L, CallInfo *ci, Instruction i) {
  StkId result = register_of(ci, GETARG_A(i));
  const TValue *operand = value_of(ci, GETARG_B(i));
  int is_minus = GET_OPCODE(i) == OP_UNM;
  if (!luaO_rawarith(L, is_minus ? LUA_OPUNM : LUA_OPBNOT, operand, operand, s2v(result)))
    luaT_trybinTM(L, operand, operand, result, is_minus ? TM_UNM : TM_BNOT);
}

/* Collections may come once the result is in its register, and all after it is dead. */
static void may_collect (lua_State *L, StkId top) {
  if (tlua_owes(G(L))) {
    L->top.p = top;
    luaC_step(L);
  }
}

static void do_concat (lua_State *L, CallInfo *ci, Instruction i) {
  L->top.p = register_of(ci, GETARG_A(i) + GETARG_B(i));
  luaV_concat(L, GETARG_B(i));
  may_collect(L, register_of(ci, GETARG_A(i) + 1));
}

/* A closure shares registers of this frame, and upvalues of its function. */
static void do_closure (lua_State *L, CallInfo *ci, Instruction i) {
  const LClosure *around = ci_func(ci);
  Proto *p = around->p->p[GETARG_Bx(i)];
  LClosure *closure = luaF_newLclosure(L, p->sizeupvalues);
  closure->p = p;
  tlua_made(p);
  setclLvalue2s(L, register_of(ci, GETARG_A(i)), closure);
  for (int n = 0; n < p->sizeupvalues; n++) {
    const Upvaldesc *variable = &p->upvalues[n];
    closure->upvals[n] = variable->instack ? luaF_findupval(L, register_of(ci, variable->idx))
        : ci_func(ci)->upvals[variable->idx];
    luaC_objbarrier(L, closure, closure->upvals[n]);
  }
  may_collect(L, register_of(ci, GETARG_A(i) + 1));
}

/* So many items lie after the table. */
static void do_list (lua_State *L, CallInfo *ci, const Instruction *pc, int count) {
  Instruction i = *pc;
  Table *t = hvalue(value_of(ci, GETARG_A(i)));
  unsigned int last = (unsigned int)TLUA_LIST_BEFORE(i) + (unsigned int)count;
  if (TESTARG_k(i))
    last += (unsigned int)GETARG_Ax(pc[1]) * TLUA_LIST_UNIT;
  L->top.p = TLUA_LIST_COUNT(i) != 0 ? ci->top.p : register_of(ci, GETARG_A(i) + 1 + count);
  if (last > tlua_array_size(t))
    luaH_resizearray(L, t, last);
  for (int n = count; n > 0; n--, last--) {
    const TValue *value = value_of(ci, GETARG_A(i) + n);
    tlua_put_item(L, t, last - 1, value);
    luaC_barrierback(L, obj2gco(t), value);
  }
}

/* Function, state and control, the last one first, are copied to where the results come. */
static void do_step (lua_State *L, CallInfo *ci, Instruction i) {
  StkId a = register_of(ci, GETARG_A(i)), results = TLUA_ITER_RESULT(a);
  setobjs2s(L, results + 2, TLUA_ITER_CONTROL(a));
  setobjs2s(L, results + 1, a + 1);
  setobjs2s(L, results, a);
  L->top.p = results + 3;
  luaD_call(L, results, GETARG_C(i));
}

/* Called by compiled code: does the instruction that the call site says. */
static const void *do_instruction (lua_State *L, StkId base, const tl_call_site *site, int64_t count) {
  TluaHosted call;
  const Instruction *pc = tlua_words_pc(site->frames[site->nframes - 1].words);
  Instruction i = *pc;
  tlua_rec_begin_call(L, &call, base, site, 0);
  CallInfo *ci = L->ci;
  L->top.p = ci->top.p;
  if (count == 0)  /* else values may lie above that */
    tlua_rec_run_nested(L, call.rec);
  switch (GET_OPCODE(i)) {
    case OP_GETTABUP: case OP_GETTABLE: case OP_GETI: case OP_GETFIELD: case OP_SELF: do_get(L, ci, i); break;
    case OP_SETTABUP: case OP_SETTABLE: case OP_SETI: case OP_SETFIELD: do_set(L, ci, i); break;
    case OP_MMBIN: case OP_MMBINI: case OP_MMBINK: do_metamethod(L, ci, pc); break;
    case OP_UNM: case OP_BNOT: do_unary(L, ci, i); break;
    case OP_LEN: luaV_objlen(L, register_of(ci, GETARG_A(i)), value_of(ci, GETARG_B(i))); break;
    case OP_CONCAT: do_concat(L, ci, i); break;
    case OP_CLOSURE: do_closure(L, ci, i); break;
    case OP_CLOSE: luaF_close(L, register_of(ci, GETARG_A(i)), LUA_OK, 1); break;
    case OP_TBC: luaF_newtbcupval(L, register_of(ci, GETARG_A(i))); break;
    case OP_SETLIST: do_list(L, ci, pc, (int)count); break;
    case OP_TFORCALL: do_step(L, ci, i); break;
    default: lua_assert(0); break;
  }
  return tlua_rec_end_call(L, &call);
}

int tlua_describe_do (tl_vm *vm, TluaSchema *schema) {
  schema->state.do_instruction = tl_add_func(vm, "do_instruction", (const void *)(uintptr_t)do_instruction,
                                             "aaai>a", TL_EFFECT_REENTERS, NULL, NULL);
  return schema->state.do_instruction != 0;
}

/* --- recording --- */

/* The registers that the instruction writes; returns 0 if it is not done by a call. */
static int add_written (TluaRecorder *rec, TluaChanged *changed) {
  Instruction i = *rec->at.pc;
  int a = GETARG_A(i);
  switch (GET_OPCODE(i)) {
    case OP_SETTABUP: case OP_SETTABLE: case OP_SETI: case OP_SETFIELD: case OP_SETLIST: case OP_CLOSE:
      return 1;
    case OP_TBC:
      return rec->trace.depth == 0;  /* a return from an inlined function closes no such variable */
    case OP_SELF:
      tlua_rec_add_changed(changed, a);
      tlua_rec_add_changed(changed, a + 1);
      return 1;
    case OP_MMBIN: case OP_MMBINI: case OP_MMBINK:
      tlua_rec_add_changed(changed, GETARG_A(rec->at.pc[-1]));
      return 1;
    case OP_TFORCALL:
      for (int n = 0; n < GETARG_C(i); n++)
        tlua_rec_add_changed(changed, TLUA_ITER_RESULT(a) + n);
      return ttypetag(s2v(rec->at.base + a)) != LUA_VLCL;
    case OP_GETTABUP: case OP_GETTABLE: case OP_GETI: case OP_GETFIELD: case OP_UNM: case OP_BNOT:
    case OP_LEN: case OP_CONCAT: case OP_CLOSURE:
      tlua_rec_add_changed(changed, a);
      return 1;
    default:
      return 0;
  }
}

void tlua_rec_do_by_call (TluaRecorder *rec) {
  tl_vm *vm = rec->vm;
  Instruction i = *rec->at.pc;
  TluaChanged changed;
  tlua_rec_begin_changed(&changed);
  if (rec->at.is_for_now || rec->at.waits || !tlua_rec_can_call(rec)
      || !add_written(rec, &changed))
    return;
  tlua_rec_resume_here(rec);
  int count = GET_OPCODE(i) == OP_SETLIST ? TLUA_LIST_COUNT(i) : 0;
  if (GET_OPCODE(i) == OP_SETLIST && count == 0)
    count = (int)(rec->trace.thread->top.p - rec->at.base) - GETARG_A(i) - 1;
  const tl_value values[] = { tl_const_int(vm, count) };
  tlua_rec_host_call(rec, rec->schema.state.do_instruction, values, 1, &changed, rec->at.p->maxstacksize);
  if (GET_OPCODE(i) == OP_SETLIST && TESTARG_k(i))
    rec->trace.next = rec->at.pc + 2;
  rec->trace.called.is_step = GET_OPCODE(i) == OP_TFORCALL;
}
