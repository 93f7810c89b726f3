/* wl_rec_args.c: arguments and results of primitives, and those that are called as they are.
**
** Problem: a primitive takes its arguments from the stack and leaves its result there. Design: they are
** slots, read and written like others; what no recorder knows is done by the interpreter's own function,
** between which and the code all slots are in memory. Invariant: what the interpreter would raise an error
** for is never recorded. Example: 'text[1..3]' is done by wl_do_primitive, and its result's tag is guarded
** after it.
*/
#include "wl_prim.h"

void wl_is_error(wl_call *call) { wl_give_up(call->now->lift, "error"); }

tl_value wl_arg(wl_call *call, int number) { return wl_read(call->now, call->slot + number); }

/* The result takes the receiver's place. */
void wl_give(wl_call *call, Value like, tl_value value) { wl_write(call->now, call->slot, like, value); }
void wl_give_num(wl_call *call, tl_value value) { wl_give(call, NUM_VAL(0), value); }
void wl_give_bool(wl_call *call, bool is_true) { wl_write_bool(call->now, call->slot, is_true); }

/* The result of a test is known now, and guarded. */
void wl_give_test(wl_call *call, tl_value test, bool holds) {
  wl_guard_branch(call->now, test, holds);
  wl_give_bool(call, holds);
}

bool wl_are_nums(wl_call *call) {
  for (int n = 0; n < call->count; n++)
    if (!IS_NUM(call->args[n])) {
      wl_is_error(call);
      return false;
    }
  return true;
}

/* ---- Classes ---- */

ObjClass *wl_guard_class(wl_now *now, int slot) {
  Value value = now->slots[slot];
  ObjClass *class = wrenGetClassInline(now->vm, value);
  tl_value object = wl_read(now, slot), found;
  if (!IS_OBJ(value)) return class;
  wl_pin(now, class);
  switch (AS_OBJ(value)->type) {
    case OBJ_INSTANCE: found = tl_get(now->jit, now->ids->instance_class, object); break;
    case OBJ_LIST: found = tl_get(now->jit, now->ids->list_class, object); break;
    case OBJ_RANGE: found = tl_get(now->jit, now->ids->range_class, object); break;
    default: found = tl_load(now->jit, now->ids->object_class, object);
  }
  tl_guard(now->jit, TL_GUARD_VALUE, found, tl_const_ref(now->jit, class), TL_EXIT_GUARD);
  return class;
}

/* ---- Calls of functions ---- */

/* A value as two integers, for functions. */
void wl_as_pair(wl_call *call, int number, tl_value pair[2]) {
  tl_value value = wl_arg(call, number);
  pair[0] = wl_int(call->now, call->args[number].type);
  if (IS_NUM(call->args[number])) pair[1] = tl_op1(call->jit, TL_FLOAT_TO_BITS, value);
  else if (IS_OBJ(call->args[number]))
    pair[1] = tl_op1(call->jit, TL_ADDR_TO_INT, tl_op1(call->jit, TL_REF_TO_ADDR, value));
  else pair[1] = wl_int(call->now, 0);
}

/* The interpreter's own function does it, in a call that may do anything. Its result is read again. */
void wl_do_function(wl_call *call, tl_func function, const void *address, const char *name) {
  tl_vm *jit = call->jit;
  for (int n = 0; n < call->count; n++) wl_arg(call, n);
  tl_value args[2] = {tl_const_addr(jit, address), wl_int(call->now, call->count)};
  int32_t changed[1] = {call->slot};
  tl_note_call(jit, name);
  tl_host_call(jit, function, args, 2, changed, 1);
}

void wl_do_call(wl_call *call) {
  wl_do_function(call, call->now->ids->primitive, (const void *)(uintptr_t)call->primitive,
                 call->now->vm->methodNames.data[call->symbol]->value);
}
