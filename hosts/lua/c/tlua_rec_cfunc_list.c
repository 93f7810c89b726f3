/*
** The list of the C functions that compiled code may call as they are.
**
** Problem: that a function runs no Lua code, does not yield, and does all or nothing, depends on its
** arguments, and is written nowhere but in its source.
**
** Design: a row for each function says for which kinds of arguments that is so, what the call may read and
** change, and what is known of its results. Where kinds are not enough, a function of ours looks at the
** values before each call. The smallest functions have a shortcut, which does the same in usual cases, and so
** have those that baseline code does without a call.
**
** Invariant: the rows are those of Lua 5.4.9. Neither looks nor shortcuts throw or collect; they make nothing
** but short strings, and move the hint in 'alimit' as the functions themselves do.
**
** Example, 'table.insert(t, 1, x)':   may_insert: no metatable, and the array part has room for one element
** more
*/

#include "lprefix.h"

#include <string.h>

#include "tlua_match.h"
#include "tlua_rec_cfunc.h"

#include "lgc.h"
#include "lstring.h"
#include "ltable.h"
#include "lvm.h"

/* in lstrlib.c and lutf8lib.c: the steps of 'string.gmatch' and 'utf8.codes' */
extern const lua_CFunction tlua_gmatch_step;
extern const lua_CFunction tlua_codes_step;
extern const lua_CFunction tlua_lax_codes_step;
/* The character at 's', and where the next one begins, or NULL. */
const char *tlua_decode (const char *s, unsigned int *code, int is_strict);

/* --- whether a call does all or nothing --- */

/*
** Functions that move elements store one by one. Where all of them lie in the array part no store needs
** memory, and without metatables none runs Lua code.
*/
static int is_list (const TValue *v) {
  return ttistable(v) && hvalue(v)->metatable == NULL;
}

/*
** What '#' says, which may move its hint as the function will do it; and how many elements the array part
** has room for.
*/
static int list_size (lua_State *L, const TValue *v, lua_Unsigned *length, lua_Unsigned *size) {
  if (!is_list(v))
    return 0;
  *length = tlua_border(L, hvalue(v));
  *size = tlua_array_size(hvalue(v));
  return 1;
}

static int may_rawset (lua_State *L, const TValue *arguments, int count) {
  (void)L;
  (void)arguments;
  return count == 3;
}

/* After the last element there is one store only. */
static int may_insert (lua_State *L, const TValue *arguments, int count) {
  lua_Unsigned length, size;
  if (count < 2 || count > 3 || !list_size(L, &arguments[0], &length, &size))
    return 0;
  if (count == 2)
    return 1;
  if (!ttisinteger(&arguments[1]))
    return 0;
  lua_Unsigned place = l_castS2U(ivalue(&arguments[1])) - 1u;
  return place == length || (place < length && length < size);
}

static int may_remove (lua_State *L, const TValue *arguments, int count) {
  lua_Unsigned length, size;
  return count == 2 && list_size(L, &arguments[0], &length, &size) && ttisinteger(&arguments[1])
      && l_castS2U(ivalue(&arguments[1])) - 1u < length && length <= size;
}

static int may_move (lua_State *L, const TValue *arguments, int count) {
  const TValue *to = count > 4 && !ttisnil(&arguments[4]) ? &arguments[4] : &arguments[0];
  if (count < 4 || !is_list(&arguments[0]) || !is_list(to))
    return 0;
  lua_Unsigned from_size = tlua_array_size(hvalue(&arguments[0])), to_size = tlua_array_size(hvalue(to));
  for (int n = 1; n <= 3; n++) {
    if (!ttisinteger(&arguments[n]) || ivalue(&arguments[n]) < 1)
      return 0;
  }
  lua_Unsigned first = l_castS2U(ivalue(&arguments[1])), last = l_castS2U(ivalue(&arguments[2]));
  lua_Unsigned start = l_castS2U(ivalue(&arguments[3]));
  return last < first || (last <= from_size && start <= to_size && last - first <= to_size - start);
}

/* Longer lists are looked at by the comparison function alone. */
#define MOST_SORTED (1u << 24)

