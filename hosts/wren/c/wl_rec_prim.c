/* wl_rec_prim.c: what is built in.
**
** Problem: in Wren 'a + b' is a call of a primitive, a C function that takes its arguments from the stack.
** Design: primitives are known by their addresses, which are looked up when the virtual machine is new; a
** row of the table says what each does in a trace. Those that are rare are called as the interpreter calls
** them (wl_do_call); those that switch fibers give the recording up. Invariant: a primitive without a row is
** never recorded. Example: the row of "+(_)" of numbers is wl_rec_num_plus.
*/
#include "wl_prim.h"

/* Switches to another fiber, or ends the program. */
static void never(wl_call *call) { wl_give_up(call->now->lift, "fiber"); }

enum of {
  NUM,
  NUM_CLASS,
  STRING,
  STRING_CLASS,
  LIST,
  LIST_CLASS,
  MAP,
  MAP_CLASS,
  RANGE,
  OBJECT,
  OBJECT_CLASS,
  CLASS,
  BOOL,
  NULL_,
  FN,
  FN_CLASS,
  FIBER,
  FIBER_CLASS,
  SYSTEM_CLASS,
  CLASSES
};

typedef void (*recorder)(wl_call *call);
typedef struct row {
  enum of of;
  const char *signature;
  recorder record;
  Primitive primitive; /* found when the virtual machine is new */
} row;

