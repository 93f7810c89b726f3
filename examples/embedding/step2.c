/* step2.c: calls, which become part of the loop that they are made in. See docs/embedding.md, step 2.
**
** Usage: step2 [check]. Runs its programs with the JIT off and on and compares the results; with "check" also
** with each of many executions of a guard forced to fail.
*/
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelift.h"

enum tag { NIL, INT, FLOAT };

typedef struct value {
  union {
    int64_t i;
    double f;
    const struct instruction *back; /* in the slot below a frame: where its caller goes on */
  } as;
  uint8_t tag; /* an enum tag */
} value;

/* listing instructions */
enum opcode {
  INTEGER,    /* a = n */
  REAL,       /* a = n / 1000 */
  MOVE,       /* a = b */
  ADD,        /* a = b + c */
  SUBTRACT,   /* a = b - c */
  MULTIPLY,   /* a = b * c */
  REMAINDER,  /* a = b % c, of integers */
  JUMP_LESS,  /* if a < b, go to n */
  JUMP_EQUAL, /* if a == b, go to n */
  JUMP,       /* go to n */
  CALL,       /* a = what function n makes of the registers a + 1 to a + b */
  RETURN      /* the program is over, with a; or goes on with its caller */
};

typedef struct instruction {
  uint8_t op, a, b, c;
  int32_t n;
} instruction;
/* end */

#define REGISTERS 16 /* of a function, at most */
#define SLOTS (1000 * REGISTERS)

typedef struct function {
  const instruction *code;
  int length;
} function;

#define FUNCTIONS 4

/* listing machine */
/* What is being recorded. */
typedef struct recording {
  int is_on;
  const instruction *head; /* of the loop; NULL: it is none */
  value *origin;           /* the frame that the code will be entered with */
} recording;

typedef struct machine {
  value *base; /* the running frame's registers */
  value stack[1 + SLOTS];
  function functions[FUNCTIONS];
  value result;
  tl_vm *jit;
  int32_t counters[64]; /* of back edges; loops may share one */
  recording recording;
} machine;
/* end */

static _Noreturn void fail(const char *sentence) {
  fprintf(stderr, "%s\n", sentence);
  exit(1);
}

static function *function_of(machine *m, const instruction *pc) {
  for (int n = 0; n < FUNCTIONS; n++) {
    function *f = &m->functions[n];
    if (pc >= f->code && pc < f->code + f->length) return f;
  }
  fail("an instruction of no function");
}

/*
** ---- Describing the host
*/

/* listing describe */
static struct {
  tl_tag tag[5]; /* by enum tag */
} ids;

static void describe(tl_vm *vm) {
  ids.tag[NIL] = tl_add_tag(vm, "nil", NIL, TL_VOID);
  ids.tag[INT] = tl_add_tag(vm, "int", INT, TL_INT);
  ids.tag[FLOAT] = tl_add_tag(vm, "float", FLOAT, TL_FLOAT);
  tl_set_slots(vm, sizeof(value), offsetof(value, as), offsetof(value, tag), 1);
  tl_set_frame_words(vm, 1); /* where a frame goes on: an instruction's address */
}
/* end */

/* listing masks */
/* Bit n: register n is live before this instruction. */
typedef struct mask {
  uint8_t bits[REGISTERS / 8];
} mask;

static mask live_at(machine *m, const instruction *pc) {
  (void)m, (void)pc;
  return (mask){{0xff, 0xff}}; /* all of them is always right */
}
/* end */

/* The same in a frame that has called, up to its return: the result is not there yet. */
static mask live_after_call(machine *m, const instruction *back) {
  mask live = live_at(m, back);
  int result = back[-1].a;
  live.bits[result / 8] &= (uint8_t)~(1u << result % 8);
  return live;
}

/*
** ---- Recording
*/

static void end_recording(machine *m, const char *reason) {
  if (m->recording.is_on) tl_record_abort(m->jit, reason);
  m->recording.is_on = 0;
}

