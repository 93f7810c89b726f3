/*
** How deep units may call one another.
**
** Problem: units use the native stack, which C and the interpreter need as well; when they are left,
** records of all their frames must be there; and their frames must have room in Lua's stack, which need not
** have grown so far.
**
** Design: all of it is one address, which a unit compares with the end of its slots before anything else.
** It is set before code is entered: to the end of Lua's stack, or as far as the native stack and the records
** that are held allow. A unit that finds no room leaves, and the host gives more room then: Lua's stack
** grows, or twice as many records are held. So recursion of any depth is left a few times, and then runs.
**
** Invariant: what the limit allows has its records, and leaves NATIVE_RESERVE to C.
**
** Example: 'fib' needs two slots and some 50 bytes of the native stack for each level; with 1024 slots it can
** be 512 levels deep, with 2048 after it was left there.
*/

#define _GNU_SOURCE
#include "lprefix.h"

#include <pthread.h>

#include "tlua_rec.h"

#include "ldebug.h"
#include "ldo.h"
#include "lopcodes.h"

/* Bytes of the native stack that units leave to others. */
#define NATIVE_RESERVE (256 * 1024)

/* Slots that are made for code that makes frames, if it was left for want of them. */
#define MOST_ROOM 4096

/* Frames whose traps are cleared at a time. */
#define MOST_CLEARED 64

/* On a stack that is not the thread's own nobody knows how much there is. */
#define UNKNOWN_STACK (32 * 1024)

/* So many records of frames are to be held. */
void tlua_rec_hold_for_units (TluaRecorder *rec) {
  rec->held.wanted = TLUA_HELD + (int)(rec->unit_depth / rec->limit->least_base) + 1;
}

/* Where the system has put the stack of the running thread. */
static void ask_system (TluaNative *native) {
  pthread_attr_t attributes;
  void *low = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    if (pthread_attr_getstack(&attributes, &low, &size) != 0)
      size = 0;
    pthread_attr_destroy(&attributes);
  }
  native->low = (const char *)low;
  native->high = (const char *)low + size;
}

/* Bytes of the native stack that units may take. */
static size_t native_room (TluaNative *native) {
  const char *here = (const char *)__builtin_frame_address(0);
  if (here < native->low || here >= native->high)
    ask_system(native);
  if (here < native->low || here >= native->high)
    return UNKNOWN_STACK;
  size_t left = (size_t)(here - native->low);
  return left > NATIVE_RESERVE ? left - NATIVE_RESERVE : 0;
}

static void set_depth (TluaRecorder *rec, uint32_t slots) {
  if (tl_unit_depth(rec->vm, slots) != TL_OK)
    return;
  rec->unit_depth = slots;
}

int tlua_rec_allow_units (lua_State *L, TluaRecorder *rec) {
  if (rec->unit_depth == 0)
    set_depth(rec, TLUA_FIRST_DEPTH);
  rec->limit = tl_unit_limit(rec->vm);
  L->jit->unit_limit = &rec->limit->end;
  return rec->unit_depth != 0 && rec->limit != NULL;
}

void tlua_rec_set_limit (lua_State *L, TluaRecorder *rec, const CallInfo *ci) {
  volatile uint64_t *limit = L->jit->unit_limit;
  size_t slots = native_room(&rec->native) / rec->limit->native_bytes;
  size_t records = (size_t)(rec->held.count - TLUA_HELD) * rec->limit->least_base;
  if (slots > rec->unit_depth)
    slots = rec->unit_depth;
  if (slots > records)
    slots = records;
  StkId end = L->stack_last.p, wanted = ci->func.p + 1 + slots;
  *limit = (uint64_t)(uintptr_t)(end < wanted ? end : wanted);
  if (L->hookmask != 0)  /* a signal may have set hooks meanwhile, and the limit to 0 */
    *limit = 0;
}

void tlua_rec_allow_more (lua_State *L, TluaRecorder *rec, const tl_exit_info *info, ptrdiff_t entry) {
  const Proto *p = ci_func(L->ci)->p;
  int needs = tlua_unit_needs(p);
  if (info->kind != TL_EXIT_INTERRUPT || p->jit_unit == TLUA_NOT_ASKED || tlua_saved_pc(L->ci) != p->code)
    return;
  StkId end = L->ci->func.p + 1 + needs;
  if (end > L->stack_last.p) {
    if (stacksize(L) + needs < TLUA_MOST_STACK / 2)
      luaD_growstack(L, needs, 0);
  }
  else if (end - restorestack(L, entry) > (ptrdiff_t)rec->unit_depth && rec->unit_depth < TLUA_MOST_DEPTH)
    set_depth(rec, 2 * rec->unit_depth);
}

/*
** Stacks move when they grow, and when the collector makes them smaller: then all frames of Lua functions
** have their trap set, so that the interpreter looks where its registers are. A frame that goes on after a
** call does so anyway. A signal may set a hook at any time, and all traps: then they are set again.
*/
static void clear_traps (const lua_State *L) {
  CallInfo *last = L->ci;
  for (int n = 0; n < MOST_CLEARED && !tlua_is_fresh(last) && isLua(last->previous); n++) {
    last = last->previous;
    tlua_clear_trap(last);
  }
  for (CallInfo *ci = L->ci; ci != last && L->hookmask != 0; ci = ci->previous)
    tlua_set_trap(ci->previous);
}

/*
** The interpreter needs less room than code that makes frames, and the collector makes stacks smaller: so as
** much is made as was wanted before, or twice that.
*/
static void make_room (lua_State *L, TluaRecorder *rec) {
  int room = (int)(L->stack_last.p - L->top.p);
  if (room >= rec->room_wanted)
    rec->room_wanted = 2 * room < MOST_ROOM ? 2 * room : MOST_ROOM;
  if (room < rec->room_wanted && stacksize(L) + rec->room_wanted < TLUA_MOST_STACK / 2)
    luaD_growstack(L, rec->room_wanted, 0);
}

void tlua_rec_interrupted (lua_State *L, TluaRecorder *rec) {
  if (L->hookmask != 0 || L->jit->waiting != 0 || L->jit->recording != NULL)
    return;
  if (rec->held.is_wanted && GET_OPCODE(*tlua_saved_pc(L->ci)) == OP_CALL)
    make_room(L, rec);
  clear_traps(L);
}
