/*
** Lowering of metamethods: how they are found, and which instructions call them.
**
** Problem: an operation on an object may be a call of a Lua function, of which the instruction says nothing:
** operators, comparisons, accesses of fields that are not there.
**
** Design: the metamethod is looked up in the metatable as a field is, so that the trace holds as long as what
** it finds there is the same kind of value; then the function becomes part of the trace, as tlua_rec_call.c
** does it for calls. Absence is guarded where the interpreter looks first at one operand and then at the
** other. Metamethods that are C functions give the recording up.
**
** Invariant: metamethods are asked in the interpreter's order, with its arguments. A chain of '__index' or
** '__newindex' is followed in the order of the interpreter, and each table on it is known to lack the key.
**
** Example, 'a + b' with tables of one class:
**   m = get table.metatable a; guard_nonnull(m); f = get_key Table function m "__add"
**   guard_value(load closure.prototype f, its prototype); ... the function's operations
*/

#include "lprefix.h"

#include <stddef.h>

#include "tlua_rec.h"

#include "lgc.h"
#include "ltable.h"
#include "lvm.h"

/* Tables that are asked one for the other in one instruction; longer chains are left to the interpreter. */
#define LONGEST_CHAIN 8

int tlua_describe_metatables (tl_vm *vm, TluaSchema *schema) {
  static const char *const names[LUA_NUMTYPES] = {
    "global.nil_metatable", "global.boolean_metatable", "global.address_metatable", "global.number_metatable",
    NULL,
    NULL, "global.function_metatable", NULL, "global.thread_metatable" };
  for (int type = 0; type < LUA_NUMTYPES; type++) {
    if (names[type] == NULL)
      continue;
    size_t offset = offsetof(global_State, mt) + (size_t)type * sizeof(Table *);
    schema->metatables[type] = tl_add_cell(vm, names[type], (int32_t)offset, 8, TL_REF,
                                           tl_alias_class(vm, "global.metatables"), 0);
    if (schema->metatables[type] == 0)
      return 0;
  }
  schema->metatables[LUA_TSTRING] = schema->string_metatable;
  return 1;
}

/* --- finding --- */

int tlua_rec_has_metamethod (TluaRecorder *rec, Operand t, TMS event) {
  return fasttm(rec->thread, hvalue(t.now)->metatable, event) != NULL;
}

/*
** Objects of one class have one metatable. If the recording has met it before, the guard says that it is the
** same one: then the trace knows all about it already, and asks nothing of it again.
*/
void tlua_rec_guard_metatable (TluaRecorder *rec, tl_value reference, const Table *now) {
  tl_vm *vm = rec->vm;
  if (now == NULL) {
    tl_guard(vm, TL_GUARD_NULL, reference, 0, TL_EXIT_GUARD);
    return;
  }
  for (int n = 0; n < rec->metatable_count; n++) {
    if (rec->metatables[n].now == now) {
      tl_value is_same = tl_op2(vm, TL_REF_EQ, reference, rec->metatables[n].value);
      tl_guard(vm, TL_GUARD_TRUE, is_same, 0, TL_EXIT_GUARD);
      return;
    }
  }
  tl_guard(vm, TL_GUARD_NONNULL, reference, 0, TL_EXIT_GUARD);
  if (rec->metatable_count < TLUA_METATABLES)
    rec->metatables[rec->metatable_count++] = (TluaMetatable){ .now = now, .value = reference };
}

/* The value's metatable under a guard that it is there, or is not; 'now' is what it is. */
static tl_value metatable_of (TluaRecorder *rec, Operand o, Table **now) {
  tl_vm *vm = rec->vm;
  tl_value reference;
  if (o.tt == ctb(LUA_VTABLE)) {
    *now = hvalue(o.now)->metatable;
    reference = tl_get(vm, rec->schema.metatable, o.value);
  }
  else {
    int type = novariant(o.tt);
    *now = G(rec->thread)->mt[type];
    reference = tl_load(vm, rec->schema.metatables[type], tl_load(vm, rec->schema.global, tl_context(vm)));
  }
  tlua_rec_guard_metatable(rec, reference, *now);
  return reference;
}

