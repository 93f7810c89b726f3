/*
** What the library is told about Lua's memory: tags, frames, tables, upvalues, strings, and the C functions
** that compiled code calls.
**
** Problem: the library optimizes loads and stores that it knows the shape of, and nothing else; a wrong
** offset or a class too fine makes wrong programs.
**
** Design: every offset is taken from Lua's own headers. Two cells share an alias class if any two objects
** may have them at the same address: the value of an array element and the value of a hash node never do, an
** open upvalue and a closed one are told apart by nobody and share one.
**
** Invariant: no function described here throws, collects, or runs Lua code.
**
** Example, 't.x' in a trace:   v = get_key Table t "x"   -- guards the node that held "x" when it was
** recorded
*/

#include "lprefix.h"

#include <math.h>
#include <stddef.h>

#include "tlua_get.h"
#include "tlua_rec_lib.h"

#include "lgc.h"
#include "lstring.h"
#include "ltable.h"
#include "lvm.h"

/* --- functions that compiled code calls --- */

static double power (double a, double b) {
  return luai_numpow(NULL, a, b);
}

/* Comparisons of an integer with a float, exact also where the integer is no double. */
static int64_t int_below_float (int64_t i, double f) {
  TValue a, b;
  setivalue(&a, i);
  setfltvalue(&b, f);
  return luaV_lessthan(NULL, &a, &b);
}

static int64_t int_to_float_order (int64_t i, double f) {
  TValue a, b;
  setivalue(&a, i);
  setfltvalue(&b, f);
  return luaV_lessequal(NULL, &a, &b);
}

static int64_t float_below_int (double f, int64_t i) {
  TValue a, b;
  setfltvalue(&a, f);
  setivalue(&b, i);
  return luaV_lessthan(NULL, &a, &b);
}

static int64_t float_to_int_order (double f, int64_t i) {
  TValue a, b;
  setfltvalue(&a, f);
  setivalue(&b, i);
  return luaV_lessequal(NULL, &a, &b);
}

/* The order of strings is that of the locale. */
static int64_t string_below (TString *a, TString *b) {
  TValue x, y;
  settt_(&x, ctb(a->tt));
  settt_(&y, ctb(b->tt));
  val_(&x).gc = obj2gco(a);
  val_(&y).gc = obj2gco(b);
  return luaV_lessthan(NULL, &x, &y);
}

static int64_t string_to_order (TString *a, TString *b) {
  return !string_below(b, a);
}

static int64_t equal_long_strings (TString *a, TString *b) {
  return tlua_equal_long(a, b);
}

/* The node with a short string as key and a value, or NULL. */
static Node *find_key (lua_State *L, int64_t layout, Table *t, TString *key) {
  const TValue *slot = tlua_field(t, key);
  (void)L;
  (void)layout;
  return slot == NULL || isempty(slot) ? NULL : nodefromval(slot);
}

/* --- helpers --- */

static tl_cell pointer_cell (tl_vm *vm, const char *name, size_t offset, tl_type type, const char *alias,
                             uint32_t flags) {
  return tl_add_cell(vm, name, (int32_t)offset, 8, type, tl_alias_class(vm, alias), flags);
}

static tl_cell number_cell (tl_vm *vm, const char *name, size_t offset, size_t width, const char *alias,
                            uint32_t flags) {
  return tl_add_cell(vm, name, (int32_t)offset, (uint32_t)width, TL_INT, tl_alias_class(vm, alias), flags);
}

/* The four views of the payload of a TValue at the start of an element. */
static void add_views (tl_vm *vm, tl_cell views[4], const char *const names[4], const char *alias) {
  tl_class class_id = tl_alias_class(vm, alias);
  for (int type = 0; type < 4; type++)
    views[type] = tl_add_cell(vm, names[type], offsetof(TValue, value_), 8, (tl_type)type, class_id, 0);
}

/* --- frames, closures, upvalues --- */

static int describe_registers (tl_vm *vm, TluaSchema *schema) {
  TluaObjectIds *object = &schema->object;
  if (tl_set_slots(vm, sizeof(StackValue), offsetof(TValue, value_), offsetof(TValue, tt_), 1) != TL_OK
      || tl_set_frame_words(vm, TLUA_WORDS) != TL_OK)
    return 0;
  schema->state.top = pointer_cell(vm, "thread.top", offsetof(lua_State, top), TL_ADDR, "thread.top", 0);
  schema->state.hookmask = number_cell(vm, "thread.hookmask", offsetof(lua_State, hookmask),
                                       sizeof(l_signalT), "thread.hookmask", TL_POLLED);
  /* The function of a frame lies below its base and is never assigned. */
  object->function = tl_add_cell(vm, "frame.function", -(int32_t)sizeof(StackValue), 8, TL_REF,
                                 tl_alias_class(vm, "frame.function"), TL_IMMUTABLE);
  object->prototype = pointer_cell(vm, "closure.prototype", offsetof(LClosure, p), TL_ADDR,
                                   "closure.prototype", TL_IMMUTABLE);
  /* while it is not 0 it stays; who takes it away sees to it that the code is left (tlua_fixed.c) */
  object->identity = number_cell(vm, "closure.identity", offsetof(LClosure, jit_identity), 4,
                                 "closure.identity", TL_IMMUTABLE);
  object->marked = number_cell(vm, "object.marked", offsetof(GCObject, marked), 1, "object.marked", 0);
  return schema->state.hookmask != 0 && object->function != 0 && object->prototype != 0
      && object->identity != 0 && object->marked != 0;
}