static row rows[] = {
    {NUM, "+(_)", wl_rec_num_plus, 0},
    {NUM, "-(_)", wl_rec_num_minus, 0},
    {NUM, "*(_)", wl_rec_num_times, 0},
    {NUM, "/(_)", wl_rec_num_divide, 0},
    {NUM, "%(_)", wl_rec_num_mod, 0},
    {NUM, "<(_)", wl_rec_num_lt, 0},
    {NUM, ">(_)", wl_rec_num_gt, 0},
    {NUM, "<=(_)", wl_rec_num_le, 0},
    {NUM, ">=(_)", wl_rec_num_ge, 0},
    {NUM, "==(_)", wl_rec_num_eq, 0},
    {NUM, "!=(_)", wl_rec_num_ne, 0},
    {NUM, "-", wl_rec_num_negate, 0},
    {NUM, "abs", wl_rec_num_abs, 0},
    {NUM, "sqrt", wl_rec_num_sqrt, 0},
    {NUM, "floor", wl_rec_num_floor, 0},
    {NUM, "ceil", wl_rec_num_ceil, 0},
    {NUM, "truncate", wl_rec_num_truncate, 0},
    {NUM, "min(_)", wl_rec_num_min, 0},
    {NUM, "max(_)", wl_rec_num_max, 0},
    {NUM, "isInteger", wl_rec_num_is_integer, 0},
    {NUM, "&(_)", wl_rec_num_and, 0},
    {NUM, "|(_)", wl_rec_num_or, 0},
    {NUM, "^(_)", wl_rec_num_xor, 0},
    {NUM, "<<(_)", wl_rec_num_shl, 0},
    {NUM, ">>(_)", wl_rec_num_shr, 0},
    {NUM, "~", wl_rec_num_not_bits, 0},
    {NUM, "..(_)", wl_rec_num_to, 0},
    {NUM, "...(_)", wl_rec_num_until, 0},
    {NUM, "toString", wl_do_call, 0},
    {NUM, "round", wl_do_call, 0},
    {NUM, "sin", wl_do_call, 0},
    {NUM, "cos", wl_do_call, 0},
    {NUM, "tan", wl_do_call, 0},
    {NUM, "asin", wl_do_call, 0},
    {NUM, "acos", wl_do_call, 0},
    {NUM, "atan", wl_do_call, 0},
    {NUM, "atan(_)", wl_do_call, 0},
    {NUM, "log", wl_do_call, 0},
    {NUM, "log2", wl_do_call, 0},
    {NUM, "exp", wl_do_call, 0},
    {NUM, "cbrt", wl_do_call, 0},
    {NUM, "pow(_)", wl_do_call, 0},
    {NUM, "clamp(_,_)", wl_do_call, 0},
    {NUM, "fraction", wl_do_call, 0},
    {NUM, "sign", wl_do_call, 0},
    {NUM, "isNan", wl_do_call, 0},
    {NUM, "isInfinity", wl_do_call, 0},
    {NUM_CLASS, "fromString(_)", wl_do_call, 0},
    {NUM_CLASS, "infinity", wl_do_call, 0},
    {NUM_CLASS, "nan", wl_do_call, 0},
    {NUM_CLASS, "pi", wl_do_call, 0},
    {NUM_CLASS, "tau", wl_do_call, 0},
    {NUM_CLASS, "largest", wl_do_call, 0},
    {NUM_CLASS, "smallest", wl_do_call, 0},
    {NUM_CLASS, "maxSafeInteger", wl_do_call, 0},
    {NUM_CLASS, "minSafeInteger", wl_do_call, 0},
    {RANGE, "from", wl_rec_range_from, 0},
    {RANGE, "to", wl_rec_range_to, 0},
    {RANGE, "iterate(_)", wl_rec_range_iterate, 0},
    {RANGE, "iteratorValue(_)", wl_rec_second, 0},
    {RANGE, "min", wl_do_call, 0},
    {RANGE, "max", wl_do_call, 0},
    {RANGE, "isInclusive", wl_do_call, 0},
    {RANGE, "toString", wl_do_call, 0},
    {LIST, "[_]", wl_rec_list_get, 0},
    {LIST, "[_]=(_)", wl_rec_list_set, 0},
    {LIST, "count", wl_rec_list_count, 0},
    {LIST, "iterate(_)", wl_rec_list_iterate, 0},
    {LIST, "iteratorValue(_)", wl_rec_list_get, 0},
    {LIST, "add(_)", wl_rec_list_add, 0},
    {LIST, "addCore_(_)", wl_rec_list_add_core, 0},
    {LIST, "clear()", wl_do_call, 0},
    {LIST, "insert(_,_)", wl_do_call, 0},
    {LIST, "removeAt(_)", wl_do_call, 0},
    {LIST, "remove(_)", wl_do_call, 0},
    {LIST, "indexOf(_)", wl_do_call, 0},
    {LIST, "swap(_,_)", wl_rec_list_swap, 0},
    {LIST_CLASS, "new()", wl_rec_list_new, 0},
    {LIST_CLASS, "filled(_,_)", wl_do_call, 0},
    {MAP, "[_]", wl_rec_map_get, 0},
    {MAP, "[_]=(_)", wl_rec_map_set, 0},
    {MAP, "addCore_(_,_)", wl_rec_map_add_core, 0},
    {MAP, "containsKey(_)", wl_rec_map_contains, 0},
    {MAP, "count", wl_rec_map_count, 0},
    {MAP, "clear()", wl_do_call, 0},
    {MAP, "remove(_)", wl_do_call, 0},
    {MAP, "iterate(_)", wl_do_call, 0},
    {MAP, "keyIteratorValue_(_)", wl_do_call, 0},
    {MAP, "valueIteratorValue_(_)", wl_do_call, 0},
    {MAP_CLASS, "new()", wl_rec_map_new, 0},
    {STRING, "+(_)", wl_rec_string_plus, 0},
    {STRING, "byteCount_", wl_rec_string_byte_count, 0},
    {STRING, "byteAt_(_)", wl_rec_string_byte_at, 0},
    {STRING, "toString", wl_rec_itself, 0},
    {STRING, "[_]", wl_do_call, 0},
    {STRING, "codePointAt_(_)", wl_do_call, 0},
    {STRING, "contains(_)", wl_do_call, 0},
    {STRING, "endsWith(_)", wl_do_call, 0},
    {STRING, "indexOf(_)", wl_do_call, 0},
    {STRING, "indexOf(_,_)", wl_do_call, 0},
    {STRING, "iterate(_)", wl_do_call, 0},
    {STRING, "iterateByte_(_)", wl_do_call, 0},
    {STRING, "iteratorValue(_)", wl_do_call, 0},
    {STRING, "startsWith(_)", wl_do_call, 0},
    {STRING_CLASS, "fromCodePoint(_)", wl_do_call, 0},
    {STRING_CLASS, "fromByte(_)", wl_do_call, 0},
    {OBJECT, "!", wl_rec_object_not, 0},
    {BOOL, "!", wl_rec_object_not, 0},
    {NULL_, "!", wl_rec_object_not, 0},
    {OBJECT, "==(_)", wl_rec_object_eq, 0},
    {OBJECT, "!=(_)", wl_rec_object_ne, 0},
    {OBJECT_CLASS, "same(_,_)", wl_rec_object_same, 0},
    {OBJECT, "is(_)", wl_rec_object_is, 0},
    {OBJECT, "type", wl_rec_object_type, 0},
    {OBJECT, "toString", wl_do_call, 0},
    {BOOL, "toString", wl_do_call, 0},
    {NULL_, "toString", wl_do_call, 0},
    {CLASS, "name", wl_do_call, 0},
    {CLASS, "supertype", wl_do_call, 0},
    {CLASS, "toString", wl_do_call, 0},
    {CLASS, "attributes", wl_do_call, 0},
    {FN, "arity", wl_do_call, 0},
    {FN, "toString", wl_do_call, 0},
    {FN_CLASS, "new(_)", wl_do_call, 0},
    {FIBER_CLASS, "new(_)", wl_do_call, 0},
    {FIBER_CLASS, "current", wl_do_call, 0},
    {FIBER_CLASS, "abort(_)", never, 0},
    {FIBER_CLASS, "suspend()", never, 0},
    {FIBER_CLASS, "yield()", never, 0},
    {FIBER_CLASS, "yield(_)", never, 0},
    {FIBER, "call()", never, 0},
    {FIBER, "call(_)", never, 0},
    {FIBER, "transfer()", never, 0},
    {FIBER, "transfer(_)", never, 0},
    {FIBER, "transferError(_)", never, 0},
    {FIBER, "try()", never, 0},
    {FIBER, "try(_)", never, 0},
    {FIBER, "isDone", wl_do_call, 0},
    {FIBER, "error", wl_do_call, 0},
    {SYSTEM_CLASS, "clock", wl_do_call, 0},
    {SYSTEM_CLASS, "gc()", wl_do_call, 0},
    {SYSTEM_CLASS, "writeString_(_)", wl_do_call, 0},
};
#define ROWS (sizeof rows / sizeof *rows)

