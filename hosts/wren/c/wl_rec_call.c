/* wl_rec_call.c: calls, returns, and the end of a recording in another frame than it began in.
**
** Problem: Wren calls a method by its symbol in the receiver's class. Design: a guard on the class says
** which method it is, as a class's methods never change once it can be called. Its frame becomes part of the
** trace; a function's frame by a guard on its code, whose closure is then in its slot 0. Where a trace
** returns from the frame it began in, guards look at the fiber's frame below; where it ends in another
** frame, stores make the fiber's frames what the trace knows. Invariant: no variable of a frame that returns
** is captured, by a guard for frames that were there before. Example: 'p.x' is a class guard and a read of a
** field.
*/
#include <string.h>

#include "wl_internal.h"

static bool is_its_receiver(const CallFrame *frame) {
  return IS_CLOSURE(frame->stackStart[0]) && AS_CLOSURE(frame->stackStart[0]) == frame->closure;
}

/* ---- Calls ---- */

/* Whether the trace's frames are this function's already. */
static bool is_recursive(const wl_now *now, const ObjFn *fn) {
  for (int n = now->lift->rec.bottom; n < now->fiber->numFrames; n++)
    if (now->fiber->frames[n].closure->fn == fn) return true;
  return false;
}

/* The callee's frame begins with the arguments, at `slot`. */
static void record_frame(wl_now *now, int slot, int count, ObjFn *fn, const uint8_t *next) {
  tl_value values[MAX_PARAMETERS + 1];
  wl_recording *rec = &now->lift->rec;
  if (is_recursive(now, fn)) {
    fn->wlFlags |= WL_RECURSIVE;
    rec->must_link = true;
  }
  /* where the trace will end there, code goes on after the call, too */
  for (int n = rec->bottom; (fn->wlFlags & WL_RECURSIVE) && n < now->fiber->numFrames; n++)
    now->fiber->frames[n].closure->fn->wlFlags |= WL_RECURSIVE;
  for (int n = 0; n < count; n++) values[n] = wl_read(now, slot + n);
  uint64_t words[WL_WORDS] = {(uintptr_t)next, 0, (uint64_t)slot,
                              (uint64_t)(int64_t)(now->fiber->numFrames - 1 - now->lift->rec.entered)};
  if (!is_its_receiver(now->frame)) words[WL_WORD_CLOSURE] = (uintptr_t)now->frame->closure;
  tl_needs_slots(now->jit, wl_offset(now) + now->top + fn->maxSlots);
  uint8_t live[WL_LIVE_BYTES];
  uint32_t nslots = wl_live(live, now, slot);
  tl_frame_push(now->jit, slot, words, live, nslots);
  for (int n = 0; n < count; n++) tl_slot_write(now->jit, n, wl_tag(now, now->slots[slot + n]), values[n]);
}

static void record_function(wl_now *now, int slot, int count, const uint8_t *next) {
  ObjFn *fn = AS_CLOSURE(now->slots[slot])->fn;
  if (count - 1 < fn->arity) {
    wl_give_up(now->lift, "error");
    return;
  }
  wl_pin(now, fn);
  tl_value found = tl_load(now->jit, now->ids->closure_fn, wl_read(now, slot));
  tl_guard(now->jit, TL_GUARD_VALUE, found, tl_const_ref(now->jit, fn), TL_EXIT_GUARD);
  record_frame(now, slot, count, fn, next);
}

void wl_record_call(wl_now *now, int count, ObjClass *of, int symbol, const uint8_t *next) {
  int slot = now->top - count;
  ObjClass *class = of ? of : wl_guard_class(now, slot);
  if (symbol >= class->methods.count || class->methods.data[symbol].type == METHOD_NONE) {
    wl_give_up(now->lift, "error");
    return;
  }
  const Method *method = &class->methods.data[symbol];
  switch (method->type) {
    case METHOD_PRIMITIVE: wl_record_primitive(now, slot, count, method->as.primitive, symbol); break;
    case METHOD_FUNCTION_CALL: record_function(now, slot, count, next); break;
    case METHOD_FOREIGN: wl_record_foreign(now, slot, count, method->as.foreign); break;
    default: record_frame(now, slot, count, method->as.closure->fn, next);
  }
}

/* ---- Returns ---- */

/* The fiber's record of a frame that lies `below` frames below the one that the code was entered with. */
static tl_value frame_record(wl_now *now, tl_value fiber, int below) {
  tl_vm *jit = now->jit;
  tl_value frames = tl_load(jit, now->ids->fiber_frames, fiber),
           count = tl_load(jit, now->ids->fiber_count, fiber);
  return tl_item_addr(jit, frames, count, sizeof(CallFrame), -(1 + below) * (int32_t)sizeof(CallFrame));
}

static tl_value fiber_of(wl_now *now) { return tl_load(now->jit, now->ids->vm_fiber, tl_context(now->jit)); }

/* Guards that the frame `number` is there, and goes on where it does now. */
static void guard_caller(wl_now *now, tl_value fiber, int number) {
  int below = now->lift->rec.entered - number;
  tl_value count = tl_load(now->jit, now->ids->fiber_count, fiber);
  wl_guard(now, tl_op2(now->jit, TL_INT_GT, count, wl_int(now, below)), true);
  tl_value ip = tl_load(now->jit, now->ids->frame_ip, frame_record(now, fiber, below));
  tl_guard(now->jit, TL_GUARD_VALUE, ip, tl_const_addr(now->jit, now->fiber->frames[number].ip),
           TL_EXIT_GUARD);
}

