/*
** Lowering of the functions of 'string' that need no pattern.
**
** Problem: they make strings, for which there may be no memory, and are called so often with one character
** that a call each is too much.
**
** Design: lengths and single characters are read from the string itself, which never changes. New strings
** are made protected and without collections, as tlua_rec_string.c does it; the trace is left if there is no
** memory, or if the result is of the other kind (short or long) than it was when the trace was recorded,
** since that is part of its tag.
**
** Invariant: positions are those of the C functions: negative ones count from the end, and what lies outside
** is cut off. Numbers that stand for strings give the recording up.
**
** Example, 's:byte(i)' with i = 3:
**   p = int_sub(i, 1); guard_false(int_lt(i, 0)); guard_true(uint_lt(p, load string.short_length s))
**   c = load string.character (item_addr s p)
*/

#include "lprefix.h"

#include <ctype.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "tlua_rec_lib.h"

#include "lstring.h"

/* --- making strings --- */

/*
** What is to be made of a string: 'fill' writes 'length' characters, from its place 'from' where that
** matters.
*/
typedef struct Text {
  const TString *s;
  size_t from;
  size_t length;
  uint64_t packed;
  void (*fill) (const struct Text *text, char *to);
  TString *result;
} Text;

static void fill_slice (const Text *text, char *to) {
  memcpy(to, getstr(text->s) + text->from, text->length);
}

static void fill_copies (const Text *text, char *to) {
  size_t one = tsslen(text->s);
  for (size_t n = 0; n < text->length; n += one)
    memcpy(to + n, getstr(text->s), one);
}

static void fill_upper (const Text *text, char *to) {
  for (size_t n = 0; n < text->length; n++)
    to[n] = (char)toupper((unsigned char)getstr(text->s)[n]);
}

static void fill_lower (const Text *text, char *to) {
  for (size_t n = 0; n < text->length; n++)
    to[n] = (char)tolower((unsigned char)getstr(text->s)[n]);
}

static void fill_reverse (const Text *text, char *to) {
  for (size_t n = 0; n < text->length; n++)
    to[n] = getstr(text->s)[text->length - n - 1];
}

static void fill_characters (const Text *text, char *to) {
  for (size_t n = 0; n < text->length; n++)
    to[n] = (char)(unsigned char)(text->packed >> (8 * n));
}

static void do_text (lua_State *L, void *data) {
  Text *text = (Text *)data;
  text->result = luaS_createlngstrobj(L, text->length);
  text->fill(text, getlngstr(text->result));
}

static TString *make (lua_State *L, int64_t is_long, Text *text) {
  char buffer[LUAI_MAXSHORTLEN];
  if (is_long != (text->length > LUAI_MAXSHORTLEN))
    return NULL;
  if (is_long)
    return tlua_protected(L, do_text, text) ? text->result : NULL;
  text->fill(text, buffer);
  return tlua_short_string(L, buffer, text->length);
}

static TString *sub_string (lua_State *L, int64_t is_long, TString *s, int64_t i, int64_t j) {
  size_t from = 0, length = tlua_slice(tsslen(s), i, j, &from);
  if (!is_long && length <= LUAI_MAXSHORTLEN) {
    TString *found = tlua_find_part(L, s, from, length);
    return found != NULL ? found : tlua_short_string(L, getstr(s) + from, length);
  }
  Text text = { .s = s, .from = from, .length = length, .fill = fill_slice };
  return make(L, is_long, &text);
}

/* The length of so many copies; 0 in 'fits' if the interpreter would call the result too large. */
static size_t copies_length (size_t length, int64_t count, int *fits) {
  *fits = count <= 0 || length <= (size_t)(INT_MAX / count);
  return count <= 0 || !*fits ? 0 : length * (size_t)count;
}

static TString *repeat_string (lua_State *L, int64_t is_long, TString *s, int64_t count) {
  int fits;
  Text text = { .s = s, .length = copies_length(tsslen(s), count, &fits), .fill = fill_copies };
  return fits ? make(L, is_long, &text) : NULL;
}

static TString *upper_string (lua_State *L, int64_t is_long, TString *s) {
  Text text = { .s = s, .length = tsslen(s), .fill = fill_upper };
  return make(L, is_long, &text);
}

static TString *lower_string (lua_State *L, int64_t is_long, TString *s) {
  Text text = { .s = s, .length = tsslen(s), .fill = fill_lower };
  return make(L, is_long, &text);
}

