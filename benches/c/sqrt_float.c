/* sqrt(float): see sqrt.lua. */
#include "bench.h"

double run (const long *arguments) {
  double y = 123.0, x = y / 2.0;
  timer_start();
  for (long i = 2; i <= arguments[0]; i++)
    x = (x + y / x) / 2.0;
  timer_stop();
  return x;
}
