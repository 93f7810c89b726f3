/* functions.c: a little interpreter whose functions call themselves, and Tracelift's entries in it.
**
** Problem: a recursive function has no loop. What is hot is its beginning, and the places where it goes on
** after a call; a trace that begins there does not come back to where it began. Design: these places are
** *entries*. Each function has one counter for its own, which counts whenever the interpreter comes to one
** (at_entry). A recording that begins at an entry ends at another one, in the frame of a function that it has
** called, or in that of its caller (link_at); there need be no code yet. So recursion becomes traces that
** follow one another in a circle, and neither the native stack nor the interpreter is in it.
**
** This host's frames lie side by side in one stack. The last register of each says where it goes on when the
** frame above it returns: that is the only record of a call, so that code makes a frame by one store. What
** registers.c has already shown (loops, objects, calls that may do anything) is left out.
**
** Invariant: the base of a frame tells where its caller's is, and each frame's record is in memory whenever
** code is entered or left. Example, the code of 'if (n < 1) n; else n + sum(n - 1)' in the end:
**
**   sum, entry:           n >= 1, room for a frame; store where it goes on; next: sum, entry, one frame above
**   sum, entry, exit 0:   n < 1; the frame goes on after the call; next: that entry, one frame below
**   sum, after the call:  n + the result; the frame goes on after the call; next: that entry, one frame below
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

enum opcode {
  LOAD_INT,  /* a = number */
  ADD,       /* a = b + c */
  NOTE,      /* calls note(a), a function with an effect */
  JUMP_LESS, /* if a < b, go to `number`, which lies ahead */
  CALL,      /* a = what function `number` makes of b and c, its registers 0 and 1 */
  RETURN     /* returns a */
};

struct instruction {
  uint8_t op, a, b, c;
  int32_t number;
};

typedef struct function {
  const instruction *code;
  int length;
  int32_t counter; /* of its entries: so many may pass before the library is asked */
  int is_counted;  /* whether the library knows the counter */
} function;

/* What is being recorded. */
typedef struct recording {
  int is_on, is_started;       /* whether an instruction was recorded */
  const instruction *entry;    /* where it began, or NULL: after an exit */
  const instruction *returned; /* where the outermost frame goes on, which was returned to */
  value *origin;               /* registers of the frame that the code will be entered with */
  value *bottom;               /* registers of the outermost frame */
} recording;

enum outcome { FINISHED, TOO_DEEP };

typedef struct machine {
  value *end; /* of the stack: compiled code reads it */
  value *registers;
  value stack[1 + LEVELS * REGISTERS];
  function functions[2];
  value result;
  int64_t notes; /* what note() adds up */
  tl_vm *jit;
  recording recording;
  uint64_t interpreted, entered; /* instructions; how often code was entered */
} machine;

/*
** ---- Describing the host
** -----------------------------------------------------------------------------------
*/

static struct {
  tl_tag tag[3]; /* by enum tag */
  tl_cell end, room, back;
  tl_func note;
} ids;

static void note(machine *m, int64_t number) { m->notes = m->notes * 3 + number; }

static void describe(tl_vm *vm) {
  ids.tag[NIL] = tl_add_tag(vm, "nil", NIL, TL_VOID);
  ids.tag[INT] = tl_add_tag(vm, "int", INT, TL_INT);
  ids.tag[FLOAT] = tl_add_tag(vm, "float", FLOAT, TL_FLOAT);
  tl_set_slots(vm, sizeof(value), offsetof(value, as), offsetof(value, tag), 1);
  tl_set_frame_words(vm, 1); /* where to go on: an instruction's address */
  tl_class ends = tl_alias_class(vm, "stack.end"), rooms = tl_alias_class(vm, "room");
  tl_class backs = tl_alias_class(vm, "back");
  ids.end = tl_add_cell(vm, "stack.end", offsetof(machine, end), 8, TL_ADDR, ends, 0);
  ids.room = tl_add_cell(vm, "room", 0, 8, TL_INT, rooms, 0);
  ids.back = tl_add_cell(vm, "back", offsetof(value, as), 8, TL_ADDR, backs, 0);
  tl_class notes[] = {tl_alias_class(vm, "notes"), 0};
  ids.note = tl_add_func(vm, "note", (const void *)(uintptr_t)note, "ai>v", 0, NULL, notes);
}

