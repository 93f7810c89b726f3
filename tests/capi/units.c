/* units.c: a little interpreter whose functions call themselves, and Tracelift's units in it.
**
** Problem: functions.c makes recursion traces that follow one another, with a frame in memory for each call.
** A function that only computes needs no frames: its code can call itself, with arguments and result in
** registers. Design: such code is a *unit*, for arguments of certain tags. A function that is hot is recorded
** as one (start_unit), up to its return; where it calls a unit, or itself, that is one operation, and the
** recording waits while the interpreter makes the call (record_call, put_aside). Once there is a unit, the
** function's next hot entry becomes its *gateway* (record_gateway): a trace that passes the registers of the
** interpreter's frame. Functions that are marked as plain are traces that call units: they begin and end in
** the interpreter.
**
** How deep units may call one another is an address, which each unit compares first of all (guard_limit). It
** is set before code is entered (set_limit). A unit that finds no room leaves; then the library is told of
** more depth (allow_more), up to the interpreter's own limit.
**
** Invariant: when code was left each frame's record is in memory, also those that never were before
** (make_frames). Example, 'if (n < 1) n; else n + sum(n - 1)' in the end:
**
**   sum, unit:            room for its frames; n >= 1; t = call sum(n - 1); t is an integer; returns n + t
**   exit of 'n >= 1':     n < 1; returns n
**   gateway:              register 0 is an integer, n; t = call sum(n); goes on at a return instruction
*/
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelift.h"

/*
** ---- The interpreter's own data
** ----------------------------------------------------------------------------
*/

enum tag { NIL, INT, FLOAT };

typedef struct instruction instruction;

typedef struct value {
  union {
    int64_t i;
    double f;
    const instruction *back; /* in the last register of a frame */
  } as;
  uint8_t tag; /* an enum tag */
} value;

#define REGISTERS 8 /* of a frame */
#define LEVELS 300  /* frames */
#define ARGUMENTS 2

enum opcode {
  LOAD_INT,  /* a = number */
  LOAD_HALF, /* a = number / 2, a float */
  ADD,       /* a = b + c */
  NOTE,      /* calls note(a), a function with an effect */
  JUMP_LESS, /* if a < b, go to `number`, which lies ahead */
  CALL,      /* a = what this function, or (if number is 1) the other one, makes of b and c */
  RETURN     /* returns a; the last instruction of each function is one */
};

struct instruction {
  uint8_t op, a, b, c;
  int32_t number;
};

typedef struct function {
  const instruction *code;
  int length;
  int is_plain;    /* no unit */
  int32_t counter; /* of its entries: so many may pass before the library is asked */
  int is_counted;  /* whether the library knows the counter */
} function;

/* What is being recorded, or waits until the unit has returned that it has called. */
typedef struct recording {
  int is_on, is_unit;
  int is_at_entry;  /* of a unit, whose first instruction comes next */
  int has_called;   /* a unit, whose result nobody has looked at */
  uint32_t waits;   /* the number to wake it by, or 0 */
  value *origin;    /* registers of the frame that the code will be entered with */
  value *bottom;    /* registers of the outermost frame */
} recording;

enum outcome { FINISHED, TOO_DEEP };

typedef struct machine {
  value *end; /* of the stack */
  value *registers;
  value stack[1 + LEVELS * REGISTERS];
  function functions[2];
  value result;
  int64_t notes; /* what note() adds up */
  tl_vm *jit;
  tl_limit *limit;
  uint32_t depth; /* slots that units may call one another up to */
  recording recording;
  recording waiting[LEVELS]; /* by the level of the frame that has called */
  uint64_t interpreted, entered, deepest; /* instructions; entries of code; most callers of a unit left */
} machine;

/*
** ---- Describing the host
** -----------------------------------------------------------------------------------
*/

static struct {
  tl_tag tag[3]; /* by enum tag */
  tl_cell limit;
  tl_func note;
} ids;

static void note(machine *m, int64_t number) { m->notes = m->notes * 3 + number; }

