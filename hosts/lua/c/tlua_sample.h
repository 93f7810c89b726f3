/*
** Samples of what a state does, taken in a signal handler: see tlua_sample.c.
**
** Example: TluaSampler *sampler = tlua_sampler_new(L, bounds);  in the handler: tlua_sample_take(sampler,
** context, 1);  with the signal blocked: look at sampler->table.
*/
#ifndef tlua_sample_h
#define tlua_sample_h

#include <stdint.h>

#include "lobject.h"
#include "lstate.h"

/* What the processor was busy with. */
enum { TLUA_IN_TRACE, TLUA_IN_BASELINE, TLUA_IN_INTERPRETER, TLUA_IN_C, TLUA_IN_COLLECTOR,
       TLUA_IN_COMPILER, TLUA_STATES };

/* Equal samples are counted together. What is not known is NULL. */
typedef struct TluaSample {
  uintptr_t code;         /* the address in machine code where it was, or from where it had called */
  const Proto *p;         /* the Lua function, or the one that called the C function */
  const Instruction *pc;  /* its instruction */
  lua_CFunction function; /* the C function, if it has a record */
  uint32_t state;
  uint32_t count;         /* 0: the place is free */
} TluaSample;

#define TLUA_SAMPLES 16384  /* different ones, until somebody looks at them */

/* A range of addresses. */
typedef struct TluaRange {
  uintptr_t start, end;
} TluaRange;

typedef struct TluaSampler {
  Tlua *jit;
  const struct tl_code_bounds *bounds;  /* NULL: there is no machine code */
  TluaRange interpreter, stack;
  int pipe[2];  /* by which memory is read that may not be there */
  uint32_t used;
  uint64_t lost;
  TluaSample table[TLUA_SAMPLES];
} TluaSampler;

/* For the thread that calls. NULL on lack of memory, and on machines whose registers nobody knows here. */
TluaSampler *tlua_sampler_new (lua_State *L, const struct tl_code_bounds *bounds);
void tlua_sampler_free (TluaSampler *sampler);
/* 'context' is the third argument of the handler. Reads memory, and writes to the sampler alone. */
void tlua_sample_take (TluaSampler *sampler, const void *context, uint32_t count);

#endif
