/*
** Texts that baseline code makes without a call: 'string.format' and its like.
**
** Problem: programs write numbers and names all the time, most of them short. The library's buffer, its look
** at each flag, and the API take longer than the characters.
**
** Design: what is to be written goes to a buffer in the native frame, from the arguments where they lie.
** What numbers look like is said by the C library, as in Lua's, but for integers. What does not fit, and all
** that may raise an error or call a metamethod, is left to the library.
**
** Invariant: what is left to the library has changed nothing. Only the finished string may collect; those
** who write characters make nothing, so that compiled code may use them too (tlua_rec_cfunc_list.c).
**
** Example: ("%s: %02d"):format("min", 7)    -- "min: 07", one string made
*/

#define LUA_CORE

#include "lprefix.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tlua_baseline.h"
#include "tlua_match.h"

#include "ldo.h"
#include "lgc.h"
#include "lobject.h"
#include "lstring.h"
#include "ltable.h"

#define ARGUMENT(func, n) s2v((func) + (n))

#define ROOM TLUA_TEXT_ROOM

typedef struct Text {
  char *characters;
  size_t length;
} Text;

/* --- the string, and where it goes --- */

static void put_made (lua_State *L, StkId func, TString *made) {
  setsvalue2s(L, func, made);
  L->top.p = func + 1;
  luaC_checkGC(L);
}

void tlua_put_string (lua_State *L, StkId func, const char *text, size_t length) {
  TString *made = length <= LUAI_MAXSHORTLEN ? tlua_find_short(L, text, length) : NULL;
  put_made(L, func, made != NULL ? made : luaS_newlstr(L, text, length));
}

void tlua_put_part (lua_State *L, StkId func, const TString *s, size_t from, size_t length) {
  TString *made = length <= LUAI_MAXSHORTLEN ? tlua_find_part(L, s, from, length) : NULL;
  put_made(L, func, made != NULL ? made : luaS_newlstr(L, getstr(s) + from, length));
}

/* What is written is the result. What is made may collect, which may move the stack. */
static int put_text (lua_State *L, StkId func, ptrdiff_t count, int wanted, TluaWriteText *write) {
  char text[ROOM];
  ptrdiff_t place = savestack(L, func);
  ptrdiff_t length = wanted > 1 ? -1 : write(L, ARGUMENT(func, 1), count, text);
  if (length < 0)
    return 0;
  tlua_put_string(L, func, text, (size_t)length);
  if (wanted < 0)
    L->top.p = restorestack(L, place) + 1;
  return 1;
}

static int append (Text *text, const char *characters, size_t length) {
  if (length > ROOM - text->length)
    return 0;
  memcpy(text->characters + text->length, characters, length);
  text->length += length;
  return 1;
}

static int append_many (Text *text, int character, size_t count) {
  if (count > ROOM - text->length)
    return 0;
  memset(text->characters + text->length, character, count);
  text->length += count;
  return 1;
}

/* --- string.format --- */

/* '%', flags, width, precision, conversion; for the C library with room for the length of an integer. */
#define MOST_FORM 16

typedef struct Form {
  char text[MOST_FORM + sizeof(LUA_INTEGER_FRMLEN)];
  int length;       /* without the conversion */
  int flags;        /* how many */
  int width;        /* 0: none */
  int has_precision;
  int precision;    /* what stands there; 0 if nothing does */
  char conversion;
} Form;

/* One or two digits; 3 if there are more. */
static int digits (const char *s) {
  int n = 0;
  while (n < 3 && isdigit((unsigned char)s[n]))
    n++;
  return n;
}

static int number_in (const char *s, int length) {
  int number = 0;
  for (int n = 0; n < length; n++)
    number = 10 * number + (s[n] - '0');
  return number;
}

/* Reads what comes after a '%'; returns what comes after that, or NULL if it is for the library. */
static const char *read_form (const char *s, Form *form) {
  int flags = (int)strspn(s, "-+ #0");
  int width = digits(s + flags), length = flags + width;
  int precision = 0;
  form->has_precision = s[length] == '.';
  if (form->has_precision) {
    precision = digits(s + length + 1);
    length += 1 + precision;
  }
  if (width > 2 || precision > 2 || length + 1 >= MOST_FORM)
    return NULL;
  form->text[0] = '%';
  memcpy(form->text + 1, s, (size_t)length);
  form->text[length + 1] = '\0';
  form->length = length + 1;
  form->flags = flags;
  form->width = number_in(s + flags, width);
  form->precision = number_in(s + length - precision, precision);
  form->conversion = s[length];
  return form->conversion == '\0' ? NULL : s + length + 1;
}