static void describe(tl_vm *vm) {
  ids.tag[NIL] = tl_add_tag(vm, "nil", NIL, TL_VOID);
  ids.tag[INT] = tl_add_tag(vm, "int", INT, TL_INT);
  ids.tag[FLOAT] = tl_add_tag(vm, "float", FLOAT, TL_FLOAT);
  tl_set_slots(vm, sizeof(value), offsetof(value, as), offsetof(value, tag), 1);
  tl_set_frame_words(vm, 1); /* where to go on: an instruction's address */
  tl_class limits = tl_alias_class(vm, "limit"), notes[] = {tl_alias_class(vm, "notes"), 0};
  ids.limit = tl_add_cell(vm, "limit.end", offsetof(tl_limit, end), 8, TL_INT, limits, 0);
  ids.note = tl_add_func(vm, "note", (const void *)(uintptr_t)note, "ai>v", 0, NULL, notes);
  /* What a unit has returned that the trace did not expect is read from its register. */
  static const char *const names[4] = {"slot.int", "slot.float", "slot.ref", "slot.addr"};
  tl_class payloads = tl_alias_class(vm, "slot.payload"), tags = tl_alias_class(vm, "slot.tag");
  tl_cell cells[4];
  for (int type = 0; type < 4; type++)
    cells[type] = tl_add_cell(vm, names[type], offsetof(value, as), 8, (tl_type)type, payloads, 0);
  tl_set_slot_cells(vm, cells, tl_add_cell(vm, "slot.tag", offsetof(value, tag), 1, TL_INT, tags, 0));
}

/*
** ---- Recording
** ---------------------------------------------------------------------------------------------
*/

/* All registers are live, but not the last one, which is none of the program's. */
static const uint8_t live[1] = {0x7f};

/* Slots that a unit may need: its own, those of functions that it has taken in, and its callee's. */
#define MOST_INLINED 2
#define UNIT_SLOTS ((MOST_INLINED + 2) * REGISTERS)

static void end_recording(machine *m, const char *reason) {
  if (m->recording.is_on) tl_record_abort(m->jit, reason);
  m->recording.is_on = 0;
}

static tl_value read_register(machine *m, int number) {
  return tl_slot_read(m->jit, number, ids.tag[m->registers[number].tag]);
}

static tl_value as_float(machine *m, int number) {
  tl_value value = read_register(m, number);
  return m->registers[number].tag == INT ? tl_op1(m->jit, TL_INT_TO_FLOAT, value) : value;
}

static int both_ints(const machine *m, int b, int c) {
  return m->registers[b].tag == INT && m->registers[c].tag == INT;
}

static function *function_of(machine *m, const instruction *pc) {
  const function *first = &m->functions[0];
  return &m->functions[!(pc >= first->code && pc < first->code + first->length)];
}

/* Its registers 0 and 1 are the arguments. */
static function *callee_of(machine *m, const instruction *pc) {
  return &m->functions[(function_of(m, pc) - m->functions) ^ pc->number];
}

static double number_of(const value *v) { return v->tag == INT ? (double)v->as.i : v->as.f; }

static int is_less(const machine *m, const instruction *pc) {
  const value *a = &m->registers[pc->a], *b = &m->registers[pc->b];
  return both_ints(m, pc->a, pc->b) ? a->as.i < b->as.i : number_of(a) < number_of(b);
}

static void resume_at(machine *m, const instruction *pc) {
  uint64_t words[1] = {(uintptr_t)pc};
  tl_resume_point(m->jit, m->recording.origin, words, live, REGISTERS);
}

/* The first thing that a unit does: leaves if not all that it may need lies below the limit. */
static void guard_limit(machine *m) {
  tl_vm *vm = m->jit;
  tl_value limit = tl_load(vm, ids.limit, tl_const_addr(vm, m->limit));
  tl_value end = tl_item_addr(vm, tl_frame_base(vm), tl_const_int(vm, UNIT_SLOTS), sizeof(value), 0);
  tl_value fits = tl_op2(vm, TL_UINT_LE, tl_op1(vm, TL_ADDR_TO_INT, end), limit);
  tl_guard(vm, TL_GUARD_TRUE, fits, 0, TL_EXIT_INTERRUPT);
}

/* The unit that a function is for arguments with the tags of these registers; 0: there is none. */
static uint32_t find_unit(machine *m, const instruction *code, const value *first, const value *second) {
  const tl_argument arguments[ARGUMENTS] = {{0, ids.tag[first->tag]}, {1, ids.tag[second->tag]}};
  return tl_find_unit(m->jit, code, arguments, ARGUMENTS);
}

