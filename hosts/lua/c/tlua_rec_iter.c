/*
** Lowering of generic loops: the step that a 'for ... in' takes between two runs of its body.
**
** Problem: the step is a call, in general, but mostly one of the library's own 'next' and 'ipairs', which
** are C functions that may throw. A trace needs what they do, by operations and functions that answer
** instead.
**
** Design: the interpreter takes OP_TFORCALL and OP_TFORLOOP in one go, and so does the trace, whose head is
** the loop's body. The step of 'ipairs' is an index. A step of 'next' is a search for the position after a
** key, in one part of the table; the trace then checks tags and loads key and value from there. A Lua
** function as iterator becomes part of the trace: its frame returns to the OP_TFORLOOP, which the
** interpreter does on its own when it comes back there.
**
** Invariant: positions have the order of 'luaH_next'. Where that would raise an error, or find a key whose
** entry the collector has marked as dead, the trace is left before the step: a search answers 'nowhere'
** then, a node whose key no trace expects, and NULL only where the table ends. No search moves the hint in
** 'alimit', as 'luaH_next' does not.
**
** Example, 'for k, v in pairs(t) do n = n + v end':
**   n' = int_add(n, v); guard_value(f, next)
**   p = call node_after_object(t, k, string); guard_nonnull(p) -- loop end
**   guard_value(load(p, node.key_tag), string); k' = load(p, node.key)
**   guard_value(load(p, node.tag), integer); ...
*/

#include "lprefix.h"

#include "tlua_rec_lib.h"

#include "lgc.h"
#include "ltable.h"
#include "lvm.h"

/* in lbaselib.c */
extern const lua_CFunction tlua_next;
extern const lua_CFunction tlua_ipairs_step;

/* --- functions that compiled code calls --- */

/* The first index of the array part after the given one that has a value; 0 if there is none. */
static int64_t item_after (const Table *t, lua_Unsigned index) {
  unsigned int item = tlua_item_from(t, index);
  return item < tlua_array_size(t) ? (int64_t)item + 1 : 0;
}

static int64_t first_item (Table *t) {
  return item_after(t, 0);
}

/* After an index of the array part; 0 if it is none. */
static int64_t next_item (Table *t, int64_t index) {
  return l_castS2U(index) - 1u < tlua_array_size(t) ? item_after(t, l_castS2U(index)) : 0;
}

static const Node nowhere = { .u = { .tt_ = LUA_VEMPTY, .key_tt = LUA_TDEADKEY } };

/* The node after that of a key in the hash part. */
static const Node *node_after (const Table *t, const TValue *slot, uint32_t *step) {
  if (isabstkey(slot))
    return &nowhere;
  const Node *n = tlua_node_from(t, (size_t)(nodefromval(slot) - gnode(t, 0)) + 1);
  if (n != NULL)
    *step = (uint32_t)(n - gnode(t, 0));
  return n;
}

/* The node that the step has given last, if the table has one there; whether it has the key is to be seen. */
static const Node *last_node (const Table *t, const uint32_t *step) {
  return *step < (uint32_t)sizenode(t) ? gnode(t, *step) : &nowhere;
}

/* Where the array part has no value, the hash part's first node is the first of all. */
static const Node *first_node (Table *t) {
  return first_item(t) != 0 ? &nowhere : tlua_node_from(t, 0);
}

/* After the last index of the array part comes the hash part's first node. */
static const Node *node_after_integer (Table *t, int64_t key, uint32_t *step) {
  if (l_castS2U(key) - 1u < tlua_array_size(t))
    return next_item(t, key) != 0 ? &nowhere : tlua_node_from(t, 0);
  TValue store;
  const Node *last = last_node(t, step);
  int is_it = keyisinteger(last) && keyival(last) == key;
  return node_after(t, is_it ? gval(last) : tlua_slot_of_integer(t, key, &store), step);
}

