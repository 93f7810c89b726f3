/* wl_rec.c: says what each instruction does, for the values that the interpreter is about to give it.
**
** Problem: Wren's instructions push and pop; a trace knows slots. Design: the slot that an instruction
** pushes to is known when it is recorded, so the stack is slots like any others, live as far as it reaches.
** Whatever depends on a value's type is decided now and guarded by the slot's tag; a test is guarded where
** it is made, so that its result is a constant and the branch after it nothing. Invariant: reads and guards
** come before writes; what cannot be recorded gives the recording up under a name. Example: 'i < n' is a
** comparison and a guard, which writes the tag "true".
*/
#include <string.h>

#include "wl_internal.h"

/* ---- Variables ---- */

static void push(wl_now *now, Value like, tl_value value) { wl_write(now, now->top, like, value); }

static tl_value variable_place(wl_now *now, int number) {
  ObjModule *module = now->fn->module;
  wl_pin(now, module);
  tl_value data = tl_load(now->jit, now->ids->module_data, tl_const_addr(now->jit, &module->variables));
  return tl_item_addr(now->jit, data, wl_int(now, number), sizeof(Value), 0);
}

/* The frame's closure: where functions are called as such it is the receiver, else the method's. */
static tl_value closure_of(wl_now *now) {
  ObjClosure *closure = now->frame->closure;
  if (IS_CLOSURE(now->slots[0]) && AS_CLOSURE(now->slots[0]) == closure) return wl_read(now, 0);
  if (now->fiber->numFrames - 1 == now->lift->rec.bottom) {
    wl_give_up(now->lift, "variable of an outer function, in a method");
    return 0;
  }
  return tl_const_ref(now->jit, closure);
}

/* Where an upvalue lies. */
typedef struct place {
  const wl_views *views; /* of memory at `at`; NULL: it is a slot of the trace's frames */
  tl_value at;
  int slot; /* counted from the current frame */
} place;

/*
** Where it lies, under guards. All such memory is of the kind that slots are: a variable may live in a frame
** below the trace's, which the trace may return to.
*/
static place upvalue_place(wl_now *now, int number) {
  tl_vm *jit = now->jit;
  tl_value closure = closure_of(now);
  int32_t offset = (int32_t)(offsetof(ObjClosure, upvalues) + (size_t)number * sizeof(ObjUpvalue *));
  tl_value upvalue =
      tl_load(jit, now->ids->closure_upvalue,
              tl_item_addr(jit, tl_op1(jit, TL_REF_TO_ADDR, closure), wl_int(now, 0), 8, offset));
  ObjUpvalue *real = now->frame->closure->upvalues[number];
  tl_value at = tl_load(jit, now->ids->upvalue_place, upvalue);
  const Value *bottom = now->fiber->frames[now->lift->rec.bottom].stackStart;
  int slot = (int)(real->value - now->slots);
  if (real->value == &real->closed) {
    tl_value inside = tl_item_addr(jit, tl_op1(jit, TL_REF_TO_ADDR, upvalue), wl_int(now, 0), 8,
                                   offsetof(ObjUpvalue, closed));
    wl_guard(now, tl_op2(jit, TL_ADDR_EQ, at, inside), true);
    return (place){.views = &now->ids->slot, .at = at};
  }
  if (real->value >= bottom && real->value < now->fiber->stackTop) {
    wl_guard(now, tl_op2(jit, TL_ADDR_EQ, at, wl_place(now, slot)), true);
    return (place){.slot = slot};
  }
  if (real->value < now->fiber->stack || real->value >= bottom)
    wl_give_up(now->lift, "variable of another fiber");
  tl_value lowest = wl_place(now, (int)(bottom - now->slots));
  wl_guard(now, tl_op2(jit, TL_UINT_LT, tl_op1(jit, TL_ADDR_TO_INT, at), tl_op1(jit, TL_ADDR_TO_INT, lowest)),
           true);
  return (place){.views = &now->ids->slot, .at = at};
}

