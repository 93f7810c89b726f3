/*
** Lowering of the functions of 'math'.
**
** Problem: results must be those of the C functions to the last bit, also for NaN, infinities, zeros with a
** sign, and where a float becomes an integer or does not.
**
** Design: what processors do exactly is an operation of the trace (rounding, roots, absolute values);
** everything else calls the function of the C library that the interpreter would call. Whether a result is
** an integer or a float is part of its tag, so that a guard decides it. Random numbers are drawn by the
** generator's own code from the state that the closure holds, which is memory of a class of its own: no draw
** is left out or made twice.
**
** Invariant: arguments that are no numbers give the recording up, strings that stand for numbers included.
**
** Example, 'math.floor(x)' with x = 2.5:   i = float_to_int_exact(float_floor(x))   -- leaves if that is no
** integer
*/

#include "lprefix.h"

#include <math.h>
#include <stdint.h>

#include "tlua_rec_lib.h"

#include "lvm.h"

/* --- functions that compiled code calls --- */

static void *state_of (CClosure *f) {
  return getudatamem(uvalue(&f->upvalue[0]));
}

static double random_float (CClosure *f) {
  return tlua_random_float(state_of(f));
}

static int64_t random_bits (CClosure *f) {
  return tlua_random_bits(state_of(f));
}

static int64_t random_between (CClosure *f, int64_t low, int64_t up) {
  lua_Unsigned n = (lua_Unsigned)up - (lua_Unsigned)low;
  return (int64_t)((lua_Unsigned)tlua_random_below(state_of(f), n) + (lua_Unsigned)low);
}

int tlua_describe_math (tl_vm *vm, TluaLibrary *library) {
  static const struct { const char *name; double (*function) (double); } rows[] = {
    [TLUA_SIN] = { "sin", sin }, [TLUA_COS] = { "cos", cos }, [TLUA_TAN] = { "tan", tan },
    [TLUA_ASIN] = { "asin", asin }, [TLUA_ACOS] = { "acos", acos }, [TLUA_EXP] = { "exp", exp },
    [TLUA_LOG] = { "log", log }, [TLUA_LOG2] = { "log2", log2 }, [TLUA_LOG10] = { "log10", log10 }
  };
  for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++)
    library->maths[n] = tl_add_func(vm, rows[n].name, (const void *)(uintptr_t)rows[n].function, "f>f", 0,
                                    NULL, NULL);
  library->maths[TLUA_ATAN2] = tl_add_func(vm, "atan2", (const void *)(uintptr_t)atan2, "ff>f", 0, NULL,
                                           NULL);
  const tl_class state[] = { tl_alias_class(vm, "random.state"), 0 };
  const void *addresses[] = { (const void *)(uintptr_t)random_float, (const void *)(uintptr_t)random_bits,
                              (const void *)(uintptr_t)random_between };
  library->random_float = tl_add_func(vm, "random_float", addresses[0], "r>f", 0, state, state);
  library->random_bits = tl_add_func(vm, "random_bits", addresses[1], "r>i", 0, state, state);
  library->random_between = tl_add_func(vm, "random_between", addresses[2], "rii>i", 0, state, state);
  for (int n = 0; n < TLUA_MATHS; n++) {
    if (library->maths[n] == 0)
      return 0;
  }
  return library->random_float != 0 && library->random_bits != 0 && library->random_between != 0;
}

/* --- rounding --- */

#define INTEGERS_END 9223372036854775808.0  /* 2^63, a double */

/* Whether a float without fraction is in the range of integers. */
static tl_value is_in_range (TluaRecorder *rec, tl_value number) {
  tl_vm *vm = rec->vm;
  tl_value low = tl_op2(vm, TL_FLOAT_GE, number, tl_const_float(vm, -INTEGERS_END));
  return tl_op2(vm, TL_INT_AND, low, tl_op2(vm, TL_FLOAT_LT, number, tl_const_float(vm, INTEGERS_END)));
}

/* Adds a float without fraction, as an integer where it fits. */
static void add_whole (TluaRecorder *rec, LibraryCall *call, tl_value number, lua_Number now) {
  lua_Integer whole;
  if (lua_numbertointeger(now, &whole)) {
    tlua_lib_add(rec, call, LUA_VNUMINT, tl_op1(rec->vm, TL_FLOAT_TO_INT_EXACT, number));
    return;
  }
  tlua_lib_guard(rec, 0, is_in_range(rec, number));
  tlua_lib_add(rec, call, LUA_VNUMFLT, number);
}