/*
** ---- Recording
** ---------------------------------------------------------------------------------------------
*/

/* All registers are live, but not the last one, which is none of the program's. */
static const uint8_t live[1] = {0x7f};

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

/* Where a register lies, counted from the frame that the code is entered with. */
static tl_value place_of(machine *m, const value *at) {
  tl_value number = tl_const_int(m->jit, at - m->recording.origin);
  return tl_item_addr(m->jit, tl_frame_base(m->jit), number, sizeof(value), 0);
}

/*
** The stack must have the room from `place` on that the code needs which goes on at this entry. If it has not
** the interpreter goes on. The frame itself fits: whoever enters a trace has room for what its exits write.
*/
static void guard_room(machine *m, tl_value place, const instruction *pc) {
  tl_vm *vm = m->jit;
  tl_value registers = tl_load(vm, ids.room, tl_const_addr(vm, tl_room_cell(vm, pc)));
  tl_value end = tl_op1(vm, TL_ADDR_TO_INT, tl_load(vm, ids.end, tl_context(vm)));
  tl_value room = tl_op2(vm, TL_INT_SUB, end, tl_op1(vm, TL_ADDR_TO_INT, place));
  tl_value bytes = tl_op2(vm, TL_INT_MUL, registers, tl_const_int(vm, sizeof(value)));
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_GE, room, bytes), 0, TL_EXIT_INTERRUPT);
}

static int is_function(const machine *m, const instruction *pc) {
  return pc == m->functions[0].code || pc == m->functions[1].code;
}

/*
** Whether the recording goes on elsewhere from here on: after a return from where it began, and where it
** calls what it began with, or what has code. What else is called becomes part of the trace.
*/
static int ends_at(machine *m, const instruction *pc) {
  const recording *now = &m->recording;
  if (!now->is_started) return 0;
  if (m->registers <= now->bottom) return pc == now->returned;
  return is_function(m, pc) && (pc == now->entry || tl_has_loop(m->jit, pc));
}

/*
** The trace ends at this entry, in the frame that runs now. First a guard that there is room for what the
** code there needs; then stores that make the frames that it has called.
*/
static void link_at(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  if (m->registers > m->recording.bottom) {
    guard_room(m, place_of(m, m->registers), pc);
    tl_link_frames(vm);
    for (value *r = m->registers; r > m->recording.bottom; r -= REGISTERS)
      tl_store(vm, ids.back, place_of(m, r - 1), tl_const_addr(vm, r[-1].as.back));
  }
  tl_record_link(vm, pc);
  m->recording.is_on = 0;
}

/* A call: the callee's frame is part of the trace, and of its exits. */
static void record_call(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  const value *r = m->registers;
  tl_value args[2] = {read_register(m, pc->b), read_register(m, pc->c)};
  uint64_t words[1] = {(uintptr_t)(pc + 1)};
  uint8_t but_result[1] = {(uint8_t)(live[0] & ~(1u << pc->a))};
  tl_frame_push(vm, REGISTERS, words, but_result, REGISTERS);
  tl_slot_write(vm, 0, ids.tag[r[pc->b].tag], args[0]);
  tl_slot_write(vm, 1, ids.tag[r[pc->c].tag], args[1]);
}

/* A return: who has called the outermost frame differs from one time to the next. */
static void record_return(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  recording *now = &m->recording;
  const instruction *back = m->registers[-1].as.back;
  tl_tag tag = ids.tag[m->registers[pc->a].tag];
  tl_value value = read_register(m, pc->a);
  if (!back) {
    end_recording(m, "return to C");
    return;
  }
  if (m->registers > now->bottom) {
    tl_frame_pop(vm);
  } else {
    tl_value found = tl_load(vm, ids.back, place_of(m, m->registers - 1));
    tl_guard(vm, TL_GUARD_VALUE, found, tl_const_addr(vm, back), TL_EXIT_GUARD);
    tl_frame_return(vm, -REGISTERS);
    now->bottom -= REGISTERS;
    now->returned = back;
  }
  tl_slot_write(vm, back[-1].a, tag, value);
}

