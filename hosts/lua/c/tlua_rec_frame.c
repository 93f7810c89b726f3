/*
** The frames of a recording: calls of Lua functions become part of the trace.
**
** Problem: hot loops call small functions, and a call costs the interpreter more than most of what they do.
** A trace that goes on in the callee needs no frame at all, but when it is left there the interpreter must
** find one.
**
** Design: a call guards the function's prototype (closures of one prototype differ in their upvalues only,
** which are read through the closure), or the closure if its function has made no other; it tells the library
** that a frame is pushed, and goes on with the callee's instructions. Parameters are the caller's registers
** where the call has put them, so that they need no code. A return moves the results, and the frame is
** popped; who wants them decides what comes next.
** The words of a frame say what an exit needs to rebuild it: where it goes on, where its top is, how many
** results its caller wants, its call status, and how many variable arguments lie below it.
**
** A metamethod is called by C code of the interpreter in the middle of an instruction, and an iterator by a
** generic loop's step. Their frames say so in their status, and an exit inside of them runs the frames above
** that code before the interpreter goes on.
**
** Invariant: rec->trace.frames[0 .. rec->trace.depth] describe the frames of the interpreter from the
** recorded loop's up to the running one, and rec->trace.ci is the running one's. While a callee runs, of its
** caller only registers below the function are live, and the function itself.
**
** Example, 's = s + half(i)' with 'local function half (x) return x / 2 end':
**   guard_value(load closure.prototype f, half's); f4 = float_div(int_to_float(i1), 2.0)
**   s' = float_add(s, f4)
*/

#include "lprefix.h"

#include <string.h>

#include "tlua_rec_lib.h"

/* --- pushing frames --- */

static int is_metamethod (const TluaFrame *frame) {
  return frame->caller >= TLUA_META_VALUE;
}

/* What 'pcall' has put below the function, itself included, belongs to the call too. */
static int slots_below (const TluaFrame *frame) {
  return frame->caller == TLUA_PROTECTED ? TLUA_PROTECTED_SLOTS : 0;
}

/*
** Registers of the calling frame that matter while the callee runs: those below the function, the function,
** and what lies from there to the callee's base if that was moved. An instruction that calls a metamethod
** still has its operands, and its result's register what was in it.
*/
static const lu_byte *live_in_call (TluaRecorder *rec, const TluaFrame *frame, int function, int base) {
  Proto *p = running_frame(rec)->p;
  int back = (int)(frame->back - p->code);
  const lu_byte *after = tlua_live(rec->trace.thread, p, back);
  const lu_byte *before = is_metamethod(frame) ? tlua_live(rec->trace.thread, p, back - 1) : after;
  if (after == NULL || before == NULL) {
    tlua_rec_give_up(rec, "out of memory");
    return NULL;
  }
  if (base > 8 * (int)sizeof rec->at.row) {
    tlua_rec_give_up(rec, "too many values in a call");
    return NULL;
  }
  memset(rec->at.row, 0, sizeof rec->at.row);
  int named = tlua_named(p, back - 1);
  for (int r = 0; r < function && r < p->maxstacksize; r++) {
    int is_target = frame->caller == TLUA_META_VALUE && r == frame->target;
    if (r < named || tlua_is_live(before, r) || (tlua_is_live(after, r) && !is_target))
      rec->at.row[r >> 3] |= (lu_byte)(1 << (r & 7));
  }
  for (int r = function; r < base; r++)
    rec->at.row[r >> 3] |= (lu_byte)(1 << (r & 7));
  return rec->at.row;
}

/* The trace lives with the function of its loop; so must every prototype that it relies on. */
static int keep_prototype (TluaRecorder *rec, Proto *p) {
  TValue value;
  setgcovalue(rec->trace.thread, &value, obj2gco(p));
  return tlua_anchor(rec->trace.thread, rec->trace.bottom.owner, &value);
}

static int may_inline (TluaRecorder *rec, Proto *p) {
  int same = 0;
  for (int depth = 0; depth <= rec->trace.depth; depth++)
    same += rec->trace.frames[depth].p == p;
  if (tlua_has_argument_table(p))
    tlua_rec_give_up(rec, "function with an argument table");
  else if (same >= (rec->trace.is_unit ? TLUA_MOST_SAME_IN_UNIT : TLUA_MOST_SAME))
    tlua_rec_give_up(rec, "recursion");
  else if (rec->trace.depth + 1 >= TLUA_FRAMES)
    tlua_rec_give_up(rec, "calls nest too deep");
  else if (!keep_prototype(rec, p))
    tlua_rec_give_up(rec, "out of memory");
  return rec->at.reason == NULL;
}