static void round_number (TluaRecorder *rec, LibraryCall *call, tl_op op,
                          lua_Number (*function) (lua_Number)) {
  tl_value x = tlua_lib_float(rec, call, 0);
  if (rec->at.reason != NULL)
    return;
  if (call->arguments[0].tt == LUA_VNUMINT)
    tlua_lib_add_operand(call, call->arguments[0]);
  else
    add_whole(rec, call, tl_op1(rec->vm, op, x), function(fltvalue(call->arguments[0].now)));
}

static void lower_floor (TluaRecorder *rec, LibraryCall *call) {
  round_number(rec, call, TL_FLOAT_FLOOR, floor);
}

static void lower_ceil (TluaRecorder *rec, LibraryCall *call) {
  round_number(rec, call, TL_FLOAT_CEIL, ceil);
}

/* The integer part, and the fraction, which an infinity has not. */
static void lower_modf (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  tl_value x = tlua_lib_float(rec, call, 0);
  if (rec->at.reason != NULL)
    return;
  if (call->arguments[0].tt == LUA_VNUMINT) {
    tlua_lib_add_operand(call, call->arguments[0]);
    tlua_lib_add(rec, call, LUA_VNUMFLT, tl_const_float(vm, 0.0));
    return;
  }
  tl_value whole = tl_op1(vm, TL_FLOAT_TRUNC, x);
  tl_value is_whole = tl_op2(vm, TL_FLOAT_EQ, x, whole);
  add_whole(rec, call, whole, trunc(fltvalue(call->arguments[0].now)));
  tl_value fraction = tl_op3(vm, TL_SELECT, is_whole, tl_const_float(vm, 0.0),
                             tl_op2(vm, TL_FLOAT_SUB, x, whole));
  tlua_lib_add(rec, call, LUA_VNUMFLT, fraction);
}

/*
** A float that stands for no integer gives nil, as do values of other types; strings may stand for integers.
*/
static void lower_to_integer (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  lua_Integer now;
  if (call->count == 0) {
    tlua_rec_give_up(rec, "missing argument");
    return;
  }
  Operand o = call->arguments[0];
  if (ttisstring(o.now))
    tlua_rec_give_up(rec, "math.tointeger of a string");
  else if (novariant(o.tt) != LUA_TNUMBER)
    tlua_lib_add(rec, call, LUA_VNIL, 0);
  else if (luaV_tointegerns(o.now, &now, F2Ieq))
    tlua_lib_add(rec, call, LUA_VNUMINT, tlua_rec_as_integer(rec, o, &now));
  else {
    tl_value is_whole = tl_op2(vm, TL_FLOAT_EQ, tl_op1(vm, TL_FLOAT_FLOOR, o.value), o.value);
    tlua_lib_guard(rec, 0, tl_op2(vm, TL_INT_AND, is_whole, is_in_range(rec, o.value)));
    tlua_lib_add(rec, call, LUA_VNIL, 0);
  }
}

/* --- simple functions --- */

static void lower_abs (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  if (!tlua_lib_has_number(call, 0)) {
    tlua_rec_give_up(rec, "argument is no number");
    return;
  }
  Operand x = call->arguments[0];
  if (x.tt == LUA_VNUMFLT) {
    tlua_lib_add(rec, call, LUA_VNUMFLT, tl_op1(vm, TL_FLOAT_ABS, x.value));
    return;
  }
  tl_value is_negative = tl_op2(vm, TL_INT_LT, x.value, tl_const_int(vm, 0));
  tlua_lib_add(rec, call, LUA_VNUMINT,
               tl_op3(vm, TL_SELECT, is_negative, tl_op1(vm, TL_INT_NEG, x.value), x.value));
}

static void lower_sqrt (TluaRecorder *rec, LibraryCall *call) {
  tl_value x = tlua_lib_float(rec, call, 0);
  if (x != 0)
    tlua_lib_add(rec, call, LUA_VNUMFLT, tl_op1(rec->vm, TL_FLOAT_SQRT, x));
}

#define PI 3.141592653589793238462643383279502884

static void scale (TluaRecorder *rec, LibraryCall *call, double factor) {
  tl_value x = tlua_lib_float(rec, call, 0);
  if (x != 0)
    tlua_lib_add(rec, call, LUA_VNUMFLT, tl_op2(rec->vm, TL_FLOAT_MUL, x, tl_const_float(rec->vm, factor)));
}

static void lower_deg (TluaRecorder *rec, LibraryCall *call) {
  scale(rec, call, 180.0 / PI);
}

