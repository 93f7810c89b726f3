/*
** Lowering of what makes strings: concatenation, and numbers that become strings.
**
** Problem: Lua's functions for strings throw when there is no memory, and may collect before that. Compiled
** code can bear neither.
**
** Design: they run protected, with the collector stopped, and a failure is an answer: NULL leaves the trace,
** and the interpreter does the instruction with all its means. Strings are made in the state's own way, so
** that short ones stay unique. What is made is on the collector's account, which the loop's head looks at.
**
** Invariant: a string is in no register of the interpreter while it is made, and no collection can happen
** before an exit has put it there. Whether a result is a short string is part of its tag, so that the
** function is told what it was.
**
** Example, 'name .. i':   s = try_call integer_part(context, i); r = try_call join2(context, 0, name, s)
*/

#include "lprefix.h"

#include <stdio.h>
#include <string.h>

#include "tlua_match.h"
#include "tlua_rec.h"

#include "lgc.h"
#include "lstring.h"

/* --- making strings --- */

enum { MOST_PARTS = 4, ANY_LENGTH = -1 };

typedef struct Job {
  const TString *parts[MOST_PARTS];
  int count;
  size_t length;
  TValue number;
  TString *result;
} Job;

static TString *protected_job (lua_State *L, Pfunc work, Job *job) {
  return tlua_protected(L, work, job) ? job->result : NULL;
}

/* --- short strings --- */

typedef struct Short {
  const char *characters;
  size_t length;
  TString *result;
} Short;

static void do_short (lua_State *L, void *data) {
  Short *job = (Short *)data;
  job->result = luaS_newlstr(L, job->characters, job->length);
}

TString *tlua_short_string (lua_State *L, const char *characters, size_t length) {
  TString *found = tlua_find_short(L, characters, length);
  if (found != NULL)
    return found;
  Short job = { .characters = characters, .length = length };
  return tlua_protected(L, do_short, &job) ? job.result : NULL;
}

/* --- joining --- */

static void copy_parts (const Job *job, char *to) {
  for (int n = 0; n < job->count; n++) {
    tlua_copy_text(to, getstr(job->parts[n]), tsslen(job->parts[n]));
    to += tsslen(job->parts[n]);
  }
}

static void do_join (lua_State *L, void *data) {
  Job *job = (Job *)data;
  job->result = luaS_createlngstrobj(L, job->length);
  copy_parts(job, getlngstr(job->result));
}

/*
** NULL if there is no memory, or if the result is of the other kind than it was: 1 is a long string, 0 a
** short one.
*/
static TString *join (lua_State *L, int64_t is_long, Job *job) {
  job->length = 0;
  for (int n = 0; n < job->count; n++) {
    size_t length = tsslen(job->parts[n]);
    if (length >= MAX_SIZE - sizeof(TString) - job->length)
      return NULL;
    job->length += length;
  }
  if (is_long != ANY_LENGTH && is_long != (job->length > LUAI_MAXSHORTLEN))
    return NULL;
  if (job->length > LUAI_MAXSHORTLEN)
    return protected_job(L, do_join, job);
  char buffer[LUAI_MAXSHORTLEN];
  copy_parts(job, buffer);
  return tlua_short_string(L, buffer, job->length);
}

static TString *join2 (lua_State *L, int64_t is_long, TString *a, TString *b) {
  Job job = { .parts = { a, b }, .count = 2 };
  return join(L, is_long, &job);
}

static TString *join3 (lua_State *L, int64_t is_long, TString *a, TString *b, TString *c) {
  Job job = { .parts = { a, b, c }, .count = 3 };
  return join(L, is_long, &job);
}

static TString *join4 (lua_State *L, int64_t is_long, TString *a, TString *b, TString *c, TString *d) {
  Job job = { .parts = { a, b, c, d }, .count = 4 };
  return join(L, is_long, &job);
}

static void do_number (lua_State *L, void *data) {
  Job *job = (Job *)data;
  luaO_tostring(L, &job->number);
  job->result = tsvalue(&job->number);
}

static TString *integer_string (lua_State *L, int64_t number) {
  char buffer[24];
  return tlua_short_string(L, buffer, (size_t)tlua_print_integer(buffer, number));
}

static TString *float_string (lua_State *L, double number) {
  char buffer[64];
  Job job;
  int length = tlua_print_float(buffer, number);
  if (length > 0)
    return tlua_short_string(L, buffer, (size_t)length);
  setfltvalue(&job.number, number);
  return protected_job(L, do_number, &job);
}

static TString *integer_part (lua_State *L, int64_t number) {
  char buffer[24];
  return tlua_text_part(L, buffer, (size_t)tlua_print_integer(buffer, number));
}