/* Variable arguments of the loop's own frame lie below its base; nothing that a trace does changes them. */
static int describe_arguments (tl_vm *vm, TluaSchema *schema) {
  TluaStateIds *state = &schema->state;
  static const char *const names[4] = { "argument.int", "argument.float", "argument.ref", "argument.addr" };
  state->call_info = pointer_cell(vm, "thread.call_info", offsetof(lua_State, ci), TL_ADDR,
                                  "thread.call_info", 0);
  state->extra_arguments = number_cell(vm, "call_info.extra", TLUA_EXTRA_OFFSET, TLUA_EXTRA_SIZE,
                                       "call_info.extra", TL_SIGNED);
  add_views(vm, state->argument_value, names, "argument.value");
  state->argument_tag = number_cell(vm, "argument.tag", offsetof(TValue, tt_), 1, "argument.tag", 0);
  return state->call_info != 0 && state->extra_arguments != 0 && state->argument_value[TL_ADDR] != 0
      && state->argument_tag != 0;
}

static int describe_upvalues (tl_vm *vm, TluaSchema *schema) {
  TluaStateIds *state = &schema->state;
  TluaUpvalueIds *upvalue = &schema->upvalue;
  static const char *const names[4] = { "upvalue.int", "upvalue.float", "upvalue.ref", "upvalue.addr" };
  /* debug.upvaluejoin can exchange an upvalue of a closure, so this cell is not immutable */
  upvalue->object = pointer_cell(vm, "closure.upvalue", 0, TL_REF, "closure.upvalue", 0);
  state->open_upvalues = pointer_cell(vm, "thread.open_upvalues", offsetof(lua_State, openupval), TL_ADDR,
                                      "thread.upvalues", 0);
  state->to_be_closed = pointer_cell(vm, "thread.to_be_closed", offsetof(lua_State, tbclist), TL_ADDR,
                                     "thread.upvalues", 0);
  upvalue->place = pointer_cell(vm, "upvalue.place", offsetof(UpVal, v), TL_ADDR, "upvalue.place", 0);
  add_views(vm, upvalue->value, names, "upvalue.value");
  upvalue->tag = number_cell(vm, "upvalue.tag", offsetof(TValue, tt_), 1, "upvalue.tag", 0);
  return state->open_upvalues != 0 && state->to_be_closed != 0 && upvalue->object != 0
      && upvalue->place != 0 && upvalue->value[TL_ADDR] != 0
      && upvalue->tag != 0;
}

static int describe_strings (tl_vm *vm, TluaSchema *schema) {
  schema->string.short_length = number_cell(vm, "string.short_length", offsetof(TString, shrlen), 1, "string",
                                            TL_IMMUTABLE);
  schema->string.long_length = number_cell(vm, "string.long_length", offsetof(TString, u), 8, "string",
                                           TL_IMMUTABLE);
  return schema->string.short_length != 0 && schema->string.long_length != 0;
}

/* --- tables --- */

