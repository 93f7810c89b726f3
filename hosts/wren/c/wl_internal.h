/* wl_internal.h: what the files of this host share.
**
** Problem: compiled code must leave Wren's stack, frames and heap as the interpreter would. Design, by file:
** wl_schema.c says what Wren's memory looks like; wl_host.c is what compiled code calls; wl_run.c asks what
** to do, enters code, and makes frames after it; wl_rec.c records instructions, by way of wl_rec_call.c
** (calls and returns), wl_rec_prim.c (what is built in; wl_rec_num.c and wl_rec_list.c have its parts) and
** wl_rec_value.c. Invariant: the words of a frame are where it goes on, its closure (0: in its slot 0), how
** many of its slots are in use, and how many frames it lies above the one that the code was entered with;
** two frames may begin at one slot. Example: frame(words ip 0 4 0) is one with four slots whose closure is
** its receiver.
*/
#ifndef wl_internal_h
#define wl_internal_h

#include <stdio.h>
#include <stdlib.h>

#include "tracelift.h"
#include "wl.h"

enum { WL_WORD_IP, WL_WORD_CLOSURE, WL_WORD_TOP, WL_WORD_DEPTH, WL_WORDS };

/* A Value in memory: its payload by tl_type, and its tag. One set for each alias class. */
typedef struct wl_views {
  tl_cell payload[4], tag;
} wl_views;

/* Ids of what was described. So many fields: each is one thing of Wren's. */
typedef struct wl_ids {
  tl_tag tag[6]; /* by ValueType */
  wl_views slot, variable, entry, item;
  tl_layout instance, list, range;
  tl_field instance_class, list_class, range_class, range_from, range_to, range_inclusive;
  tl_cell object_class;
  tl_cell closure_fn, closure_upvalue, upvalue_place, module_data;
  tl_cell allocated, limit; /* of the collector, from the context */
  tl_cell list_count, list_data;
  tl_cell vm_fiber, fiber_frames, fiber_count, fiber_room, fiber_stack, fiber_slots, fiber_upvalues;
  tl_cell frame_ip, frame_closure, frame_start, room;
  tl_cell map_count, string_length, string_byte;
  tl_func primitive, foreign, closure, close;
  tl_func map_find, map_set, equal, list_add, list_new, map_new, closure_new, plus;
} wl_ids;

/* What is being recorded. So many fields: the recorder's files share them. */
typedef struct wl_recording {
  bool is_on, is_side, is_entry, is_started, has_allocated;
  const uint8_t *head;     /* the loop or entry that it began with, or NULL: after an exit */
  const uint8_t *loop_end; /* behind the loop that it began with, once it is known */
  const uint8_t *returned; /* where the outermost frame goes on, which was returned to */
  ObjFiber *fiber;
  ptrdiff_t origin; /* slots below the frame that the code is entered with, in the fiber's stack */
  int entered;      /* number of that frame in the fiber's frames */
  int bottom;       /* and of the outermost one of the trace */
  uint32_t edges;   /* inner loops' jumps back */
  bool must_link;   /* the function that was just called is in the trace already */
  uint32_t skips;   /* so many instructions were recorded before */
  size_t pins;      /* how many objects were pinned before */
} wl_recording;

/* Blocks that are held for exits, of one layout and number of items. */
typedef struct wl_spare {
  tl_layout layout;
  uint32_t items, held, room;
  void **blocks;
} wl_spare;

typedef struct wl_lift {
  wl_state shared; /* first: what Wren's files see */
  WrenVM *vm;
  tl_vm *jit;
  tl_calls *calls;
  wl_ids ids;
  bool has_library; /* Wren's own is loaded */
  wl_recording rec;
  Obj **pins; /* objects that code relies on: they live as long as the virtual machine */
  size_t npins, pins_room;
  wl_spare *spares;
  size_t nspares;
  int entered; /* number of the frame that the slots of the last exit count from */
} wl_lift;

/* ObjFn.wlFlags: the function calls itself, or one that does, so that it has entries. */
#define WL_RECURSIVE 1u

static inline wl_lift *wl_of(WrenVM *vm) { return (wl_lift *)vm->lift; }

/* An operand of two bytes. */
static inline int wl_short(const uint8_t *ip) { return ip[0] << 8 | ip[1]; }

/* wl_settings.c */
tl_config wl_config(void);
/* Test aid: the collector runs whenever the heap has grown by a hundredth. */
bool wl_collects_often(void);

/* wl_schema.c */
void wl_describe(wl_lift *lift);