/*
** A call: the callee's frame becomes part of the trace and its exits. If it is a unit the frame goes again at
** once; the state in which the callee begins is known then.
*/
static void record_call(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  const value *r = m->registers;
  const function *callee = callee_of(m, pc);
  uint32_t unit = callee->is_plain ? 0 : find_unit(m, callee->code, &r[pc->b], &r[pc->c]);
  if (!unit && tl_frame_depth(vm) == MOST_INLINED) {
    end_recording(m, "calls nest too deep");
    return;
  }
  tl_value args[ARGUMENTS] = {read_register(m, pc->b), read_register(m, pc->c)};
  uint64_t words[1] = {(uintptr_t)(pc + 1)};
  uint8_t but_result[1] = {(uint8_t)(live[0] & ~(1u << pc->a))};
  tl_frame_push(vm, REGISTERS, words, but_result, REGISTERS);
  tl_slot_write(vm, 0, ids.tag[r[pc->b].tag], args[0]);
  tl_slot_write(vm, 1, ids.tag[r[pc->c].tag], args[1]);
  if (!unit) return;
  tl_value passed[ARGUMENTS];
  uint32_t count = 0;
  for (int n = 0; n < ARGUMENTS; n++)
    if (args[n]) passed[count++] = args[n]; /* nil has no payload */
  resume_at(m, callee->code);
  tl_call_unit(vm, unit, passed, count, pc->a, NULL, 0);
  m->recording.has_called = 1;
}

/* A return: of a function that is part of the trace, or the end of it. */
static void record_return(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  recording *now = &m->recording;
  tl_tag tag = ids.tag[m->registers[pc->a].tag];
  if (m->registers == now->bottom && !now->is_unit) {
    tl_record_end(vm, "return");
    now->is_on = 0;
    return;
  }
  tl_value value = read_register(m, pc->a);
  if (m->registers == now->bottom) {
    tl_unit_return(vm, tag, value);
    now->is_on = 0;
    return;
  }
  tl_frame_pop(vm);
  tl_slot_write(vm, m->registers[-1].as.back[-1].a, tag, value);
}

/* Says what the instruction about to be executed does; reads and guards first, writes last. */
static void record(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  recording *now = &m->recording;
  const value *r = m->registers;
  resume_at(m, pc);
  if (now->has_called) tl_unit_returned(vm, ids.tag[r[pc[-1].a].tag]);
  if (now->is_at_entry) guard_limit(m);
  now->has_called = now->is_at_entry = 0;
  switch (pc->op) {
    case LOAD_INT: tl_slot_write(vm, pc->a, ids.tag[INT], tl_const_int(vm, pc->number)); break;
    case LOAD_HALF: tl_slot_write(vm, pc->a, ids.tag[FLOAT], tl_const_float(vm, pc->number / 2.0)); break;
    case ADD: {
      int ints = both_ints(m, pc->b, pc->c);
      tl_value sum = ints ? tl_op2(vm, TL_INT_ADD, read_register(m, pc->b), read_register(m, pc->c))
                          : tl_op2(vm, TL_FLOAT_ADD, as_float(m, pc->b), as_float(m, pc->c));
      tl_slot_write(vm, pc->a, ids.tag[ints ? INT : FLOAT], sum);
      break;
    }
    case NOTE: {
      tl_value number = read_register(m, pc->a);
      if (r[pc->a].tag == FLOAT) number = tl_op1(vm, TL_FLOAT_TO_BITS, number);
      tl_call(vm, ids.note, (tl_value[]){tl_context(vm), number}, 2);
      break;
    }
    case JUMP_LESS: {
      tl_value test = both_ints(m, pc->a, pc->b)
                          ? tl_op2(vm, TL_INT_LT, read_register(m, pc->a), read_register(m, pc->b))
                          : tl_op2(vm, TL_FLOAT_LT, as_float(m, pc->a), as_float(m, pc->b));
      tl_guard(vm, is_less(m, pc) ? TL_GUARD_TRUE : TL_GUARD_FALSE, test, 0, TL_EXIT_GUARD);
      break;
    }
    case CALL: record_call(m, pc); break;
    case RETURN: record_return(m, pc); break;
  }
  if (now->is_on && !tl_recording(vm)) end_recording(m, "not recordable");
}

