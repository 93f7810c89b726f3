/*
** Numbers as text, and texts as numbers.
**
** Problem: the interpreter writes numbers by 'snprintf', which reads its format each time, and computes the
** digits of floats with numbers of any length: programs that build strings spend a tenth of their time
** there. It reads them by 'strtod', after two looks at all characters: so do programs that read data.
**
** Design: integers are written by two digits at once. A float times a power of ten is an integer of the
** digits that are wanted, if these are no more than 14: the product is wrong by no more than half of its
** last place, and that is less than a hundredth. So it is known how to round, unless the rest is very near
** to one half. What is left to the C library: that, exponents, and other modes of rounding. A decimal
** numeral whose digits make a number below 2^53, and whose power of ten is no more than the 22nd, is one
** product or quotient of two floats that are exact: it is rounded once, as it should be (Clinger: PLDI
** 1990). All else is Lua's to read.
**
** Invariant: the text is the C library's, of the formats "%lld", "%.Ng" and "%.Nf"; the number is the one
** that luaO_str2num reads.
**
** Example: 2.675 by "%.2f": 267.5 is too near to a half, and the C library says 2.67; 2.676 is 267.6:
** "2.68".
*/

#include "lprefix.h"

#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tlua_match.h"
#include "tlua_version.h"

#include "lua.h"

#define MOST_DIGITS 20

/* Two digits of each number below a hundred: half as many divisions. */
static const char pairs[] =
  "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
  "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

static lua_Unsigned put_pair (char *text, lua_Unsigned n) {
  memcpy(text, pairs + 2 * (n % 100), 2);
  return n / 100;
}

int tlua_print_integer (char *text, lua_Integer n) {
  char digits[MOST_DIGITS];
  size_t first = MOST_DIGITS;
  int length = 0;
  lua_Unsigned rest = n < 0 ? 0u - (lua_Unsigned)n : (lua_Unsigned)n;
  while (rest >= 10)
    rest = put_pair(digits + (first -= 2), rest);
  if (rest != 0 || first == MOST_DIGITS)
    digits[--first] = (char)('0' + rest);
  if (n < 0)
    text[length++] = '-';
  tlua_copy_text(text + length, digits + first, MOST_DIGITS - first);
  length += (int)(MOST_DIGITS - first);
  text[length] = '\0';
  return length;
}

/* --- floats --- */

#define MOST_PLACES 14
#define LEAST_EXPONENT (-4)

/* Exact, and so are products of integers with them. */
static const lua_Number powers[] = {
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
  1e19, 1e20, 1e21, 1e22
};

/*
** The number, which is not below 0, times a power of ten, rounded to an integer; -1 if it has more than 14
** digits, or the C library has to say how it is rounded.
*/
static lua_Integer scaled (lua_Number n, int power) {
  lua_Number product = n * powers[power];
  if (!(product < powers[MOST_PLACES]) || fegetround() != FE_TONEAREST)
    return -1;
  lua_Integer whole = (lua_Integer)product;
  lua_Number rest = product - (lua_Number)whole;
  if (rest > 0.49 && rest < 0.51)
    return -1;
  return whole + (rest > 0.5);
}

/* Writes so many digits, with zeros in front. */
static void put_digits (char *text, lua_Integer n, int count) {
  lua_Unsigned rest = (lua_Unsigned)n;
  while (count >= 2)
    rest = put_pair(text + (count -= 2), rest);
  if (count > 0)
    text[0] = (char)('0' + rest % 10);
}

/* Of which power of ten the first digit is, as far as numbers are written without an exponent. */
static int exponent_of (lua_Number n) {
  int exponent = 0;
  if (n >= 1) {
    while (exponent < MOST_PLACES && n >= powers[exponent + 1])
      exponent++;
    return exponent;
  }
  return n >= 1e-1 ? -1 : n >= 1e-2 ? -2 : n >= 1e-3 ? -3 : n >= 1e-4 ? -4 : LEAST_EXPONENT - 1;
}

int tlua_print_general (char *text, lua_Number n, int places) {
  lua_Number size = fabs(n);
  int exponent = exponent_of(size), length = 0;
  if (places < 1 || places > MOST_PLACES || exponent < LEAST_EXPONENT || exponent >= places || !(size < 1e14))
    return 0;
  lua_Integer digits = scaled(size, places - 1 - exponent);
  if (digits < 0 || (lua_Number)digits >= powers[places])  /* or it is the next power of ten */
    return 0;
  if (n < 0)
    text[length++] = '-';
  for (int zeros = exponent < 0 ? -exponent : 0; zeros > 0; zeros--)
    text[length++] = '0';
  put_digits(text + length, digits, places);
  /* The point stands after the first digit of all, or after those before it. */
  int first = n < 0, before = exponent < 0 ? 1 : exponent + 1, end = length + places;
  while (end > first + before && text[end - 1] == '0')
    end--;
  if (end > first + before) {
    memmove(text + first + before + 1, text + first + before, (size_t)(end - first - before));
    text[first + before] = lua_getlocaledecpoint();
    end++;
  }
  text[end] = '\0';
  return end;
}

