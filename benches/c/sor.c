/* SOR(n, sweeps): see sor.lua. */
#include "bench.h"
#include "random.h"

static void relax (Real **grid, long n, double omega, long sweeps) {
  double quarter = omega * 0.25, rest = 1.0 - omega;
  for (long sweep = 0; sweep < sweeps; sweep++) {
    for (long i = 1; i < n - 1; i++) {
      const Real *above = grid[i - 1], *below = grid[i + 1];
      Real *row = grid[i];
      for (long j = 1; j < n - 1; j++)
        row[j] = quarter * (above[j] + below[j] + row[j - 1] + row[j + 1]) + rest * row[j];
    }
  }
}

double run (const long *arguments) {
  long n = arguments[0], sweeps = arguments[1];
  Random random = {30303};
  Real **grid = (Real **)allocate((size_t)n, sizeof(Real *));
  for (long i = 0; i < n; i++) {
    grid[i] = allocate_reals(n);
    for (long j = 0; j < n; j++)
      grid[i][j] = next_real(&random);
  }
  timer_start();
  relax(grid, n, 1.25, sweeps);
  timer_stop();
  double sum = 0.0;
  for (long i = 1; i <= n; i++)
    for (long j = 1; j <= n; j++)
      sum = sum + grid[i - 1][j - 1] * (double)((i + j) % 4 + 1);
  for (long i = 0; i < n; i++)
    free(grid[i]);
  free(grid);
  return sum;
}