/* Whether all its flags are among these. */
static int has_only (const Form *form, const char *flags) {
  return (int)strspn(form->text + 1, flags) >= form->flags;
}

static void end_form (Form *form, const char *length) {
  size_t more = strlen(length);
  memcpy(form->text + form->length, length, more);
  form->text[form->length + (int)more] = form->conversion;
  form->text[form->length + (int)more + 1] = '\0';
}

/* What the C library has written, if there was room. */
static int written (Text *text, int count) {
  if (count < 0 || (size_t)count >= ROOM - text->length)
    return 0;
  text->length += (size_t)count;
  return 1;
}
#define AT(text) ((text)->characters + (text)->length), ROOM - (text)->length

/* An integer with a width, and at most one flag, '0'. */
static int write_decimal (Text *text, const Form *form, lua_Integer n) {
  char number[24];
  int length = tlua_print_integer(number, n), is_negative = n < 0;
  size_t padding = form->width > length ? (size_t)(form->width - length) : 0;
  if (form->flags == 0)
    return append_many(text, ' ', padding) && append(text, number, (size_t)length);
  return append(text, number, (size_t)is_negative) && append_many(text, '0', padding)
         && append(text, number + is_negative, (size_t)(length - is_negative));
}

static int write_integer (Text *text, Form *form, const TValue *value, const char *flags) {
  if (!ttisinteger(value) || !has_only(form, flags))
    return 0;
  if (form->conversion == 'd' && !form->has_precision
      && (form->flags == 0 || (form->flags == 1 && form->text[1] == '0')))
    return write_decimal(text, form, ivalue(value));
  end_form(form, LUA_INTEGER_FRMLEN);
  return written(text, snprintf(AT(text), form->text, (LUAI_UACINT)ivalue(value)));
}

/* The number by itself; its length, or 0 if the C library has to write it. */
static int print_float (char *number, const Form *form, lua_Number n) {
  int places = form->has_precision ? form->precision : 6;
  if (form->conversion == 'f')
    return tlua_print_fixed(number, n, places);
  return form->conversion == 'g' ? tlua_print_general(number, n, places) : 0;
}

static int write_float (Text *text, Form *form, const TValue *value) {
  char number[48];
  if (!ttisnumber(value))
    return 0;
  int length = form->flags == 0 ? print_float(number, form, nvalue(value)) : 0;
  if (length > 0) {
    size_t padding = form->width > length ? (size_t)(form->width - length) : 0;
    return append_many(text, ' ', padding) && append(text, number, (size_t)length);
  }
  end_form(form, LUA_NUMBER_FRMLEN);
  return written(text, snprintf(AT(text), form->text, (LUAI_UACNUMBER)nvalue(value)));
}

/* A string, or an integer as 'tostring' writes it, with a width if it has no zeros. */
static int write_string (lua_State *L, Text *text, const Form *form, const TValue *value) {
  char number[24];
  const char *characters = number;
  size_t length;
  if (ttisstring(value)) {
    characters = getstr(tsvalue(value));
    length = tsslen(tsvalue(value));
  }
  else if (ttisinteger(value) && G(L)->mt[LUA_TNUMBER] == NULL)
    length = (size_t)tlua_print_integer(number, ivalue(value));
  else
    return 0;
  if (form->length == 1)
    return append(text, characters, length);
  if (form->has_precision || !has_only(form, "-") || memchr(characters, '\0', length) != NULL)
    return 0;
  size_t padding = (size_t)form->width > length ? (size_t)form->width - length : 0;
  if (form->flags > 0)
    return append(text, characters, length) && append_many(text, ' ', padding);
  return append_many(text, ' ', padding) && append(text, characters, length);
}