/* No key of a table is a float that stands for an integer. */
static const Node *node_after_float (Table *t, double number, uint32_t *step) {
  TValue key, store;
  lua_Integer index;
  if (luaV_flttointeger(number, &index, F2Ieq))
    return &nowhere;
  setfltvalue(&key, number);
  return node_after(t, tlua_slot(t, &key, &store), step);
}

static const Node *node_after_boolean (Table *t, int64_t tt, uint32_t *step) {
  TValue key, store;
  settt_(&key, cast_byte(tt));
  return node_after(t, tlua_slot(t, &key, &store), step);
}

static const Node *node_after_object (Table *t, GCObject *object, int64_t tt, uint32_t *step) {
  TValue key, store;
  const Node *last = last_node(t, step);
  if (keytt(last) == tt && gckey(last) == object)
    return node_after(t, gval(last), step);
  val_(&key).gc = object;
  settt_(&key, cast_byte(tt));
  return node_after(t, tlua_slot(t, &key, &store), step);
}

/* A light userdata or a C function. */
static const Node *node_after_address (Table *t, void *address, int64_t tt, uint32_t *step) {
  TValue key, store;
  val_(&key).p = address;
  settt_(&key, cast_byte(tt));
  return node_after(t, tlua_slot(t, &key, &store), step);
}

int tlua_describe_iterators (tl_vm *vm, TluaSchema *schema) {
  const tl_class reads[] = {
    tl_alias_class(vm, "table.count"), tl_alias_class(vm, "table.array"), tl_alias_class(vm, "table.flags"),
    tl_alias_class(vm, "table.log_size"), tl_alias_class(vm, "table.nodes"), tl_alias_class(vm, "array.tag"),
    tl_alias_class(vm, "node.key"), tl_alias_class(vm, "node.key_tag"), tl_alias_class(vm, "node.tag"),
    tl_alias_class(vm, "node.next"), 0 };
  struct { tl_func *id; const char *name; const void *address; const char *signature; } const rows[] = {
    { &schema->step.first_item, "first_item", (const void *)first_item, "r>i" },
    { &schema->step.next_item, "next_item", (const void *)next_item, "ri>i" },
    { &schema->step.first_node, "first_node", (const void *)first_node, "r>a" },
    { &schema->step.node_after_integer, "node_after_integer", (const void *)node_after_integer, "ria>a" },
    { &schema->step.node_after_float, "node_after_float", (const void *)node_after_float, "rfa>a" },
    { &schema->step.node_after_boolean, "node_after_boolean", (const void *)node_after_boolean, "ria>a" },
    { &schema->step.node_after_object, "node_after_object", (const void *)node_after_object, "rria>a" },
    { &schema->step.node_after_address, "node_after_address", (const void *)node_after_address, "raia>a" }
  };
  for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
    *rows[n].id = tl_add_func(vm, rows[n].name, rows[n].address, rows[n].signature, 0, reads, NULL);
    if (*rows[n].id == 0)
      return 0;
  }
  return 1;
}

/* --- the loop goes on --- */

/* What a step gives: the control variable's new value, a second one if there is one, and nils. */
static void finish_step (TluaRecorder *rec, Operand control, const Operand *second) {
  int a = GETARG_A(*rec->at.pc);
  int wanted = GETARG_C(*rec->at.pc);
  tlua_rec_write_operand(rec, TLUA_ITER_RESULT(a), control);
  if (second != NULL && wanted > 1)
    tlua_rec_write_operand(rec, TLUA_ITER_RESULT(a) + 1, *second);
  for (int n = 2; n < wanted; n++)
    tlua_rec_write(rec, TLUA_ITER_RESULT(a) + n, LUA_VNIL, 0);
  tlua_rec_iterated(rec, rec->at.pc + 1, control);
}

/* The loop's end, unless it is the loop that is recorded. */
static int end_loop (TluaRecorder *rec) {
  if (!tlua_rec_is_own_loop(rec, tlua_rec_body_of(rec->at.pc + 1)))
    return 1;
  tlua_rec_give_up(rec, "loop ended");
  return 0;
}