static TString *reverse_string (lua_State *L, int64_t is_long, TString *s) {
  Text text = { .s = s, .length = tsslen(s), .fill = fill_reverse };
  return make(L, is_long, &text);
}

/* The characters' codes are in the bytes of 'packed', the first in the lowest. */
static TString *characters_string (lua_State *L, int64_t count, int64_t packed) {
  Text text = { .length = (size_t)count, .packed = (uint64_t)packed, .fill = fill_characters };
  return make(L, 0, &text);
}

int tlua_describe_string_functions (tl_vm *vm, TluaLibrary *library) {
  const tl_class nothing[] = { 0 };
  const tl_class account[] = { tl_alias_class(vm, "global.debt"), 0 };
  struct { tl_func *id; const char *name; const void *address; const char *signature; } const rows[] = {
    { &library->sub, "sub_string", (const void *)(uintptr_t)sub_string, "airii>r" },
    { &library->repeat, "repeat_string", (const void *)(uintptr_t)repeat_string, "airi>r" },
    { &library->upper, "upper_string", (const void *)(uintptr_t)upper_string, "air>r" },
    { &library->lower, "lower_string", (const void *)(uintptr_t)lower_string, "air>r" },
    { &library->reverse, "reverse_string", (const void *)(uintptr_t)reverse_string, "air>r" },
    { &library->characters, "characters_string", (const void *)(uintptr_t)characters_string, "aii>r" }
  };
  for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
    *rows[n].id = tl_add_func(vm, rows[n].name, rows[n].address, rows[n].signature, TL_EFFECT_ALLOCATES,
                              nothing,
                              account);
    if (*rows[n].id == 0)
      return 0;
  }
  library->character = tl_add_cell(vm, "string.character", (int32_t)offsetof(TString, contents), 1, TL_INT,
                                   tl_alias_class(vm, "string"), TL_IMMUTABLE);
  library->contents = tl_add_cell(vm, "string.contents", (int32_t)offsetof(TString, contents), 8, TL_ADDR,
                                  tl_alias_class(vm, "string"), TL_IMMUTABLE);
  return library->character != 0 && library->contents != 0;
}

/* --- lowering --- */

static int has_string (TluaRecorder *rec, const LibraryCall *call) {
  if (call->count > 0 && ttisstring(call->arguments[0].now))
    return 1;
  tlua_rec_give_up(rec, "argument is no string");
  return 0;
}

/*
** Adds the string that the function makes: of so many characters now, of the first argument and up to two
** integers.
*/
static void add_string (TluaRecorder *rec, LibraryCall *call, tl_func function, size_t length, tl_value i,
                        tl_value j) {
  tl_vm *vm = rec->vm;
  int is_long = length > LUAI_MAXSHORTLEN;
  tl_value arguments[5] = { tl_context(vm), tl_const_int(vm, is_long), call->arguments[0].value, i, j };
  uint32_t count = j != 0 ? 5 : i != 0 ? 4 : 3;
  tlua_lib_add(rec, call, is_long ? ctb(LUA_VLNGSTR) : ctb(LUA_VSHRSTR),
               tl_try_call(vm, function, arguments, count));
}

static void lower_length (TluaRecorder *rec, LibraryCall *call) {
  if (has_string(rec, call))
    tlua_lib_add(rec, call, LUA_VNUMINT, tlua_lib_length(rec, call->arguments[0]));
}

/* The address from which characters lie as far as they do in a short string. */
static tl_value characters_of (TluaRecorder *rec, Operand s) {
  tl_vm *vm = rec->vm;
  if (TLUA_STRINGS_ARE_WHOLE || s.tt == ctb(LUA_VSHRSTR))
    return tl_op1(vm, TL_REF_TO_ADDR, s.value);
  return tl_item_addr(vm, tl_load(vm, rec->schema.library.contents, s.value), tl_const_int(vm, 0), 1,
                      -(int32_t)offsetof(TString, contents));
}

