/* Two stores: see small_two_stores.lua. The third argument means nothing in C. */
#include "bench.h"

static long toss (long *a, long *b, long n, long *state) {
  long sum = 0, x = *state;
  for (long i = 0; i < n; i++) {
    x = x * 16807 % 2147483647;
    if (x >= 1073741824) {
      a[i] += i + 1;
      sum += 1;
    }
    else {
      b[i] += 2 * (i + 1);
      sum += 3;
    }
  }
  *state = x;
  return sum;
}

static long *zeros (long n) {
  long *list = (long *)allocate((size_t)n, sizeof(long));
  for (long i = 0; i < n; i++)
    list[i] = 0;
  return list;
}

double run (const long *arguments) {
  long n = arguments[0], repeats = arguments[1], state = 12345, all = 0;
  long *a = zeros(n), *b = zeros(n);
  timer_start();
  for (long repeat = 0; repeat < repeats; repeat++)
    all += toss(a, b, n, &state);
  timer_stop();
  double check = (double)(all + a[n - 1] + b[0]);
  free(a);
  free(b);
  return check;
}