static void finish_loop (TluaRecorder *rec) {
  Operand nil = { .tt = LUA_VNIL, .tag = rec->schema.tag_of[LUA_VNIL], .value = 0 };
  finish_step(rec, nil, &nil);
}

/* --- ipairs --- */

/*
** Whether there is no such element. To look at it must not move the hint that the table's count may be: the
** trace would rely on where it is now, and the program moves it back before it comes here again.
*/
static int lacks_item (Table *h, lua_Integer index) {
  TValue key;
  setivalue(&key, index);
  if (l_castS2U(index) - 1u < tlua_array_size(h))
    return tlua_item_is_empty(h, index - 1);
  return isempty(tlua_slot(h, &key, &key));
}

static void step_of_ipairs (TluaRecorder *rec, Operand t, Operand control) {
  tl_vm *vm = rec->vm;
  int a = GETARG_A(*rec->at.pc);
  TValue store;
  if (t.tt != ctb(LUA_VTABLE) || control.tt != LUA_VNUMINT) {
    tlua_rec_give_up(rec, "ipairs of no table");
    return;
  }
  Operand index = control;
  setivalue(&store, intop(+, ivalue(control.now), 1));
  index.now = &store;
  int ends = lacks_item(hvalue(t.now), ivalue(&store));
  if (ends && !end_loop(rec))
    return;
  index.value = tl_op2(vm, TL_INT_ADD, control.value, tl_const_int(vm, 1));
  /* a register of the call, also where the loop wants no second value */
  tlua_rec_get_element(rec, TLUA_ITER_RESULT(a) + 1, t, index);
  if (rec->at.reason == NULL && ends)
    finish_loop(rec);
  else if (rec->at.reason == NULL)
    finish_step(rec, index, NULL);
}

/* --- next --- */

/* Where an element is, and what is there now. */
typedef struct Place {
  tl_value address, tag_address;
  tl_cell tag;
  const tl_cell *views;
} Place;

static Operand element (TluaRecorder *rec, const Place *place, int tt) {
  tl_vm *vm = rec->vm;
  Operand o = { .tt = tt, .tag = rec->schema.tag_of[tt], .value = 0 };
  tl_type type = tlua_payload(tt);
  if (o.tag == 0) {
    tlua_rec_give_up(rec, "value of an unknown type");
    return o;
  }
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, place->tag, place->tag_address), tl_const_int(vm, tt),
           TL_EXIT_GUARD);
  if (type != TL_VOID)
    o.value = tl_load(vm, place->views[type], place->address);
  return o;
}

/* The next key is an index of the array part, and this one is too, or nil. */
static void step_in_array (TluaRecorder *rec, Operand t, Operand control, int64_t next) {
  tl_vm *vm = rec->vm;
  const TluaSchema *schema = &rec->schema;
  tl_value arguments[2] = { t.value, control.value };
  int is_first = control.tt == LUA_VNIL;
  Operand key = { .tt = LUA_VNUMINT, .tag = schema->tag_of[LUA_VNUMINT] };
  key.value = tl_call(vm, is_first ? schema->step.first_item : schema->step.next_item, arguments,
                      is_first ? 1 : 2);
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_NE, key.value, tl_const_int(vm, 0)), 0, TL_EXIT_LOOP_END);
  tl_value places[2];
  TValue store;
  tlua_rec_item_places(rec, t.value, key.value, places);
  Place place = { .tag = schema->table.array_tag, .views = schema->table.array_value,
                  .tag_address = places[0], .address = places[1] };
  Operand value = element(rec, &place, rawtt(tlua_item(hvalue(t.now), next - 1, &store)));
  if (rec->at.reason == NULL)
    finish_step(rec, key, &value);
}

/* A search for the node after a key: the function, its arguments, and what it finds now. */
typedef struct Search {
  tl_func function;
  tl_value arguments[4];
  uint32_t count;
  const Node *now;
} Search;