/* listing reading */
static tl_value read_register(machine *m, int number) {
  return tl_slot_read(m->jit, number, ids.tag[m->base[number].tag]);
}

static tl_value read_float(machine *m, int number) {
  tl_value value = read_register(m, number);
  return m->base[number].tag == INT ? tl_op1(m->jit, TL_INT_TO_FLOAT, value) : value;
}

static int are_ints(const machine *m, int b, int c) { return m->base[b].tag == INT && m->base[c].tag == INT; }

/* a = b op c, for the types that b and c have now: reading them makes the code test that they still have. */
static void record_arithmetic(machine *m, const instruction *pc, tl_op of_ints, tl_op of_floats) {
  tl_vm *vm = m->jit;
  if (are_ints(m, pc->b, pc->c)) {
    tl_value result = tl_op2(vm, of_ints, read_register(m, pc->b), read_register(m, pc->c));
    tl_slot_write(vm, pc->a, ids.tag[INT], result);
  } else {
    tl_value result = tl_op2(vm, of_floats, read_float(m, pc->b), read_float(m, pc->c));
    tl_slot_write(vm, pc->a, ids.tag[FLOAT], result);
  }
}
/* end */

static double number_of(const value *v) { return v->tag == INT ? (double)v->as.i : v->as.f; }

static int is_less(const value *a, const value *b) {
  return a->tag == INT && b->tag == INT ? a->as.i < b->as.i : number_of(a) < number_of(b);
}

static int is_equal(const value *a, const value *b) {
  if (a->tag == NIL || b->tag == NIL) return a->tag == b->tag;
  return a->tag == INT && b->tag == INT ? a->as.i == b->as.i : number_of(a) == number_of(b);
}

/* listing jump */
/* The code goes on if the jump is made as now. */
static void record_jump(machine *m, const instruction *pc, tl_op of_ints, tl_op of_floats, int is_taken) {
  tl_vm *vm = m->jit;
  tl_value test;
  if (are_ints(m, pc->a, pc->b))
    test = tl_op2(vm, of_ints, read_register(m, pc->a), read_register(m, pc->b));
  else test = tl_op2(vm, of_floats, read_float(m, pc->a), read_float(m, pc->b));
  /* leaving by the loop's own jump is its normal end, and no failure */
  int closes = function_of(m, pc)->code + pc->n == m->recording.head;
  tl_guard(vm, is_taken ? TL_GUARD_TRUE : TL_GUARD_FALSE, test, 0, closes ? TL_EXIT_LOOP_END : TL_EXIT_GUARD);
}
/* end */

static void record_remainder(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  tl_value b = read_register(m, pc->b), c = read_register(m, pc->c);
  int is_zero = m->base[pc->c].as.i == 0;
  tl_guard(vm, is_zero ? TL_GUARD_FALSE : TL_GUARD_TRUE, c, 0, TL_EXIT_GUARD);
  tl_slot_write(vm, pc->a, ids.tag[INT], is_zero ? tl_const_int(vm, 0) : tl_op2(vm, TL_INT_REM, b, c));
}

/* listing calls */
/* The callee's frame is part of the trace, and of its exits. Its registers are the caller's, further on: they
** are read before the frame is pushed. */
static void record_call(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  tl_value args[REGISTERS];
  for (int n = 0; n < pc->b; n++) args[n] = read_register(m, pc->a + 1 + n);
  tl_slot_write(vm, pc->a, ids.tag[NIL], 0); /* the interpreter, too, writes that slot: see call() */
  uint64_t words[1] = {(uintptr_t)(pc + 1)};
  mask live = live_after_call(m, pc + 1);
  tl_frame_push(vm, pc->a + 1, words, live.bits, REGISTERS);
  for (int n = 0; n < pc->b; n++) tl_slot_write(vm, n, ids.tag[m->base[pc->a + 1 + n].tag], args[n]);
}

