/* wl_run.c: asks what to do, enters code, and makes the interpreter go on where it left.
**
** Problem: code runs without Wren's frames. Design: before code is entered the fiber's stack and frames have
** the room that its exits want; after it the frames of the exit are written into the fiber's, and the
** interpreter loads the last of them. An error that a function called by code has raised lies in the fiber,
** where the interpreter looks for it. Invariant: a collection is run after an exit, never within code's own
** calls. Example: a loop's counter falls below zero; tl_hot says TL_RUN; an exit in a method that the loop
** calls makes the method's frame.
*/
#include <stdlib.h>
#include <string.h>

#include "wl_internal.h"

/* ---- Life ---- */

static int name_of(void *data, const void *key, const uint64_t *words, char *name, size_t room);

void wl_open(WrenVM *vm) {
  wl_lift *lift = calloc(1, sizeof *lift);
  tl_config config = wl_config();
  if (lift) lift->shared.counters = calloc(WL_COUNTERS, sizeof(int32_t));
  if (lift && lift->shared.counters) lift->jit = tl_new(&config);
  if (!lift || !lift->jit) {
    fprintf(stderr, "wrenlift: %s\n",
            lift && lift->shared.counters ? tl_config_error() : "not enough memory");
    exit(70);
  }
  lift->vm = vm;
  vm->lift = &lift->shared;
  lift->calls = tl_get_calls(lift->jit);
  wl_describe(lift);
  if (tl_set_counters(lift->jit, lift->shared.counters, WL_COUNTERS) != TL_OK
      || tl_set_name_of(lift->jit, name_of, lift) != TL_OK) {
    fprintf(stderr, "wrenlift: %s\n", tl_last_error(lift->jit));
    exit(70);
  }
}

void wl_close(WrenVM *vm) {
  wl_lift *lift = wl_of(vm);
  wl_give_up(lift, "virtual machine freed");
  tl_free(lift->jit);
  for (size_t n = 0; n < lift->nspares; n++) {
    wl_spare *spare = &lift->spares[n];
    while (spare->held > 0) vm->config.reallocateFn(spare->blocks[--spare->held], 0, vm->config.userData);
    free(spare->blocks);
  }
  free(lift->spares);
  free(lift->pins);
  free(lift->shared.counters);
  free(lift);
  vm->lift = NULL;
}

void wl_mark(WrenVM *vm) {
  wl_lift *lift = wl_of(vm);
  for (size_t n = 0; n < lift->npins; n++) wrenGrayObj(vm, lift->pins[n]);
}

void wl_function_freed(WrenVM *vm, ObjFn *fn) {
  if (!vm->lift || fn->code.count == 0) return;
  tl_vm *jit = wl_of(vm)->jit;
  tl_forget(jit, fn->code.data, fn->code.data + fn->code.count);
  if (fn->wlIsCounted) tl_drop_counter(jit, &fn->wlCounter);
}

/* "module:line function" for a place in code that some frame runs, or that is pinned. */
static int name_of(void *data, const void *key, const uint64_t *words, char *name, size_t room) {
  const wl_lift *lift = data;
  const uint8_t *ip = key ? key : (const uint8_t *)(uintptr_t)words[WL_WORD_IP];
  for (size_t n = 0; n < lift->npins; n++) {
    const ObjFn *fn = (const ObjFn *)lift->pins[n];
    if (fn->obj.type != OBJ_FN || ip < fn->code.data || ip >= fn->code.data + fn->code.count) continue;
    const char *module = fn->module && fn->module->name ? fn->module->name->value : "core";
    int line = fn->debug->sourceLines.data[ip - fn->code.data];
    snprintf(name, room, "%s:%d %s", module, line, fn->debug->name ? fn->debug->name : "(script)");
    return 1;
  }
  return 0;
}

/* ---- Recordings ---- */

void wl_give_up(wl_lift *lift, const char *reason) {
  if (!lift->rec.is_on) return;
  tl_record_abort(lift->jit, reason);
  lift->rec.is_on = false;
  lift->npins = lift->rec.pins;
}

/* The first run is that of Wren's own library. While it compiles, Wren does not bear many collections. */
void wl_enter(WrenVM *vm) {
  wl_lift *lift = wl_of(vm);
  wl_give_up(lift, "interpreter called");
  if (lift->has_library && wl_collects_often()) {
    vm->config.minHeapSize = vm->nextGC = 0;
    vm->config.heapGrowthPercent = 1;
  }
  lift->has_library = true;
}

void wl_start(wl_lift *lift, const uint8_t *head, tl_status status) {
  if (status != TL_OK) return;
  ObjFiber *fiber = lift->vm->fiber;
  int number = fiber->numFrames - 1;
  lift->rec = (wl_recording){.is_on = true,
                             .head = head,
                             .fiber = fiber,
                             .origin = fiber->frames[number].stackStart - fiber->stack,
                             .entered = number,
                             .bottom = number,
                             .pins = lift->npins};
}

static void start_after(wl_lift *lift, const tl_exit_info *info) {
  static uint8_t live[256];
  ObjFiber *fiber = lift->vm->fiber;
  if (tl_record_side(lift->jit, info->base) != TL_OK) return;
  lift->rec = (wl_recording){.is_on = true,
                             .is_side = true,
                             .fiber = fiber,
                             .origin = (Value *)info->base - fiber->stack,
                             .entered = lift->entered,
                             .bottom = lift->entered + (int)(int64_t)info->frames[0].words[WL_WORD_DEPTH],
                             .pins = lift->npins};
  memset(live, 0xff, sizeof live);
  for (uint32_t n = 1; n < info->nframes; n++) {
    int32_t base = info->frames[n].base - info->frames[n - 1].base;
    tl_frame_push(lift->jit, base, info->frames[n - 1].words, live, (uint32_t)base);
  }
}