/*
** To find a key's node takes a search, unless it is the one that the step has given last: each instruction
** remembers its place, and shares what it remembers with some others. What is found is the same.
*/
static tl_value remembered (TluaRecorder *rec) {
  size_t number = ((size_t)rec->at.pc / sizeof(Instruction)) % TLUA_REMEMBERED;
  return tl_const_addr(rec->vm, &rec->steps[number]);
}

/* A search for the first node, if the key is nil. Returns 0 if the recording is given up. */
static int search (TluaRecorder *rec, Operand t, Operand key, Search *s) {
  tl_vm *vm = rec->vm;
  const TluaSchema *schema = &rec->schema;
  Table *h = hvalue(t.now);
  TValue store;
  uint32_t found = 0;
  s->arguments[0] = t.value;
  s->arguments[1] = key.value;
  s->arguments[2] = remembered(rec);
  s->count = 3;
  switch (key.tt) {
    case LUA_VNIL:
      s->function = schema->step.first_node;
      s->count = 1;
      s->now = first_node(h);
      return 1;
    case LUA_VNUMINT:
      s->function = schema->step.node_after_integer;
      s->now = node_after_integer(h, ivalue(key.now), &found);
      return 1;
    case LUA_VNUMFLT:
      s->function = schema->step.node_after_float;
      s->now = node_after_float(h, fltvalue(key.now), &found);
      return 1;
    case LUA_VFALSE: case LUA_VTRUE:
      s->function = schema->step.node_after_boolean;
      s->arguments[1] = tl_const_int(vm, key.tt);
      s->now = node_after_boolean(h, key.tt, &found);
      return 1;
    case LUA_VLCF: case LUA_VLIGHTUSERDATA:
      s->function = schema->step.node_after_address;
      break;
    default:
      if (!iscollectable(key.now)) {
        tlua_rec_give_up(rec, "key of another type");
        return 0;
      }
      s->function = schema->step.node_after_object;
      break;
  }
  s->arguments[3] = s->arguments[2];
  s->arguments[2] = tl_const_int(vm, key.tt);
  s->count = 4;
  s->now = node_after(h, tlua_slot(h, key.now, &store), &found);
  return 1;
}

static void step_of_next (TluaRecorder *rec, Operand t, Operand control) {
  tl_vm *vm = rec->vm;
  const TluaSchema *schema = &rec->schema;
  Search s;
  if (t.tt != ctb(LUA_VTABLE)) {
    tlua_rec_give_up(rec, "next of no table");
    return;
  }
  int64_t next = control.tt == LUA_VNIL ? first_item(hvalue(t.now))
               : control.tt == LUA_VNUMINT ? next_item(hvalue(t.now), ivalue(control.now)) : 0;
  if (next != 0) {
    step_in_array(rec, t, control, next);
    return;
  }
  if (!search(rec, t, control, &s))
    return;
  if (s.now == &nowhere) {
    tlua_rec_give_up(rec, "next of a key that is not there");
    return;
  }
  if (s.now == NULL) {
    if (end_loop(rec)) {
      tl_guard(vm, TL_GUARD_NULL, tl_call(vm, s.function, s.arguments, s.count), 0, TL_EXIT_GUARD);
      finish_loop(rec);
    }
    return;
  }
  Place key_place = { .tag = schema->table.node_key_tag, .views = schema->table.node_key,
                      .address = tl_call(vm, s.function, s.arguments, s.count) };
  key_place.tag_address = key_place.address;
  Place value_place = { .tag = schema->table.node_tag, .views = schema->table.node_value,
                        .address = key_place.address, .tag_address = key_place.address };
  tl_guard(vm, TL_GUARD_NONNULL, key_place.address, 0, TL_EXIT_LOOP_END);
  Operand key = element(rec, &key_place, keytt(s.now));
  Operand value = element(rec, &value_place, rawtt(gval(s.now)));
  if (rec->at.reason == NULL)
    finish_step(rec, key, &value);
}

/* The control variable, which may not be in its register yet; it was read then. */
static Operand control_of (TluaRecorder *rec, int a, const Operand *given) {
  return given != NULL ? *given : tlua_rec_register(rec, TLUA_ITER_CONTROL(a));
}

