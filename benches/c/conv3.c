/* conv3(n, repeats): see conv3.lua. */
#include "bench.h"
#include "random.h"

static void convolve (const Real *a, const Real *kernel, Real *b, long n) {
  for (long i = 0; i < n - 2; i++)
    b[i] = kernel[2] * a[i] + kernel[1] * a[i + 1] + kernel[0] * a[i + 2];
}

double run (const long *arguments) {
  long n = arguments[0], repeats = arguments[1];
  Random random = {50505};
  Real *a = allocate_reals(n), *b = allocate_reals(n);
  const Real kernel[3] = {-1.0, 0.25, 1.0};
  for (long i = 0; i < n; i++) {
    a[i] = next_real(&random);
    b[i] = 0.0;
  }
  timer_start();
  for (long repeat = 0; repeat < repeats; repeat++)
    convolve(a, kernel, b, n);
  timer_stop();
  double sum = 0.0;
  for (long i = 1; i <= n; i++)
    sum = sum + b[i - 1] * (double)(i % 3 + 1);
  free(a);
  free(b);
  return sum;
}
