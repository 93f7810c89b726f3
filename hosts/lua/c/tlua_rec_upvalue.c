/*
** Lowering of upvalues.
**
** Problem: an upvalue may be a register of another frame, one of the recorded loop's own, or a place that
** moves when the upvalue is closed.
**
** Design: an upvalue is read through its pointer, open or closed, as the interpreter does it: the pointer is
** loaded in the trace, since it moves with the stack and when the upvalue is closed. Where it is a register
** of the loop's frame, the trace reads and writes that register. Where the trace knows which closure runs,
** the upvalue is a constant, and the value too if the variable is never assigned again (tlua_fixed.c).
**
** Invariant: registers of the loop's frame are never reached through an upvalue's pointer.
**
** Example, 's = s + n' with n an upvalue:
**   u = load closure.upvalue (item_addr closure 0); p = load upvalue.place u
**   guard_value(load upvalue.tag p, integer); n = load upvalue.int p; s' = int_add s n
*/

#include "lprefix.h"

#include <limits.h>
#include <stddef.h>

#include "tlua_rec.h"

#include "ldebug.h"
#include "lfunc.h"
#include "lgc.h"

/*
** The trace knows from here on which closure that is. Returns 0 if it cannot, since no number is left for it.
*/
int tlua_rec_guard_identity (TluaRecorder *rec, tl_value closure, LClosure *now, tl_exit_kind kind) {
  tl_vm *vm = rec->vm;
  uint32_t identity = tlua_identify(rec->trace.thread, now);
  if (identity == 0)
    return 0;
  now->p->jit_is_relied_on = 1;
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, rec->schema.object.identity, closure),
           tl_const_int(vm, (int64_t)identity), kind);
  return 1;
}

/* Whether the trace knows which closure runs; it asks if that is the only one of its function. */
static int is_known (TluaRecorder *rec) {
  TluaFrame *frame = running_frame(rec);
  LClosure *now = ci_func(rec->trace.ci);
  if (tlua_rec_made(rec, frame->closure) != NULL)
    return 0;
  if (!frame->is_known && tlua_is_single(now))
    frame->is_known = tlua_rec_guard_identity(rec, tlua_rec_closure(rec), now, TL_EXIT_ASSUMED);
  return frame->is_known;
}

/*
** The upvalue object: a constant, or read from the closure that runs, as all closures of one function share
** its traces. A closure that the trace makes knows those that are no registers.
*/
tl_value tlua_rec_upvalue_object (TluaRecorder *rec, int n) {
  tl_vm *vm = rec->vm;
  if (is_known(rec))
    return tl_const_ref(vm, ci_func(rec->trace.ci)->upvals[n]);
  tl_value closure = tlua_rec_closure(rec);
  if (tlua_rec_made(rec, closure) != NULL && !rec->at.p->upvalues[n].instack)
    return tl_get(vm, rec->schema.object.shared[n], closure);
  tl_value element = tl_item_addr(vm, tl_op1(vm, TL_REF_TO_ADDR, closure), tl_const_int(vm, n),
                                  sizeof(UpVal *), (int32_t)offsetof(LClosure, upvals));
  return tl_load(vm, rec->schema.upvalue.object, element);
}

/* The register, counted from the running frame, that is this upvalue of a closure which the trace makes. */
static int register_of_made (TluaRecorder *rec, int n, int *r) {
  const TluaMade *made = tlua_rec_made(rec, running_frame(rec)->closure);
  const Upvaldesc *variable = &rec->at.p->upvalues[n];
  if (made == NULL || !variable->instack)
    return 0;
  *r = tlua_rec_site(rec, made->site)->base + variable->idx - running_frame(rec)->base;
  return 1;
}

static UpVal *upvalue_now (TluaRecorder *rec, int n) {
  return ci_func(rec->trace.ci)->upvals[n];
}

/*
** An upvalue may be a register of one of the trace's frames, which a called function shares: then it is that
** register here too, in the trace's hands. Returns the register, counted from the running frame, under a
** guard; or NOT_HERE, also under a guard: it is none of all registers up to the running frame's last.
*/
#define NOT_HERE INT_MAX