static void record_load_upvalue(wl_now *now, int number) {
  Value like = *now->frame->closure->upvalues[number]->value;
  place at = upvalue_place(now, number);
  push(now, like, at.views ? wl_load(now, at.views, at.at, like) : wl_read(now, at.slot));
}

static void record_store_upvalue(wl_now *now, int number) {
  Value like = now->slots[now->top - 1];
  tl_value value = wl_read(now, now->top - 1);
  place at = upvalue_place(now, number);
  if (at.views) wl_store(now, at.views, at.at, like, value);
  else wl_write(now, at.slot, like, value);
}

/* ---- Fields and objects ---- */

static void record_load_field(wl_now *now, int receiver, int number, int result) {
  Value like = AS_INSTANCE(now->slots[receiver])->fields[number];
  tl_value object = wl_read(now, receiver);
  tl_value found = tl_get_item(now->jit, now->ids->instance, wl_tag(now, like), object, wl_int(now, number));
  wl_write(now, result, like, found);
}

static void record_store_field(wl_now *now, int receiver, int number, int from, int result) {
  Value like = now->slots[from];
  tl_value value = wl_read(now, from), object = wl_read(now, receiver);
  tl_put_item(now->jit, now->ids->instance, wl_tag(now, like), object, wl_int(now, number), value);
  if (result != from) wl_write(now, result, like, value);
}

static void record_construct(wl_now *now) {
  ObjClass *class = AS_CLASS(now->slots[0]);
  if (class->numFields < 0) {
    wl_give_up(now->lift, "object of a foreign class");
    return;
  }
  wl_pin(now, class);
  tl_value found = wl_read(now, 0), constant = tl_const_ref(now->jit, class);
  tl_guard(now->jit, TL_GUARD_VALUE, found, constant, TL_EXIT_GUARD);
  tl_value made = tl_new_record(now->jit, now->ids->instance, (uint32_t)class->numFields, 0);
  tl_set(now->jit, now->ids->instance_class, made, constant);
  wl_write(now, 0, OBJ_VAL(class), made);
  now->lift->rec.has_allocated = true;
}

/* One that has no variables of others is made in place. */
static void record_closure(wl_now *now) {
  ObjFn *fn = AS_FN(now->fn->constants.data[wl_short(now->ip + 1)]);
  if (fn->numUpvalues > 0) {
    tl_value args[1] = {tl_const_addr(now->jit, now->ip)};
    int32_t changed[1] = {now->top};
    tl_note_call(now->jit, "closure over variables");
    tl_host_call(now->jit, now->ids->closure, args, 1, changed, 1);
    return;
  }
  tl_value args[2] = {tl_context(now->jit), tl_const_ref(now->jit, fn)};
  push(now, OBJ_VAL(fn), tl_try_call(now->jit, now->ids->closure_new, args, 2));
  now->lift->rec.has_allocated = true;
}

/* ---- Loops ---- */

/* What the loop began with it must know again at its end; and it looks at the collector's debt. */
static void end_iteration(wl_now *now) {
  tl_vm *jit = now->jit;
  for (int slot = 0; slot < now->top; slot++)
    if (tl_slot_is_forgotten(jit, slot) == 2) wl_look_again(now, slot);
  wl_guard_debt(now);
}

static void record_jump_back(wl_now *now) {
  wl_recording *rec = &now->lift->rec;
  const uint8_t *head = now->ip + 3 - wl_short(now->ip + 1);
  if (head == rec->head && !rec->is_entry && now->fiber->numFrames - 1 == rec->bottom) {
    end_iteration(now);
    return;
  }
  tl_back_edge(now->jit, head,
               head < (const uint8_t *)tl_tree_key(now->jit) && now->fiber->numFrames - 1 == rec->bottom);
  if (++rec->edges > tl_get_advice()->inner_edges) wl_give_up(now->lift, "loop within the loop");
}