static void lower_rad (TluaRecorder *rec, LibraryCall *call) {
  scale(rec, call, PI / 180.0);
}

static void lower_ult (TluaRecorder *rec, LibraryCall *call) {
  lua_Integer a_now, b_now;
  tl_value a = tlua_lib_integer(rec, call, 0, &a_now);
  tl_value b = tlua_lib_integer(rec, call, 1, &b_now);
  if (rec->at.reason == NULL)
    tlua_lib_add_boolean(rec, call, (lua_Unsigned)a_now < (lua_Unsigned)b_now,
                         tl_op2(rec->vm, TL_UINT_LT, a, b));
}

static void lower_type (TluaRecorder *rec, LibraryCall *call) {
  if (call->count == 0)
    tlua_rec_give_up(rec, "missing argument");
  else if (tlua_lib_has_number(call, 0))
    tlua_lib_add_name(rec, call, call->arguments[0].tt == LUA_VNUMINT ? "integer" : "float");
  else
    tlua_lib_add(rec, call, LUA_VNIL, 0);
}

/* --- largest and smallest --- */

/* Of numbers of one kind the trace selects; else the one that it is now decides the kind of the result. */
static void extreme (TluaRecorder *rec, LibraryCall *call, int is_max) {
  tl_vm *vm = rec->vm;
  for (int n = 0; n < call->count; n++) {
    if (!tlua_lib_has_number(call, n))
      tlua_rec_give_up(rec, "argument is no number");
  }
  if (call->count == 0 || rec->at.reason != NULL) {
    tlua_rec_give_up(rec, "missing argument");
    return;
  }
  Operand best = call->arguments[0];
  for (int n = 1; n < call->count; n++) {
    Operand next = call->arguments[n];
    Operand low = is_max ? best : next, high = is_max ? next : best;
    tl_value is_better = tlua_rec_number_order(rec, low, high, 0);
    int replaces = luaV_lessthan(NULL, low.now, high.now);
    if (best.tt == next.tt)
      next.value = tl_op3(vm, TL_SELECT, is_better, next.value, best.value);
    else
      tlua_lib_guard(rec, replaces, is_better);
    if (replaces)
      best = next;
    else if (best.tt == next.tt)
      best.value = next.value;
  }
  tlua_lib_add_operand(call, best);
}

static void lower_max (TluaRecorder *rec, LibraryCall *call) {
  extreme(rec, call, 1);
}

static void lower_min (TluaRecorder *rec, LibraryCall *call) {
  extreme(rec, call, 0);
}

/* --- functions of the C library --- */

static void call_1 (TluaRecorder *rec, LibraryCall *call, int function) {
  tl_value x = tlua_lib_float(rec, call, 0);
  if (x != 0)
    tlua_lib_add(rec, call, LUA_VNUMFLT, tl_call(rec->vm, rec->schema.library.maths[function], &x, 1));
}

static void lower_sin (TluaRecorder *rec, LibraryCall *call) {
  call_1(rec, call, TLUA_SIN);
}

static void lower_cos (TluaRecorder *rec, LibraryCall *call) {
  call_1(rec, call, TLUA_COS);
}

static void lower_tan (TluaRecorder *rec, LibraryCall *call) {
  call_1(rec, call, TLUA_TAN);
}

static void lower_asin (TluaRecorder *rec, LibraryCall *call) {
  call_1(rec, call, TLUA_ASIN);
}

static void lower_acos (TluaRecorder *rec, LibraryCall *call) {
  call_1(rec, call, TLUA_ACOS);
}

static void lower_exp (TluaRecorder *rec, LibraryCall *call) {
  call_1(rec, call, TLUA_EXP);
}

static void lower_atan (TluaRecorder *rec, LibraryCall *call) {
  tl_value y = tlua_lib_float(rec, call, 0);
  tl_value x = tlua_lib_has(call, 1) ? tlua_lib_float(rec, call, 1) : tl_const_float(rec->vm, 1.0);
  tl_value arguments[2] = { y, x };
  if (rec->at.reason == NULL)
    tlua_lib_add(rec, call, LUA_VNUMFLT,
                 tl_call(rec->vm, rec->schema.library.maths[TLUA_ATAN2], arguments, 2));
}

static int guard_base (TluaRecorder *rec, tl_value base, lua_Number now, lua_Number special) {
  tlua_lib_guard(rec, now == special, tl_op2(rec->vm, TL_FLOAT_EQ, base, tl_const_float(rec->vm, special)));
  return now == special;
}

