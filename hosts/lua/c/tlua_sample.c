/*
** Samples of what a state does.
**
** Problem: a profiler interrupts the program anywhere, and wants to know the line. The interpreter keeps its
** place in a register, and writes it to the frame only where it may be needed; compiled code does neither.
** What a handler finds may be half written. It may call nothing, and wait for nothing.
**
** Design: no flag makes the program stop at its next safe point: such points are jumps back and calls, so
** that all samples would be of these lines; compiled code would have to be left; and with hooks the program
** would not be the same. So the handler reads the state as it is. The registers say where the processor is:
** in a trace, in baseline code, in the interpreter, in C. From C the first return address on the stack that
** lies after a call in code, or in the interpreter, says who has called. In luaV_execute itself the place is
** in a register: of all registers that which points into the running function's instructions. Elsewhere the
** frame's own place holds, which is written before each call that may need it.
**
** The running thread is the one that was resumed last. Frames, functions and threads that run are not freed;
** a stack that is being moved has offsets instead of addresses, which are in no stack. So what is found is
** looked at before it is followed: a place is in the stack, and an instruction is one of the function's.
** Where a frame's function was there may be its first result, half of it even. So what seems to be a closure
** is read by the system, through a pipe, which refuses what is no memory; it has the mark of a closure, and
** leads to what has the mark of a function. At worst a sample has another line, or none.
**
** Invariant: the handler follows no pointer that it has not checked, and allocates nothing.
**
** Example: interrupted in luaH_getshortstr, which a trace has called: the state is 'C', and the place that of
** the trace's call.
*/

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#define LUA_CORE

#include "lprefix.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tlua_callinfo.h"
#include "tlua_sample.h"

#include "lopcodes.h"
#include "lvm.h"
#if defined(TLUA_HAVE_RECORDER)
#include "tracelift.h"
#endif

/* --- the machine --- */

#if defined(__linux__) && defined(__x86_64__)

#define KNOWS_MACHINE 1
static const int registers[] = { REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15, REG_RDI, REG_RSI,
                                 REG_RDX, REG_RCX, REG_RAX, REG_R8, REG_R9, REG_R10, REG_R11 };
#define REGISTER(context, n) ((uintptr_t)(context)->uc_mcontext.gregs[registers[n]])
#define PROGRAM_COUNTER(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_RIP])
#define STACK_POINTER(context) ((uintptr_t)(context)->uc_mcontext.gregs[REG_RSP])

/* Whether a call ends before this address, at whose start 'first' the memory that may be read begins. */
static int is_behind_call (uintptr_t address, uintptr_t first) {
  const unsigned char *end = (const unsigned char *)address;
  if (address - first < 6)
    return 0;
  /* call by a distance; by a register; by memory, with a distance of no byte, of one, or of four */
  return end[-5] == 0xe8 || (end[-2] == 0xff && ((end[-1] & 0xf8) == 0xd0 || (end[-1] & 0xf8) == 0x10))
      || (end[-3] == 0xff && (end[-2] & 0x38) == 0x10) || (end[-6] == 0xff && (end[-5] & 0x38) == 0x10);
}

#elif defined(__linux__) && defined(__aarch64__)

#define KNOWS_MACHINE 1
static const int registers[] = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                 12, 13, 14, 15 };
#define REGISTER(context, n) ((uintptr_t)(context)->uc_mcontext.regs[registers[n]])
#define PROGRAM_COUNTER(context) ((uintptr_t)(context)->uc_mcontext.pc)
#define STACK_POINTER(context) ((uintptr_t)(context)->uc_mcontext.sp)

static int is_behind_call (uintptr_t address, uintptr_t first) {
  if (address - first < 4 || address % 4 != 0)
    return 0;
  uint32_t call = ((const uint32_t *)address)[-1];
  return (call & 0xfc000000u) == 0x94000000u || (call & 0xfffffc1fu) == 0xd63f0000u;
}

#else
#define KNOWS_MACHINE 0
#endif

/* --- making --- */

static int is_in (const TluaRange *range, uintptr_t address) {
  return address >= range->start && address < range->end;
}

/* How far luaV_execute goes: its row in the tables by which C frames are unwound. */
struct Bases {
  void *text, *data, *function;
};
extern const unsigned char *_Unwind_Find_FDE (void *address, struct Bases *bases);

static TluaRange find_interpreter (void) {
  struct Bases bases = { NULL, NULL, NULL };
  TluaRange range = { (uintptr_t)luaV_execute, (uintptr_t)luaV_execute };
  const unsigned char *row = _Unwind_Find_FDE((char *)range.start + 1, &bases);
  if (row == NULL || (uintptr_t)bases.function != range.start)
    return range;
  int32_t distance;
  memcpy(&distance, row + 4, sizeof(distance));
  const unsigned char *common = row + 4 - distance;
  /* what compilers write: addresses are distances of four bytes, and so are lengths */
  if (memcmp(common + 9, "zR", 3) == 0) {
    uint32_t size;
    memcpy(&size, row + 12, sizeof(size));
    range.end += size;
  }
  return range;
}