static int guard_register (TluaRecorder *rec, const UpVal *u, tl_value place) {
  tl_vm *vm = rec->vm;
  const TluaFrame *loop = &rec->trace.frames[0];
  StkId base = rec->trace.bottom.ci->func.p + 1;
  StkId end = rec->at.base + rec->at.p->maxstacksize;
  StkId now = (StkId)u->v.p;
  tl_value distance = tl_op2(vm, TL_INT_SUB, tl_op1(vm, TL_ADDR_TO_INT, place),
                             tl_op1(vm, TL_ADDR_TO_INT, tlua_rec_bottom_base(rec)));
  if (upisopen(u) && base <= now && now < end) {
    tl_value there = tl_const_int(vm, (int64_t)((now - base) * (ptrdiff_t)sizeof(StackValue)));
    tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_EQ, distance, there), 0, TL_EXIT_GUARD);
    return (int)(now - base) + loop->base - running_frame(rec)->base;
  }
  tl_value size = tl_const_int(vm, (int64_t)(end - base) * (int64_t)sizeof(StackValue));
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_UINT_GE, distance, size), 0, TL_EXIT_GUARD);
  return NOT_HERE;
}

/* A variable that is never assigned again; the closure keeps the value alive. */
static Operand fixed (TluaRecorder *rec, Operand o) {
  tl_vm *vm = rec->vm;
  switch (tlua_payload(o.tt)) {
    case TL_INT: o.value = tl_const_int(vm, ivalue(o.now)); break;
    case TL_FLOAT: o.value = tl_const_float(vm, fltvalue(o.now)); break;
    case TL_REF: o.value = tl_const_ref(vm, gcvalue(o.now)); break;
    case TL_ADDR: o.value = tl_const_addr(vm, val_(o.now).p); break;
    default: break;
  }
  return o;
}

/*
** Where the value is, and the register that this is if it is one of the trace's. A closed upvalue holds its
** own value, for ever.
*/
static tl_value place_of (TluaRecorder *rec, const UpVal *u, tl_value object, int *r) {
  tl_vm *vm = rec->vm;
  if (!upisopen(u) && is_known(rec)) {
    *r = NOT_HERE;
    return tl_const_addr(vm, &u->u.value);
  }
  tl_value place = tl_load(vm, rec->schema.upvalue.place, object);
  *r = guard_register(rec, u, place);
  return place;
}

Operand tlua_rec_upvalue (TluaRecorder *rec, int n) {
  tl_vm *vm = rec->vm;
  UpVal *u = upvalue_now(rec, n);
  Operand o = tlua_rec_operand(rec, u->v.p);
  int r;
  if (o.tag == 0)
    return o;
  if (register_of_made(rec, n, &r))
    return tlua_rec_register(rec, r);
  if (tlua_is_fixed(ci_func(rec->trace.ci), n) && is_known(rec)) {
    u->jit_state = TLUA_RELIED_ON;
    return fixed(rec, o);
  }
  tl_value place = place_of(rec, u, tlua_rec_upvalue_object(rec, n), &r);
  if (r != NOT_HERE)
    return tlua_rec_register(rec, r);
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, rec->schema.upvalue.tag, place), tl_const_int(vm, o.tt),
           TL_EXIT_GUARD);
  tl_type type = tlua_payload(o.tt);
  if (type != TL_VOID)
    o.value = tl_load(vm, rec->schema.upvalue.value[type], place);
  return o;
}

void tlua_lower_set_upvalue (TluaRecorder *rec, Instruction i) {
  tl_vm *vm = rec->vm;
  int n = GETARG_B(i);
  UpVal *u = upvalue_now(rec, n);
  Operand value = tlua_rec_register(rec, GETARG_A(i));
  if (value.tag == 0)
    return;
  int r;
  if (register_of_made(rec, n, &r)) {
    tlua_rec_write_operand(rec, r, value);
    return;
  }
  tl_value object = tlua_rec_upvalue_object(rec, n);
  tl_value place = place_of(rec, u, object, &r);
  if (r != NOT_HERE) {
    tlua_rec_write_operand(rec, r, value);
    return;
  }
  tlua_rec_barrier(rec, object, 1, value);
  tl_type type = tlua_payload(value.tt);
  if (type != TL_VOID)
    tl_store(vm, rec->schema.upvalue.value[type], place, value.value);
  tl_store(vm, rec->schema.upvalue.tag, place, tl_const_int(vm, value.tt));
}

void tlua_lower_get_upvalue (TluaRecorder *rec, Instruction i) {
  Operand o = tlua_rec_upvalue(rec, GETARG_B(i));
  if (rec->at.reason == NULL)
    tlua_rec_write(rec, GETARG_A(i), o.tt, o.value);
}
