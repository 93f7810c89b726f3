/* A two-dimensional array: row-major, indexed from 0, with bounds checks, as array2d.lua. */
#ifndef ARRAY2D_H
#define ARRAY2D_H

#include "bench.h"
#include "random.h"

typedef struct Array2D {
  long width, height;
  Real *data;
} Array2D;

static inline Array2D array_new (long width, long height) {
  Array2D array = {width, height, allocate_reals(width * height)};
  for (long i = 0; i < width * height; i++)
    array.data[i] = 0.0;
  return array;
}

static inline void check_bounds (const Array2D *array, long x, long y) {
  if (x < 0 || x >= array->width || y < 0 || y >= array->height) {
    fputs("index out of bounds\n", stderr);
    exit(1);
  }
}

static inline double get (const Array2D *array, long x, long y) {
  check_bounds(array, x, y);
  return array->data[y * array->width + x];
}

static inline void set (Array2D *array, long x, long y, double value) {
  check_bounds(array, x, y);
  array->data[y * array->width + x] = value;
}

static inline void array_fill (Array2D *array, Random *random) {
  for (long y = 0; y < array->height; y++)
    for (long x = 0; x < array->width; x++)
      set(array, x, y, next_real(random));
}

/* A sum in which each place counts differently. */
static inline double checksum (const Array2D *array) {
  double sum = 0.0;
  for (long y = 0; y < array->height; y++)
    for (long x = 0; x < array->width; x++)
      sum += get(array, x, y) * (double)((x + 3 * y) % 7 + 1);
  return sum;
}

#endif