/*
** The recording waits for the unit that the frame has called. Meanwhile the interpreter runs that function,
** other code is entered, and other recordings begin and end.
*/
static int level_of(const machine *m) { return (int)(m->registers - m->stack - 1) / REGISTERS; }

static void put_aside(machine *m) {
  m->recording.waits = tl_record_aside(m->jit);
  m->waiting[level_of(m)] = m->recording;
  m->recording.is_on = 0;
}

/* The frame was returned to. */
static void wake(machine *m) {
  recording *waiting = &m->waiting[level_of(m)];
  if (waiting->waits && tl_record_wake(m->jit, waiting->waits)) m->recording = *waiting;
  waiting->waits = 0;
}

/* The program fails: no frame is returned to. */
static void give_up_all(machine *m) {
  value *top = m->registers;
  end_recording(m, "too deep");
  for (; m->registers > m->stack; m->registers -= REGISTERS) {
    wake(m);
    end_recording(m, "too deep");
  }
  m->registers = top;
}

/*
** ---- Where recordings begin
** --------------------------------------------------------------------------------
*/

/* The function's entry passes its registers to the unit, and goes on at a return of what that returns. */
static void record_gateway(machine *m, const function *f, uint32_t unit) {
  tl_vm *vm = m->jit;
  const instruction *end = f->code + f->length - 1;
  tl_value passed[ARGUMENTS];
  uint32_t count = 0;
  resume_at(m, f->code);
  for (int n = 0; n < ARGUMENTS; n++) {
    tl_value value = read_register(m, n);
    if (value) passed[count++] = value;
  }
  tl_call_unit(vm, unit, passed, count, end->a, NULL, 0); /* in the frame of the trace itself */
  resume_at(m, end);
  tl_unit_returned(vm, 0);
  tl_record_end(vm, "gateway");
}

static void start_unit(machine *m, function *f) {
  tl_status status = tl_record_unit(m->jit, f->code, m->registers);
  if (status == TL_ABORTED) f->is_plain = 1; /* it was one, and was left too often */
  if (status != TL_OK) return;
  for (int n = 0; n < ARGUMENTS; n++) tl_unit_argument(m->jit, n, ids.tag[m->registers[n].tag]);
  m->recording = (recording){
      .is_on = 1, .is_unit = 1, .is_at_entry = 1, .origin = m->registers, .bottom = m->registers};
}

static void start_at(machine *m, function *f) {
  uint32_t unit = f->is_plain ? 0 : find_unit(m, f->code, &m->registers[0], &m->registers[1]);
  if (!f->is_plain && !unit) {
    start_unit(m, f);
    return;
  }
  if (tl_record(m->jit, f->code, m->registers) != TL_OK) return;
  m->recording = (recording){.origin = m->registers, .bottom = m->registers};
  if (unit) record_gateway(m, f, unit);
  else m->recording.is_on = 1;
}

/* Records from the exit on. Where a unit was left its own frames are recorded, and none of its callers'. */
static void start_after(machine *m, const tl_exit_info *info) {
  const tl_frame *frames = info->frames + info->outer;
  value *origin = (value *)info->base + (info->outer ? frames[0].base : 0);
  if (tl_record_side(m->jit, origin) != TL_OK) return;
  m->recording = (recording){.is_on = 1, .is_unit = tl_records_unit(m->jit) != 0, .origin = origin};
  m->recording.bottom = (value *)info->base + frames[0].base;
  for (uint32_t n = 1; n < info->nframes - info->outer; n++) {
    const tl_frame *caller = &frames[n - 1];
    const instruction *back = (const instruction *)(uintptr_t)caller->words[0];
    uint8_t but_result[1] = {(uint8_t)(live[0] & ~(1u << back[-1].a))};
    tl_frame_push(m->jit, REGISTERS, caller->words, but_result, REGISTERS);
  }
}

/*
** ---- Running
** -----------------------------------------------------------------------------------------------
*/

/* Bytes of the native stack that units may use. */
#define NATIVE_BYTES (64 * 1024)

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Code is entered in this frame: how deep units may call one another. */
static void set_limit(machine *m) {
  ptrdiff_t slots = smaller(m->depth, NATIVE_BYTES / m->limit->native_bytes);
  const value *end = m->end - m->registers > slots ? m->registers + slots : m->end;
  m->limit->end = (uintptr_t)end;
}

