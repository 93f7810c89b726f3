/* Two objects: see small_two_objects.lua. The third argument means nothing in C. */
#include "bench.h"

typedef struct Point {
  long x, y;
} Point;

static Point toss (long n, long *state, Point point) {
  long x = *state;
  for (long i = 1; i <= n; i++) {
    x = x * 16807 % 2147483647;
    if (x >= 1073741824)
      point = (Point){ point.x + i, point.y };
    else
      point = (Point){ point.x, point.y + 2 * i };
  }
  *state = x;
  return point;
}

double run (const long *arguments) {
  long n = arguments[0], repeats = arguments[1], state = 12345;
  Point point = { 0, 0 };
  timer_start();
  for (long repeat = 0; repeat < repeats; repeat++)
    point = toss(n, &state, point);
  timer_stop();
  return (double)(point.x + point.y);
}