/* --- other C functions --- */

/* The call's results go where the loop wants them; the first one decides whether it goes on. */
static void step_of_c_function (TluaRecorder *rec, int a, int wanted, const Operand *given) {
  LibraryCall call = { .count = 2, .wanted = wanted };
  call.function = tlua_rec_register(rec, a);
  call.arguments[0] = tlua_rec_register(rec, a + 1);
  call.arguments[1] = control_of(rec, a, given);
  if (rec->at.reason == NULL)
    tlua_rec_library(rec, &call);
  if (rec->at.reason != NULL)
    return;
  Operand nil = { .tt = LUA_VNIL, .tag = rec->schema.tag_of[LUA_VNIL], .value = 0 };
  for (int n = 0; n < wanted; n++)
    tlua_rec_write_operand(rec, TLUA_ITER_RESULT(a) + n, n < call.returned ? call.results[n] : nil);
  tlua_rec_iterated(rec, rec->at.pc + 1, call.returned > 0 ? call.results[0] : nil);
}

/* --- instructions --- */

static void step (TluaRecorder *rec, Instruction i, const Operand *given) {
  tl_vm *vm = rec->vm;
  int a = GETARG_A(i);
  const Instruction *body = tlua_rec_body_of(rec->at.pc + 1);
  if (!tlua_rec_is_own_loop(rec, body) && !tlua_rec_may_begin_loop(rec, body))
    return;
  const TValue *now = s2v(rec->at.base + a);
  if (ttisCclosure(now) || ttislcf(now))
    tlua_rec_need_for_c(rec, TLUA_ITER_RESULT(a), 2);
  if (ttisCclosure(now) || (ttislcf(now) && fvalue(now) != tlua_next && fvalue(now) != tlua_ipairs_step)) {
    step_of_c_function(rec, a, GETARG_C(i), given);
    return;
  }
  if (!ttislcf(now)) {
    tlua_rec_call_iterator(rec, a, GETARG_C(i), given);
    return;
  }
  Operand iterator = tlua_rec_register(rec, a);
  Operand state = tlua_rec_register(rec, a + 1);
  Operand control = control_of(rec, a, given);
  lua_CFunction function = fvalue(iterator.now);
  if (rec->at.reason != NULL)
    return;
  tl_guard(vm, TL_GUARD_VALUE, iterator.value, tl_const_addr(vm, (const void *)function), TL_EXIT_GUARD);
  if (function == tlua_next)
    step_of_next(rec, state, control);
  else
    step_of_ipairs(rec, state, control);
}

void tlua_lower_step (TluaRecorder *rec, Instruction i) {
  step(rec, i, NULL);
}

/*
** A loop that begins takes its first step at once, in the same go. Where its control variable is the first
** one of the body, it changes places with the value to be closed before that.
*/
void tlua_lower_start_iteration (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i);
  Operand closed = tlua_rec_register(rec, a + 3);
  if (novariant(closed.tt) != LUA_TNIL) {
    tlua_rec_give_up(rec, "loop with a variable to be closed");
    return;
  }
  rec->at.pc += 1 + GETARG_Bx(i);
  if (TLUA_HIDES_CONTROL) {
    step(rec, *rec->at.pc, NULL);
    return;
  }
  Operand control = tlua_rec_register(rec, a + 2);
  tlua_rec_write_operand(rec, TLUA_ITER_CONTROL(a), control);
  tlua_rec_write_operand(rec, TLUA_ITER_CLOSING(a), closed);
  tlua_rec_resume_here(rec);
  if (rec->at.reason == NULL)
    step(rec, *rec->at.pc, &control);
}

/* A step whose call is over: a side trace may begin there. */
void tlua_lower_called_step (TluaRecorder *rec, Instruction i) {
  Operand control = tlua_rec_register(rec, TLUA_ITER_RESULT(GETARG_A(i)));
  if (rec->at.reason == NULL)
    tlua_rec_iterated(rec, rec->at.pc, control);
}