/* Comparisons of numbers that are no NaN do not fail, nor do those of strings; they agree on one order. */
static int may_sort (lua_State *L, const TValue *arguments, int count) {
  lua_Unsigned length, size;
  if (count != 1 || !list_size(L, &arguments[0], &length, &size) || length > size || length > MOST_SORTED)
    return 0;
  const Table *t = hvalue(&arguments[0]);
  TValue first_room, room;
  for (lua_Unsigned n = 0; n < length; n++) {
    const TValue *first = tlua_item(t, 0, &first_room), *item = tlua_item(t, n, &room);
    if (ttypetag(item) == LUA_VNUMFLT && luai_numisnan(fltvalue(item)))
      return 0;
    if (ttype(item) != ttype(first) || (!ttisnumber(item) && !ttisstring(item)))
      return 0;
  }
  return 1;
}

/* --- shortcuts --- */

/*
** What the smallest functions do in usual cases, without a call. Each answers the number of results, or -1:
** then the function itself is called. None throws or collects. The hint in 'alimit' moves as it would.
*/

/* Where the elements after a key begin, in the array part and in the hash part; 0: that is not known. */
static int place_after (Table *t, const TValue *key, unsigned int *item, size_t *node) {
  TValue store;
  unsigned int size = tlua_array_size(t);
  *item = size;
  *node = 0;
  if (ttisfloat(key))
    return 0;
  if (ttisinteger(key) && l_castS2U(ivalue(key)) - 1u < size) {
    *item = (unsigned int)ivalue(key);
    return 1;
  }
  const TValue *slot = tlua_slot(t, key, &store);
  if (isabstkey(slot))
    return 0;
  *node = (size_t)(nodefromval(slot) - gnode(t, 0)) + 1;
  return 1;
}

static int shorten_next (lua_State *L, const TValue *arguments, int count, TValue *results) {
  unsigned int item = 0;
  size_t node = 0;
  if (count < 1)
    return -1;
  Table *t = hvalue(&arguments[0]);
  if (count > 1 && !ttisnil(&arguments[1]) && !place_after(t, &arguments[1], &item, &node))
    return -1;
  item = tlua_item_from(t, item);
  if (item < tlua_array_size(t)) {
    TValue room;
    const TValue *value = tlua_item(t, item, &room);
    setivalue(&results[0], (lua_Integer)item + 1);
    setobj(L, &results[1], value);
    return 2;
  }
  const Node *n = tlua_node_from(t, node);
  if (n != NULL) {
    getnodekey(L, &results[0], n);
    setobj(L, &results[1], gval(n));
    return 2;
  }
  setnilvalue(&results[0]);
  return 1;
}

static int shorten_rawget (lua_State *L, const TValue *arguments, int count, TValue *results) {
  if (count < 2)
    return -1;
  TValue room;
  const TValue *slot = tlua_slot(hvalue(&arguments[0]), &arguments[1], &room);
  if (isempty(slot))
    setnilvalue(&results[0]);
  else
    setobj(L, &results[0], slot);
  return 1;
}

/* Where the key has its place already. */
static int shorten_rawset (lua_State *L, const TValue *arguments, int count, TValue *results) {
  if (count != 3)
    return -1;
  Table *t = hvalue(&arguments[0]);
  TValue room, *slot = (TValue *)tlua_slot(t, &arguments[1], &room);
  if (isabstkey(slot))
    return -1;
  if (slot == &room)
    return -1;
  setobj(L, slot, &arguments[2]);
  invalidateTMcache(t);
  luaC_barrierback(L, obj2gco(t), &arguments[2]);
  return 0;
}

static int shorten_tonumber (lua_State *L, const TValue *arguments, int count, TValue *results) {
  if (count != 1 || !ttisstring(&arguments[0]))
    return -1;
  if (luaO_str2num(getstr(tsvalue(&arguments[0])), &results[0]) != tsslen(tsvalue(&arguments[0])) + 1)
    setnilvalue(&results[0]);
  return 1;
}

static void move_item (lua_State *L, Table *t, lua_Integer from, lua_Integer to) {
  TValue room, value = { .tt_ = LUA_VNIL };
  const TValue *there = tlua_reach(t, from, &room);
  if (!isempty(there)) {
    setobj(L, &value, there);
  }
  tlua_reach_and_put(L, t, to, &value);
}

