/* The data of all benchmarks: Lehmer's generator, multiplier 16807, modulus 2^31 - 1, as in random.lua. */
#ifndef RANDOM_H
#define RANDOM_H

typedef struct Random {
  long state;
} Random;

static inline long next_integer (Random *random) {
  random->state = random->state * 16807 % 2147483647;
  return random->state;
}

static inline double next_real (Random *random) {
  return (double)next_integer(random) / 2147483647.0;
}

#endif
