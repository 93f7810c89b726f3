/* wl_host.c: what compiled code calls.
**
** Problem: Wren's allocator collects whenever it likes, and code keeps objects in registers. Design: what
** code calls directly puts the collector off, which the loop's check of its debt makes up for; all else is
** called by wl_do_primitive and wl_do_foreign, before which the code has stored all slots, and which make
** the interpreter's frames first, so that a collection finds its roots and an error its place. Invariant: a
** function that code calls directly neither collects nor fails. Example: 'list.add(x)' is wl_list_add;
** 'System.print(x)' ends in a primitive that writes, done by wl_do_primitive.
*/
#include <stdlib.h>
#include <string.h>

#include "wl_internal.h"

/* ---- Objects that code makes ---- */

/* No collection until resume_collector; returns what that takes. */
static size_t pause_collector(WrenVM *vm) {
  size_t limit = vm->nextGC;
  vm->nextGC = SIZE_MAX;
  return limit;
}

static void resume_collector(WrenVM *vm, size_t limit) { vm->nextGC = limit; }

static wl_spare *spare_of(wl_lift *lift, tl_layout layout, uint32_t items) {
  for (size_t n = 0; n < lift->nspares; n++)
    if (lift->spares[n].layout == layout && lift->spares[n].items == items) return &lift->spares[n];
  return NULL;
}

static size_t size_of(const wl_lift *lift, tl_layout layout, uint32_t items) {
  return layout == lift->ids.range ? sizeof(ObjRange) : sizeof(ObjInstance) + items * sizeof(Value);
}

/* Memory of that size, counted as Wren's; from what is held if there is none. */
static void *allocate(wl_lift *lift, tl_layout layout, uint32_t items) {
  WrenVM *vm = lift->vm;
  size_t size = size_of(lift, layout, items);
  void *block = vm->config.reallocateFn(NULL, size, vm->config.userData);
  if (!block) {
    wl_spare *spare = spare_of(lift, layout, items);
    if (!spare || spare->held == 0) return NULL;
    block = spare->blocks[--spare->held];
  }
  vm->bytesAllocated += size;
  return block;
}

static void begin(WrenVM *vm, Obj *object, ObjType type, ObjClass *class) {
  *object = (Obj){.type = type, .isDark = false, .classObj = class, .next = vm->first};
  vm->first = object;
}

/* The code writes its class. */
void *wl_new_instance(WrenVM *vm, int64_t layout, int64_t items, int64_t keys) {
  (void)keys;
  ObjInstance *made = allocate(wl_of(vm), (tl_layout)layout, (uint32_t)items);
  if (!made) return NULL;
  begin(vm, &made->obj, OBJ_INSTANCE, NULL);
  made->wlCount = (uint64_t)items;
  made->wlItems = made->fields;
  for (int64_t n = 0; n < items; n++) made->fields[n] = NULL_VAL;
  return made;
}

void *wl_new_range(WrenVM *vm, int64_t layout, int64_t items, int64_t keys) {
  (void)items, (void)keys;
  ObjRange *made = allocate(wl_of(vm), (tl_layout)layout, 0);
  if (made) begin(vm, &made->obj, OBJ_RANGE, vm->rangeClass);
  return made;
}

static wl_spare *add_spare(wl_lift *lift, tl_layout layout, uint32_t items) {
  wl_spare *larger = realloc(lift->spares, (lift->nspares + 1) * sizeof *larger);
  if (!larger) return NULL;
  lift->spares = larger;
  larger[lift->nspares] = (wl_spare){.layout = layout, .items = items};
  return &larger[lift->nspares++];
}

int wl_reserve(void *data, tl_layout layout, uint32_t items, uint32_t keys, uint32_t count) {
  (void)keys;
  wl_lift *lift = data;
  WrenVM *vm = lift->vm;
  wl_spare *spare = spare_of(lift, layout, items);
  if (!spare && count > 0) spare = add_spare(lift, layout, items);
  if (!spare) return count == 0;
  if (count > spare->room) {
    void **larger = realloc(spare->blocks, count * sizeof *larger);
    if (!larger) return 0;
    spare->blocks = larger;
    spare->room = count;
  }
  while (spare->held < count) {
    void *block = vm->config.reallocateFn(NULL, size_of(lift, layout, items), vm->config.userData);
    if (!block) return 0;
    spare->blocks[spare->held++] = block;
  }
  while (spare->held > count) vm->config.reallocateFn(spare->blocks[--spare->held], 0, vm->config.userData);
  return 1;
}

/* ---- What code calls directly ---- */

static Value value_of(int64_t type, int64_t bits) {
  Value value = {.type = (ValueType)type};
  memcpy(&value.as, &bits, sizeof bits);
  return value;
}

Value *wl_find(ObjMap *map, int64_t type, int64_t bits) { return wl_map_find(map, value_of(type, bits)); }

void wl_map_set(WrenVM *vm, ObjMap *map, int64_t key_type, int64_t key_bits, int64_t type, int64_t bits) {
  size_t limit = pause_collector(vm);
  wrenMapSet(vm, map, value_of(key_type, key_bits), value_of(type, bits));
  resume_collector(vm, limit);
}

int64_t wl_equal(const Obj *a, const Obj *b) { return wrenValuesEqual(OBJ_VAL((Obj *)a), OBJ_VAL((Obj *)b)); }

void wl_list_add(WrenVM *vm, ObjList *list, int64_t type, int64_t bits) {
  size_t limit = pause_collector(vm);
  wrenValueBufferWrite(vm, &list->elements, value_of(type, bits));
  resume_collector(vm, limit);
}