static int shorten_insert (lua_State *L, const TValue *arguments, int count, TValue *results) {
  if (count != 3 || !ttisinteger(&arguments[1]))
    return -1;
  Table *t = hvalue(&arguments[0]);
  lua_Unsigned length = tlua_border(L, t);
  lua_Integer place = ivalue(&arguments[1]);
  if (l_castS2U(place) - 1u >= length || length >= tlua_array_size(t))
    return -1;
  for (lua_Integer n = (lua_Integer)length + 1; n > place; n--)
    move_item(L, t, n - 1, n);
  tlua_reach_and_put(L, t, place, &arguments[2]);
  luaC_barrierback(L, obj2gco(t), &arguments[2]);
  return 0;
}

static int shorten_remove (lua_State *L, const TValue *arguments, int count, TValue *results) {
  if (count != 2 || !ttisinteger(&arguments[1]))
    return -1;
  Table *t = hvalue(&arguments[0]);
  lua_Unsigned length = tlua_border(L, t);
  lua_Integer place = ivalue(&arguments[1]);
  if (l_castS2U(place) - 1u >= length || length > tlua_array_size(t))
    return -1;
  for (; place < (lua_Integer)length; place++)
    move_item(L, t, place + 1, place);
  TValue nil = { .tt_ = LUA_VNIL };
  tlua_reach_and_put(L, t, place, &nil);
  return 0;
}

/* A short string; 0 if there is none and no memory for it. */
static int put_string (lua_State *L, TValue *result, const char *text, size_t length) {
  TString *made = length > LUAI_MAXSHORTLEN ? NULL : tlua_short_string(L, text, length);
  if (made == NULL)
    return 0;
  setsvalue(L, result, made);
  return 1;
}

static int shorten_text (lua_State *L, const TValue *arguments, int count, TValue *results,
                         TluaWriteText *write) {
  char text[TLUA_TEXT_ROOM];
  ptrdiff_t length = write(L, arguments, count, text);
  return length >= 0 && put_string(L, &results[0], text, (size_t)length) ? 1 : -1;
}

#define SHORTEN_TEXT(name) \
  static int shorten_##name (lua_State *L, const TValue *arguments, int count, TValue *results) { \
    return shorten_text(L, arguments, count, results, tlua_write_##name); \
  }
SHORTEN_TEXT(format)
SHORTEN_TEXT(lower)
SHORTEN_TEXT(upper)
SHORTEN_TEXT(reverse)
SHORTEN_TEXT(rep)

/* Strings that were made before one that cannot be made are garbage. */
static int shorten_search (lua_State *L, const TValue *arguments, int count, TValue *results, int find) {
  TluaFound found;
  int used = 0;
  if (!tlua_search(L, arguments, count, find, &found))
    return -1;
  if (found.from == NULL) {
    setnilvalue(&results[0]);
    return 1;
  }
  const char *s = getstr(tsvalue(&arguments[0]));
  if (find) {
    setivalue(&results[used++], (lua_Integer)(found.from - s + 1));
    setivalue(&results[used++], (lua_Integer)(found.to - s));
  }
  else if (found.count == 0)
    return put_string(L, &results[0], found.from, (size_t)(found.to - found.from)) ? 1 : -1;
  for (int n = 0; n < found.count; n++, used++) {
    const TluaCapture *capture = &found.captures[n];
    if (capture->len == TLUA_POSITION) {
      setivalue(&results[used], (lua_Integer)(capture->init - s + 1));
    }
    else if (!put_string(L, &results[used], capture->init, (size_t)capture->len))
      return -1;
  }
  return used;
}

static int shorten_find (lua_State *L, const TValue *arguments, int count, TValue *results) {
  return shorten_search(L, arguments, count, results, 1);
}

static int shorten_match (lua_State *L, const TValue *arguments, int count, TValue *results) {
  return shorten_search(L, arguments, count, results, 0);
}

static int is_continuation (const char *s) {
  return ((unsigned char)*s & 0xC0) == 0x80;
}

/* After the string's end there is a zero. */
static int next_code (const TValue *arguments, int count, TValue *results, int is_strict) {
  if (count < 2 || !ttisstring(&arguments[0]) || !ttisinteger(&arguments[1]))
    return -1;
  const char *s = getstr(tsvalue(&arguments[0]));
  lua_Unsigned n = l_castS2U(ivalue(&arguments[1])), length = tsslen(tsvalue(&arguments[0]));
  unsigned int code;
  if (n < length) {
    while (is_continuation(s + n))
      n++;
  }
  if (n >= length)
    return 0;
  const char *next = tlua_decode(s + n, &code, is_strict);
  if (next == NULL || is_continuation(next))
    return -1;
  setivalue(&results[0], l_castU2S(n + 1u));
  setivalue(&results[1], (lua_Integer)code);
  return 2;
}