/* Says what the instruction about to be executed does; reads and guards first, writes last. */
static void record(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  const value *r = m->registers;
  uint64_t words[1] = {(uintptr_t)pc};
  tl_resume_point(vm, m->recording.origin, words, live, REGISTERS);
  if (ends_at(m, pc)) {
    link_at(m, pc);
    return;
  }
  m->recording.is_started = 1;
  switch (pc->op) {
    case LOAD_INT: tl_slot_write(vm, pc->a, ids.tag[INT], tl_const_int(vm, pc->number)); break;
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
      int ints = both_ints(m, pc->a, pc->b);
      int less = ints ? r[pc->a].as.i < r[pc->b].as.i
                      : (r[pc->a].tag == INT ? (double)r[pc->a].as.i : r[pc->a].as.f) <
                            (r[pc->b].tag == INT ? (double)r[pc->b].as.i : r[pc->b].as.f);
      tl_value test = ints ? tl_op2(vm, TL_INT_LT, read_register(m, pc->a), read_register(m, pc->b))
                           : tl_op2(vm, TL_FLOAT_LT, as_float(m, pc->a), as_float(m, pc->b));
      tl_guard(vm, less ? TL_GUARD_TRUE : TL_GUARD_FALSE, test, 0, TL_EXIT_GUARD);
      break;
    }
    case CALL: record_call(m, pc); break;
    case RETURN: record_return(m, pc); break;
  }
  if (m->recording.is_on && !tl_recording(vm)) end_recording(m, "not recordable");
}

/*
** ---- Running
** -----------------------------------------------------------------------------------------------
*/

static function *function_of(machine *m, const instruction *pc) {
  const function *first = &m->functions[0];
  return &m->functions[!(pc >= first->code && pc < first->code + first->length)];
}

static void start_at(machine *m, const instruction *pc) {
  if (tl_record(m->jit, pc, m->registers) != TL_OK) return;
  m->recording =
      (recording){.is_on = 1, .entry = pc, .origin = m->registers, .bottom = m->registers};
}

/* Records from the exit on: its frames are there, and called one another. */
static void start_after(machine *m, const tl_exit_info *info) {
  value *origin = info->base;
  if (tl_record_side(m->jit, origin) != TL_OK) return;
  m->recording = (recording){.is_on = 1, .origin = origin, .bottom = origin + info->frames[0].base};
  for (uint32_t n = 1; n < info->nframes; n++) {
    const tl_frame *caller = &info->frames[n - 1];
    const instruction *back = (const instruction *)(uintptr_t)caller->words[0];
    uint8_t but_result[1] = {(uint8_t)(live[0] & ~(1u << back[-1].a))};
    tl_frame_push(m->jit, REGISTERS, caller->words, but_result, REGISTERS);
  }
}

/* The interpreter's own record of the frames where the code was left. Returns where the innermost goes on. */
static const instruction *make_frames(machine *m, const tl_exit_info *info) {
  const instruction *pc = NULL;
  for (uint32_t n = 0; n < info->nframes; n++) {
    m->registers = (value *)info->base + info->frames[n].base;
    if (n > 0) m->registers[-1].as.back = pc;
    pc = (const instruction *)(uintptr_t)info->frames[n].words[0];
  }
  return pc;
}

/* The interpreter has come to an entry: counts, and asks at zero. */
static tl_action count_entry(machine *m, const instruction *pc, tl_run *run) {
  function *f = function_of(m, pc);
  if (--f->counter >= 0) return TL_NOTHING;
  if (!f->is_counted) f->is_counted = tl_add_counter(m->jit, &f->counter) == TL_OK;
  return tl_hot(m->jit, pc, &f->counter, m->registers, run);
}