/*
** To a caller that the trace has not met before: guards say that it is the one that is there now. A
** constructor's frame begins where that of its initializer does, and only returns: it is passed over.
*/
static void return_below(wl_now *now) {
  wl_recording *rec = &now->lift->rec;
  Value like = now->slots[now->top - 1];
  wl_end_variables(now, 0);
  tl_value value = wl_read(now, now->top - 1), fiber = fiber_of(now);
  int number = rec->bottom;
  do {
    if (number == 0) return wl_give_up(now->lift, "end of a fiber");
    guard_caller(now, fiber, --number);
  } while (now->fiber->frames[number].stackStart == now->slots
           && *now->fiber->frames[number].ip == CODE_RETURN);
  const CallFrame *caller = &now->fiber->frames[number];
  int base = (int)(now->slots - caller->stackStart);
  tl_frame_return(now->jit, -base);
  tl_slot_write(now->jit, base, wl_tag(now, like), value);
  rec->skips = (uint32_t)(rec->bottom - number - 1);
  rec->bottom = number;
  rec->returned = caller->ip;
}

void wl_record_return(wl_now *now) {
  wl_recording *rec = &now->lift->rec;
  int number = now->fiber->numFrames - 1;
  if (number == rec->bottom) {
    if (rec->head && !rec->is_entry) wl_give_up(now->lift, "return from the loop's function");
    else return_below(now);
    return;
  }
  if (wl_is_captured(now, now->slots)) wl_end_variables(now, 0);
  Value like = now->slots[now->top - 1];
  tl_value value = wl_read(now, now->top - 1);
  tl_frame_pop(now->jit);
  tl_slot_write(now->jit, (int)(now->slots - now->frame[-1].stackStart), wl_tag(now, like), value);
}

/* ---- Ends ---- */

#define FRAMES_AHEAD 24 /* no snapshot has as many; see max_frames */

/* The fiber has the frames and slots that the code at this location may need. */
static void guard_room(wl_now *now, tl_value fiber, int above) {
  tl_vm *jit = now->jit;
  const wl_ids *ids = now->ids;
  tl_value frames =
      tl_op2(jit, TL_INT_ADD, tl_load(jit, ids->fiber_count, fiber), wl_int(now, above + FRAMES_AHEAD));
  wl_guard(now, tl_op2(jit, TL_INT_LE, frames, tl_load(jit, ids->fiber_room, fiber)), true);
  tl_value wanted = tl_load(jit, ids->room, tl_const_addr(jit, tl_room_cell(jit, now->ip)));
  tl_value least = tl_op2(jit, TL_INT_ADD, wanted, wl_int(now, now->fn->maxSlots + 1));
  tl_value here = tl_op1(jit, TL_ADDR_TO_INT, wl_place(now, 0));
  tl_value end = tl_op1(jit, TL_ADDR_TO_INT,
                        tl_item_addr(jit, tl_load(jit, ids->fiber_stack, fiber),
                                     tl_load(jit, ids->fiber_slots, fiber), sizeof(Value), 0));
  tl_value bytes = tl_op2(jit, TL_INT_MUL, least, wl_int(now, sizeof(Value)));
  tl_guard(jit, TL_GUARD_TRUE, tl_op2(jit, TL_INT_GE, tl_op2(jit, TL_INT_SUB, end, here), bytes), 0,
           TL_EXIT_INTERRUPT);
}

/* Makes the fiber's frames those that the trace ends in. */
static void store_frames(wl_now *now, tl_value fiber) {
  tl_vm *jit = now->jit;
  const wl_recording *rec = &now->lift->rec;
  int last = now->fiber->numFrames - 1;
  tl_value count = tl_load(jit, now->ids->fiber_count, fiber);
  for (int n = rec->bottom; n <= last; n++) {
    const CallFrame *frame = &now->fiber->frames[n];
    tl_value record = frame_record(now, fiber, rec->entered - n);
    if (n < last) tl_store(jit, now->ids->frame_ip, record, tl_const_addr(jit, frame->ip));
    if (n == rec->bottom) continue;
    int slot = (int)(frame->stackStart - now->slots);
    tl_value closure = is_its_receiver(frame) ? tl_slot_read(jit, slot, now->ids->tag[VAL_OBJ])
                                              : tl_const_ref(jit, frame->closure);
    tl_store(jit, now->ids->frame_closure, record, closure);
    tl_store(jit, now->ids->frame_start, record, wl_place(now, slot));
  }
  tl_value now_count = tl_op2(jit, TL_INT_ADD, count, wl_int(now, last - rec->entered));
  tl_store(jit, now->ids->fiber_count, fiber, now_count);
}

void wl_link(wl_now *now) {
  tl_vm *jit = now->jit;
  wl_recording *rec = &now->lift->rec;
  int above = now->fiber->numFrames - 1 - rec->entered;
  wl_guard_debt(now);
  if (above != 0 || rec->bottom < rec->entered) {
    tl_value fiber = fiber_of(now);
    if (now->slots > now->fiber->stack + rec->origin || above > 0) guard_room(now, fiber, above);
    tl_link_frames(jit);
    store_frames(now, fiber);
  }
  rec->is_on = false;
  if (tl_record_link(jit, now->ip) != TL_OK) now->lift->npins = rec->pins;
}