static void guard_prototype (TluaRecorder *rec, Operand function) {
  tl_vm *vm = rec->vm;
  tl_value prototype = tl_load(vm, rec->schema.object.prototype, function.value);
  tl_guard(vm, TL_GUARD_VALUE, prototype, tl_const_addr(vm, clLvalue(function.now)->p), TL_EXIT_GUARD);
}

/*
** Guards that the trace goes on in the code of this function. One that is a constant is what it is, and one
** that is its function's only closure is known by more than its code.
**
** Another function there is for a side trace. Another closure of the same function is a change of what was
** assumed, and the code is of no more use. After an exit from a call the two are told apart by the function
** in its register (tlua_rec.c). A metamethod lies in no register, so that its code is asked for first.
*/
static void guard_function (TluaRecorder *rec, Operand function) {
  LClosure *closure = clLvalue(function.now);
  int is_call = GET_OPCODE(*rec->at.pc) == OP_CALL;
  if (tl_is_const_ref(rec->vm, function.value, NULL) || tlua_rec_made(rec, function.value) != NULL)
    return;
  if (!is_call || !tlua_is_single(closure))
    guard_prototype(rec, function);
  if (tlua_is_single(closure)
      && !tlua_rec_guard_identity(rec, function.value, closure, is_call ? TL_EXIT_GUARD : TL_EXIT_ASSUMED)
      && is_call)
    guard_prototype(rec, function);
}

/* Whether that has told more than the code. It has a number then: a change of its upvalues is seen. */
static int is_known (TluaRecorder *rec, Operand function) {
  LClosure *closure = clLvalue(function.now);
  return tlua_rec_made(rec, function.value) == NULL
      && (tl_is_const_ref(rec->vm, function.value, NULL) || tlua_is_single(closure))
      && tlua_identify(rec->trace.thread, closure) != 0;
}

/*
** The frame of a function with variable arguments lies above them: function and parameters are copied there,
** and what was the parameters becomes nil. Returns how far the frame moves.
*/
static int move_frame (TluaRecorder *rec, Operand callee, int function, int arguments,
                       const Operand *values) {
  int parameters = clLvalue(callee.now)->p->numparams;
  int shift = (arguments > parameters ? arguments : parameters) + 1;
  tlua_rec_write_operand(rec, function + shift, callee);
  for (int n = 0; n < parameters && n < arguments; n++)
    tlua_rec_write_operand(rec, function + shift + 1 + n, values[n]);
  for (int n = 0; n < parameters; n++)
    tlua_rec_write(rec, function + 1 + n, LUA_VNIL, 0);
  return shift;
}

/*
** Slots from the function on that the stack must have for a call: the interpreter asks for a frame's size,
** and one slot more, beyond all arguments, whether the function takes them or not. If it moves its frame it
** asks again, for one slot more than that.
*/
static int wanted_for_call (const Proto *p, int arguments) {
  int moves = tlua_hides_arguments(p), given = moves && arguments < p->numparams ? p->numparams : arguments;
  return 1 + given + p->maxstacksize + 1 + moves;
}

/* Code may be entered only where the stack has so many slots. A unit has asked for its own already. */
static void need_slots (TluaRecorder *rec, int reach) {
  tl_needs_slots(rec->vm, reach);
  if (rec->trace.is_unit && reach > tlua_unit_needs(rec->trace.frames[0].p))
    tlua_rec_give_up(rec, "frames of a unit too large");
}

/* The interpreter throws where it finds no room for a function in C. So code may not run there either. */
void tlua_rec_need_for_c (TluaRecorder *rec, int function, int arguments) {
  need_slots(rec, running_frame(rec)->base + function + 1 + arguments + LUA_MINSTACK + 1);
}