/* Goes on at an entry: in code, recording, or in the interpreter, whose next instruction is returned. */
static const instruction *at_entry(machine *m, const instruction *pc) {
  tl_run run;
  tl_exit_info info = {.kind = TL_EXIT_FINISH};
  tl_action action = count_entry(m, pc, &run);
  while (action == TL_RUN) {
    if (run.stack_slots > m->end - m->registers) {
      tl_declined(m->jit);
      return pc;
    }
    m->entered++;
    tl_left left = tl_run_code(&run, m, m->registers);
    tl_exit(m->jit, left, m, &info);
    if (info.kind == TL_EXIT_REFUSED) return pc;
    pc = make_frames(m, &info);
    action = tl_next(m->jit, m->registers, &run);
    /* the end of a trace whose link leads to no code yet: one comes to an entry there, too */
    if (action == TL_NOTHING && info.kind == TL_EXIT_FINISH) action = count_entry(m, pc, &run);
  }
  if (action == TL_RECORD && info.kind == TL_EXIT_FINISH) start_at(m, pc);
  else if (action == TL_RECORD) start_after(m, &info);
  return pc;
}

static int64_t sum_of(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }

static double number_of(const value *v) { return v->tag == INT ? (double)v->as.i : v->as.f; }

/* The bottom frame has its arguments; runs until it returns. */
static enum outcome interpret(machine *m, const instruction *pc) {
  pc = at_entry(m, pc);
  for (;; m->interpreted++) {
    if (m->recording.is_on) record(m, pc);
    value *r = m->registers;
    switch (pc->op) {
      case LOAD_INT: r[pc->a] = (value){.as.i = pc->number, .tag = INT}; break;
      case ADD:
        if (both_ints(m, pc->b, pc->c))
          r[pc->a] = (value){.as.i = sum_of(r[pc->b].as.i, r[pc->c].as.i), .tag = INT};
        else r[pc->a] = (value){.as.f = number_of(&r[pc->b]) + number_of(&r[pc->c]), .tag = FLOAT};
        break;
      case NOTE: note(m, r[pc->a].as.i); break;
      case JUMP_LESS:
        if (both_ints(m, pc->a, pc->b) ? r[pc->a].as.i < r[pc->b].as.i
                                       : number_of(&r[pc->a]) < number_of(&r[pc->b])) {
          pc = function_of(m, pc)->code + pc->number;
          continue;
        }
        break;
      case CALL:
        if (m->end - r < 2 * REGISTERS) {
          end_recording(m, "too deep");
          return TOO_DEEP;
        }
        m->registers = r + REGISTERS;
        m->registers[-1].as.back = pc + 1;
        m->registers[0] = r[pc->b];
        m->registers[1] = r[pc->c];
        pc = at_entry(m, m->functions[pc->number].code);
        continue;
      case RETURN: {
        const instruction *back = r[-1].as.back;
        if (!back) {
          end_recording(m, "return to C");
          m->result = r[pc->a];
          return FINISHED;
        }
        m->registers = r - REGISTERS;
        m->registers[back[-1].a] = r[pc->a];
        pc = at_entry(m, back);
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

/* fib(n): if (n < 2) n; else fib(n - 1) + fib(n - 2) */
static const instruction fib[] = {
    {LOAD_INT, 1, 0, 0, 2}, {JUMP_LESS, 0, 1, 0, 8}, {LOAD_INT, 2, 0, 0, -1}, {ADD, 3, 0, 2, 0},
    {CALL, 4, 3, 3, 0}, {ADD, 3, 3, 2, 0}, {CALL, 5, 3, 3, 0}, {ADD, 0, 4, 5, 0}, {RETURN, 0, 0, 0, 0}};

/* sum(n): if (n < 1) n; else { s = n + sum(n - 1); note(s); s } */
static const instruction sum[] = {
    {LOAD_INT, 1, 0, 0, 1}, {JUMP_LESS, 0, 1, 0, 7}, {LOAD_INT, 2, 0, 0, -1}, {ADD, 3, 0, 2, 0},
    {CALL, 4, 3, 3, 0}, {ADD, 0, 0, 4, 0}, {NOTE, 0, 0, 0, 0}, {RETURN, 0, 0, 0, 0}};

/* even(n): if (n < 1) 1; else { t = odd(n - 1); t }   odd(n): if (n < 1) 0; else { t = even(n - 1); t } */
static const instruction even[] = {
    {LOAD_INT, 1, 0, 0, 1}, {JUMP_LESS, 0, 1, 0, 6}, {LOAD_INT, 2, 0, 0, -1}, {ADD, 3, 0, 2, 0},
    {CALL, 1, 3, 3, 1}, {RETURN, 1, 0, 0, 0}, {RETURN, 1, 0, 0, 0}};
static const instruction odd[] = {
    {LOAD_INT, 1, 0, 0, 1}, {JUMP_LESS, 0, 1, 0, 6}, {LOAD_INT, 2, 0, 0, -1}, {ADD, 3, 0, 2, 0},
    {CALL, 1, 3, 3, 0}, {RETURN, 1, 0, 0, 0}, {LOAD_INT, 1, 0, 0, 0}, {RETURN, 1, 0, 0, 0}};

/* ack(m, n): if (m < 1) n + 1; else if (n < 1) ack(m - 1, 1); else ack(m - 1, ack(m, n - 1)) */
static const instruction ack[] = {
    {LOAD_INT, 2, 0, 0, 1}, {LOAD_INT, 3, 0, 0, -1}, {JUMP_LESS, 0, 2, 0, 9}, {ADD, 4, 0, 3, 0},
    {JUMP_LESS, 1, 2, 0, 11}, {ADD, 5, 1, 3, 0}, {CALL, 5, 0, 5, 0}, {CALL, 5, 4, 5, 0},
    {RETURN, 5, 0, 0, 0}, {ADD, 5, 1, 2, 0}, {RETURN, 5, 0, 0, 0}, {CALL, 5, 4, 2, 0},
    {RETURN, 5, 0, 0, 0}};

#define I(number) {.as.i = number, .tag = INT}
#define F(number) {.as.f = number, .tag = FLOAT}
#define RUNS 5

/* Functions, and calls of the first one, one after another on one machine. */
static const struct program {
  const char *name;
  function functions[2];
  value args[RUNS][2];
} programs[] = {
    {"fib", {CODE(fib), CODE(fib)}, {{I(9)}, {I(13)}, {I(1)}, {F(6.5)}, {I(14)}}},
    {"sum", {CODE(sum), CODE(sum)}, {{I(60)}, {F(40.25)}, {I(200)}, {F(-1)}, {I(250)}}},
    {"even", {CODE(even), CODE(odd)}, {{I(90)}, {I(91)}, {I(0)}, {I(255)}, {I(254)}}},
    {"ack", {CODE(ack), CODE(ack)}, {{I(2), I(9)}, {I(3), I(3)}, {I(0), I(5)}, {I(1), F(7)}, {I(2), I(20)}}},
    {"too deep", {CODE(sum), CODE(even)}, {{I(50)}, {I(298)}, {I(299)}, {I(300)}, {I(5000)}}}};

typedef struct result {
  enum outcome outcomes[RUNS];
  value values[RUNS];
  int64_t notes;
  uint64_t interpreted, entered, guards, traces;
} result;

static uint64_t number_in(const char *json, const char *name) {
  const char *at = json ? strstr(json, name) : NULL;
  return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

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
  return &m;
}

static enum outcome call(machine *m, const value args[2]) {
  m->registers = m->stack + 1;
  m->registers[-1].as.back = NULL;
  memcpy(m->registers, args, 2 * sizeof *args);
  m->result = (value){.tag = NIL};
  return interpret(m, m->functions[0].code);
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
  for (int n = 0; n < RUNS; n++) {
    found.outcomes[n] = call(m, program->args[n]);
    found.values[n] = m->result;
    if (forgets) forget(m, &m->functions[n % 2]);
  }
  found.notes = m->notes;
  found.interpreted = m->interpreted;
  found.entered = m->entered;
  const char *json = tl_stats_json(m->jit);
  found.guards = number_in(json, "\"guards_executed\": ");
  found.traces = number_in(strstr(json, "\"compile\""), "\"traces\": ");
  if (strstr(json, "misuse") || strstr(json, "internal")) {
    fprintf(stderr, "%s: %s\n", program->name, json);
    exit(4);
  }
  if (getenv("VERBOSE")) puts(tl_stats_text(m->jit));
  tl_free(m->jit);
  return found;
}

static int same(const result *a, const result *b) {
  for (int n = 0; n < RUNS; n++) {
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
    found = run(program, config, 1);
    expect(same(&expected, &found), name, "wrong when forgotten, at a threshold", thresholds[n]);
  }
  found = run(program, (tl_config){.threshold = 3, .flags = TL_FLAG_COUNT_GUARDS}, 0);
  expect(found.interpreted * 2 < expected.interpreted, name, "interpreted too often", found.interpreted);
  uint64_t runs = 0;
  for (uint64_t n = 1; n <= found.guards; n += 1 + n / 16, runs++) {
    result forced = run(program, (tl_config){.threshold = 3, .force_exit = n}, 0);
    expect(same(&expected, &forced), name, "wrong with a guard execution forced to fail", n);
  }
  printf("%s: %" PRIu64 " traces, entered %" PRIu64 " times, %" PRIu64 " of %" PRIu64
         " instructions interpreted, %" PRIu64 " forced exits\n",
         name, found.traces, found.entered, found.interpreted, expected.interpreted, runs);
}

/*
** A function goes while its code exists, and its counter with it: nobody writes there any more. The other
** one's code ends where there is none now, also at the last frame for which there is room.
*/
static void dropped(int which) {
  static const value args[2] = {I(100)}, deep[2] = {I(5000)};
  machine *m = new_machine(&programs[2], (tl_config){.threshold = 1, .flags = TL_FLAG_VERIFY});
  function *gone = &m->functions[which], *other = &m->functions[!which];
  enum outcome outcome = call(m, args);
  outcome = outcome == FINISHED ? call(m, args) : outcome;
  expect(outcome == FINISHED && m->result.as.i == 1, "dropped", "wrong before", m->entered);
  expect(tl_has_loop(m->jit, gone->code), "dropped", "without code", m->entered);
  expect(tl_add_counter(m->jit, &gone->counter) == TL_OK, "dropped", "known already", 0);
  forget(m, gone);
  expect(!tl_has_loop(m->jit, gone->code), "dropped", "not forgotten", 0);
  expect(tl_has_loop(m->jit, other->code), "dropped", "forgotten, too", 0);
  tl_drop_counter(m->jit, &gone->counter); /* again: nothing */
  gone->counter = 1 << 30;                 /* none of the library's now */
  int32_t before = gone->counter;
  outcome = call(m, args);
  expect(outcome == FINISHED && m->result.as.i == 1, "dropped", "wrong after", m->entered);
  uint64_t entered = m->entered;
  expect(call(m, deep) == TOO_DEEP, "dropped", "not too deep", entered);
  expect(m->registers == m->end - REGISTERS, "dropped", "too deep at a frame",
         (uint64_t)(m->registers - m->stack) / REGISTERS);
  expect(m->entered > entered, "dropped", "the other one's code is not entered", entered);
  int32_t counted = before - gone->counter;
  expect(counted > 0 && counted < 1000, "dropped", "the counter was written", (uint64_t)counted);
  expect(!tl_has_loop(m->jit, gone->code), "dropped", "has code again", 0);
  tl_free(m->jit);
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
    result found = run(program, config, seed % 2);
    expect(same(&expected, &found), program->name, "wrong at a seed", seed);
  }
}

int main(void) {
  for (size_t n = 0; n < sizeof programs / sizeof *programs; n++) {
    compare(&programs[n]);
    at_random(&programs[n]);
  }
  dropped(0);
  dropped(1);
  return 0;
}
