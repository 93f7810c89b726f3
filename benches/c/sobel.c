/* sobel(width, height, repeats): see sobel.lua. */
#include <math.h>

#include "array2d.h"

static Array2D magnitude (const Array2D *a) {
  Array2D b = array_new(a->width, a->height);
  for (long y = 1; y < a->height - 1; y++)
    for (long x = 1; x < a->width - 1; x++) {
      double dx = get(a, x + 1, y - 1) - get(a, x - 1, y - 1)
        + 2.0 * (get(a, x + 1, y) - get(a, x - 1, y))
        + get(a, x + 1, y + 1) - get(a, x - 1, y + 1);
      double dy = get(a, x - 1, y + 1) - get(a, x - 1, y - 1)
        + 2.0 * (get(a, x, y + 1) - get(a, x, y - 1))
        + get(a, x + 1, y + 1) - get(a, x + 1, y - 1);
      long size = (long)(sqrt(dx * dx + dy * dy) / 4.0);
      set(&b, x, y, (double)(size < 255 ? size : 255));
    }
  return b;
}

double run (const long *arguments) {
  long width = arguments[0], height = arguments[1], repeats = arguments[2];
  Random random = {80808};
  Array2D a = array_new(width, height), b = {0, 0, NULL};
  for (long y = 0; y < height; y++)
    for (long x = 0; x < width; x++)
      set(&a, x, y, floor(next_real(&random) * 256.0));
  timer_start();
  for (long repeat = 0; repeat < repeats; repeat++) {
    free(b.data);
    b = magnitude(&a);
  }
  timer_stop();
  double sum = checksum(&b);
  free(a.data);
  free(b.data);
  return sum;
}