/* Back in the caller, whose register a gets the result. */
static void record_return(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  const instruction *back = m->base[-1].as.back;
  if (m->base == m->recording.origin) {
    end_recording(m, "return from the loop's function");
    return;
  }
  tl_tag tag = ids.tag[m->base[pc->a].tag];
  tl_value result = read_register(m, pc->a);
  tl_frame_pop(vm);
  tl_slot_write(vm, back[-1].a, tag, result);
}
/* end */

/* listing record */
/* Says what the instruction about to be executed does, for the values that the registers hold now. */
static void record(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  uint64_t words[1] = {(uintptr_t)pc};
  mask live = live_at(m, pc);
  tl_resume_point(vm, m->recording.origin, words, live.bits, REGISTERS);
  switch (pc->op) {
    case INTEGER: tl_slot_write(vm, pc->a, ids.tag[INT], tl_const_int(vm, pc->n)); break;
    case REAL: tl_slot_write(vm, pc->a, ids.tag[FLOAT], tl_const_float(vm, pc->n / 1000.0)); break;
    case MOVE: tl_slot_write(vm, pc->a, ids.tag[m->base[pc->b].tag], read_register(m, pc->b)); break;
    case ADD: record_arithmetic(m, pc, TL_INT_ADD, TL_FLOAT_ADD); break;
    case SUBTRACT: record_arithmetic(m, pc, TL_INT_SUB, TL_FLOAT_SUB); break;
    case MULTIPLY: record_arithmetic(m, pc, TL_INT_MUL, TL_FLOAT_MUL); break;
    case REMAINDER: record_remainder(m, pc); break;
    case JUMP_LESS:
      record_jump(m, pc, TL_INT_LT, TL_FLOAT_LT, is_less(&m->base[pc->a], &m->base[pc->b]));
      break;
    case JUMP_EQUAL:
      record_jump(m, pc, TL_INT_EQ, TL_FLOAT_EQ, is_equal(&m->base[pc->a], &m->base[pc->b]));
      break;
    case JUMP: break;
    case CALL: record_call(m, pc); break;
    case RETURN: record_return(m, pc); break;
  }
  /* some call above has failed, or given up: the statistics say why */
  if (!tl_recording(vm)) end_recording(m, "not recordable");
}
/* end */

/*
** ---- Running
*/

/* listing start */
static void start(machine *m, const instruction *head) {
  if (tl_record(m->jit, head, m->base) != TL_OK) return;
  m->recording = (recording){.is_on = 1, .head = head, .origin = m->base};
}
/* end */

/* listing frames */
/* The interpreter's own record of the frames where the code was left. Where the innermost goes on. */
static const instruction *make_frames(machine *m, const tl_exit_info *info) {
  const instruction *pc = NULL;
  for (uint32_t n = 0; n < info->nframes; n++) {
    m->base = (value *)info->base + info->frames[n].base;
    if (n > 0) m->base[-1] = (value){.as.back = pc, .tag = NIL};
    pc = (const instruction *)(uintptr_t)info->frames[n].words[0];
  }
  return pc;
}
/* end */

/* listing enter */
/* Runs code; where the interpreter goes on. */
static const instruction *enter(machine *m, const tl_run *run, const instruction *pc) {
  tl_exit_info info;
  if (run->stack_slots > m->stack + 1 + SLOTS - m->base) { /* its exits would write there */
    tl_declined(m->jit);
    return pc;
  }
  tl_left left = tl_run_code(run, m, m->base);
  tl_exit(m->jit, left, m, &info);
  if (info.kind == TL_EXIT_REFUSED) return pc; /* a slot had another type: nothing has happened */
  return make_frames(m, &info);
}
/* end */

