/*
** What a benchmark in C has: the runner calls 'run' with the arguments, and prints the check value that it
** returns.
**
** The runner is a translation unit of its own, so that no call of 'run' can be moved or merged.
*/
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>
#include <stdlib.h>

/* Numbers in arrays, and integers in them that are indexes. */
#ifdef LUA_VALUES
#include "values.h"
#else
typedef double Real;
typedef int Index;
#endif

double run (const long *arguments);

/*
** The part of a benchmark that is timed lies between these two; making the data and the check value stays
** outside.
*/
void timer_start (void);
void timer_stop (void);

/* Memory that must be there. */
static inline void *allocate (size_t count, size_t size) {
  void *block = malloc(count * size);
  if (block == NULL) {
    fputs("out of memory\n", stderr);
    exit(1);
  }
  return block;
}

static inline Real *allocate_reals (long count) {
  return (Real *)allocate((size_t)count, sizeof(Real));
}

#endif
