/* wl.h: what the insertions in Wren's sources call. See wl_internal.h for the rest.
**
** Problem: Wren's interpreter is to run loops as machine code, with few insertions. Design: it counts down a
** counter at each back edge and at each entry of a function, and asks at zero; while something is recorded,
** each instruction goes by wl_record. Invariant: before each of these calls the frame's `ip` is stored, and
** after it the frame is loaded anew, as the code may have gone on elsewhere. Example: see the insertions for
** CODE_LOOP.
*/
#ifndef wl_h
#define wl_h

#include "wren_vm.h"

#define WL_COUNTERS 4096u
#define WL_COUNTER(ip) (((uintptr_t)(ip) >> 1) % WL_COUNTERS)

typedef struct wl_state {
  int32_t *counters; /* of back edges; loops may share one */
} wl_state;

/* The virtual machine is about to get its core classes; has them; is about to be freed. */
void wl_open(WrenVM *vm);
void wl_find_primitives(WrenVM *vm);
void wl_close(WrenVM *vm);
/* Where the map has its value for this key, or NULL: in wren_value.c. */
Value *wl_map_find(ObjMap *map, Value key);
/* What the interpreter does for a captured variable of the running fiber, and at its end: in wren_vm.c. */
ObjUpvalue *wl_capture(WrenVM *vm, Value *local);
void wl_close_upvalues(ObjFiber *fiber, Value *last);
/* The collector marks. */
void wl_mark(WrenVM *vm);
void wl_function_freed(WrenVM *vm, ObjFn *fn);
/* The interpreter was called; what is recorded was in another run of it. */
void wl_enter(WrenVM *vm);
/* The counter of the loop whose head is `ip` fell below zero. All answer whether a recording is in
** progress now. */
bool wl_loop(WrenVM *vm, const uint8_t *ip);
/* The counter of the running function fell below zero, where it begins or goes on after a call. */
bool wl_entry(WrenVM *vm, const uint8_t *ip);
/* The instruction at `ip` is about to be executed. */
bool wl_record(WrenVM *vm, const uint8_t *ip);

#endif