int tlua_rec_metamethod (TluaRecorder *rec, Operand o, TMS event, Operand *method) {
  tl_vm *vm = rec->vm;
  TString *name = G(rec->thread)->tmname[event];
  Table *metatable;
  *method = (Operand){ .tt = LUA_VNIL, .tag = rec->schema.tag_of[LUA_VNIL], .value = 0 };
  if (rec->reason != NULL)
    return 0;
  if (novariant(o.tt) == LUA_TUSERDATA) {
    tlua_rec_give_up(rec, "metamethod of userdata");
    return 0;
  }
  tl_value reference = metatable_of(rec, o, &metatable);
  if (metatable == NULL)
    return 1;
  const TValue *slot = luaH_getshortstr(metatable, name);
  tl_value key = tl_const_ref(vm, name);
  if (isempty(slot)) {
    tl_guard_key_absent(vm, rec->schema.table, reference, key);
    return 1;
  }
  method->now = slot;
  method->tt = rawtt(slot);
  method->tag = rec->schema.tag_of[rawtt(slot)];
  if (method->tag == 0) {
    tlua_rec_give_up(rec, "value of an unknown type");
    return 0;
  }
  method->value = tl_get_key(vm, rec->schema.table, method->tag, reference, key, metatable->lsizenode,
                             tlua_rec_node_index(metatable, slot));
  return 1;
}

/* --- operators --- */

static const char *missing (TMS event) {
  switch (event) {
    case TM_CONCAT: return "concatenation of such values";
    case TM_LT: return "order of values that are no numbers or strings";
    case TM_LE: return "order without __le";
    case TM_BAND: case TM_BOR: case TM_BXOR: case TM_SHL: case TM_SHR:
    case TM_BNOT: return "bitwise operation on no number";
    default: return "arithmetic on no number";
  }
}

void tlua_rec_binary_metamethod (TluaRecorder *rec, Operand a, Operand b, TMS event, TluaCaller caller,
                                 int target) {
  Operand arguments[2] = { a, b }, method;
  if (!tlua_rec_metamethod(rec, a, event, &method))
    return;
  if (method.tt == LUA_VNIL && !tlua_rec_metamethod(rec, b, event, &method))
    return;
  if (method.tt == LUA_VNIL)
    tlua_rec_give_up(rec, missing(event));
  else
    tlua_rec_call_metamethod(rec, method, arguments, 2, caller, target);
}

/* The instruction after an arithmetic one that has failed; the result is for that one's register. */
static void behind_operation (TluaRecorder *rec, Operand a, Operand b, int is_flipped) {
  Instruction i = *rec->pc;
  tlua_rec_binary_metamethod(rec, is_flipped ? b : a, is_flipped ? a : b, (TMS)GETARG_C(i), TLUA_META_VALUE,
                             GETARG_A(rec->pc[-1]));
}

void tlua_lower_metamethod (TluaRecorder *rec, Instruction i) {
  Operand a = tlua_rec_register(rec, GETARG_A(i));
  behind_operation(rec, a, tlua_rec_register(rec, GETARG_B(i)), 0);
}

void tlua_lower_metamethod_constant (TluaRecorder *rec, Instruction i) {
  Operand a = tlua_rec_register(rec, GETARG_A(i));
  behind_operation(rec, a, tlua_rec_constant(rec, rec->k + GETARG_B(i)), GETARG_k(i));
}

void tlua_lower_metamethod_small (TluaRecorder *rec, Instruction i) {
  TValue store;
  Operand a = tlua_rec_register(rec, GETARG_A(i));
  setivalue(&store, GETARG_sB(i));
  behind_operation(rec, a, tlua_rec_constant(rec, &store), GETARG_k(i));
}

/* --- absent fields --- */

/* The metamethod, which is there. Returns 0 if the recording is given up. */
static int next_in_chain (TluaRecorder *rec, Operand t, TMS event, Operand *method) {
  if (++rec->chain > LONGEST_CHAIN)
    tlua_rec_give_up(rec, "long chain of metatables");
  return tlua_rec_metamethod(rec, t, event, method);
}

void tlua_rec_index_behind (TluaRecorder *rec, int result, Operand t, Operand key) {
  Operand arguments[2] = { t, key }, method;
  if (!next_in_chain(rec, t, TM_INDEX, &method))
    return;
  if (method.tt == ctb(LUA_VTABLE))
    tlua_rec_get_element(rec, result, method, key);
  else
    tlua_rec_call_metamethod(rec, method, arguments, 2, TLUA_META_VALUE, result);
}

void tlua_rec_newindex_behind (TluaRecorder *rec, Operand t, Operand key, Operand value) {
  Operand arguments[3] = { t, key, value }, method;
  if (!next_in_chain(rec, t, TM_NEWINDEX, &method))
    return;
  if (method.tt == ctb(LUA_VTABLE))
    tlua_rec_set_element(rec, method, key, value);
  else
    tlua_rec_call_metamethod(rec, method, arguments, 3, TLUA_META_STORE, 0);
}
