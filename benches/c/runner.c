/*
** Times a benchmark: PROGRAM WARMUPS CALLS LIMIT ARGUMENTS...
**
** The protocol is that of runner.lua: a warm-up, then at most CALLS samples, each of one call or of several
** short ones, fewer once LIMIT seconds of processor time are gone; a warm-up call that takes longer than
** LIMIT is the only call ("cold"). Freed memory stays with the process: otherwise the kernel clears each new
** image again, and that takes longer than to compute it.
*/
#include <malloc.h>
#include <time.h>

#include "bench.h"

/* Some systems' processor clocks tick only every few milliseconds. */
#define SHORTEST 0.1
/* Seconds of warm-up at least, if there is any. */
#define WARM 0.3

static const long *arguments;
static double check, spent, limit;
static clock_t started, stopped;

void timer_start (void) {
  started = clock();
}

void timer_stop (void) {
  stopped = clock();
}

static double timed_call (void) {
  clock_t before = clock();
  check = run(arguments);
  spent += (double)(clock() - before) / CLOCKS_PER_SEC;
  return (double)(stopped - started) / CLOCKS_PER_SEC;
}

static double sample (void) {
  double seconds = 0.0;
  int count = 0;
  do {
    seconds += timed_call();
    count++;
  } while (seconds < SHORTEST && spent < limit);
  return seconds / count;
}

int main (int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s WARMUPS CALLS LIMIT ARGUMENTS...\n", argv[0]);
    return 2;
  }
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  long *numbers = (long *)allocate((size_t)argc, sizeof(long));
  for (int i = 4; i < argc; i++)
    numbers[i - 4] = atol(argv[i]);
  arguments = numbers;
  long warmups = atol(argv[1]), calls = atol(argv[2]);
  limit = atof(argv[3]);
  int is_cold = 0;
  for (long i = 0; warmups > 0 && !is_cold && (i < warmups || spent < (WARM < limit ? WARM : limit)); i++) {
    double before = spent, seconds = timed_call();
    is_cold = spent - before > limit;
    printf("%s %.17g\n", is_cold ? "cold" : "warm", seconds);
  }
  spent = 0.0;
  for (long i = 0; i < calls && !is_cold && (i == 0 || spent < limit); i++)
    printf("time %.17g\n", sample());
  printf("check %.17g\n", check);
  free(numbers);
  return 0;
}