/*
** The callee's frame: its function is the running frame's register 'function', its arguments follow.
** 'values' are those that are parameters, if the callee has variable arguments.
*/
static void push (TluaRecorder *rec, Operand callee, int function, int arguments, const Operand *values,
                  const TluaFrame *frame) {
  uint64_t words[TLUA_WORDS];
  const TluaFrame *caller = running_frame(rec);
  Proto *p = clLvalue(callee.now)->p;
  int shift = tlua_hides_arguments(p) ? move_frame(rec, callee, function, arguments, values) : 0;
  int base = function + shift + 1;
  const lu_byte *live = live_in_call(rec, frame, function - slots_below(frame), base);
  if (live == NULL)
    return;
  tlua_words_write(words, frame->back, caller->wanted, caller->status, caller->extra);
  tl_frame_push(rec->vm, base, words, live, (uint32_t)base);
  TluaFrame *pushed = &rec->trace.frames[++rec->trace.depth];
  *pushed = *frame;
  pushed->p = p;
  pushed->closure = callee.value;
  pushed->is_known = is_known(rec, callee);
  pushed->function = function;
  pushed->base = caller->base + base;
  pushed->extra = shift != 0 ? shift - 1 - p->numparams : 0;
  pushed->reach = caller->base + function + wanted_for_call(p, arguments);
  need_slots(rec, pushed->reach);
  for (int r = arguments; r < p->numparams; r++)
    tlua_rec_write(rec, r, LUA_VNIL, 0);
  if (TLUA_HAS_ARGUMENT_REGISTER && shift != 0 && p->numparams < p->maxstacksize)
    tlua_rec_write(rec, p->numparams, LUA_VNIL, 0);
  /* the interpreter shows no instruction that moves a frame */
  rec->trace.next = p->code + tlua_hides_arguments(p);
}

/* --- a side trace begins in frames --- */

/*
** Who wants the results of a frame that was rebuilt. What C has called is finished by tlua_rec_finish_levels,
** and the interpreter goes on at the instruction after that: an iterator returns to an OP_TFORLOOP that is
** executed, and shown, on its own.
*/
static void find_caller (TluaFrame *frame) {
  const Instruction *call = frame->back - 1;
  switch (GET_OPCODE(*call)) {
    case OP_CALL: case OP_TFORCALL:
      frame->caller = frame->status & TLUA_STATUS_PROTECTED ? TLUA_PROTECTED : TLUA_CALLED;
      break;
    case OP_EQ: case OP_LT: case OP_LE: case OP_LTI: case OP_LEI: case OP_GTI: case OP_GEI:
      frame->caller = TLUA_META_LATE_TEST;
      break;
    case OP_SETTABUP: case OP_SETTABLE: case OP_SETI: case OP_SETFIELD:
      frame->caller = TLUA_META_STORE;
      break;
    case OP_MMBIN: case OP_MMBINI: case OP_MMBINK:
      call--;  /* the operation has the register */
      /* FALLTHROUGH */
    default:
      frame->caller = TLUA_META_VALUE;
      frame->target = GETARG_A(*call);
      break;
  }
}

/*
** A side trace begins in the frames of an exit, which have just been rebuilt. What they run is as much a
** part of the exit as the places where they go on, so that there is nothing to guard.
*/
static void adopt_frame (TluaRecorder *rec, int base, const uint64_t *caller_words, const uint64_t *words) {
  const TluaFrame *caller = running_frame(rec);
  Operand callee = tlua_rec_register(rec, base - 1);
  if (rec->at.reason != NULL || rec->trace.depth + 1 >= TLUA_FRAMES) {
    tlua_rec_give_up(rec, "calls nest too deep");
    return;
  }
  Proto *p = clLvalue(callee.now)->p;
  TluaFrame frame = { .p = p, .closure = callee.value,
                      .back = tlua_words_pc(caller_words),
                      .wanted = tlua_words_wanted(words),
                      .status = tlua_words_status(words),
                      .extra = tlua_words_extra(words), .base = caller->base + base,
                      .is_shared = p->sizep > 0, .called = p };
  find_caller(&frame);
  frame.function = base - 1 - (tlua_hides_arguments(p) ? frame.extra + 1 + p->numparams : 0);
  const lu_byte *live = live_in_call(rec, &frame, frame.function - slots_below(&frame), base);
  if (live == NULL)
    return;
  tl_frame_push(rec->vm, base, caller_words, live, (uint32_t)base);
  rec->trace.frames[++rec->trace.depth] = frame;
}

void tlua_rec_adopt_frames (TluaRecorder *rec, const tl_frame *frames, uint32_t count) {
  StkId base = rec->trace.bottom.ci->func.p + 1;
  for (uint32_t n = 1; n < count && rec->at.reason == NULL; n++) {
    const tl_frame *caller = &frames[n - 1], *frame = &frames[n];
    rec->at.base = base + (caller->base - frames[0].base);
    rec->at.p = running_frame(rec)->p;
    adopt_frame(rec, frame->base - caller->base, caller->words, frame->words);
  }
  rec->trace.next = tlua_saved_pc(rec->trace.ci);
}