static int write_item (lua_State *L, Text *text, Form *form, const TValue *value) {
  switch (form->conversion) {
    case 'd':
      return write_integer(text, form, value, "-+0 ");
    case 'x': case 'X':
      return write_integer(text, form, value, "-#0");
    case 'e': case 'f': case 'g':
      return write_float(text, form, value);
    case 's':
      return write_string(L, text, form, value);
    case 'c': {
      char character = ttisinteger(value) ? (char)ivalue(value) : '\0';
      return ttisinteger(value) && form->length == 1 && append(text, &character, 1);
    }
    default:
      return 0;
  }
}

ptrdiff_t tlua_write_format (lua_State *L, const TValue *arguments, ptrdiff_t count, char *to) {
  Text text = { .characters = to };
  ptrdiff_t used = 0;
  if (count < 1 || !ttisstring(&arguments[0]))
    return -1;
  const char *s = getstr(tsvalue(&arguments[0]));
  const char *end = s + tsslen(tsvalue(&arguments[0]));
  while (s < end) {
    const char *item = (const char *)memchr(s, '%', (size_t)(end - s));
    Form form;
    if (!append(&text, s, (size_t)((item == NULL ? end : item) - s)))
      return -1;
    if (item == NULL)
      break;
    if (item[1] == '%') {
      s = item + 2;
      if (!append(&text, "%", 1))
        return -1;
      continue;
    }
    s = read_form(item + 1, &form);
    if (s == NULL || ++used >= count || !write_item(L, &text, &form, &arguments[used]))
      return -1;
  }
  return (ptrdiff_t)text.length;
}

/* --- others --- */

/* A string of no more characters than there is room for; its length, or -1. */
static ptrdiff_t subject (const TValue *value, ptrdiff_t count, const char **s) {
  if (count < 1 || !ttisstring(value) || tsslen(tsvalue(value)) > ROOM)
    return -1;
  *s = getstr(tsvalue(value));
  return (ptrdiff_t)tsslen(tsvalue(value));
}

#define WRITE_EACH(name, character) \
  ptrdiff_t tlua_write_##name (lua_State *L, const TValue *arguments, ptrdiff_t count, char *to) { \
    const char *s; \
    ptrdiff_t length = subject(arguments, count, &s); \
    (void)L; \
    for (ptrdiff_t n = 0; n < length; n++) \
      to[n] = (char)(character); \
    return length; \
  }
WRITE_EACH(reverse, s[length - 1 - n])
WRITE_EACH(lower, tolower((unsigned char)s[n]))
WRITE_EACH(upper, toupper((unsigned char)s[n]))

ptrdiff_t tlua_write_rep (lua_State *L, const TValue *arguments, ptrdiff_t count, char *to) {
  Text text = { .characters = to };
  const char *s;
  ptrdiff_t length = subject(arguments, count, &s);
  (void)L;
  if (length < 0 || count != 2 || !ttisinteger(&arguments[1]) || ivalue(&arguments[1]) > ROOM)
    return -1;
  for (lua_Integer n = 0; n < ivalue(&arguments[1]); n++) {
    if (!append(&text, s, (size_t)length))
      return -1;
  }
  return (ptrdiff_t)text.length;
}

#define MAKE(name) \
  int tlua_make_##name (lua_State *L, StkId func, ptrdiff_t count, int wanted) { \
    return put_text(L, func, count, wanted, tlua_write_##name); \
  }
MAKE(format)
MAKE(reverse)
MAKE(lower)
MAKE(upper)
MAKE(rep)

static ptrdiff_t write_integer_argument (lua_State *L, const TValue *arguments, ptrdiff_t count, char *to) {
  (void)L;
  (void)count;
  return tlua_print_integer(to, ivalue(&arguments[0]));
}

int tlua_make_tostring (lua_State *L, StkId func, ptrdiff_t count, int wanted) {
  const TValue *value = ARGUMENT(func, 1);
  const Table *meta = G(L)->mt[LUA_TSTRING];
  if (count < 1 || wanted > 1)
    return 0;
  if (ttisinteger(value) && G(L)->mt[LUA_TNUMBER] == NULL)
    return put_text(L, func, count, wanted, write_integer_argument);
  if (!ttisstring(value)
      || (meta != NULL && !isempty(luaH_getshortstr((Table *)meta, luaS_new(L, "__tostring")))))
    return 0;
  setobjs2s(L, func, func + 1);
  if (wanted < 0)
    L->top.p = func + 1;
  return 1;
}