/* ---- Running ---- */

/* The room that code wants in the fiber. Growing may collect, which is right here. */
static void make_room(WrenVM *vm, ObjFiber *fiber, const tl_run *run) {
  int frames = fiber->numFrames + (int)run->frames + 1;
  if (frames > fiber->frameCapacity) {
    int room = fiber->frameCapacity;
    while (room < frames) room *= 2;
    fiber->frames = wrenReallocate(vm, fiber->frames, sizeof(CallFrame) * (size_t)fiber->frameCapacity,
                                   sizeof(CallFrame) * (size_t)room);
    fiber->frameCapacity = room;
  }
  ptrdiff_t base = fiber->frames[fiber->numFrames - 1].stackStart - fiber->stack;
  wrenEnsureStack(vm, fiber, (int)base + (int)run->stack_slots + 1);
}

/* Runs code until there is none to go on with. */
static void run_code(wl_lift *lift, tl_run run) {
  WrenVM *vm = lift->vm;
  ObjFiber *fiber = vm->fiber;
  tl_exit_info info;
  tl_action action = TL_RUN;
  while (action == TL_RUN) {
    make_room(vm, fiber, &run);
    tl_left left = tl_run_code(&run, vm, fiber->frames[fiber->numFrames - 1].stackStart);
    tl_exit(lift->jit, left, vm, &info);
    if (info.kind == TL_EXIT_REFUSED) return;
    lift->entered = fiber->numFrames - 1;
    /* where a trace has ended the fiber has its last frame already */
    if (info.kind == TL_EXIT_FINISH)
      lift->entered -= (int)(int64_t)info.frames[info.nframes - 1].words[WL_WORD_DEPTH];
    wl_make_frames(fiber, lift->entered, info.base, info.frames, info.nframes);
    if (vm->bytesAllocated > vm->nextGC) wrenCollectGarbage(vm);
    if (wrenHasError(fiber)) return;
    const CallFrame *frame = &fiber->frames[fiber->numFrames - 1];
    action = tl_next(lift->jit, frame->stackStart, &run);
    ObjFn *fn = frame->closure->fn;
    /* the trace has ended at an entry that has no code yet: the program comes to it now */
    if (action == TL_NOTHING && info.kind == TL_EXIT_FINISH && fn->wlIsCounted && --fn->wlCounter < 0) {
      action = tl_hot(lift->jit, frame->ip, &fn->wlCounter, frame->stackStart, &run);
      if (action == TL_RECORD) {
        wl_start(lift, frame->ip, tl_record(lift->jit, frame->ip, frame->stackStart));
        lift->rec.is_entry = true;
        return;
      }
    }
  }
  if (action == TL_RECORD) start_after(lift, &info);
}

/* What the answer of tl_hot asks for. */
static void act(wl_lift *lift, tl_action action, tl_run run, const uint8_t *ip, bool is_entry) {
  ObjFiber *fiber = lift->vm->fiber;
  const Value *slots = fiber->frames[fiber->numFrames - 1].stackStart;
  if (action == TL_RUN) run_code(lift, run);
  if (action != TL_RECORD) return;
  wl_start(lift, ip, tl_record(lift->jit, ip, slots));
  lift->rec.is_entry = is_entry;
}

bool wl_loop(WrenVM *vm, const uint8_t *ip) {
  wl_lift *lift = wl_of(vm);
  int32_t *counter = &lift->shared.counters[WL_COUNTER(ip)];
  if (lift->rec.is_on) {
    tl_tick(lift->jit, counter);
    return true;
  }
  ObjFiber *fiber = vm->fiber;
  tl_run run;
  tl_action action = tl_hot(lift->jit, ip, counter, fiber->frames[fiber->numFrames - 1].stackStart, &run);
  act(lift, action, run, ip, false);
  return lift->rec.is_on;
}

/* ---- Entries ---- */

#define CALLS_BETWEEN 500 /* of a function, before it is looked at whether it calls itself */
#define FRAMES_BELOW 8    /* where it is looked for */

static bool calls_itself(const ObjFiber *fiber) {
  const ObjFn *fn = fiber->frames[fiber->numFrames - 1].closure->fn;
  for (int n = 2; n < FRAMES_BELOW && n <= fiber->numFrames; n++)
    if (fiber->frames[fiber->numFrames - n].closure->fn == fn) return true;
  return false;
}

/* Sees to it that the library knows the function's counter; false if the function has no entries. */
static bool has_entries(wl_lift *lift, ObjFn *fn) {
  if (fn->wlIsCounted) return true;
  if (!(fn->wlFlags & WL_RECURSIVE) && (!fn->wlSeen || !calls_itself(lift->vm->fiber))) {
    fn->wlSeen = 1;
    fn->wlCounter = CALLS_BETWEEN;
    return false;
  }
  fn->wlFlags |= WL_RECURSIVE;
  fn->wlCounter = 0;
  fn->wlIsCounted = tl_add_counter(lift->jit, &fn->wlCounter) == TL_OK;
  return fn->wlIsCounted;
}

bool wl_entry(WrenVM *vm, const uint8_t *ip) {
  wl_lift *lift = wl_of(vm);
  ObjFiber *fiber = vm->fiber;
  const CallFrame *frame = &fiber->frames[fiber->numFrames - 1];
  ObjFn *fn = frame->closure->fn;
  if (!has_entries(lift, fn)) return lift->rec.is_on;
  if (lift->rec.is_on) {
    tl_tick(lift->jit, &fn->wlCounter);
    return true;
  }
  tl_run run;
  act(lift, tl_hot(lift->jit, ip, &fn->wlCounter, frame->stackStart, &run), run, ip, true);
  return lift->rec.is_on;
}