static int shorten_codes (lua_State *L, const TValue *arguments, int count, TValue *results) {
  return next_code(arguments, count, results, 1);
}

static int shorten_lax_codes (lua_State *L, const TValue *arguments, int count, TValue *results) {
  return next_code(arguments, count, results, 0);
}

/* Of some characters; a single one has an operation of its own. */
static int shorten_byte (lua_State *L, const TValue *arguments, int count, TValue *results) {
  (void)L;
  if (count != 3 || !ttisstring(&arguments[0]) || !ttisinteger(&arguments[1]) || !ttisinteger(&arguments[2]))
    return -1;
  const TString *s = tsvalue(&arguments[0]);
  size_t from = 0, length = tlua_slice(tsslen(s), ivalue(&arguments[1]), ivalue(&arguments[2]), &from);
  if (length > TLUA_MOST_VALUES)
    return -1;
  for (size_t n = 0; n < length; n++)
    setivalue(&results[n], (unsigned char)getstr(s)[from + n]);
  return (int)length;
}

/*
** A step of 'string.gmatch' whose result is the match, or the only capture, and short: the function lies
** below its arguments. If there is no memory for the result the search is where it was.
*/
static int shorten_gmatch (lua_State *L, const TValue *arguments, int count, TValue *results) {
  (void)count;
  const CClosure *function = clCvalue(s2v((const StackValue *)arguments - 1));
  void *state = tlua_gmatch_state(function);
  const TString *text = tsvalue(&function->upvalue[0]);
  const char *places[2], *part;
  size_t length;
  tlua_gmatch_places(state, places, 0);
  int found = tlua_gmatch_part(state, &part, &length);
  if (found <= 0)
    return found;
  TString *result = NULL;
  if (length <= LUAI_MAXSHORTLEN) {
    result = tlua_find_part(L, text, (size_t)(part - getstr(text)), length);
    if (result == NULL)
      result = tlua_short_string(L, part, length);
  }
  if (result == NULL) {
    tlua_gmatch_places(state, places, 1);
    return -1;
  }
  setsvalue(L, &results[0], result);
  return 1;
}

/* --- the list --- */

