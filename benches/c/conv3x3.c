/* conv3x3(width, height, repeats): see conv3x3.lua. */
#include "array2d.h"

static void convolve (const Array2D *a, const Array2D *kernel, Array2D *b) {
  for (long y = 1; y < a->height - 1; y++)
    for (long x = 1; x < a->width - 1; x++)
      set(b, x, y,
          get(kernel, 2, 2) * get(a, x - 1, y - 1) + get(kernel, 1, 2) * get(a, x, y - 1)
          + get(kernel, 0, 2) * get(a, x + 1, y - 1) + get(kernel, 2, 1) * get(a, x - 1, y)
          + get(kernel, 1, 1) * get(a, x, y) + get(kernel, 0, 1) * get(a, x + 1, y)
          + get(kernel, 2, 0) * get(a, x - 1, y + 1) + get(kernel, 1, 0) * get(a, x, y + 1)
          + get(kernel, 0, 0) * get(a, x + 1, y + 1));
}

double run (const long *arguments) {
  long width = arguments[0], height = arguments[1], repeats = arguments[2];
  Random random = {60606};
  Array2D a = array_new(width, height), b = array_new(width, height), kernel = array_new(3, 3);
  array_fill(&a, &random);
  array_fill(&kernel, &random);
  timer_start();
  for (long repeat = 0; repeat < repeats; repeat++)
    convolve(&a, &kernel, &b);
  timer_stop();
  double sum = checksum(&b);
  free(a.data);
  free(b.data);
  free(kernel.data);
  return sum;
}