/* --- calling --- */

/* Reads values that are to be moved to another frame; returns 0 if the recording is given up. */
int tlua_rec_read_values (TluaRecorder *rec, int first, int count, Operand *values) {
  if (count > TLUA_MOST_VALUES) {
    tlua_rec_give_up(rec, "too many values in a call");
    return 0;
  }
  for (int n = 0; n < count; n++)
    values[n] = tlua_rec_register(rec, first + n);
  return rec->at.reason == NULL;
}

/*
** Arguments that become parameters. 'push' may have to move them; and a side trace may begin where they lie
** in their registers already, whose values it must have read before they belong to the callee.
*/
static int read_parameters (TluaRecorder *rec, const Proto *p, int first, int arguments, Operand *values) {
  return tlua_rec_read_values(rec, first, arguments < p->numparams ? arguments : p->numparams, values);
}

/* The register's function if it is one that can become part of the trace. */
static int is_inlined (TluaRecorder *rec, Operand function) {
  switch (function.tt) {
    case ctb(LUA_VLCL): return may_inline(rec, clLvalue(function.now)->p);
    default: tlua_rec_give_up(rec, "call of no function"); return 0;
  }
}

static void write_call (TluaRecorder *rec, int place, Operand function, const Operand *arguments, int count) {
  tlua_rec_write_operand(rec, place, function);
  for (int n = 0; n < count; n++)
    tlua_rec_write_operand(rec, place + 1 + n, arguments[n]);
}

/* Instead of a table its '__call' is called, with the table as one more argument before all others. */
static int find_callee (TluaRecorder *rec, Operand *function, Operand *values, int *count) {
  Operand method;
  if (function->tt != ctb(LUA_VTABLE))
    return 1;
  if (!tlua_rec_metamethod(rec, *function, TM_CALL, &method))
    return 0;
  memmove(values + 1, values, (size_t)*count * sizeof(Operand));
  values[0] = *function;
  *function = method;
  *count += 1;
  return 1;
}

void tlua_rec_call_function (TluaRecorder *rec, Operand function, int a, int arguments, int wanted) {
  Operand values[TLUA_MOST_VALUES + 1];
  TluaFrame frame = { .back = rec->at.pc + 1, .wanted = wanted };
  int is_table = function.tt == ctb(LUA_VTABLE);
  if (rec->at.reason != NULL)
    return;
  if (is_table && (!tlua_rec_read_values(rec, a + 1, arguments, values)
                   || !find_callee(rec, &function, values, &arguments)))
    return;
  if (!is_inlined(rec, function)
      || (!is_table && !read_parameters(rec, clLvalue(function.now)->p, a + 1, arguments, values)))
    return;
  guard_function(rec, function);
  if (is_table) {
    write_call(rec, a, function, values, arguments);
    frame.status |= TLUA_STATUS_BY_METHOD;
  }
  push(rec, function, a, arguments, values, &frame);
  rec->trace.is_calling = 1;
  rec->trace.is_calling_fresh = rec->trace.is_calling_protected = 0;
}

/* The callee's frame is there for the call of the unit only, which removes it again. */
int tlua_rec_push_unit (TluaRecorder *rec, Operand function, int a, int count, int wanted, int stores) {
  tl_vm *vm = rec->vm;
  TluaFrame frame = { .back = rec->at.pc + 1, .wanted = wanted };
  Proto *p = clLvalue(function.now)->p;
  uint64_t words[TLUA_WORDS];
  if (rec->trace.depth + 1 >= TLUA_FRAMES || !keep_prototype(rec, p)) {
    tlua_rec_give_up(rec, "calls nest too deep");
    return 0;
  }
  guard_function(rec, function);
  if (stores)
    tl_store_slots(vm);
  push(rec, function, a, count, NULL, &frame);
  const lu_byte *live = tlua_live(rec->trace.thread, p, 0);
  if (live == NULL)
    tlua_rec_give_up(rec, "out of memory");
  if (rec->at.reason != NULL)
    return 0;
  tlua_words_write(words, p->code, wanted, 0, 0);
  tl_resume_point(vm, tlua_rec_origin(rec), words, live, p->maxstacksize);
  rec->trace.depth--;
  return 1;
}