void wl_find_primitives(WrenVM *vm) {
  ObjModule *core = AS_MODULE(wrenMapGet(vm->modules, NULL_VAL));
  ObjClass *system = AS_CLASS(wrenFindVariable(vm, core, "System"));
  ObjClass *classes[CLASSES] = {[NUM] = vm->numClass,
                                [NUM_CLASS] = vm->numClass->obj.classObj,
                                [STRING] = vm->stringClass,
                                [STRING_CLASS] = vm->stringClass->obj.classObj,
                                [LIST] = vm->listClass,
                                [LIST_CLASS] = vm->listClass->obj.classObj,
                                [MAP] = vm->mapClass,
                                [MAP_CLASS] = vm->mapClass->obj.classObj,
                                [RANGE] = vm->rangeClass,
                                [OBJECT] = vm->objectClass,
                                [OBJECT_CLASS] = vm->objectClass->obj.classObj,
                                [CLASS] = vm->classClass,
                                [BOOL] = vm->boolClass,
                                [NULL_] = vm->nullClass,
                                [FN] = vm->fnClass,
                                [FN_CLASS] = vm->fnClass->obj.classObj,
                                [FIBER] = vm->fiberClass,
                                [FIBER_CLASS] = vm->fiberClass->obj.classObj,
                                [SYSTEM_CLASS] = system->obj.classObj};
  for (size_t n = 0; n < ROWS; n++) {
    const ObjClass *class = classes[rows[n].of];
    int symbol = wrenSymbolTableFind(&vm->methodNames, rows[n].signature, strlen(rows[n].signature));
    if (symbol < 0 || symbol >= class->methods.count
        || class->methods.data[symbol].type != METHOD_PRIMITIVE) {
      fprintf(stderr, "wrenlift: this Wren has no primitive %s\n", rows[n].signature);
      exit(70);
    }
    rows[n].primitive = class->methods.data[symbol].as.primitive;
  }
}

void wl_record_primitive(wl_now *now, int slot, int count, Primitive primitive, int symbol) {
  wl_call call = {.now = now, .jit = now->jit, .args = now->slots + slot, .slot = slot, .count = count};
  for (size_t n = 0; n < ROWS; n++) {
    if (rows[n].primitive != primitive) continue;
    call.primitive = primitive;
    call.symbol = symbol;
    rows[n].record(&call);
    return;
  }
  wl_give_up(now->lift, "unknown primitive");
}

void wl_record_foreign(wl_now *now, int slot, int count, WrenForeignMethodFn foreign) {
  /* it may call what changes them */
  if (wl_is_captured(now, now->fiber->stack + now->lift->rec.origin)) {
    wl_give_up(now->lift, "foreign method while variables are captured");
    return;
  }
  wl_call call = {.now = now, .jit = now->jit, .args = now->slots + slot, .slot = slot, .count = count};
  wl_do_function(&call, now->ids->foreign, (const void *)(uintptr_t)foreign, "a foreign method");
}