/*
** Whether a trace that may end at an entry does so here: where the function is called that it began with, or
** one that has code, and where it has returned to such a function.
*/
static bool is_entry(const wl_now *now) {
  const wl_recording *rec = &now->lift->rec;
  int number = now->fiber->numFrames - 1;
  bool is_recursive = now->fn->wlFlags & WL_RECURSIVE;
  if (number == rec->bottom) return rec->returned == now->ip && (is_recursive || rec->is_entry);
  return is_recursive && now->ip == now->fn->code.data
         && (rec->must_link || now->ip == rec->head || tl_has_loop(now->jit, now->ip));
}

/* Whether the recording is over here: at its head again, or at code that goes on. */
static bool is_over(wl_now *now) {
  wl_lift *lift = now->lift;
  wl_recording *rec = &lift->rec;
  if (!rec->is_started) return false;
  if (is_entry(now)) {
    wl_link(now);
    return true;
  }
  if (rec->is_entry && now->ip == rec->head) return false;
  if (now->ip == rec->head && !rec->is_side && now->fiber->numFrames - 1 == rec->bottom) {
    rec->is_on = false;
    tl_status status = tl_record_close(lift->jit);
    if (status != TL_OK) lift->npins = rec->pins;
    if (status == TL_AGAIN) wl_start(lift, now->ip, tl_record(lift->jit, now->ip, now->slots));
    if (rec->is_on) wl_resume(now);
    return !rec->is_on;
  }
  if ((rec->is_side || rec->is_entry) && tl_goes_on_at(lift->jit, now->ip, 0)) {
    if (tl_loop_fits(lift->jit, now->ip, now->slots)) {
      wl_link(now);
      return true;
    }
  } else if (rec->head && !rec->is_entry && tl_has_loop(lift->jit, now->ip)) {
    wl_give_up(lift, "loop with code within the loop");
    return true;
  }
  return false;
}

/* ---- Instructions ---- */

static void record_variable(wl_now *now) {
  const uint8_t *ip = now->ip;
  switch (*ip) {
    case CODE_LOAD_UPVALUE: record_load_upvalue(now, ip[1]); break;
    case CODE_STORE_UPVALUE: record_store_upvalue(now, ip[1]); break;
    case CODE_LOAD_MODULE_VAR: {
      Value like = now->fn->module->variables.data[wl_short(ip + 1)];
      push(now, like, wl_load(now, &now->ids->variable, variable_place(now, wl_short(ip + 1)), like));
      break;
    }
    case CODE_STORE_MODULE_VAR: {
      Value like = now->slots[now->top - 1];
      tl_value value = wl_read(now, now->top - 1);
      wl_store(now, &now->ids->variable, variable_place(now, wl_short(ip + 1)), like, value);
      break;
    }
    case CODE_LOAD_FIELD_THIS: record_load_field(now, 0, ip[1], now->top); break;
    case CODE_STORE_FIELD_THIS: record_store_field(now, 0, ip[1], now->top - 1, now->top - 1); break;
    case CODE_LOAD_FIELD: record_load_field(now, now->top - 1, ip[1], now->top - 1); break;
    case CODE_STORE_FIELD: record_store_field(now, now->top - 1, ip[1], now->top - 2, now->top - 2); break;
    default: wl_give_up(now->lift, "unknown instruction");
  }
}

/* A jump out of the loop that the recording began with, at its head's test or by a `break`, ends it. */
static void record_jump(wl_now *now, const uint8_t *to) {
  wl_recording *rec = &now->lift->rec;
  bool is_own = rec->head && !rec->is_entry && now->fiber->numFrames - 1 == rec->bottom;
  if (is_own && to == rec->loop_end) wl_give_up(now->lift, "loop ended");
}

static void record_jump_if(wl_now *now) {
  wl_recording *rec = &now->lift->rec;
  const uint8_t *to = now->ip + 3 + wl_short(now->ip + 1), *back = to - 3;
  Value test = now->slots[now->top - 1];
  /* the tag that is read says whether it jumps */
  wl_read(now, now->top - 1);
  if (*back == CODE_LOOP && back + 3 - wl_short(back + 1) == rec->head) rec->loop_end = to;
  if (IS_FALSE(test) || IS_NULL(test)) record_jump(now, to);
}

static void record_local(wl_now *now, int slot) { push(now, now->slots[slot], wl_read(now, slot)); }