/* wl_host.c: the signatures are those of wl_schema.c. */
void *wl_new_instance(WrenVM *vm, int64_t layout, int64_t items, int64_t keys);
void *wl_new_range(WrenVM *vm, int64_t layout, int64_t items, int64_t keys);
int wl_reserve(void *lift, tl_layout layout, uint32_t items, uint32_t keys, uint32_t count);
void *wl_do_primitive(WrenVM *vm, Value *base, const tl_call_site *site, void *primitive, int64_t args);
void *wl_do_foreign(WrenVM *vm, Value *base, const tl_call_site *site, void *foreign, int64_t args);
void *wl_do_closure(WrenVM *vm, Value *base, const tl_call_site *site, void *ip);
void *wl_do_close(WrenVM *vm, Value *base, const tl_call_site *site, int64_t slot);
Value *wl_find(ObjMap *map, int64_t type, int64_t bits);
void wl_map_set(WrenVM *vm, ObjMap *map, int64_t key_type, int64_t key_bits, int64_t type, int64_t bits);
int64_t wl_equal(const Obj *a, const Obj *b);
void wl_list_add(WrenVM *vm, ObjList *list, int64_t type, int64_t bits);
void *wl_list_new(WrenVM *vm);
void *wl_map_new(WrenVM *vm);
void *wl_closure_new(WrenVM *vm, ObjFn *fn);
void *wl_plus(WrenVM *vm, Obj *a, Obj *b);
/* Makes the fiber's frames those of an exit or call site; `entered` is the number of that at `base`. */
void wl_make_frames(ObjFiber *fiber, int entered, Value *base, const tl_frame *frames, uint32_t count);

/* wl_run.c */
void wl_give_up(wl_lift *lift, const char *reason);
void wl_start(wl_lift *lift, const uint8_t *head, tl_status status);

/* ---- The recorder ---- */

/* The instruction that is being recorded, and where the interpreter stands. */
typedef struct wl_now {
  wl_lift *lift;
  tl_vm *jit;
  const wl_ids *ids;
  WrenVM *vm;
  ObjFiber *fiber;
  CallFrame *frame;
  Value *slots; /* the frame's */
  int top;      /* how many are in use */
  ObjFn *fn;
  const uint8_t *ip;
} wl_now;

/* wl_rec_value.c */
#define WL_LIVE_BYTES 64
uint32_t wl_live(uint8_t live[WL_LIVE_BYTES], const wl_now *now, int in_use);
/* The slot's value as of now, in the trace; 0 for a tag without payload. */
tl_value wl_read(wl_now *now, int slot);
void wl_write(wl_now *now, int slot, Value like, tl_value value);
void wl_write_constant(wl_now *now, int slot, Value constant);
void wl_write_bool(wl_now *now, int slot, bool is_true);
tl_tag wl_tag(const wl_now *now, Value value);
/* A Value in memory, which holds `like` now; guards its tag. And its store. */
tl_value wl_load(wl_now *now, const wl_views *views, tl_value place, Value like);
void wl_store(wl_now *now, const wl_views *views, tl_value place, Value like, tl_value value);
tl_value wl_int(wl_now *now, int64_t number);
void wl_guard(wl_now *now, tl_value test, bool holds);
/* Guards a test that the program branches on next. */
void wl_guard_branch(wl_now *now, tl_value test, bool holds);
/* The object lives as long as code does. */
void wl_pin(wl_now *now, void *object);
/* Where a slot of the current frame lies, and that frame from the one that the code was entered with. */
tl_value wl_place(wl_now *now, int slot);
int wl_offset(const wl_now *now);
void wl_resume(wl_now *now);
/* Reads a slot in memory, which a call may have changed, or a frame returned to has. */
void wl_look_again(wl_now *now, int slot);
void wl_guard_debt(wl_now *now);
/* Variables of the frame from that slot on end, of which some may be captured. Guards follow. */
void wl_end_variables(wl_now *now, int slot);
/* Whether variables of the trace's frames are captured now. */
bool wl_is_captured(const wl_now *now, const Value *from);

/* wl_rec_prim.c */
/* Guards the class of the value in a slot, and returns it. */
ObjClass *wl_guard_class(wl_now *now, int slot);
void wl_record_primitive(wl_now *now, int slot, int count, Primitive primitive, int symbol);
void wl_record_foreign(wl_now *now, int slot, int count, WrenForeignMethodFn foreign);

/* wl_rec_call.c */
void wl_record_call(wl_now *now, int count, ObjClass *of, int symbol, const uint8_t *next);
void wl_record_return(wl_now *now);
/* Ends the recording at this location. */
void wl_link(wl_now *now);

#endif