/* State and control variable of a generic loop, which may have been read already. */
static int read_iteration (TluaRecorder *rec, int a, const Operand *control, Operand *values) {
  if (control == NULL && TLUA_ITER_CONTROL(a) == a + 2)
    return tlua_rec_read_values(rec, a + 1, 2, values);
  values[0] = tlua_rec_register(rec, a + 1);
  values[1] = control != NULL ? *control : tlua_rec_register(rec, TLUA_ITER_CONTROL(a));
  return rec->at.reason == NULL;
}

/* Function and arguments are copied to where the results go. */
void tlua_rec_call_iterator (TluaRecorder *rec, int a, int wanted, const Operand *control) {
  Operand values[3];
  int arguments = 2;
  TluaFrame frame = { .caller = TLUA_ITERATOR, .back = rec->at.pc + 1, .wanted = wanted,
                      .status = TLUA_STATUS_FRESH };
  Operand function = tlua_rec_register(rec, a);
  if (!read_iteration(rec, a, control, values) || !find_callee(rec, &function, values, &arguments))
    return;
  frame.status |= arguments > 2 ? TLUA_STATUS_BY_METHOD : 0;
  if (!is_inlined(rec, function))
    return;
  guard_function(rec, function);
  write_call(rec, TLUA_ITER_RESULT(a), function, values, arguments);
  push(rec, function, TLUA_ITER_RESULT(a), arguments, values, &frame);
  rec->trace.is_calling = rec->trace.is_calling_fresh = 1;
  rec->trace.is_calling_protected = 0;
}

/* 'pcall' puts 'true', its first result, below the function, so that all arguments move up. */
void tlua_rec_call_protected (TluaRecorder *rec, int a, int arguments) {
  Operand values[TLUA_MOST_VALUES];
  int place = a + TLUA_PROTECTED_SLOTS;
  Operand function = tlua_rec_register(rec, a + 1);
  TluaFrame frame = { .caller = TLUA_PROTECTED, .back = rec->at.pc + 1, .wanted = LUA_MULTRET,
                      .status = TLUA_STATUS_FRESH | TLUA_STATUS_PROTECTED };
  if (!tlua_rec_read_values(rec, a + 2, arguments - 1, values) || !is_inlined(rec, function))
    return;
  frame.called = clLvalue(function.now)->p;
  guard_function(rec, function);
  tlua_rec_write(rec, a + 1, LUA_VTRUE, 0);
  write_call(rec, place, function, values, arguments - 1);
  push(rec, function, place, arguments - 1, values, &frame);
  rec->trace.is_calling = rec->trace.is_calling_fresh = rec->trace.is_calling_protected = 1;
}

/* A metamethod lies above all registers, or above the operands of a concatenation. */
void tlua_rec_call_metamethod (TluaRecorder *rec, Operand function, const Operand *arguments, int count,
                               TluaCaller caller,
                               int target) {
  Instruction i = *rec->at.pc;
  int is_join = GET_OPCODE(i) == OP_CONCAT;
  int place = is_join ? GETARG_A(i) + GETARG_B(i) : rec->at.p->maxstacksize;
  TluaFrame frame = { .caller = caller, .target = target, .back = rec->at.pc + 1,
                      .wanted = caller != TLUA_META_STORE,
                      .status = TLUA_STATUS_FRESH };
  if (rec->at.reason != NULL)
    return;
  if (function.tt == LUA_VLCF || function.tt == ctb(LUA_VCCL)) {
    tlua_rec_give_up(rec, "metamethod in C");
    return;
  }
  if (!is_inlined(rec, function))
    return;
  Operand self = { .tag = 0 };
  if (GET_OPCODE(i) == OP_SELF)
    self = tlua_rec_register(rec, GETARG_B(i));
  guard_function(rec, function);
  if (self.tag != 0)
    tlua_rec_write_operand(rec, GETARG_A(i) + 1, self);
  write_call(rec, place, function, arguments, count);
  push(rec, function, place, count, arguments, &frame);
  rec->trace.is_calling = rec->trace.is_calling_fresh = 1;
  rec->trace.is_calling_protected = 0;
}

static void pop (TluaRecorder *rec) {
  tl_frame_pop(rec->vm);
  rec->trace.depth--;
}