void *wl_list_new(WrenVM *vm) {
  size_t limit = pause_collector(vm);
  void *made = wrenNewList(vm, 0);
  resume_collector(vm, limit);
  return made;
}

void *wl_map_new(WrenVM *vm) {
  size_t limit = pause_collector(vm);
  void *made = wrenNewMap(vm);
  resume_collector(vm, limit);
  return made;
}

void *wl_closure_new(WrenVM *vm, ObjFn *fn) {
  size_t limit = pause_collector(vm);
  void *made = wrenNewClosure(vm, fn);
  resume_collector(vm, limit);
  return made;
}

void *wl_plus(WrenVM *vm, Obj *a, Obj *b) {
  size_t limit = pause_collector(vm);
  Value made = wrenStringFormat(vm, "@@", OBJ_VAL(a), OBJ_VAL(b));
  resume_collector(vm, limit);
  return AS_OBJ(made);
}

/* ---- Calls that may do anything ---- */

void wl_make_frames(ObjFiber *fiber, int entered, Value *base, const tl_frame *frames, uint32_t count) {
  int first = entered + (int)(int64_t)frames[0].words[WL_WORD_DEPTH];
  CallFrame *frame = NULL;
  for (uint32_t n = 0; n < count; n++) {
    const uint64_t *words = frames[n].words;
    frame = &fiber->frames[first + (int)n];
    if (n > 0) {
      frame->stackStart = base + frames[n].base;
      frame->closure = words[WL_WORD_CLOSURE] ? (ObjClosure *)(uintptr_t)words[WL_WORD_CLOSURE]
                                              : AS_CLOSURE(frame->stackStart[0]);
    }
    frame->ip = (uint8_t *)(uintptr_t)words[WL_WORD_IP];
  }
  fiber->numFrames = first + (int)count;
  fiber->stackTop = frame->stackStart + frames[count - 1].words[WL_WORD_TOP];
}

/* What the interpreter had before a call, to be compared. */
typedef struct before {
  ObjFiber *fiber;
  Value *stack;
  int number; /* of the frame that the code was entered with */
  uint64_t epoch;
} before;

/* Makes the interpreter's frames. */
static before begin_call(WrenVM *vm, Value *base, const tl_call_site *site, const void *stack) {
  wl_lift *lift = wl_of(vm);
  before was = {.fiber = vm->fiber, .stack = vm->fiber->stack, .number = vm->fiber->numFrames - 1};
  was.epoch = tl_call_begin(lift->jit, lift->calls, stack);
  wl_make_frames(was.fiber, was.number, base, site->frames, site->nframes);
  return was;
}

/* Whether the code may go on: the fiber is as it was, with room, and has no error. */
static void *end_call(WrenVM *vm, Value *base, const tl_call_site *site, const void *stack, before was) {
  wl_lift *lift = wl_of(vm);
  const ObjFiber *fiber = vm->fiber;
  bool goes_on = fiber == was.fiber && !wrenHasError(fiber) && fiber->stack == was.stack
                 && fiber->stackCapacity - (base - fiber->stack) > (ptrdiff_t)site->stack_slots
                 && fiber->frameCapacity - was.number > (int)site->more_frames + 1;
  was.fiber->numFrames = was.number + 1;
  if (!tl_call_end(lift->jit, lift->calls, site, stack, was.epoch)) goes_on = false;
  return goes_on ? vm : NULL;
}

void *wl_do_primitive(WrenVM *vm, Value *base, const tl_call_site *site, void *primitive, int64_t count) {
  int here;
  before was = begin_call(vm, base, site, &here);
  bool is_done = ((Primitive)(uintptr_t)primitive)(vm, was.fiber->stackTop - count);
  void *goes_on = end_call(vm, base, site, &here, was);
  return is_done ? goes_on : NULL;
}

void *wl_do_foreign(WrenVM *vm, Value *base, const tl_call_site *site, void *foreign, int64_t count) {
  int here;
  before was = begin_call(vm, base, site, &here);
  vm->apiStack = was.fiber->stackTop - count;
  ((WrenForeignMethodFn)(uintptr_t)foreign)(vm);
  was.fiber->stackTop = vm->apiStack + 1;
  vm->apiStack = NULL;
  return end_call(vm, base, site, &here, was);
}

/* As the interpreter's instruction, at `ip`: the closure is on the stack before it gets its variables. */
void *wl_do_closure(WrenVM *vm, Value *base, const tl_call_site *site, void *ip) {
  int here;
  before was = begin_call(vm, base, site, &here);
  const uint8_t *operands = (const uint8_t *)ip + 1;
  const CallFrame *frame = &was.fiber->frames[was.fiber->numFrames - 1];
  ObjFn *fn = AS_FN(frame->closure->fn->constants.data[wl_short(operands)]);
  ObjClosure *made = wrenNewClosure(vm, fn);
  *was.fiber->stackTop++ = OBJ_VAL(made);
  operands += 2;
  for (int n = 0; n < fn->numUpvalues; n++, operands += 2)
    made->upvalues[n] =
        operands[0] ? wl_capture(vm, frame->stackStart + operands[1]) : frame->closure->upvalues[operands[1]];
  return end_call(vm, base, site, &here, was);
}

void *wl_do_close(WrenVM *vm, Value *base, const tl_call_site *site, int64_t slot) {
  int here;
  before was = begin_call(vm, base, site, &here);
  wl_close_upvalues(was.fiber, was.fiber->frames[was.fiber->numFrames - 1].stackStart + slot);
  return end_call(vm, base, site, &here, was);
}