/* A unit has left at its beginning: for want of depth, or of frames. There is a limit to both. */
static void allow_more(machine *m, const tl_exit_info *info) {
  if (info->kind != TL_EXIT_INTERRUPT || m->depth >= LEVELS * REGISTERS) return;
  if (tl_unit_depth(m->jit, 2 * m->depth) == TL_OK) m->depth *= 2;
}

/*
** The interpreter's own record of the frames where the code was left. Returns where the innermost goes on. Of
** a frame that is there twice the first one says how it was called, and the second where it goes on.
*/
static const instruction *make_frames(machine *m, const tl_exit_info *info) {
  const instruction *pc = NULL;
  for (uint32_t n = 0; n < info->nframes; n++) {
    m->registers = (value *)info->base + info->frames[n].base;
    int is_new = n > 0 && info->frames[n].base != info->frames[n - 1].base;
    if (is_new) m->registers[-1].as.back = pc;
    pc = (const instruction *)(uintptr_t)info->frames[n].words[0];
  }
  if (info->outer > m->deepest) m->deepest = info->outer;
  return pc;
}

/* A function begins: in code, recording, or in the interpreter, whose next instruction is returned. */
static const instruction *at_entry(machine *m, function *f) {
  const instruction *pc = f->code;
  tl_run run;
  tl_exit_info info = {.kind = TL_EXIT_FINISH};
  if (--f->counter >= 0) return pc;
  if (!f->is_counted) f->is_counted = tl_add_counter(m->jit, &f->counter) == TL_OK;
  tl_action action = tl_hot(m->jit, pc, &f->counter, m->registers, &run);
  int is_entry = action == TL_RECORD;
  while (action == TL_RUN) {
    if (run.stack_slots > m->end - m->registers) {
      tl_declined(m->jit);
      return pc;
    }
    m->entered++;
    set_limit(m);
    tl_left left = tl_run_code(&run, m, m->registers);
    tl_exit(m->jit, left, m, &info);
    if (info.kind == TL_EXIT_REFUSED) return pc;
    pc = make_frames(m, &info);
    allow_more(m, &info);
    action = tl_next(m->jit, m->registers, &run);
  }
  if (is_entry) start_at(m, f);
  else if (action == TL_RECORD) start_after(m, &info);
  return pc;
}

