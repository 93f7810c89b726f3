/* wl_rec_value.c: values, slots and guards, for the files that record.
**
** Problem: an instruction is recorded for the values that lie in the interpreter's memory now, and holds for
** others. Design: what decides is read with the tag that it has now, which the trace then expects; tests are
** guarded as they come out now. Invariant: a slot that a call may have changed, or that belongs to a frame
** that the trace has returned to, is looked at in memory before it is read. Example: wl_read(now, 2) of a
** number is a typed input of the trace, or whatever was written there before.
*/
#include <string.h>

#include "wl_internal.h"

/*
** Which slots are live: those in use, and none of the rest of the frame, where the library has what was
** pushed. Answers how many slots that speaks of.
*/
uint32_t wl_live(uint8_t live[WL_LIVE_BYTES], const wl_now *now, int in_use) {
  int count = in_use > now->fn->maxSlots ? in_use : now->fn->maxSlots;
  if (count < now->top) count = now->top;
  if (count > WL_LIVE_BYTES * 8) count = WL_LIVE_BYTES * 8;
  memset(live, 0, WL_LIVE_BYTES);
  for (int n = 0; n < in_use; n++) live[n / 8] |= (uint8_t)(1u << n % 8);
  return (uint32_t)count;
}

/* ---- Values ---- */

tl_tag wl_tag(const wl_now *now, Value value) { return now->ids->tag[value.type]; }

tl_value wl_int(wl_now *now, int64_t number) { return tl_const_int(now->jit, number); }

int wl_offset(const wl_now *now) { return (int)(now->slots - (now->fiber->stack + now->lift->rec.origin)); }

tl_value wl_place(wl_now *now, int slot) {
  tl_value number = wl_int(now, wl_offset(now) + slot);
  return tl_item_addr(now->jit, tl_frame_base(now->jit), number, sizeof(Value), 0);
}

static tl_type type_of(Value value) {
  return value.type == VAL_NUM ? TL_FLOAT : value.type == VAL_OBJ ? TL_REF : TL_VOID;
}

tl_value wl_load(wl_now *now, const wl_views *views, tl_value place, Value like) {
  tl_value tag = tl_load(now->jit, views->tag, place);
  tl_guard(now->jit, TL_GUARD_VALUE, tag, wl_int(now, like.type), TL_EXIT_GUARD);
  tl_type type = type_of(like);
  return type == TL_VOID ? 0 : tl_load(now->jit, views->payload[type], place);
}

void wl_store(wl_now *now, const wl_views *views, tl_value place, Value like, tl_value value) {
  tl_type type = type_of(like);
  tl_store(now->jit, views->tag, place, wl_int(now, like.type));
  if (type != TL_VOID) tl_store(now->jit, views->payload[type], place, value);
}

/* Memory has what the slot holds: after a call that may have changed it, or in a frame returned to. */
void wl_look_again(wl_now *now, int slot) {
  Value value = now->slots[slot];
  tl_slot_known(now->jit, slot, wl_tag(now, value),
                wl_load(now, &now->ids->slot, wl_place(now, slot), value));
}

static bool is_unknown(wl_now *now, int slot) {
  if (tl_slot_is_forgotten(now->jit, slot)) return true;
  return now->lift->rec.returned && !tl_slot_is_known(now->jit, slot);
}

tl_value wl_read(wl_now *now, int slot) {
  if (is_unknown(now, slot)) wl_look_again(now, slot);
  return tl_slot_read(now->jit, slot, wl_tag(now, now->slots[slot]));
}

void wl_write(wl_now *now, int slot, Value like, tl_value value) {
  tl_slot_write(now->jit, slot, wl_tag(now, like), value);
}

void wl_write_constant(wl_now *now, int slot, Value constant) {
  tl_value value = 0;
  if (IS_NUM(constant)) value = tl_const_float(now->jit, AS_NUM(constant));
  else if (IS_OBJ(constant)) value = tl_const_ref(now->jit, AS_OBJ(constant));
  wl_write(now, slot, constant, value);
}

void wl_write_bool(wl_now *now, int slot, bool is_true) {
  wl_write(now, slot, is_true ? TRUE_VAL : FALSE_VAL, 0);
}

