/* sqrt(int): see sqrt_int.lua. */
#include "bench.h"

double run (const long *arguments) {
  long y = 1234567, x = y / 2;
  timer_start();
  for (long i = 2; i <= arguments[0]; i++)
    x = (x + y / x) / 2;
  timer_stop();
  return (double)x;
}
