/*
** Lowering of new closures, and of the end of variables that closures may refer to.
**
** Problem: a function expression in a loop makes a closure each time. Its variables may be registers of the
** running frame, which a trace keeps in registers of the machine, or variables of the function around it,
** which exist already.
**
** Design: where all upvalues are upvalues of the running closure too, the closure is made in Lua's own way,
** protected and with the collector stopped; lack of memory leaves the trace. Those that share registers are
** objects of the trace (tlua_rec_share.c), and are mostly never made; one with very many upvalues is made by
** a call (tlua_rec_do.c). Where registers may be shared and their function returns, or OP_CLOSE comes, the
** upvalues are closed as the interpreter does.
**
** Invariant: no upvalue refers to a register of a frame that has returned.
**
** Example, 'f = function () n = n + 1 end' with n a variable further out:   f = try_call
** new_closure(context, its prototype, closure)
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "lfunc.h"

typedef struct Job {
  Proto *p;
  const LClosure *around;
  LClosure *result;
} Job;

static void do_closure (lua_State *L, void *data) {
  Job *job = (Job *)data;
  const Upvaldesc *variables = job->p->upvalues;
  LClosure *closure = luaF_newLclosure(L, job->p->sizeupvalues);
  closure->p = job->p;
  tlua_made(job->p);
  for (int n = 0; n < job->p->sizeupvalues; n++)
    closure->upvals[n] = job->around->upvals[variables[n].idx];  /* a new object is white: no barrier */
  job->result = closure;
}

static LClosure *new_closure (lua_State *L, Proto *p, LClosure *around) {
  Job job = { .p = p, .around = around };
  return tlua_protected(L, do_closure, &job) ? job.result : NULL;
}

/*
** The registers from there on are no upvalues any more. Neither throws nor collects. The top is what the
** interpreter has left there, and may lie below them.
*/
static void close_upvalues (lua_State *L, StkId level) {
  StkId top = L->top.p;
  L->top.p = L->stack_last.p;
  luaF_closeupval(L, level);
  L->top.p = top;
}

/* The registers of the running frame from there on are stored, and are upvalues of nobody any more. */
static void close_from (TluaRecorder *rec, int level) {
  tl_vm *vm = rec->vm;
  int r = running_frame(rec)->base + level;
  tl_store_slots(vm);
  tl_value place = tl_item_addr(vm, tl_frame_base(vm), tl_const_int(vm, r), sizeof(StackValue), 0);
  tl_value arguments[2] = { tl_context(vm), place };
  tl_call(vm, rec->schema.object.close_upvalues, arguments, 2);
}

/* The results come to where the function lies, or into the frame that takes its place. */
void tlua_rec_close_frame (TluaRecorder *rec, const Operand *values, int count) {
  const TluaFrame *frame = running_frame(rec);
  int is_inlined = rec->trace.depth > 0, dead = -1;
  if (is_inlined)
    dead = rec->trace.frames[rec->trace.depth - 1].base + frame->function - frame->base;
  int is_real = tlua_rec_settle_made(rec, 0, dead, values, count);
  if (frame->is_shared || (is_inlined && is_real))
    close_from(rec, 0);
}

int tlua_describe_closures (tl_vm *vm, TluaSchema *schema) {
  const tl_class reads[] = { tl_alias_class(vm, "closure.upvalue"), 0 };
  const tl_class writes[] = { tl_alias_class(vm, "global.debt"), 0 };
  schema->object.new_closure = tl_add_func(vm, "new_closure", (const void *)new_closure, "aar>r",
                                           TL_EFFECT_ALLOCATES, reads, writes);
  schema->object.close_upvalues = tl_add_func(vm, "close_upvalues",
                                              (const void *)(uintptr_t)close_upvalues, "aa>v",
                                              TL_EFFECT_READS_ALL | TL_EFFECT_WRITES_ALL, NULL, NULL);
  return schema->object.new_closure != 0 && schema->object.close_upvalues != 0;
}

static int captures_registers (const Proto *p) {
  for (int n = 0; n < p->sizeupvalues; n++) {
    if (p->upvalues[n].instack)
      return 1;
  }
  return 0;
}

/* That an address in the stack lies below a register, where 'below' is what is the case. */
static void guard_below (TluaRecorder *rec, tl_value place, int r, int below) {
  tl_vm *vm = rec->vm;
  tl_value limit = tl_item_addr(vm, tl_frame_base(vm), tl_const_int(vm, r), sizeof(StackValue), 0);
  tl_value is_below = tl_op2(vm, TL_UINT_LT, tl_op1(vm, TL_ADDR_TO_INT, place),
                             tl_op1(vm, TL_ADDR_TO_INT, limit));
  if (!below)  /* the instruction may be done by a call yet: no guard that fails may stand before that */
    tlua_rec_give_up(rec, "variable to be closed");
  else
    tl_guard(vm, TL_GUARD_TRUE, is_below, 0, TL_EXIT_GUARD);
}

static void guard_none_to_close (TluaRecorder *rec, int a) {
  guard_below(rec, tl_load(rec->vm, rec->schema.state.to_be_closed, tl_context(rec->vm)),
              running_frame(rec)->base + a, rec->trace.thread->tbclist.p < rec->at.base + a);
}

/* That no register from there on is an upvalue; those that are so now only the recording has shared. */
static void guard_none_open (TluaRecorder *rec, int a) {
  tl_vm *vm = rec->vm;
  const UpVal *first = rec->trace.thread->openupval;
  while (first != NULL && uplevel(first) >= rec->at.base + a)
    first = first->u.open.next;
  tl_value upvalue = tl_load(vm, rec->schema.state.open_upvalues, tl_context(vm));
  tl_guard(vm, first == NULL ? TL_GUARD_NULL : TL_GUARD_NONNULL, upvalue, 0, TL_EXIT_GUARD);
  if (first != NULL)
    guard_below(rec, tl_load(vm, rec->schema.upvalue.place, upvalue), running_frame(rec)->base + a, 1);
}

int tlua_rec_guard_closes (TluaRecorder *rec) {
  const UpVal *first = rec->trace.thread->openupval;
  guard_none_to_close(rec, 0);
  if (first != NULL && uplevel(first) >= rec->at.base)
    return 1;
  guard_none_open(rec, 0);
  return 0;
}

/*
** Each generic loop ends with this instruction, since its iterator may be closed, and blocks with variables
** that are captured.
*/
void tlua_lower_close (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i), has_shared = running_frame(rec)->is_shared;
  guard_none_to_close(rec, a);
  if (rec->at.reason != NULL)
    return;
  if (tlua_rec_settle_made(rec, a, a, NULL, 0) || has_shared)
    close_from(rec, a);
  else
    guard_none_open(rec, a);
}

void tlua_lower_closure (TluaRecorder *rec, Instruction i) {
  tl_vm *vm = rec->vm;
  Proto *p = rec->at.p->p[GETARG_Bx(i)];
  if (captures_registers(p)) {
    tl_value shared = tlua_rec_make_shared(rec, p);
    if (shared != 0)
      tlua_rec_write(rec, GETARG_A(i), ctb(LUA_VLCL), shared);
    else {
      running_frame(rec)->is_shared = 1;
      tlua_rec_give_up(rec, "closure over local variables");
    }
    return;
  }
  tl_value arguments[3] = { tl_context(vm), tl_const_addr(vm, p), tlua_rec_closure(rec) };
  tlua_rec_write(rec, GETARG_A(i), ctb(LUA_VLCL),
                 tl_try_call(vm, rec->schema.object.new_closure, arguments, 3));
}