static void record(wl_now *now) {
  const uint8_t *ip = now->ip;
  uint8_t op = *ip;
  if (op <= CODE_LOAD_LOCAL_8 && op >= CODE_LOAD_LOCAL_0) {
    record_local(now, op - CODE_LOAD_LOCAL_0);
    return;
  }
  if (op >= CODE_CALL_0 && op <= CODE_CALL_16) {
    int count = op - CODE_CALL_0 + 1;
    wl_record_call(now, count, NULL, wl_short(ip + 1), ip + 3);
    return;
  }
  if (op >= CODE_SUPER_0 && op <= CODE_SUPER_16) {
    int count = op - CODE_SUPER_0 + 1;
    wl_record_call(now, count, AS_CLASS(now->fn->constants.data[wl_short(ip + 3)]), wl_short(ip + 1), ip + 5);
    return;
  }
  switch (op) {
    case CODE_CONSTANT: wl_write_constant(now, now->top, now->fn->constants.data[wl_short(ip + 1)]); break;
    case CODE_NULL: wl_write_constant(now, now->top, NULL_VAL); break;
    case CODE_FALSE: wl_write_constant(now, now->top, FALSE_VAL); break;
    case CODE_TRUE: wl_write_constant(now, now->top, TRUE_VAL); break;
    case CODE_LOAD_LOCAL: record_local(now, ip[1]); break;
    case CODE_STORE_LOCAL: wl_write(now, ip[1], now->slots[now->top - 1], wl_read(now, now->top - 1)); break;
    case CODE_POP: break;
    case CODE_JUMP: record_jump(now, ip + 3 + wl_short(ip + 1)); break;
    case CODE_JUMP_IF: record_jump_if(now); break;
    /* the tag that is read says whether they jump */
    case CODE_AND:
    case CODE_OR: wl_read(now, now->top - 1); break;
    case CODE_LOOP: record_jump_back(now); break;
    case CODE_RETURN: wl_record_return(now); break;
    case CODE_CONSTRUCT: record_construct(now); break;
    case CODE_CLOSURE: record_closure(now); break;
    case CODE_CLOSE_UPVALUE: wl_end_variables(now, now->top - 1); break;
    case CODE_FOREIGN_CONSTRUCT: wl_give_up(now->lift, "object of a foreign class"); break;
    case CODE_CLASS:
    case CODE_END_CLASS:
    case CODE_FOREIGN_CLASS:
    case CODE_METHOD_INSTANCE:
    case CODE_METHOD_STATIC: wl_give_up(now->lift, "class definition"); break;
    case CODE_IMPORT_MODULE:
    case CODE_IMPORT_VARIABLE:
    case CODE_END_MODULE: wl_give_up(now->lift, "import"); break;
    default: record_variable(now);
  }
}

bool wl_record(WrenVM *vm, const uint8_t *ip) {
  wl_lift *lift = wl_of(vm);
  wl_recording *rec = &lift->rec;
  if (!rec->is_on) return false;
  if (rec->skips > 0) {
    rec->skips--;
    return true;
  }
  if (vm->fiber != rec->fiber) {
    wl_give_up(lift, "another fiber");
    return false;
  }
  CallFrame *frame = &vm->fiber->frames[vm->fiber->numFrames - 1];
  wl_now now = {.lift = lift,
                .jit = lift->jit,
                .ids = &lift->ids,
                .vm = vm,
                .fiber = vm->fiber,
                .frame = frame,
                .slots = frame->stackStart,
                .top = (int)(vm->fiber->stackTop - frame->stackStart),
                .fn = frame->closure->fn,
                .ip = ip};
  if (now.top > WL_LIVE_BYTES * 8) {
    wl_give_up(lift, "too many slots");
    return false;
  }
  wl_resume(&now);
  if (is_over(&now)) return rec->is_on;
  rec->is_started = true;
  wl_pin(&now, now.fn);
  if (rec->is_on) record(&now);
  if (rec->is_on && !tl_recording(lift->jit)) wl_give_up(lift, "not recordable");
  return rec->is_on;
}