int tlua_print_fixed (char *text, lua_Number n, int places) {
  lua_Integer digits = places < 0 || places > MOST_PLACES ? -1 : scaled(fabs(n), places);
  if (digits < 0)
    return 0;
  int is_negative = signbit(n) != 0;
  lua_Integer scale = (lua_Integer)powers[places];
  if (is_negative)
    text[0] = '-';
  int length = is_negative + tlua_print_integer(text + is_negative, digits / scale);
  if (places > 0) {
    text[length] = lua_getlocaledecpoint();
    put_digits(text + length + 1, digits % scale, places);
    length += 1 + places;
  }
  text[length] = '\0';
  return length;
}

int tlua_print_float (char *text, lua_Number n) {
  int length;
  if (fabs(n) < 1e14 && n == floor(n) && (n != 0 || !signbit(n)))
    length = tlua_print_integer(text, (lua_Integer)n);
  else if (!TLUA_FLOATS_HAVE_14_PLACES || (length = tlua_print_general(text, n, MOST_PLACES)) == 0)
    return 0;
  else if (strchr(text, lua_getlocaledecpoint()) != NULL)
    return length;
  text[length++] = lua_getlocaledecpoint();
  text[length++] = '0';
  text[length] = '\0';
  return length;
}

/* --- texts as numbers --- */

/* Decimal digits of which any number fits into an integer. */
#define MOST_READ 18
#define MOST_EXACT ((lua_Unsigned)1 << 53)
#define MOST_EXPONENT 22

typedef struct Numeral {
  lua_Unsigned digits;
  int count;     /* digits, leading zeros included */
  int exponent;  /* of ten */
  int is_float;
} Numeral;

static const char *skip_spaces (const char *s) {
  while (*s == ' ' || (*s >= '\t' && *s <= '\r'))
    s++;
  return s;
}

static const char *read_digits (const char *s, Numeral *numeral) {
  for (; *s >= '0' && *s <= '9' && numeral->count <= MOST_READ; s++) {
    numeral->digits = numeral->digits * 10 + (lua_Unsigned)(*s - '0');
    numeral->count++;
  }
  return s;
}

/* Of up to three digits; NULL if there is none, or are more. */
static const char *read_exponent (const char *s, Numeral *numeral) {
  int is_negative = *s == '-', exponent = 0, count = 0;
  if (*s == '-' || *s == '+')
    s++;
  for (; *s >= '0' && *s <= '9' && count <= 3; count++)
    exponent = exponent * 10 + (*s++ - '0');
  numeral->exponent += is_negative ? -exponent : exponent;
  return count == 0 || count > 3 ? NULL : s;
}

/* What follows the sign. NULL if it is not one of the usual numerals. */
static const char *read_numeral (const char *s, Numeral *numeral) {
  s = read_digits(s, numeral);
  if (*s == '.') {
    int before = numeral->count;
    s = read_digits(s + 1, numeral);
    numeral->exponent = before - numeral->count;
    numeral->is_float = 1;
  }
  if (numeral->count == 0 || numeral->count > MOST_READ)
    return NULL;
  if (*s == 'e' || *s == 'E') {
    numeral->is_float = 1;
    s = read_exponent(s + 1, numeral);
  }
  return s;
}

static int is_exact (const Numeral *numeral) {
  return numeral->digits <= MOST_EXACT && abs(numeral->exponent) <= MOST_EXPONENT;
}

size_t tlua_read_number (const char *text, lua_Integer *integer, lua_Number *number, int *is_float) {
  Numeral numeral = { .digits = 0 };
  const char *s = skip_spaces(text);
  int is_negative = *s == '-';
  if (*s == '-' || *s == '+')
    s++;
  s = read_numeral(s, &numeral);
  if (s == NULL || *(s = skip_spaces(s)) != '\0' || (numeral.is_float && !is_exact(&numeral)))
    return 0;
  *is_float = numeral.is_float;
  if (!numeral.is_float) {
    *integer = is_negative ? -(lua_Integer)numeral.digits : (lua_Integer)numeral.digits;
  }
  else {
    /* the sign first, for modes that round up or down */
    double n = is_negative ? -(double)numeral.digits : (double)numeral.digits;
    *number = numeral.exponent < 0 ? n / powers[-numeral.exponent] : n * powers[numeral.exponent];
  }
  return (size_t)(s - text) + 1;
}
