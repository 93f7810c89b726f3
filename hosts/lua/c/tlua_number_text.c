/*
** Whole numbers as text.
**
** Problem: the interpreter writes numbers by 'snprintf', which reads its format each time: programs that
** build strings spend several hundredths of their time there.
**
** Design: integers, and floats that are whole and have no more digits than the format's fourteen, are written
** here, digit by digit. All other floats are left to the C library.
**
** Invariant: the text is that of the formats "%lld" and "%.14g", and what 'tostringbuff' adds.
**
** Example: 3.0 is "3.0": the digit, the locale's decimal point, and a zero.
*/

#include "lprefix.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#include "tlua_match.h"

#include "lua.h"

#define MOST_DIGITS 20

int tlua_print_integer (char *text, lua_Integer n) {
  char digits[MOST_DIGITS];
  size_t first = MOST_DIGITS;
  int length = 0;
  lua_Unsigned rest = n < 0 ? 0u - (lua_Unsigned)n : (lua_Unsigned)n;
  do
    digits[--first] = (char)('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (n < 0)
    text[length++] = '-';
  memcpy(text + length, digits + first, MOST_DIGITS - first);
  length += (int)(MOST_DIGITS - first);
  text[length] = '\0';
  return length;
}

int tlua_print_whole (char *text, lua_Number n) {
  if (!(fabs(n) < 1e14) || n != floor(n) || (n == 0 && signbit(n)))
    return 0;
  int length = tlua_print_integer(text, (lua_Integer)n);
  text[length++] = lua_getlocaledecpoint();
  text[length++] = '0';
  text[length] = '\0';
  return length;
}