static TString *float_part (lua_State *L, double number) {
  char buffer[64];
  int length = tlua_print_float(buffer, number);
  return length > 0 ? tlua_text_part(L, buffer, (size_t)length) : float_string(L, number);
}

int tlua_describe_strings (tl_vm *vm, TluaSchema *schema) {
  const tl_class nothing[] = { 0 };
  const tl_class account[] = { tl_alias_class(vm, "global.debt"), 0 };
  struct { tl_func *id; const char *name; const void *address; const char *signature; } const rows[] = {
    { &schema->string.join[0], "join2", (const void *)join2, "airr>r" },
    { &schema->string.join[1], "join3", (const void *)join3, "airrr>r" },
    { &schema->string.join[2], "join4", (const void *)join4, "airrrr>r" },
    { &schema->string.of_integer, "integer_string", (const void *)integer_string, "ai>r" },
    { &schema->string.of_float, "float_string", (const void *)float_string, "af>r" },
    { &schema->string.integer_part, "integer_part", (const void *)integer_part, "ai>r" },
    { &schema->string.float_part, "float_part", (const void *)float_part, "af>r" }
  };
  for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
    *rows[n].id = tl_add_func(vm, rows[n].name, rows[n].address, rows[n].signature, TL_EFFECT_ALLOCATES,
                              nothing, account);
    if (*rows[n].id == 0)
      return 0;
  }
  return 1;
}

/* --- lowering --- */

tl_value tlua_rec_number_string (TluaRecorder *rec, Operand number) {
  tl_value arguments[2] = { tl_context(rec->vm), number.value };
  tl_func function = number.tt == LUA_VNUMINT ? rec->schema.string.of_integer : rec->schema.string.of_float;
  return tl_try_call(rec->vm, function, arguments, 2);
}

/* An operand as a string; what comes before it has no effect that doing the instruction again would show. */
static tl_value part (TluaRecorder *rec, Operand o) {
  if (ttisstring(o.now))
    return o.value;
  tlua_rec_resume_here(rec);
  tl_value arguments[2] = { tl_context(rec->vm), o.value };
  const TluaStringIds *ids = &rec->schema.string;
  return tl_try_call(rec->vm, o.tt == LUA_VNUMINT ? ids->integer_part : ids->float_part, arguments, 2);
}

/* The length of the result, or 0 if an operand is neither string nor number. */
static int length_now (TluaRecorder *rec, int first, int count, size_t *length) {
  char buffer[64];
  *length = 0;
  for (int n = 0; n < count; n++) {
    const TValue *now = s2v(rec->at.base + first + n);
    if (ttisstring(now))
      *length += tsslen(tsvalue(now));
    else if (ttisinteger(now))
      *length += (size_t)lua_integer2str(buffer, sizeof buffer, ivalue(now));
    else if (ttisfloat(now))
      *length += tlua_float_length(now, buffer, sizeof buffer);
    else
      return 0;
  }
  return 1;
}

/* Longer chains go on with the result of the last pair, which is left to the interpreter. */
static void concatenate_by_metamethod (TluaRecorder *rec, int first, int count) {
  if (count != 2) {
    tlua_rec_give_up(rec, "concatenation with a metamethod");
    return;
  }
  Operand left = tlua_rec_register(rec, first);
  tlua_rec_binary_metamethod(rec, left, tlua_rec_register(rec, first + 1), TM_CONCAT, TLUA_META_VALUE, first);
}

/* From the right, as many at once as a function takes. */
void tlua_lower_concat (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i), left = GETARG_B(i);
  tl_value values[MOST_PARTS + 2];
  tl_value joined = 0;
  size_t length;
  if (!length_now(rec, a, left, &length)) {
    concatenate_by_metamethod(rec, a, left);
    return;
  }
  int is_long = length > LUAI_MAXSHORTLEN;
  for (int n = 0; n < left; n++)
    tlua_rec_register(rec, a + n);  /* what has to be guarded comes before the first call */
  while (left > 0 && rec->at.reason == NULL) {
    int parts = joined != 0 ? MOST_PARTS - 1 : MOST_PARTS;
    parts = parts > left ? left : parts;
    left -= parts;
    for (int n = 0; n < parts; n++)
      values[2 + n] = part(rec, tlua_rec_register(rec, a + left + n));
    if (joined != 0)
      values[2 + parts++] = joined;
    tlua_rec_resume_here(rec);
    values[0] = tl_context(rec->vm);
    values[1] = tl_const_int(rec->vm, left > 0 ? ANY_LENGTH : is_long);
    joined = tl_try_call(rec->vm, rec->schema.string.join[parts - 2], values, (uint32_t)parts + 2);
  }
  if (rec->at.reason == NULL)
    tlua_rec_write(rec, a, is_long ? ctb(LUA_VLNGSTR) : ctb(LUA_VSHRSTR), joined);
}