static int describe_keys (tl_vm *vm, TluaSchema *schema, tl_func insert) {
  TluaTableIds *table = &schema->table;
  static const char *const names[4] = { "node.int", "node.float", "node.ref", "node.addr" };
  tl_element element = { .stride = sizeof(Node), .absent = schema->tag_of[LUA_VEMPTY] };
  tl_cell size = number_cell(vm, "table.log_size", offsetof(Table, lsizenode), 1, "table.log_size", 0);
  tl_cell base = pointer_cell(vm, "table.nodes", offsetof(Table, node), TL_ADDR, "table.nodes", 0);
  static const char *const key_names[4] = { "node.key_int", "node.key_float", "node.key", "node.key_addr" };
  for (int type = 0; type < 4; type++)
    table->node_key[type] = pointer_cell(vm, key_names[type], offsetof(Node, u.key_val), (tl_type)type,
                                         "node.key", 0);
  tl_cell key = table->node_key[TL_REF];
  tl_cell key_tag = number_cell(vm, "node.key_tag", offsetof(Node, u.key_tt), 1, "node.key_tag", 0);
  table->node_key_tag = key_tag;
  add_views(vm, element.value, names, "node.value");
  for (int type = 0; type < 4; type++)
    table->node_value[type] = element.value[type];
  element.tag = number_cell(vm, "node.tag", offsetof(Node, u.tt_), 1, "node.tag", 0);
  table->node_tag = element.tag;
  const tl_class reads[] = { tl_alias_class(vm, "table.log_size"), tl_alias_class(vm, "table.nodes"),
                             tl_alias_class(vm, "node.key"), tl_alias_class(vm, "node.key_tag"),
                             tl_alias_class(vm, "node.tag"), tl_alias_class(vm, "node.next"), 0 };
  tl_cell next = number_cell(vm, "node.next", offsetof(Node, u.next), sizeof(int), "node.next",
                             TL_SIGNED);
  tl_func find = tl_add_func(vm, "find_key", (const void *)find_key, "airr>a", 0, reads, NULL);
  return size != 0 && base != 0 && key != 0 && key_tag != 0 && element.value[TL_ADDR] != 0 && element.tag != 0
      && next != 0 && find != 0
      && tl_set_keys(vm, table->layout, size, base, &element, key, key_tag, ctb(LUA_VSHRSTR), find,
                     insert) == TL_OK
      && tl_set_key_next(vm, table->layout, next) == TL_OK;
}

static int describe_tables (tl_vm *vm, TluaSchema *schema, lua_State *main_thread) {
  TluaTableIds *table = &schema->table;
  TluaObjectIds *object = &schema->object;
  table->layout = tl_add_layout(vm, "Table", sizeof(Table), 0, 0);
  if (table->layout == 0)
    return 0;
  tl_cell metatable = pointer_cell(vm, "table.metatable", offsetof(Table, metatable), TL_REF,
                                   "table.metatable", 0);
  table->metatable = tl_add_field(vm, table->layout, metatable);
  table->flags = number_cell(vm, "table.flags", offsetof(Table, flags), 1, "table.flags", 0);
  tl_func insert;
  return table->metatable != 0 && table->flags != 0 && tlua_describe_alloc(vm, schema, &insert, main_thread)
      && tlua_describe_items(vm, schema) && describe_keys(vm, schema, insert)
      && tl_set_barrier(vm, table->layout, object->marked, bitmask(BLACKBIT), object->marked,
                        WHITEBITS) == TL_OK
      && tlua_describe_barriers(vm, schema);
}

/* --- functions --- */

static int describe_functions (tl_vm *vm, TluaSchema *schema) {
  struct { tl_func *id; const char *name; const void *address; const char *signature; } const pure[] = {
    { &schema->number.power, "power", (const void *)power, "ff>f" },
    { &schema->number.int_below_float, "int_below_float", (const void *)int_below_float, "if>i" },
    { &schema->number.int_to_float_order, "int_to_float_order", (const void *)int_to_float_order, "if>i" },
    { &schema->number.float_below_int, "float_below_int", (const void *)float_below_int, "fi>i" },
    { &schema->number.float_to_int_order, "float_to_int_order", (const void *)float_to_int_order, "fi>i" },
    /* strings never change, so that this too depends on nothing but its arguments */
    { &schema->string.equal_long, "equal_long_strings", (const void *)equal_long_strings, "rr>i" },
    { &schema->string.below, "string_below", (const void *)string_below, "rr>i" },
    { &schema->string.to_order, "string_to_order", (const void *)string_to_order, "rr>i" }
  };
  for (size_t n = 0; n < sizeof(pure) / sizeof(pure[0]); n++) {
    *pure[n].id = tl_add_func(vm, pure[n].name, pure[n].address, pure[n].signature, 0, NULL, NULL);
    if (*pure[n].id == 0)
      return 0;
  }
  schema->state.string_metatable = pointer_cell(vm, "global.string_metatable",
                                                offsetof(global_State, mt) + LUA_TSTRING * sizeof(Table *),
                                                TL_REF, "global.metatables", 0);
  return schema->state.string_metatable != 0
      && tlua_describe_metatables(vm, schema) && tlua_describe_keys(vm, schema)
      && tlua_describe_iterators(vm, schema) && tlua_describe_closures(vm, schema)
      && tlua_describe_strings(vm, schema) && tlua_describe_library(vm, schema);
}

int tlua_describe (tl_vm *vm, TluaSchema *schema, lua_State *main_thread) {
  return tlua_describe_tags(vm, schema) && describe_registers(vm, schema)
      && tlua_describe_frames(vm, schema) && describe_arguments(vm, schema)
      && describe_upvalues(vm, schema) && tlua_describe_host(vm, schema) && tlua_describe_do(vm, schema)
      && describe_strings(vm, schema) && describe_tables(vm, schema, main_thread)
      && describe_functions(vm, schema) && tlua_describe_shared(vm, schema, main_thread);
}
