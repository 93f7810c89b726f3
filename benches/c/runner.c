/*
** Times a benchmark: PROGRAM WARMUPS CALLS LIMIT ARGUMENTS...
**
** The protocol is that of runner.lua: warm-up calls, then at most CALLS timed ones, fewer once LIMIT seconds of processor
** time are gone; a warm-up call that takes longer than LIMIT is the only call ("cold"). Freed memory stays with the
** process: otherwise the kernel clears each new image again, and that takes longer than to compute it.
*/
#include <malloc.h>
#include <time.h>

#include "bench.h"

static const long *arguments;
static double check, spent;
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
  double limit = atof(argv[3]);
  int is_cold = 0;
  for (long i = 0; i < warmups && !is_cold; i++) {
    double seconds = timed_call();
    is_cold = spent > limit;
    printf("%s %.17g\n", is_cold ? "cold" : "warm", seconds);
  }
  spent = 0.0;
  for (long i = 0; i < calls && !is_cold && spent <= limit; i++)
    printf("time %.17g\n", timed_call());
  printf("check %.17g\n", check);
  free(numbers);
  return 0;
}