/* listing loop_head */
/* The program has jumped back to `pc`, the head of a loop. */
static const instruction *loop_head(machine *m, const instruction *pc) {
  int32_t *counter = &m->counters[(size_t)(pc - function_of(m, pc)->code) % 64];
  if (m->recording.is_on && m->recording.head == pc && m->base == m->recording.origin) { /* once around */
    m->recording.is_on = 0;
    if (tl_record_close(m->jit) == TL_AGAIN) start(m, pc);
  } else if (m->recording.is_on) {
    end_recording(m, "inner loop");
  }
  if (--*counter < 0) {
    tl_run run;
    switch (tl_hot(m->jit, pc, counter, m->base, &run)) {
      case TL_NOTHING: break;
      case TL_RUN: return enter(m, &run, pc);
      case TL_RECORD: start(m, pc); break;
    }
  }
  return pc;
}

/* Every jump goes through here. */
static const instruction *jump(machine *m, const instruction *pc) {
  const instruction *to = function_of(m, pc)->code + pc->n;
  return to <= pc ? loop_head(m, to) : to;
}
/* end */

static value integer(int64_t i) { return (value){.as.i = i, .tag = INT}; }
static value real(double f) { return (value){.as.f = f, .tag = FLOAT}; }

static value remainder_of(const value *b, const value *c) {
  if (b->tag != INT || c->tag != INT) fail("a remainder of what is no integer");
  return integer(c->as.i == 0 || c->as.i == -1 ? 0 : b->as.i % c->as.i);
}

static const instruction *call(machine *m, const instruction *pc) {
  if (m->stack + 1 + SLOTS - m->base < 3 * REGISTERS) fail("the stack is full");
  m->base[pc->a] = (value){.as.back = pc + 1, .tag = NIL};
  m->base += pc->a + 1;

  return m->functions[pc->n].code;
}

/* NULL: the program is over. */
static const instruction *go_back(machine *m, const instruction *pc) {
  value result = m->base[pc->a];
  const instruction *back = m->base[-1].as.back;
  if (!back) {
    m->result = result;
    return NULL;
  }
  m->base -= back[-1].a + 1;
  m->base[back[-1].a] = result;
  return back;
}

#define ARITHMETIC(op)                                                                        \
  r[pc->a] = are_ints(m, pc->b, pc->c)                                                        \
                 ? integer((int64_t)((uint64_t)r[pc->b].as.i op (uint64_t)r[pc->c].as.i))     \
                 : real(number_of(&r[pc->b]) op number_of(&r[pc->c]))

/* listing interpret */
static void interpret(machine *m, const instruction *pc) {
  for (;;) {
    if (m->recording.is_on) record(m, pc);
    value *r = m->base;
    switch (pc->op) {
      case INTEGER: r[pc->a] = integer(pc->n); break;
      case REAL: r[pc->a] = real(pc->n / 1000.0); break;
      case MOVE: r[pc->a] = r[pc->b]; break;
      case ADD: ARITHMETIC(+); break;
      case SUBTRACT: ARITHMETIC(-); break;
      case MULTIPLY: ARITHMETIC(*); break;
      case REMAINDER: r[pc->a] = remainder_of(&r[pc->b], &r[pc->c]); break;
      case JUMP_LESS:
        if (!is_less(&r[pc->a], &r[pc->b])) break;
        pc = jump(m, pc);
        continue;
      case JUMP_EQUAL:
        if (!is_equal(&r[pc->a], &r[pc->b])) break;
        pc = jump(m, pc);
        continue;
      case JUMP: pc = jump(m, pc); continue;
      case CALL: pc = call(m, pc); continue;
      case RETURN:
        pc = go_back(m, pc);
        if (!pc) return;
        continue;
    }
    pc++;
  }
}
/* end */

/*
** ---- Programs
*/

/* listing program */
/* s = 0; i = 0; do { s = s + square(i) - i; i = i + 1 } while (i < 20000); s */
static const instruction calls[] = {
    {INTEGER, 0, 0, 0, 0}, {INTEGER, 1, 0, 0, 0}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 20000},
    {MOVE, 5, 1, 0, 0}, {CALL, 4, 1, 0, 1}, {ADD, 0, 0, 4, 0}, {SUBTRACT, 0, 0, 1, 0}, {ADD, 1, 1, 2, 0},
    {JUMP_LESS, 1, 3, 0, 4}, {RETURN, 0, 0, 0, 0}};