static int64_t sum_of(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

/* The bottom frame has its arguments; runs until it returns. */
static enum outcome interpret(machine *m) {
  const instruction *pc = at_entry(m, &m->functions[0]);
  for (;; m->interpreted++) {
    if (m->recording.is_on) record(m, pc);
    value *r = m->registers;
    switch (pc->op) {
      case LOAD_INT: r[pc->a] = (value){.as.i = pc->number, .tag = INT}; break;
      case LOAD_HALF: r[pc->a] = (value){.as.f = pc->number / 2.0, .tag = FLOAT}; break;
      case ADD:
        if (both_ints(m, pc->b, pc->c))
          r[pc->a] = (value){.as.i = sum_of(r[pc->b].as.i, r[pc->c].as.i), .tag = INT};
        else r[pc->a] = (value){.as.f = number_of(&r[pc->b]) + number_of(&r[pc->c]), .tag = FLOAT};
        break;
      case NOTE: note(m, r[pc->a].as.i); break;
      case JUMP_LESS:
        if (is_less(m, pc)) {
          pc = function_of(m, pc)->code + pc->number;
          continue;
        }
        break;
      case CALL:
        if (m->recording.is_on && m->recording.has_called) put_aside(m);
        if (m->end - r < 2 * REGISTERS) {
          give_up_all(m);
          return TOO_DEEP;
        }
        m->registers = r + REGISTERS;
        m->registers[-1].as.back = pc + 1;
        m->registers[0] = r[pc->b];
        m->registers[1] = r[pc->c];
        pc = at_entry(m, callee_of(m, pc));
        continue;
      case RETURN: {
        const instruction *back = r[-1].as.back;
        if (!back) {
          m->result = r[pc->a];
          return FINISHED;
        }
        m->registers = r - REGISTERS;
        m->registers[back[-1].a] = r[pc->a];
        wake(m);
        pc = back;
        continue;
      }
    }
    pc++;
  }
}

/*
** ---- Programs, and the comparison
** --------------------------------------------------------------------------
*/

#define CODE(name) {.code = name, .length = sizeof name / sizeof *name}
#define PLAIN(name) {.code = name, .length = sizeof name / sizeof *name, .is_plain = 1}

/* fib(n): if (n < 2) n; else fib(n - 1) + fib(n - 2) */
static const instruction fib[] = {
    {LOAD_INT, 1, 0, 0, 2}, {JUMP_LESS, 0, 1, 0, 8}, {LOAD_INT, 2, 0, 0, -1}, {ADD, 3, 0, 2, 0},
    {CALL, 4, 3, 3, 0}, {ADD, 3, 3, 2, 0}, {CALL, 5, 3, 3, 0}, {ADD, 0, 4, 5, 0}, {RETURN, 0, 0, 0, 0}};

/* sum(n): if (n < 1) n; else { s = n + sum(n - 1); note(s); s } */
static const instruction sum[] = {
    {LOAD_INT, 1, 0, 0, 1}, {JUMP_LESS, 0, 1, 0, 7}, {LOAD_INT, 2, 0, 0, -1}, {ADD, 3, 0, 2, 0},
    {CALL, 4, 3, 3, 0}, {ADD, 0, 0, 4, 0}, {NOTE, 0, 0, 0, 0}, {RETURN, 0, 0, 0, 0}};

/* half(n): if (n < 1) n; else { s = n + half(n - 1); if (n < 20) s; else s + 0.5 }: a float from 20 on */
static const instruction half[] = {
    {LOAD_INT, 1, 0, 0, 1}, {JUMP_LESS, 0, 1, 0, 11}, {LOAD_INT, 2, 0, 0, -1}, {ADD, 3, 0, 2, 0},
    {CALL, 4, 3, 3, 0}, {ADD, 4, 0, 4, 0}, {LOAD_INT, 5, 0, 0, 20}, {JUMP_LESS, 0, 5, 0, 10},
    {LOAD_HALF, 6, 0, 0, 1}, {ADD, 4, 4, 6, 0}, {RETURN, 4, 0, 0, 0}, {RETURN, 0, 0, 0, 0}};

/* even(n): if (n < 1) 1; else { t = odd(n - 1); t }   odd(n): if (n < 1) 0; else { t = even(n - 1); t } */
static const instruction even[] = {
    {LOAD_INT, 1, 0, 0, 1}, {JUMP_LESS, 0, 1, 0, 6}, {LOAD_INT, 2, 0, 0, -1}, {ADD, 3, 0, 2, 0},
    {CALL, 1, 3, 3, 1}, {RETURN, 1, 0, 0, 0}, {RETURN, 1, 0, 0, 0}};
static const instruction odd[] = {
    {LOAD_INT, 1, 0, 0, 1}, {JUMP_LESS, 0, 1, 0, 6}, {LOAD_INT, 2, 0, 0, -1}, {ADD, 3, 0, 2, 0},
    {CALL, 1, 3, 3, 1}, {RETURN, 1, 0, 0, 0}, {LOAD_INT, 1, 0, 0, 0}, {RETURN, 1, 0, 0, 0}};

/* ack(m, n): if (m < 1) n + 1; else if (n < 1) ack(m - 1, 1); else ack(m - 1, ack(m, n - 1)) */
static const instruction ack[] = {
    {LOAD_INT, 2, 0, 0, 1}, {LOAD_INT, 3, 0, 0, -1}, {JUMP_LESS, 0, 2, 0, 9}, {ADD, 4, 0, 3, 0},
    {JUMP_LESS, 1, 2, 0, 11}, {ADD, 5, 1, 3, 0}, {CALL, 5, 0, 5, 0}, {CALL, 5, 4, 5, 0},
    {RETURN, 5, 0, 0, 0}, {ADD, 5, 1, 2, 0}, {RETURN, 5, 0, 0, 0}, {CALL, 5, 4, 2, 0},
    {RETURN, 5, 0, 0, 0}};

/* twice(n, m): fib(n, m) + fib(n + m, m), where fib is the other function */
static const instruction twice[] = {
    {CALL, 2, 0, 1, 1}, {NOTE, 2, 0, 0, 0}, {ADD, 3, 0, 1, 0}, {CALL, 4, 3, 1, 1}, {ADD, 0, 2, 4, 0},
    {NOTE, 0, 0, 0, 0}, {RETURN, 0, 0, 0, 0}};

/* down(n): if (n < 1) n; else { s = fib(n, 1) + down(n - 1, 1); note(s); s }: calls another unit, too */
static const instruction down[] = {
    {LOAD_INT, 1, 0, 0, 1}, {JUMP_LESS, 0, 1, 0, 8}, {LOAD_INT, 2, 0, 0, -1}, {ADD, 3, 0, 2, 0},
    {CALL, 4, 0, 1, 1}, {CALL, 5, 3, 1, 0}, {ADD, 0, 4, 5, 0}, {NOTE, 0, 0, 0, 0}, {RETURN, 0, 0, 0, 0}};

#define I(number) {.as.i = number, .tag = INT}
#define F(number) {.as.f = number, .tag = FLOAT}
#define RUNS 6          /* calls of different arguments */
#define CALLS (2 * RUNS) /* each twice, as the code is there the second time */

/* Functions, and calls of the first one, one after another on one machine. */
static const struct program {
  const char *name;
  function functions[2];
  value args[RUNS][2];
} programs[] = {
    {"fib", {CODE(fib), CODE(fib)}, {{I(9)}, {I(13)}, {I(1)}, {F(6.5)}, {I(14), I(0)}, {I(14)}}},
    {"sum", {CODE(sum), CODE(sum)}, {{I(60)}, {F(40.25)}, {I(200)}, {F(-1)}, {I(250)}, {I(298)}}},
    {"half", {CODE(half), CODE(half)}, {{I(10)}, {I(40)}, {I(19)}, {I(60)}, {I(100)}, {I(290)}}},
    {"even", {CODE(even), CODE(odd)}, {{I(90)}, {I(91)}, {I(0)}, {I(255)}, {I(254)}, {F(99.5)}}},
    {"ack",
     {CODE(ack), CODE(ack)},
     {{I(2), I(9)}, {I(3), I(3)}, {I(0), I(5)}, {I(1), F(7)}, {I(2), I(20)}, {I(2), F(2.5)}}},
    {"plain",
     {PLAIN(twice), CODE(fib)},
     {{I(9), I(2)}, {I(10), I(1)}, {F(7), I(1)}, {I(11), I(1)}, {I(11), F(1)}, {I(12), I(1)}}},
    {"two units", {CODE(down), CODE(fib)}, {{I(9)}, {I(10)}, {F(7)}, {I(11)}, {I(4)}, {I(12)}}},
    {"too deep", {CODE(sum), CODE(even)}, {{I(50)}, {I(298)}, {I(299)}, {I(300)}, {I(5000)}, {I(299)}}}};

typedef struct result {
  enum outcome outcomes[CALLS];
  value values[CALLS];
  int64_t notes;
  uint64_t interpreted, entered, deepest, guards, traces;
} result;

static uint64_t number_in(const char *json, const char *name) {
  const char *at = json ? strstr(json, name) : NULL;
  return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

#define FIRST_DEPTH (8 * REGISTERS)

static machine *new_machine(const struct program *program, tl_config config) {
  static machine m; /* static: it is large, and lies at the same address in all runs */
  memset(&m, 0, sizeof m);
  m.end = m.stack + 1 + LEVELS * REGISTERS;
  memcpy(m.functions, program->functions, sizeof m.functions);
  config.abi = TL_ABI_VERSION;
  m.jit = tl_new(&config);
  if (!m.jit) {
    fprintf(stderr, "tl_new: %s\n", tl_config_error());
    exit(2);
  }
  describe(m.jit);
  m.depth = FIRST_DEPTH;
  if (tl_unit_depth(m.jit, m.depth) != TL_OK) exit(3);
  m.limit = tl_unit_limit(m.jit);
  return &m;
}

static enum outcome call(machine *m, const value args[2]) {
  m->registers = m->stack + 1;
  m->registers[-1].as.back = NULL;
  memcpy(m->registers, args, 2 * sizeof *args);
  m->result = (value){.tag = NIL};
  return interpret(m);
}

/* The function's code is as if it had changed: what was compiled is gone, and its counter is another's. */
static void forget(machine *m, function *f) {
  tl_forget(m->jit, f->code, f->code + f->length);
  tl_drop_counter(m->jit, &f->counter);
  f->is_counted = f->counter = 0;
}

static result run(const struct program *program, tl_config config, int forgets) {
  machine *m = new_machine(program, config);
  result found = {.notes = 0};
  for (int n = 0; n < CALLS; n++) {
    found.outcomes[n] = call(m, program->args[n % RUNS]);
    found.values[n] = m->result;
    if (forgets) forget(m, &m->functions[(n + forgets) % 2]);
  }
  found.notes = m->notes;
  found.interpreted = m->interpreted;
  found.entered = m->entered;
  found.deepest = m->deepest;
  const char *json = tl_stats_json(m->jit);
  found.guards = number_in(json, "\"guards_executed\": ");
  found.traces = number_in(strstr(json, "\"compile\""), "\"traces\": ");
  if (strstr(json, "misuse") || strstr(json, "internal")) {
    fprintf(stderr, "%s: %s %s\n", program->name, tl_last_error(m->jit), json);
    exit(4);
  }
  if (getenv("VERBOSE")) puts(tl_stats_text(m->jit));
  tl_free(m->jit);
  return found;
}

static int same(const result *a, const result *b) {
  for (int n = 0; n < CALLS; n++) {
    const value *left = &a->values[n], *right = &b->values[n];
    if (a->outcomes[n] != b->outcomes[n] || left->tag != right->tag || left->as.i != right->as.i) return 0;
  }
  return a->notes == b->notes;
}

static void expect(int condition, const char *name, const char *what, uint64_t number) {
  if (condition) return;
  fprintf(stderr, "%s: %s (%" PRIu64 ")\n", name, what, number);
  exit(1);
}

/* At some thresholds, with functions forgotten in between, and with each guard made to fail. */
static void compare(const struct program *program) {
  static const uint32_t thresholds[] = {1, 2, 5, 20};
  const char *name = program->name;
  result expected = run(program, (tl_config){.flags = TL_FLAG_OFF}, 0), found;
  expect(expected.traces == 0 && expected.entered == 0, name, "compiled with the JIT off", expected.traces);
  for (int n = 0; n < 4; n++) {
    tl_config config = {.threshold = thresholds[n], .flags = TL_FLAG_VERIFY};
    found = run(program, config, 0);
    expect(same(&expected, &found), name, "wrong at a threshold", thresholds[n]);
    expect(found.entered > 0, name, "never entered at a threshold", thresholds[n]);
    for (int forgets = 1; forgets <= 2; forgets++) {
      found = run(program, config, forgets);
      expect(same(&expected, &found), name, "wrong when forgotten, at a threshold", thresholds[n]);
    }
  }
  found = run(program, (tl_config){.threshold = 3, .flags = TL_FLAG_COUNT_GUARDS}, 0);
  expect(found.interpreted * 2 < expected.interpreted, name, "interpreted too often", found.interpreted);
  expect(found.deepest > 1, name, "no unit was left deep down", found.deepest);
  uint64_t runs = 0;
  for (uint64_t n = 1; n <= found.guards; n += 1 + n / 16, runs++) {
    result forced = run(program, (tl_config){.threshold = 3, .force_exit = n}, 0);
    expect(same(&expected, &forced), name, "wrong with a guard execution forced to fail", n);
  }
  printf("%s: %" PRIu64 " traces, entered %" PRIu64 " times, %" PRIu64 " of %" PRIu64
         " instructions interpreted, left with %" PRIu64 " frames around, %" PRIu64 " forced exits\n",
         name, found.traces, found.entered, found.interpreted, expected.interpreted, found.deepest, runs);
}

/* Wherever recordings begin, whatever of them is thrown away, and however little a trace may hold. */
static void at_random(const struct program *program) {
  result expected = run(program, (tl_config){.flags = TL_FLAG_OFF}, 0);
  for (uint32_t seed = 1; seed <= 60; seed++) {
    tl_config config = {.threshold = 1 + seed % 7, .side_threshold = 1 + seed % 4, .flags = TL_FLAG_VERIFY};
    config.start_seed = seed;
    if (seed % 3 == 0) config.max_frames = 3;
    if (seed % 5 == 0) config.max_sides = 1;
    if (seed % 11 == 0) config.max_ops = 30;
    result found = run(program, config, (int)(seed % 3));
    expect(same(&expected, &found), program->name, "wrong at a seed", seed);
  }
}

int main(void) {
  for (size_t n = 0; n < sizeof programs / sizeof *programs; n++) {
    compare(&programs[n]);
    at_random(&programs[n]);
  }
  return 0;
}
