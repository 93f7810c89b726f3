/*
** Engines that test the hooks and the liveness of registers on real programs.
**
** Problem: recording must never change what a program does, and neither must forgetting a register that is
** not live. Both are claims about every program.
**
** Design: "stress" starts a recording at random back edges, checks each instruction it is shown, and stops
** at random or when the loop closes. "poison" also overwrites, at random instructions, the registers that
** tlua_live calls dead: in the running frame and in Lua callers that wait at an ordinary call. The tests
** then compare the program's output with stock Lua's.
**
** "sabotage" is the test of that test: it sets live registers to nil as well, as a wrong analysis would.
**
** Invariant: the only writes to the program's memory are to dead registers of frames of the recorded thread
** (save for sabotage).
**
** Example: TluaConfig { .mode = TLUA_MODE_POISON, .threshold = 3, .period = 5, .seed = 1 }.
*/

#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "tlua_callinfo.h"
#include "tlua_internal.h"
#include "tlua_version.h"

#include "ldebug.h"
#include "lopcodes.h"

#define MAX_LENGTH 3000  /* instructions of a recording */
#define MAX_FRAMES 4     /* frames poisoned at once */

typedef struct Check {
  uint64_t random;
  uint32_t period;
  uint32_t threshold;
  int poisons;
  int sabotages;
  uint32_t left;             /* instructions until the recording stops */
  CallInfo *start_frame;
  const Instruction *start;
  int is_first;
} Check;

static Check *check_of (lua_State *L) {
  return (Check *)L->jit->engine_state;
}

static uint32_t random_below (Check *check, uint32_t limit) {
  check->random ^= check->random << 13;
  check->random ^= check->random >> 7;
  check->random ^= check->random << 17;
  return (uint32_t)((check->random >> 32) * limit >> 32);
}

static int open_check (lua_State *L, const TluaConfig *config, int poisons) {
  Check *check = (Check *)tlua_own(L, NULL, 0, sizeof(Check));
  if (check == NULL)
    return 0;
  memset(check, 0, sizeof(Check));
  check->random = config->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
  check->period = config->period == 0 ? 1 : config->period;
  check->threshold = config->threshold < 0x10000 ? config->threshold : 0x10000;
  check->poisons = poisons;
  L->jit->engine_state = check;
  return 1;
}

static int open_stress (lua_State *L, const TluaConfig *config) {
  return open_check(L, config, 0);
}

static int open_poison (lua_State *L, const TluaConfig *config) {
  return open_check(L, config, 1);
}

static int open_sabotage (lua_State *L, const TluaConfig *config) {
  if (!open_check(L, config, 1))
    return 0;
  check_of(L)->sabotages = 1;
  return 1;
}

static void close_check (lua_State *L) {
  tlua_own(L, L->jit->engine_state, sizeof(Check), 0);
  L->jit->engine_state = NULL;
}

static void on_hot (lua_State *L, CallInfo *ci, const Instruction *pc) {
  Check *check = check_of(L);
  *tlua_counter(L->jit, pc) = (int32_t)random_below(check, 2 * check->threshold);
  check->left = 1 + random_below(check, MAX_LENGTH);
  check->start_frame = ci;
  check->start = pc;
  check->is_first = 1;
  tlua_record_start(L);
}

/* The rules that every recorder builds on. */
static int is_valid (lua_State *L, CallInfo *ci, const Instruction *pc) {
  if (!isLua(ci) || ci != L->ci)
    return 0;
  const Proto *p = ci_func(ci)->p;
  StkId base = ci->func.p + 1;
  if (pc < p->code || pc >= p->code + p->sizecode || GET_OPCODE(*pc) >= NUM_OPCODES)
    return 0;
  if (GET_OPCODE(*pc) == OP_VARARGPREP || GET_OPCODE(*pc) == OP_EXTRAARG)
    return 0;
  if (base + p->maxstacksize > L->stack_last.p || ci->top.p > L->stack_last.p)
    return 0;
  return !tlua_is_open(*pc) || (L->top.p >= base + GETARG_A(*pc) && L->top.p <= L->stack_last.p);
}

static void write_poison (Check *check, TValue *slot) {
  switch (random_below(check, 3)) {
    case 0: setnilvalue(slot); break;
    case 1: setivalue(slot, 0x0DEADBEEF); break;
    default: setfltvalue(slot, -6.0e66); break;
  }
}

/* Overwrites the dead registers below 'limit' of a frame that is before instruction 'pc'. */
static void poison_frame (lua_State *L, CallInfo *ci, int pc, int limit) {
  Check *check = check_of(L);
  const lu_byte *row = tlua_live(L, ci_func(ci)->p, pc);
  if (row == NULL)
    return;
  for (int r = 0; r < limit; r++) {
    if (!tlua_is_live(row, r)) {
      write_poison(check, s2v(ci->func.p + 1 + r));
      L->jit->statistics.poisoned_registers++;
    }
    else if (check->sabotages && random_below(check, 8) == 0)
      setnilvalue(s2v(ci->func.p + 1 + r));
  }
}

static void poison (lua_State *L, CallInfo *ci, const Instruction *pc) {
  Proto *p = ci_func(ci)->p;
  poison_frame(L, ci, (int)(pc - p->code), p->maxstacksize);
  for (int i = 1; i < MAX_FRAMES && !tlua_is_fresh(ci); i++) {
    ci = ci->previous;
    if (!isLua(ci))
      break;
    Instruction call = tlua_saved_pc(ci)[-1];
    if (GET_OPCODE(call) != OP_CALL)  /* a metamethod: the instruction is half done */
      break;
    poison_frame(L, ci, (int)(tlua_saved_pc(ci) - ci_func(ci)->p->code), GETARG_A(call));
  }
}

static void on_record (lua_State *L, CallInfo *ci, const Instruction *pc) {
  Check *check = check_of(L);
  if (!is_valid(L, ci, pc)) {
    L->jit->statistics.violations++;
    tlua_record_stop(L);
    return;
  }
  if (check->poisons && random_below(check, check->period) == 0)
    poison(L, ci, pc);
  if (ci == check->start_frame && pc == check->start && !check->is_first) {
    L->jit->statistics.recordings_closed++;
    if (random_below(check, 2) == 0) {
      tlua_record_stop(L);
      return;
    }
  }
  check->is_first = 0;
  if (--check->left == 0)
    tlua_record_stop(L);
}

const TluaEngine tlua_stress_engine = {
  .name = "stress", .on_open = open_stress, .on_close = close_check, .on_hot = on_hot, .on_record = on_record
};

const TluaEngine tlua_poison_engine = {
  .name = "poison", .on_open = open_poison, .on_close = close_check, .on_hot = on_hot, .on_record = on_record
};

const TluaEngine tlua_sabotage_engine = {
  .name = "sabotage", .on_open = open_sabotage, .on_close = close_check, .on_hot = on_hot,
  .on_record = on_record
};