/* square(x): if (x == 5) 0; else x * x */
static const instruction square[] = {
    {INTEGER, 1, 0, 0, 5}, {JUMP_EQUAL, 0, 1, 0, 4}, {MULTIPLY, 0, 0, 0, 0}, {RETURN, 0, 0, 0, 0},
    {INTEGER, 0, 0, 0, 0}, {RETURN, 0, 0, 0, 0}};
/* end */

/*
** ---- Running them, and the comparison
*/

#define CODE(name) {.code = name, .length = sizeof name / sizeof *name}

static const struct program {
  const char *name;
  function functions[FUNCTIONS];
} programs[] = {
    {"calls", {CODE(calls), CODE(square)}},
};

typedef struct outcome {
  value result;
  uint64_t traces, guards, misuses;
} outcome;

static uint64_t number_in(const char *json, const char *name) {
  const char *at = json ? strstr(json, name) : NULL;
  return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* listing run */
static outcome run(const struct program *program, tl_config config) {
  static machine m; /* static: it is large */
  memset(&m, 0, sizeof m);
  m.base = m.stack + 1;
  memcpy(m.functions, program->functions, sizeof m.functions);
  config.abi = TL_ABI_VERSION;
  m.jit = tl_new(&config);
  if (!m.jit) fail(tl_config_error());
  describe(m.jit);
  if (tl_set_counters(m.jit, m.counters, 64) != TL_OK) fail(tl_last_error(m.jit));
  if (tl_check_stack(m.jit, m.stack, m.stack + 1 + SLOTS) != TL_OK) fail(tl_last_error(m.jit));
  interpret(&m, m.functions[0].code);
  outcome found = {.result = m.result, .misuses = tl_misuses(m.jit)};
  const char *json = tl_stats_json(m.jit);
  found.guards = number_in(json, "\"guards_executed\": ");
  found.traces = number_in(json ? strstr(json, "\"compile\"") : NULL, "\"traces\": ");
  if (getenv("VERBOSE")) puts(tl_summary(m.jit));
  tl_free(m.jit);
  return found;
}
/* end */

static int same(const value *a, const value *b) { return a->tag == b->tag && a->as.i == b->as.i; }

/* listing check */
static int check(const struct program *program, int is_thorough) {
  outcome expected = run(program, (tl_config){.flags = TL_FLAG_OFF});
  uint32_t flags = TL_FLAG_CHECK | TL_FLAG_VERIFY | TL_FLAG_COUNT_GUARDS;
  outcome found = run(program, (tl_config){.threshold = 5, .flags = flags});
  if (!same(&expected.result, &found.result) || found.traces == 0 || found.misuses != 0) {
    fprintf(stderr, "%s: wrong with the JIT on\n", program->name);
    return 1;
  }
  /* the first executions of guards, then ever fewer of them, are forced to fail */
  uint64_t forced = 0;
  for (uint64_t n = 1; is_thorough && n <= found.guards; n += 1 + n / 2, forced++) {
    outcome other = run(program, (tl_config){.threshold = 5, .force_exit = n});
    if (!same(&expected.result, &other.result)) {
      fprintf(stderr, "%s: wrong with guard execution %" PRIu64 " forced to fail\n", program->name, n);
      return 1;
    }
  }
  printf("%s: %" PRIu64 " traces, %" PRIu64 " exits forced\n", program->name, found.traces, forced);
  return 0;
}
/* end */

int main(int count, char **words) {
  int failed = 0, is_thorough = count == 2 && strcmp(words[1], "check") == 0;
  if (count != 1 && !is_thorough) {
    fprintf(stderr, "usage: %s [check]\n", words[0]);
    return 2;
  }
  for (size_t n = 0; n < sizeof programs / sizeof *programs; n++) failed += check(&programs[n], is_thorough);
  return failed;
}
