/*
** Operands: the values that an instruction reads and writes, as the trace has them and as they are now.
**
** Problem: a trace is for values of certain types, which the bytecode does not tell; the recorder has to
** look at the real values, and the trace must depend on what it saw.
**
** Design: a register is read with the tag that it has now, which makes the trace depend on that tag. A
** constant is one in the trace too. What is written has the tag that it was computed with. What the
** collector is told of a store is here, too.
**
** Invariant: an operand with tag 0 means that the recording is given up. Nothing here guards more than
** what the operand at hand needs, and nothing uses the other files of the recorder but to give up.
**
** Example, OP_MOVE:   tlua_rec_write_operand(rec, GETARG_A(i), tlua_rec_register(rec, GETARG_B(i)))
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "lgc.h"
#include "lvm.h"

/* --- tags --- */

typedef struct TagRow {
  int tt;
  const char *name;
  tl_type payload;
} TagRow;

/* 'empty' is the nil of an array element or a node that never was assigned; registers never hold it. */
static const TagRow tag_rows[] = {
  { LUA_VNIL, "nil", TL_VOID },
  { LUA_VEMPTY, "empty", TL_VOID },
  { LUA_VFALSE, "false", TL_VOID },
  { LUA_VTRUE, "true", TL_VOID },
  { LUA_VNUMINT, "integer", TL_INT },
  { LUA_VNUMFLT, "float", TL_FLOAT },
  { ctb(LUA_VSHRSTR), "string", TL_REF },
  { ctb(LUA_VLNGSTR), "long_string", TL_REF },
  { ctb(LUA_VTABLE), "table", TL_REF },
  { ctb(LUA_VLCL), "function", TL_REF },
  { LUA_VLCF, "c_function", TL_ADDR },
  { ctb(LUA_VCCL), "c_closure", TL_REF },
  { ctb(LUA_VUSERDATA), "userdata", TL_REF },
  { LUA_VLIGHTUSERDATA, "light_userdata", TL_ADDR },
  { ctb(LUA_VTHREAD), "thread", TL_REF }
};

#define TAGS (sizeof(tag_rows) / sizeof(tag_rows[0]))

tl_type tlua_payload (int tt) {
  for (size_t n = 0; n < TAGS; n++) {
    if (tag_rows[n].tt == tt)
      return tag_rows[n].payload;
  }
  return TL_VOID;
}

int tlua_describe_tags (tl_vm *vm, TluaSchema *schema) {
  for (size_t n = 0; n < TAGS; n++) {
    tl_tag tag = tl_add_tag(vm, tag_rows[n].name, (uint64_t)tag_rows[n].tt, tag_rows[n].payload);
    if (tag == 0)
      return 0;
    schema->tag_of[tag_rows[n].tt] = tag;
  }
  return 1;
}

/* --- registers and constants --- */

Operand tlua_rec_operand (TluaRecorder *rec, const TValue *now) {
  Operand o = { .now = now, .tt = rawtt(now), .tag = rec->schema.tag_of[rawtt(now)], .value = 0 };
  if (o.tag == 0)
    tlua_rec_give_up(rec, "value of an unknown type");
  return o;
}

/*
** Whether a register belongs to a frame that the trace has returned to, or may have been changed by a call,
** and was not looked at since.
*/
static int is_unseen (TluaRecorder *rec, int r) {
  if (rec->trace.called.count > 0 && tl_slot_is_forgotten(rec->vm, r))
    return 1;
  int is_below = rec->trace.depth == 0 || running_frame(rec)->base + r < rec->trace.frames[1].base;
  return rec->trace.bottom.has_returned && is_below && !tl_slot_is_known(rec->vm, r);
}

/*
** Reads a register from memory, as upvalues are read: it may have been one until then, and the trace may have
** stored into it.
*/
static void see_register (TluaRecorder *rec, int r, const Operand *o) {
  tl_vm *vm = rec->vm;
  tl_type type = tlua_payload(o->tt);
  tl_value index = tl_const_int(vm, running_frame(rec)->base + r);
  tl_value place = tl_item_addr(vm, tl_frame_base(vm), index, sizeof(StackValue), 0);
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, rec->schema.upvalue.tag, place), tl_const_int(vm, o->tt),
           TL_EXIT_GUARD);
  tl_value value = type == TL_VOID ? 0 : tl_load(vm, rec->schema.upvalue.value[type], place);
  tl_slot_known(vm, r, o->tag, value);
}

Operand tlua_rec_register (TluaRecorder *rec, int r) {
  Operand o = tlua_rec_operand(rec, s2v(rec->at.base + r));
  if (o.tag != 0) {
    if (is_unseen(rec, r))
      see_register(rec, r, &o);
    o.value = tl_slot_read(rec->vm, r, o.tag);
  }
  return o;
}

/*
** Constants of functions need no anchor: the loop's function dies with the trace, and keeps the inlined
** ones.
*/
Operand tlua_rec_constant (TluaRecorder *rec, const TValue *value) {
  Operand o = tlua_rec_operand(rec, value);
  switch (o.tt) {
    case LUA_VNUMINT: o.value = tl_const_int(rec->vm, ivalue(value)); break;
    case LUA_VNUMFLT: o.value = tl_const_float(rec->vm, fltvalue(value)); break;
    case ctb(LUA_VSHRSTR): case ctb(LUA_VLNGSTR): o.value = tl_const_ref(rec->vm, gcvalue(value)); break;
    default: break;  /* nil, false, true */
  }
  return o;
}