static TluaRange find_stack (void) {
  TluaRange range = { 0, 0 };
  pthread_attr_t attributes;
  void *start;
  size_t size;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    if (pthread_attr_getstack(&attributes, &start, &size) == 0)
      range = (TluaRange){ (uintptr_t)start, (uintptr_t)start + size };
    pthread_attr_destroy(&attributes);
  }
  return range;
}

TluaSampler *tlua_sampler_new (lua_State *L, const struct tl_code_bounds *bounds) {
  if (!KNOWS_MACHINE)
    return NULL;
  /* not of the state's accounts, and without a word written so far */
  void *memory = mmap(NULL, sizeof(TluaSampler), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  TluaSampler *sampler = (TluaSampler *)memory;
  if (pipe2(sampler->pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
    munmap(memory, sizeof(TluaSampler));
    return NULL;
  }
  sampler->jit = L->jit;
  sampler->bounds = bounds;
  sampler->interpreter = find_interpreter();
  sampler->stack = find_stack();
  return sampler;
}

void tlua_sampler_free (TluaSampler *sampler) {
  close(sampler->pipe[0]);
  close(sampler->pipe[1]);
  munmap(sampler, sizeof(TluaSampler));
}

#if KNOWS_MACHINE

/* --- where it is --- */

enum { KIND_OTHER, KIND_TRACE, KIND_BASELINE, KIND_INTERPRETER };

/* What an address belongs to; 'range' is then where that lies. */
static int kind_of (const TluaSampler *sampler, uintptr_t address, TluaRange *range) {
#if defined(TLUA_HAVE_RECORDER)
  const tl_code_bounds *bounds = sampler->bounds;
  if (bounds != NULL) {
    *range = (TluaRange){ bounds->traces, bounds->traces_end };
    if (is_in(range, address))
      return KIND_TRACE;
    *range = (TluaRange){ bounds->host, bounds->host_end };
    if (is_in(range, address))
      return KIND_BASELINE;
  }
#endif
  *range = sampler->interpreter;
  return is_in(range, address) ? KIND_INTERPRETER : KIND_OTHER;
}

/* Words of the stack that are looked at for a return address. */
#define SCANNED 512

/* Who has called, directly or not: the call's last byte. */
static int find_caller (const TluaSampler *sampler, uintptr_t stack, uintptr_t *address) {
  if (!is_in(&sampler->stack, stack) || stack % sizeof(uintptr_t) != 0)
    return KIND_OTHER;
  const uintptr_t *word = (const uintptr_t *)stack, *end = (const uintptr_t *)sampler->stack.end;
  if (end - word > SCANNED)
    end = word + SCANNED;
  for (; word < end; word++) {
    TluaRange range;
    int kind = kind_of(sampler, *word, &range);
    if (kind != KIND_OTHER && is_behind_call(*word, range.start)) {
      *address = *word - 1;
      return kind;
    }
  }
  return KIND_OTHER;
}

/* --- in which function --- */

/* Copies an object, whose mark is to be this one; returns 0 if there is none such. */
static int copy_object (const TluaSampler *sampler, const void *object, int mark, void *copy, size_t size) {
  if (object == NULL || (uintptr_t)object % sizeof(void *) != 0)
    return 0;
  ssize_t written = write(sampler->pipe[1], object, size);
  ssize_t copied = written > 0 ? read(sampler->pipe[0], copy, (size_t)written) : 0;
  return copied == (ssize_t)size && ((const GCObject *)copy)->tt == mark;
}

static int is_instruction (const Proto *p, uintptr_t address) {
  return address % sizeof(Instruction) == 0 && address >= (uintptr_t)p->code
      && address <= (uintptr_t)(p->code + p->sizecode);
}

/* The function of a frame; NULL if that cannot be told now. */
static const TValue *function_of (const lua_State *L, const CallInfo *ci) {
  StkId func = ci->func.p;
  if (func < L->stack.p || func >= L->stack_last.p)
    return NULL;
  return s2v(func);
}

/* The function, and a copy of it. */
static const Proto *lua_function (const TluaSampler *sampler, const lua_State *L, const CallInfo *ci,
                                  Proto *copy) {
  const TValue *value = function_of(L, ci);
  LClosure closure;
  if (value == NULL
      || !copy_object(sampler, value->value_.gc, LUA_VLCL, &closure, offsetof(LClosure, upvals)))
    return NULL;
  return copy_object(sampler, closure.p, LUA_VPROTO, copy, sizeof(Proto)) ? closure.p : NULL;
}

/* The function of C; one that is none is nobody's, too. */
static lua_CFunction c_function (const TluaSampler *sampler, const lua_State *L, const CallInfo *ci) {
  const TValue *value = function_of(L, ci);
  CClosure closure;
  if (value == NULL)
    return NULL;
  if (ttislcf(value))
    return value->value_.f;
  return copy_object(sampler, value->value_.gc, LUA_VCCL, &closure, offsetof(CClosure, upvalue)) ? closure.f
      : NULL;
}

/* The interpreter's place, if a register has it. */
static const Instruction *place_in_register (const ucontext_t *context, const Proto *p) {
  for (size_t n = 0; n < sizeof(registers) / sizeof(registers[0]); n++)
    if (is_instruction(p, REGISTER(context, n)))
      return (const Instruction *)REGISTER(context, n);
  return NULL;
}

/* Frames of C functions that call one another, at most. */
#define C_FRAMES 64

/* Fills in the function and its instruction; 'context' if it is the interpreter itself that runs. */
static void find_function (const TluaSampler *sampler, TluaSample *sample, const ucontext_t *context) {
  const lua_State *L = sampler->jit->running;
  const CallInfo *ci = L != NULL ? L->ci : NULL;
  if (ci == NULL)
    return;
  if (!isLua(ci)) {
    sample->function = c_function(sampler, L, ci);
    for (int n = 0; n < C_FRAMES && ci != NULL && !isLua(ci); n++)
      ci = ci->previous;
    context = NULL;
  }
  Proto copy;
  if (ci == NULL || !isLua(ci) || (sample->p = lua_function(sampler, L, ci, &copy)) == NULL)
    return;
  const Instruction *pc = context != NULL ? place_in_register(context, &copy) : NULL;
  if (pc == NULL && is_instruction(&copy, (uintptr_t)tlua_saved_pc(ci)))
    pc = tlua_saved_pc(ci);
  /* it goes on after the instruction at hand */
  if (pc != NULL)
    sample->pc = pc > copy.code ? pc - 1 : pc;
}

/* --- the sample --- */

static void count_sample (TluaSampler *sampler, const TluaSample *sample, uint32_t count) {
  uintptr_t hash = sample->code ^ ((uintptr_t)sample->pc << 7) ^ ((uintptr_t)sample->function << 3)
      ^ ((uintptr_t)sample->p >> 4) ^ sample->state;
  hash *= (uintptr_t)0x9e3779b97f4a7c15u;
  uint32_t place = (uint32_t)(hash >> 40) % TLUA_SAMPLES;
  if (sampler->used > TLUA_SAMPLES / 2) {
    sampler->lost += count;
    return;
  }
  for (;; place = (place + 1) % TLUA_SAMPLES) {
    TluaSample *known = &sampler->table[place];
    if (known->count == 0) {
      *known = *sample;
      known->count = count;
      sampler->used++;
      return;
    }
    if (known->code == sample->code && known->p == sample->p && known->pc == sample->pc
        && known->function == sample->function && known->state == sample->state) {
      known->count += count;
      return;
    }
  }
}

void tlua_sample_take (TluaSampler *sampler, const void *signal_context, uint32_t count) {
  const ucontext_t *context = (const ucontext_t *)signal_context;
  TluaSample sample = { .state = TLUA_IN_INTERPRETER };
  TluaRange range;
  uintptr_t address = PROGRAM_COUNTER(context);
  int kind = kind_of(sampler, address, &range), is_in_c = kind == KIND_OTHER;
  if (is_in_c)
    kind = find_caller(sampler, STACK_POINTER(context), &address);
  find_function(sampler, &sample, !is_in_c && kind == KIND_INTERPRETER ? context : NULL);
  if (kind == KIND_TRACE || kind == KIND_BASELINE)
    sample.code = address;
  if (sampler->jit->collecting)
    sample.state = TLUA_IN_COLLECTOR;
#if defined(TLUA_HAVE_RECORDER)
  else if (sampler->bounds != NULL && sampler->bounds->compiling)
    sample.state = TLUA_IN_COMPILER;
#endif
  else if (is_in_c)
    sample.state = sample.code != 0 || sample.function != NULL ? TLUA_IN_C : TLUA_IN_INTERPRETER;
  else if (kind != KIND_INTERPRETER)
    sample.state = kind == KIND_TRACE ? TLUA_IN_TRACE : TLUA_IN_BASELINE;
  if (kind == KIND_TRACE)  /* its places say more than the frame, which may be no longer, or not yet there */
    sample.pc = NULL;
  count_sample(sampler, &sample, count);
}

#else

void tlua_sample_take (TluaSampler *sampler, const void *context, uint32_t count) {
  (void)sampler;
  (void)context;
  (void)count;
}

#endif