int tlua_rec_begin_tail_call (TluaRecorder *rec, Operand *function, int a, Operand *values, int *count) {
  if (rec->at.reason != NULL || !tlua_rec_read_values(rec, a + 1, *count, values)
      || !find_callee(rec, function, values, count) || !is_inlined(rec, *function))
    return 0;
  guard_function(rec, *function);
  return 1;
}

TluaFrame tlua_rec_take_over (TluaRecorder *rec, int closes, const Operand *values, int count) {
  TluaFrame frame = *running_frame(rec);
  frame.status |= TLUA_STATUS_TAIL;
  if (closes)
    tlua_rec_close_frame(rec, values, count);
  frame.is_shared = 0;
  pop(rec);
  return frame;
}

void tlua_rec_end_tail_call (TluaRecorder *rec, Operand function, const Operand *values, int count,
                             const TluaFrame *frame) {
  write_call(rec, frame->function, function, values, count);
  push(rec, function, frame->function, count, values, frame);
}

/* --- returning --- */

/* Hands values on as results, of which so many are wanted. */
void tlua_rec_write_results (TluaRecorder *rec, int first, const Operand *values, int count, int wanted) {
  int moved = wanted == LUA_MULTRET || wanted > count ? count : wanted;
  for (int n = 0; n < moved; n++)
    tlua_rec_write_operand(rec, first + n, values[n]);
  for (int n = moved; n < wanted; n++)
    tlua_rec_write(rec, first + n, LUA_VNIL, 0);
}

void tlua_rec_iterated (TluaRecorder *rec, const Instruction *loop, Operand control) {
  int is_own = tlua_rec_is_own_loop(rec, tlua_rec_body_of(loop));
  if (novariant(control.tt) == LUA_TNIL) {
    if (is_own)
      tlua_rec_give_up(rec, "loop ended");
    rec->trace.next = loop + 1;
    return;
  }
  if (TLUA_HIDES_CONTROL)
    tlua_rec_write_operand(rec, TLUA_ITER_CONTROL(GETARG_A(*loop)), control);
  rec->trace.next = tlua_rec_body_of(loop);
  if (!is_own)
    tlua_rec_pass_edge(rec, tlua_rec_body_of(loop));
}

/* The instruction that called a metamethod goes on with the result, in its own frame. */
static void finish_instruction (TluaRecorder *rec, const TluaFrame *frame, Operand result) {
  int is_true = !tlua_rec_is_false(result.tt);
  rec->trace.next = frame->back;
  if (frame->caller == TLUA_META_VALUE)
    tlua_rec_write_operand(rec, frame->target, result);
  else if (frame->caller == TLUA_META_TEST) {
    rec->at.pc = frame->back - 1;
    rec->at.p = running_frame(rec)->p;
    tlua_rec_branch(rec, is_true, 0);
  }
  else if (frame->caller == TLUA_META_LATE_TEST && is_true != GETARG_k(frame->back[-1]))
    rec->trace.next++;  /* over the jump */
}

/* 'pcall' returns 'true' before the results of the function. */
static void leave_protected (TluaRecorder *rec, const TluaFrame *frame, const Operand *values, int count) {
  int a = frame->function - TLUA_PROTECTED_SLOTS, wanted = GETARG_C(frame->back[-1]) - 1;
  Operand results[TLUA_MOST_VALUES + 1];
  TValue yes;
  setbtvalue(&yes);
  results[0] = tlua_rec_constant(rec, &yes);
  memcpy(results + 1, values, (size_t)count * sizeof(Operand));
  tlua_rec_write_results(rec, a, results, count + 1, wanted);
  rec->trace.next = frame->back;
}

/* Back to the caller with these results. */
void tlua_rec_leave_frame (TluaRecorder *rec, const Operand *values, int count) {
  TluaFrame frame = *running_frame(rec);
  pop(rec);
  rec->trace.ci = tlua_rec_caller_of(rec->trace.ci, frame.caller == TLUA_PROTECTED);
  if (frame.caller == TLUA_PROTECTED) {
    leave_protected(rec, &frame, values, count);
    return;
  }
  if (is_metamethod(&frame)) {
    finish_instruction(rec, &frame, count > 0 ? values[0] : tlua_rec_nil(rec));
    return;
  }
  tlua_rec_write_results(rec, frame.function, values, count, frame.wanted);
  rec->trace.next = frame.back;
  if (frame.caller == TLUA_ITERATOR)
    tlua_rec_iterated(rec, frame.back, count > 0 ? values[0] : tlua_rec_nil(rec));
}