/* One character; outside of the string there is no result. */
static void lower_byte (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  lua_Integer now = 1;
  if (!has_string(rec, call))
    return;
  if (tlua_lib_has(call, 2)) {
    tlua_rec_give_up(rec, "string.byte of a range");
    return;
  }
  Operand s = call->arguments[0];
  tl_value position = tlua_lib_has(call, 1) ? tlua_lib_integer(rec, call, 1, &now) : tl_const_int(vm, 1);
  if (rec->at.reason != NULL)
    return;
  size_t length_now = tsslen(tsvalue(s.now));
  tl_value length = tlua_lib_length(rec, s), zero = tl_const_int(vm, 0), one = tl_const_int(vm, 1);
  tl_value place = tl_op2(vm, TL_INT_SUB, position, one);
  tlua_lib_guard(rec, now < 0, tl_op2(vm, TL_INT_LT, position, zero));
  if (now < 0) {
    place = tl_op2(vm, TL_INT_ADD, length, position);
    now += (lua_Integer)length_now + 1;
  }
  int is_inside = (lua_Unsigned)now - 1u < length_now;
  tlua_lib_guard(rec, is_inside, tl_op2(vm, TL_UINT_LT, place, length));
  if (is_inside) {
    tl_value address = tl_item_addr(vm, characters_of(rec, s), place, 1, 0);
    tlua_lib_add(rec, call, LUA_VNUMINT, tl_load(vm, rec->schema.library.character, address));
  }
}

static void lower_sub (TluaRecorder *rec, LibraryCall *call) {
  lua_Integer i_now, j_now = -1;
  size_t from;
  if (!has_string(rec, call))
    return;
  tl_value i = tlua_lib_integer(rec, call, 1, &i_now);
  tl_value j = tlua_lib_has(call, 2) ? tlua_lib_integer(rec, call, 2, &j_now) : tl_const_int(rec->vm, -1);
  if (rec->at.reason != NULL)
    return;
  size_t length = tlua_slice(tsslen(tsvalue(call->arguments[0].now)), i_now, j_now, &from);
  add_string(rec, call, rec->schema.library.sub, length, i, j);
}

static void lower_repeat (TluaRecorder *rec, LibraryCall *call) {
  lua_Integer now;
  int fits;
  if (!has_string(rec, call))
    return;
  tl_value count = tlua_lib_integer(rec, call, 1, &now);
  size_t length = copies_length(tsslen(tsvalue(call->arguments[0].now)), now, &fits);
  if (tlua_lib_has(call, 2) || !fits)
    tlua_rec_give_up(rec, fits ? "string.rep with a separator" : "string.rep too large");
  if (rec->at.reason == NULL)
    add_string(rec, call, rec->schema.library.repeat, length, count, 0);
}

/* As long as the argument. */
static void convert (TluaRecorder *rec, LibraryCall *call, tl_func function) {
  if (has_string(rec, call))
    add_string(rec, call, function, tsslen(tsvalue(call->arguments[0].now)), 0, 0);
}

static void lower_upper (TluaRecorder *rec, LibraryCall *call) {
  convert(rec, call, rec->schema.library.upper);
}

static void lower_lower (TluaRecorder *rec, LibraryCall *call) {
  convert(rec, call, rec->schema.library.lower);
}

static void lower_reverse (TluaRecorder *rec, LibraryCall *call) {
  convert(rec, call, rec->schema.library.reverse);
}

/* As many as a word has bytes. */
#define MOST_CHARACTERS 8

static void lower_characters (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  tl_value codes[MOST_CHARACTERS];
  if (call->count > MOST_CHARACTERS) {
    tlua_rec_give_up(rec, "string.char of many");
    return;
  }
  for (int n = 0; n < call->count; n++) {
    lua_Integer now;
    codes[n] = tlua_lib_integer(rec, call, n, &now);
    if ((lua_Unsigned)now > UCHAR_MAX)
      tlua_rec_give_up(rec, "string.char out of range");
  }
  if (rec->at.reason != NULL)
    return;
  tl_value packed = tl_const_int(vm, 0);
  for (int n = 0; n < call->count; n++) {
    tlua_lib_guard(rec, 1, tl_op2(vm, TL_UINT_LE, codes[n], tl_const_int(vm, UCHAR_MAX)));
    packed = tl_op2(vm, TL_INT_OR, packed, tl_op2(vm, TL_INT_SHL, codes[n], tl_const_int(vm, 8 * n)));
  }
  tl_value arguments[3] = { tl_context(vm), tl_const_int(vm, call->count), packed };
  tlua_lib_add(rec, call, ctb(LUA_VSHRSTR), tl_try_call(vm, rec->schema.library.characters, arguments, 3));
}

const LibraryRow tlua_lib_string[] = {
  { "byte", lower_byte }, { "char", lower_characters }, { "len", lower_length }, { "lower", lower_lower },
  { "rep", lower_repeat }, { "reverse", lower_reverse }, { "sub", lower_sub }, { "upper", lower_upper },
  { NULL, NULL }
};