void wl_pin(wl_now *now, void *object) {
  wl_lift *lift = now->lift;
  for (size_t n = 0; n < lift->npins; n++)
    if (lift->pins[n] == object) return;
  if (lift->npins == lift->pins_room) {
    size_t room = lift->pins_room ? lift->pins_room * 2 : 64;
    Obj **larger = realloc(lift->pins, room * sizeof *larger);
    if (!larger) {
      wl_give_up(lift, "not enough memory");
      return;
    }
    lift->pins = larger;
    lift->pins_room = room;
  }
  lift->pins[lift->npins++] = object;
}

/* ---- Guards ---- */

void wl_guard(wl_now *now, tl_value test, bool holds) {
  tl_guard(now->jit, holds ? TL_GUARD_TRUE : TL_GUARD_FALSE, test, 0, TL_EXIT_GUARD);
}

/* Whether the test that is recorded now decides on the loop's next iteration: it is followed by the jump out
** of the loop that the recording began with. */
static bool ends_loop(const wl_now *now) {
  const uint8_t *ip = now->ip + 3;
  if (now->lift->rec.is_side || *now->ip < CODE_CALL_0 || *now->ip > CODE_CALL_16) return false;
  if (*ip == CODE_STORE_LOCAL) ip += 2;
  if (*ip != CODE_JUMP_IF) return false;
  const uint8_t *back = ip + 3 + wl_short(ip + 1) - 3;
  return *back == CODE_LOOP && back + 3 - wl_short(back + 1) == now->lift->rec.head;
}

void wl_guard_branch(wl_now *now, tl_value test, bool holds) {
  tl_guard(now->jit, holds ? TL_GUARD_TRUE : TL_GUARD_FALSE, test, 0,
           ends_loop(now) ? TL_EXIT_LOOP_END : TL_EXIT_GUARD);
}

/* A trace that makes objects looks once whether the collector is wanted. */
void wl_guard_debt(wl_now *now) {
  if (!now->lift->rec.has_allocated) return;
  tl_vm *jit = now->jit;
  tl_value context = tl_context(jit);
  tl_value debt = tl_op2(jit, TL_UINT_LE, tl_load(jit, now->ids->allocated, context),
                         tl_load(jit, now->ids->limit, context));
  tl_guard(jit, TL_GUARD_TRUE, debt, 0, TL_EXIT_COLLECT);
}

/* ---- Where the interpreter goes on ---- */

void wl_resume(wl_now *now) {
  uint64_t words[WL_WORDS] = {
      [WL_WORD_IP] = (uintptr_t)now->ip,
      [WL_WORD_TOP] = (uint64_t)now->top,
      [WL_WORD_DEPTH] = (uint64_t)(int64_t)(now->fiber->numFrames - 1 - now->lift->rec.entered)};
  ObjClosure *closure = now->frame->closure;
  if (!IS_CLOSURE(now->slots[0]) || AS_CLOSURE(now->slots[0]) != closure)
    words[WL_WORD_CLOSURE] = (uintptr_t)closure;
  uint8_t live[WL_LIVE_BYTES];
  uint32_t count = wl_live(live, now, now->top);
  tl_resume_point(now->jit, now->fiber->stack + now->lift->rec.origin, words, live, count);
}

/* ---- Captured variables ---- */

bool wl_is_captured(const wl_now *now, const Value *from) {
  return now->fiber->openUpvalues && now->fiber->openUpvalues->value >= from;
}

void wl_end_variables(wl_now *now, int slot) {
  tl_vm *jit = now->jit;
  const Value *first = now->slots + slot;
  if (wl_is_captured(now, first)) {
    tl_value args[1] = {wl_int(now, slot)};
    tl_host_call(jit, now->ids->close, args, 1, NULL, 0);
    /* the instruction may be done again: then nothing is captured any more */
    wl_resume(now);
  }
  const ObjUpvalue *open = now->fiber->openUpvalues;
  while (open && open->value >= first) open = open->next;
  tl_value fiber = tl_load(jit, now->ids->vm_fiber, tl_context(jit));
  tl_value upvalue = tl_load(jit, now->ids->fiber_upvalues, fiber);
  tl_guard(jit, open ? TL_GUARD_NONNULL : TL_GUARD_NULL, upvalue, 0, TL_EXIT_GUARD);
  if (!open) return;
  tl_value place = tl_op1(jit, TL_ADDR_TO_INT, tl_load(jit, now->ids->upvalue_place, upvalue));
  wl_guard(now, tl_op2(jit, TL_UINT_LT, place, tl_op1(jit, TL_ADDR_TO_INT, wl_place(now, slot))), true);
}
