/* SparseMatMult(n, nonzeros, repeats): see sparse.lua. */
#include "bench.h"
#include "random.h"

static void multiply (Real *result, long n, const Real *values, const Index *columns, const Index *first,
                      const Real *vector) {
  for (long i = 0; i < n; i++) {
    double sum = 0.0;
    for (int k = first[i]; k < first[i + 1]; k++)
      sum = sum + vector[columns[k]] * values[k];
    result[i] = sum;
  }
}

double run (const long *arguments) {
  long n = arguments[0], nonzeros = arguments[1], repeats = arguments[2];
  long per_row = nonzeros / n;
  Random random = {40404};
  Real *vector = allocate_reals(n), *result = allocate_reals(n),
      *values = allocate_reals(n * per_row);
  Index *columns = (Index *)allocate((size_t)(n * per_row), sizeof(Index));
  Index *first = (Index *)allocate((size_t)n + 1, sizeof(Index));
  for (long i = 0; i < n; i++) {
    vector[i] = next_real(&random);
    result[i] = 0.0;
  }
  for (long i = 0; i < n; i++) {
    first[i] = (int)(i * per_row);
    long step = (i + 1) / per_row;
    if (step < 1)
      step = 1;
    for (long k = 0; k < per_row; k++) {
      values[first[i] + k] = next_real(&random);
      columns[first[i] + k] = (int)(k * step % n);
    }
  }
  first[n] = (int)(n * per_row);
  timer_start();
  for (long repeat = 0; repeat < repeats; repeat++)
    multiply(result, n, values, columns, first, vector);
  timer_stop();
  double sum = 0.0;
  for (long i = 1; i <= n; i++)
    sum = sum + result[i - 1] * (double)(i % 6 + 1);
  free(vector);
  free(result);
  free(values);
  free(columns);
  free(first);
  return sum;
}
