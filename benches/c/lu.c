/* LU(n, repeats): see lu.lua. */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "random.h"

static Real **new_matrix (long n) {
  Real **matrix = (Real **)allocate((size_t)n, sizeof(Real *));
  for (long i = 0; i < n; i++)
    matrix[i] = allocate_reals(n);
  return matrix;
}

static void free_matrix (Real **matrix, long n) {
  for (long i = 0; i < n; i++)
    free(matrix[i]);
  free(matrix);
}

static void factor (Real **matrix, long *pivots, long n) {
  for (long j = 0; j < n; j++) {
    long best = j;
    double size = fabs(matrix[j][j]);
    for (long i = j + 1; i < n; i++) {
      double candidate = fabs(matrix[i][j]);
      if (candidate > size) {
        best = i;
        size = candidate;
      }
    }
    pivots[j] = best;
    if (size == 0.0) {
      fputs("the matrix is singular\n", stderr);
      exit(1);
    }
    if (best != j) {
      Real *row = matrix[j];
      matrix[j] = matrix[best];
      matrix[best] = row;
    }
    double inverse = 1.0 / matrix[j][j];
    for (long i = j + 1; i < n; i++)
      matrix[i][j] = matrix[i][j] * inverse;
    Real *pivot_row = matrix[j];
    for (long i = j + 1; i < n; i++) {
      Real *row = matrix[i];
      double multiple = row[j];
      for (long k = j + 1; k < n; k++)
        row[k] = row[k] - multiple * pivot_row[k];
    }
  }
}

double run (const long *arguments) {
  long n = arguments[0], repeats = arguments[1];
  Random random = {20202};
  Real **original = new_matrix(n), **matrix = new_matrix(n);
  long *pivots = (long *)allocate((size_t)n, sizeof(long));
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      original[i][j] = next_real(&random);
  timer_start();
  for (long repeat = 0; repeat < repeats; repeat++) {
    for (long i = 0; i < n; i++)
      memcpy(matrix[i], original[i], (size_t)n * sizeof(Real));
    factor(matrix, pivots, n);
  }
  timer_stop();
  double sum = 0.0;
  for (long i = 0; i < n; i++)
    sum = sum + matrix[i][i] * (double)(i + 1) + (double)((pivots[i] + 1) % 3);
  free_matrix(original, n);
  free_matrix(matrix, n);
  free(pivots);
  return sum;
}
