/* sqrt(Fix16): see sqrt_fix16.lua. */
#include "bench.h"

typedef struct Fix16 {
  long bits;
} Fix16;

static inline Fix16 from_number (long number) {
  Fix16 result = {number << 16};
  return result;
}

static inline Fix16 add (Fix16 a, Fix16 b) {
  Fix16 result = {a.bits + b.bits};
  return result;
}

static inline Fix16 divide (Fix16 a, Fix16 b) {
  Fix16 result = {(a.bits << 16) / b.bits};
  return result;
}

double run (const long *arguments) {
  Fix16 y = from_number(123), two = from_number(2), x = divide(y, two);
  timer_start();
  for (long i = 2; i <= arguments[0]; i++)
    x = divide(add(x, divide(y, x)), two);
  timer_stop();
  return (double)x.bits / 65536.0;
}