Operand tlua_rec_register_or_constant (TluaRecorder *rec, Instruction i) {
  int c = GETARG_C(i);
  return TESTARG_k(i) ? tlua_rec_constant(rec, rec->at.k + c) : tlua_rec_register(rec, c);
}

void tlua_rec_write (TluaRecorder *rec, int r, int tt, tl_value value) {
  tl_slot_write(rec->vm, r, rec->schema.tag_of[tt], value);
}

void tlua_rec_write_operand (TluaRecorder *rec, int r, Operand o) {
  if (o.tag != 0)
    tl_slot_write(rec->vm, r, o.tag, o.value);
}

Operand tlua_rec_nil (TluaRecorder *rec) {
  return (Operand){ .tt = LUA_VNIL, .tag = rec->schema.tag_of[LUA_VNIL], .value = 0 };
}

int tlua_rec_is_false (int tt) {
  return tt == LUA_VFALSE || novariant(tt) == LUA_TNIL;
}

tl_value tlua_rec_closure (TluaRecorder *rec) {
  tl_value inlined = running_frame(rec)->closure;
  return inlined != 0 ? inlined : tl_load(rec->vm, rec->schema.object.function, tlua_rec_bottom_base(rec));
}

tl_value tlua_rec_bottom_base (TluaRecorder *rec) {
  tl_vm *vm = rec->vm;
  tl_value base = tl_frame_base(vm);
  int distance = rec->trace.frames[0].base;
  return distance == 0 ? base : tl_item_addr(vm, base, tl_const_int(vm, distance), sizeof(StackValue), 0);
}

tl_value tlua_rec_call_info (TluaRecorder *rec) {
  tl_vm *vm = rec->vm;
  TluaBottom *bottom = &rec->trace.bottom;
  if (rec->trace.is_unit)
    tlua_rec_give_up(rec, "record of a unit's frame");
  if (bottom->record == 0) {
    bottom->record = tl_load(vm, rec->schema.state.call_info, tl_context(vm));
    for (int n = 0; n < bottom->below; n++)
      bottom->record = tl_load(vm, rec->schema.frame.previous, bottom->record);
  }
  return bottom->record;
}

/* --- numbers --- */

tl_value tlua_rec_as_float (TluaRecorder *rec, Operand o) {
  int64_t number;
  if (o.tt == LUA_VNUMFLT)
    return o.value;
  if (tl_is_const_int(rec->vm, o.value, &number))
    return tl_const_float(rec->vm, (double)number);
  return tl_op1(rec->vm, TL_INT_TO_FLOAT, o.value);
}

tl_value tlua_rec_as_integer (TluaRecorder *rec, Operand o, lua_Integer *now) {
  if (!luaV_tointegerns(o.now, now, F2Ieq)) {
    tlua_rec_give_up(rec, novariant(o.tt) == LUA_TNUMBER ? "number without integer value"
                     : "bitwise operation on no number");
    return 0;
  }
  return o.tt == LUA_VNUMINT ? o.value : tl_op1(rec->vm, TL_FLOAT_TO_INT_EXACT, o.value);
}

/* --- stores --- */

/*
** What the collector is told. Code may remember the marks from before an earlier call, so they are looked at
** again.
*/
static void mend_table (lua_State *L, Table *t) {
  if (isblack(t))
    luaC_barrierback_(L, obj2gco(t));
}

static void mend_upvalue (lua_State *L, UpVal *u, GCObject *value) {
  if (isblack(u) && iswhite(value))
    luaC_barrier_(L, obj2gco(u), value);
}

static tl_func add_mend (tl_vm *vm, const char *name, const char *signature, const void *address) {
  const tl_class writes[] = { tl_alias_class(vm, "collector"), 0 };  /* of which traces know nothing */
  return tl_add_func(vm, name, address, signature, 0, NULL, writes);
}

int tlua_describe_barriers (tl_vm *vm, TluaSchema *schema) {
  TluaObjectIds *object = &schema->object;
  object->mend_table = add_mend(vm, "mend_table", "ar>v", (const void *)mend_table);
  object->mend_upvalue = add_mend(vm, "mend_upvalue", "arr>v", (const void *)mend_upvalue);
  return object->mend_table != 0 && object->mend_upvalue != 0
      && tl_set_barrier_call(vm, schema->table.layout, object->mend_table) == TL_OK;
}

void tlua_rec_barrier (TluaRecorder *rec, tl_value owner, int is_upvalue, Operand value) {
  tl_vm *vm = rec->vm;
  if (!(value.tt & BIT_ISCOLLECTABLE))
    return;
  tl_value black = tl_op2(vm, TL_INT_AND, tl_load(vm, rec->schema.object.marked, owner),
                          tl_const_int(vm, bitmask(BLACKBIT)));
  tl_value white = tl_op2(vm, TL_INT_AND, tl_load(vm, rec->schema.object.marked, value.value),
                          tl_const_int(vm, WHITEBITS));
  tl_value zero = tl_const_int(vm, 0);
  tl_value hit = tl_op2(vm, TL_INT_AND, tl_op2(vm, TL_INT_NE, black, zero),
                        tl_op2(vm, TL_INT_NE, white, zero));
  const tl_value for_table[] = { hit, owner }, for_upvalue[] = { hit, owner, value.value };
  if (is_upvalue)
    tl_mend(vm, rec->schema.object.mend_upvalue, for_upvalue, 3);
  else
    tl_mend(vm, rec->schema.object.mend_table, for_table, 2);
}