static const TluaCallable callables[] = {
  { .name = "getmetatable", .kinds = "a", .effects = TLUA_READS },
  { .name = "next", .kinds = "ta", .effects = TLUA_READS, .shortcut = shorten_next },
  { .name = "rawget", .kinds = "ta", .effects = TLUA_READS, .shortcut = shorten_rawget },
  { .name = "rawset", .kinds = "taa", .effects = TLUA_WRITES, .answer = TLUA_FIRST, .is_ready = may_rawset,
    .shortcut = shorten_rawset },
  { .name = "select", .kinds = "ba", .effects = TLUA_PURE },
  { .name = "tonumber", .kinds = "b", .effects = TLUA_PURE, .shortcut = shorten_tonumber },
  { .name = "tostring", .kinds = "p", .effects = TLUA_PURE },
  { .name = "math.abs", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.acos", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.asin", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.atan", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.ceil", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.cos", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.cosh", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.deg", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.exp", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.floor", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.fmod", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.frexp", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.ldexp", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.log", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.log10", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.max", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.min", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.modf", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.pow", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.rad", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.sin", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.sinh", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.sqrt", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.tan", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.tanh", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.tointeger", .kinds = "b", .effects = TLUA_PURE },
  { .name = "math.type", .kinds = "a", .effects = TLUA_PURE },
  { .name = "math.ult", .kinds = "b", .effects = TLUA_PURE },
  { .name = "os.clock", .kinds = "-", .effects = TLUA_PURE },
  { .name = "os.date", .kinds = "b", .effects = TLUA_PURE },
  { .name = "os.difftime", .kinds = "b", .effects = TLUA_PURE },
  { .name = "os.getenv", .kinds = "b", .effects = TLUA_PURE },
  { .name = "os.time", .kinds = "-", .effects = TLUA_PURE },
  { .name = "string.byte", .kinds = "b", .effects = TLUA_PURE, .shortcut = shorten_byte },
  { .name = "string.char", .kinds = "b", .effects = TLUA_PURE },
  { .name = "string.find", .kinds = "b", .effects = TLUA_PURE, .shortcut = shorten_find },
  { .name = "string.format", .kinds = "bp", .effects = TLUA_PURE, .shortcut = shorten_format },
  { .name = "string.gmatch", .kinds = "b", .effects = TLUA_PURE },
  { .name = "string.gsub", .kinds = "b", .effects = TLUA_PURE },
  { .name = "string.len", .kinds = "b", .effects = TLUA_PURE },
  { .name = "string.lower", .kinds = "b", .effects = TLUA_PURE, .shortcut = shorten_lower },
  { .name = "string.match", .kinds = "b", .effects = TLUA_PURE, .shortcut = shorten_match },
  { .name = "string.pack", .kinds = "b", .effects = TLUA_PURE },
  { .name = "string.packsize", .kinds = "b", .effects = TLUA_PURE },
  { .name = "string.rep", .kinds = "b", .effects = TLUA_PURE, .shortcut = shorten_rep },
  { .name = "string.reverse", .kinds = "b", .effects = TLUA_PURE, .shortcut = shorten_reverse },
  { .name = "string.sub", .kinds = "b", .effects = TLUA_PURE },
  { .name = "string.unpack", .kinds = "b", .effects = TLUA_PURE },
  { .name = "string.upper", .kinds = "b", .effects = TLUA_PURE, .shortcut = shorten_upper },
  { .name = "table.concat", .kinds = "lb", .effects = TLUA_READS },
  { .name = "table.insert", .kinds = "laa", .effects = TLUA_WRITES, .answer = TLUA_NOTHING,
    .is_ready = may_insert,
    .shortcut = shorten_insert },
  { .name = "table.move", .kinds = "lbbbl", .effects = TLUA_WRITES, .answer = TLUA_DESTINATION,
    .is_ready = may_move },
  { .name = "table.pack", .kinds = "a", .effects = TLUA_PURE },
  { .name = "table.remove", .kinds = "lb-", .effects = TLUA_WRITES, .answer = TLUA_ELEMENT,
    .is_ready = may_remove,
    .shortcut = shorten_remove },
  { .name = "table.sort", .kinds = "l-", .effects = TLUA_WRITES, .answer = TLUA_NOTHING,
    .is_ready = may_sort },
  { .name = "table.unpack", .kinds = "lb", .effects = TLUA_READS },
  { .name = "utf8.char", .kinds = "b", .effects = TLUA_PURE },
  { .name = "utf8.codepoint", .kinds = "b", .effects = TLUA_PURE },
  { .name = "utf8.codes", .kinds = "b", .effects = TLUA_PURE },
  { .name = "utf8.len", .kinds = "b", .effects = TLUA_PURE },
  { .name = "utf8.offset", .kinds = "b", .effects = TLUA_PURE }
};

/* Functions that are no fields of a library. They get the control variable too, and do not look at it. */
static const TluaCallable gmatch_step = { .name = "step of string.gmatch", .kinds = "a",
                                          .effects = TLUA_STEPS, .shortcut = shorten_gmatch };
static const TluaCallable codes_step = { .name = "step of utf8.codes", .kinds = "b", .effects = TLUA_PURE,
                                         .shortcut = shorten_codes };
static const TluaCallable lax_codes_step = { .name = "step of utf8.codes", .kinds = "b", .effects = TLUA_PURE,
                                             .shortcut = shorten_lax_codes };

static const TluaCallable *find_named (const char *name) {
  for (size_t n = 0; n < sizeof(callables) / sizeof(callables[0]); n++) {
    if (strcmp(callables[n].name, name) == 0)
      return &callables[n];
  }
  return NULL;
}

const TluaCallable *tlua_cfunc_find (TluaRecorder *rec, lua_CFunction f, const char *name) {
  const TluaCallable *found = find_named(name);
  if (f == tlua_gmatch_step)
    return &gmatch_step;
  if (f == tlua_codes_step || f == tlua_lax_codes_step)
    return f == tlua_codes_step ? &codes_step : &lax_codes_step;
  for (const TluaCallable *c = rec->calls->declared; found == NULL && c != NULL; c = c->next) {
    if (c->f == f)
      found = c;
  }
  return found;
}
