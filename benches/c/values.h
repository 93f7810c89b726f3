/*
** Numbers in memory as Lua keeps them: sixteen bytes each, of which one says what the rest is.
**
** The contender 'gcc-values' is these programs compiled as C++ with LUA_VALUES set: whatever lies in an array
** is such a value. A load tests the tag, and stops where it is not the one that is wanted; a store writes it.
** Indexes are not tested, and a value is copied without a look. So this is what gcc makes of less than Lua's
** work, in Lua's memory, and a bound for what a compiler can reach whose host keeps its own representation.
**
** Example: with 'Real *row', 'row[k] = row[k] * factor' is a compare of a byte, a load, a multiplication, and
** two stores.
*/
#ifndef VALUES_H
#define VALUES_H

#include <stdlib.h>

/* A number of type T with Lua's tag for it. */
template <typename T, unsigned char TAG> struct Value {
  T number;
  unsigned char tag;

  Value () = default;
  Value (T of) : number(of), tag(TAG) {}

  operator T () const {
    if (__builtin_expect(tag != TAG, 0))
      abort();
    return number;
  }
};

typedef Value<double, 0x13> Real;
typedef Value<long, 0x3> Index;

static_assert(sizeof(Real) == 16 && sizeof(Index) == 16, "a value is as wide as Lua's");

#endif
