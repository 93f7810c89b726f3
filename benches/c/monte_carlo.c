/* MonteCarlo(samples): see monte_carlo.lua. */
#include "bench.h"
#include "random.h"

enum { MODULUS = 2147483647, LONG = 17, SHORT = 5 };

typedef struct Generator {
  Index state[LONG];
  Index i, j;
} Generator;

static Generator new_generator (long seed) {
  Random random = {seed};
  Generator generator;
  for (int i = 0; i < LONG; i++)
    generator.state[i] = (int)next_integer(&random);
  generator.i = LONG - 1;
  generator.j = SHORT - 1;
  return generator;
}

static double next (Generator *generator) {
  Index *state = generator->state;
  int i = generator->i, j = generator->j;
  int number = state[i] - state[j];
  if (number < 0)
    number += MODULUS;
  state[i] = number;
  generator->i = i == 0 ? LONG - 1 : i - 1;
  generator->j = j == 0 ? LONG - 1 : j - 1;
  return (double)number / (double)MODULUS;
}

double run (const long *arguments) {
  long samples = arguments[0], inside = 0;
  Generator generator = new_generator(113);
  timer_start();
  for (long k = 0; k < samples; k++) {
    double x = next(&generator);
    double y = next(&generator);
    if (x * x + y * y <= 1.0)
      inside++;
  }
  timer_stop();
  return 4.0 * (double)inside / (double)samples;
}