/* Bases 2 and 10 have functions of their own. */
static void lower_log (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  tl_value x = tlua_lib_float(rec, call, 0);
  if (x == 0 || !tlua_lib_has(call, 1)) {
    call_1(rec, call, TLUA_LOG);
    return;
  }
  tl_value base = tlua_lib_float(rec, call, 1);
  if (rec->at.reason != NULL)
    return;
  lua_Number now = nvalue(call->arguments[1].now);
  if (guard_base(rec, base, now, 2.0))
    call_1(rec, call, TLUA_LOG2);
  else if (guard_base(rec, base, now, 10.0))
    call_1(rec, call, TLUA_LOG10);
  else {
    tl_func log_function = rec->schema.library.maths[TLUA_LOG];
    tl_value divided = tl_call(vm, log_function, &x, 1);
    tlua_lib_add(rec, call, LUA_VNUMFLT,
                 tl_op2(vm, TL_FLOAT_DIV, divided, tl_call(vm, log_function, &base, 1)));
  }
}

/* Of integers the remainder has the sign of the dividend; a divisor 0 is an error. */
static void lower_fmod (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  tl_value x = tlua_lib_float(rec, call, 0), y = tlua_lib_float(rec, call, 1);
  if (rec->at.reason != NULL)
    return;
  Operand a = call->arguments[0], b = call->arguments[1];
  if (a.tt != LUA_VNUMINT || b.tt != LUA_VNUMINT)
    tlua_lib_add(rec, call, LUA_VNUMFLT, tl_op2(vm, TL_FLOAT_REM, x, y));
  else if (ivalue(b.now) == 0)
    tlua_rec_give_up(rec, "division by zero");
  else {
    tlua_lib_guard(rec, 1, tl_op2(vm, TL_INT_NE, b.value, tl_const_int(vm, 0)));
    tlua_lib_add(rec, call, LUA_VNUMINT, tl_op2(vm, TL_INT_REM, a.value, b.value));
  }
}

/* --- random numbers --- */

/* Integers between two bounds, or from 1 to one bound; the bound 0 alone asks for all bits. */
static void random_integer (TluaRecorder *rec, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  lua_Integer low_now = 1, up_now;
  tl_value low = call->count == 1 ? tl_const_int(vm, 1) : tlua_lib_integer(rec, call, 0, &low_now);
  tl_value up = tlua_lib_integer(rec, call, call->count - 1, &up_now);
  if (rec->at.reason != NULL)
    return;
  int is_zero = call->count == 1 && up_now == 0;
  if (call->count == 1)
    tlua_lib_guard(rec, is_zero, tl_op2(vm, TL_INT_EQ, up, tl_const_int(vm, 0)));
  tl_value arguments[3] = { call->function.value, low, up };
  if (is_zero)
    tlua_lib_add(rec, call, LUA_VNUMINT, tl_call(vm, rec->schema.library.random_bits, arguments, 1));
  else if (low_now > up_now)
    tlua_rec_give_up(rec, "random number of no interval");
  else {
    tlua_lib_guard(rec, 1, tl_op2(vm, TL_INT_LE, low, up));
    tlua_lib_add(rec, call, LUA_VNUMINT, tl_call(vm, rec->schema.library.random_between, arguments, 3));
  }
}

static void lower_random (TluaRecorder *rec, LibraryCall *call) {
  if (call->function.tt != ctb(LUA_VCCL) || !ttisfulluserdata(&clCvalue(call->function.now)->upvalue[0]))
    tlua_rec_give_up(rec, "random numbers without state");
  else if (call->count == 0)
    tlua_lib_add(rec, call, LUA_VNUMFLT,
                 tl_call(rec->vm, rec->schema.library.random_float, &call->function.value, 1));
  else if (call->count <= 2)
    random_integer(rec, call);
  else
    tlua_rec_give_up(rec, "wrong number of arguments");
}

const LibraryRow tlua_lib_math[] = {
  { "abs", lower_abs }, { "acos", lower_acos }, { "asin", lower_asin }, { "atan", lower_atan },
  { "ceil", lower_ceil },
  { "cos", lower_cos }, { "deg", lower_deg }, { "exp", lower_exp }, { "floor", lower_floor },
  { "fmod", lower_fmod },
  { "log", lower_log }, { "max", lower_max }, { "min", lower_min }, { "modf", lower_modf },
  { "rad", lower_rad },
  { "random", lower_random }, { "sin", lower_sin }, { "sqrt", lower_sqrt }, { "tan", lower_tan },
  { "tointeger", lower_to_integer }, { "type", lower_type }, { "ult", lower_ult }, { NULL, NULL }
};
