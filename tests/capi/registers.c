/* registers.c: a complete little interpreter with Tracelift in it. Written to be read, and to be copied from.
**
** The machine has sixteen registers that hold nil, integers, floats and arrays, and a dozen instructions.
** What Tracelift adds to a plain interpreter is marked with the numbers of the steps in tracelift.h:
**
**   1. describe()       tells once what a register and an array look like in memory.
**   2. loop_head()      counts down at each backward jump, and asks what to do at zero.
**   3. record()         says, for each instruction about to be executed, what it does.
**   4. enter()          calls compiled code and goes on where it left: in other code, in the interpreter, or
**                       recording what comes next (a side trace).
**   5. call_from_code() is what compiled code calls where the program calls another one, which may do
**                       anything: run in compiled code of its own, fail, and jump out over its caller's.
**
** Functions that call themselves, whose recursion becomes linked code, are in functions.c.
**
** Everything else is the interpreter as it would be without. main() runs each program with the JIT off and
** on, and then with each execution of a guard forced to fail, and compares what is left in the registers.
*/
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelift.h"

/*
** ---- The interpreter's own data
** ----------------------------------------------------------------------------
*/

enum tag { NIL, INT, FLOAT, ARRAY };

typedef struct value {
  union {
    int64_t i;
    double f;
    struct array *a;
  } as;
  uint8_t tag; /* an enum tag */
} value;

typedef struct array {
  uint64_t kind; /* always ARRAY_KIND: how a real array is recognized */
  int64_t count;
  value *items;
} array;

#define ARRAY_KIND 0x41u
#define REGISTERS 16
#define LEVELS 20 /* of programs that have called one another */

enum opcode {
  LOAD_INT,   /* a = number */
  LOAD_FLOAT, /* a = number / 4 */
  MOVE,       /* a = b */
  ADD,        /* a = b + c */
  LENGTH,     /* a = number of items of b */
  GET_ITEM,   /* a = b[c] */
  SET_ITEM,   /* a[b] = c */
  NOTE,       /* calls note(a), a function with an effect */
  JUMP_LESS,  /* if a < b, go to `number` */
  JUMP,       /* go to `number` */
  CALL,       /* a = what program `number` makes of a; nil if it fails and b is not 0. Counts in c. */
  FAIL,       /* the programs up to a CALL with b end here */
  HALT
};

typedef struct instruction {
  uint8_t op, a, b, c;
  int32_t number;
} instruction;

/* What is being recorded. */
typedef struct recording {
  /* the head of the loop being recorded, or where a side trace begins, or NULL */
  const instruction *head;
  int is_side, is_started; /* whether it is a side trace; whether an instruction of it was recorded */
  int has_called;          /* whether it has called a program, which may have changed registers */
  uint32_t waits;          /* what it is woken by when a call has come back, or 0 */
} recording;

typedef struct machine {
  value *registers; /* of the running program, in the stack */
  value stack[LEVELS * REGISTERS];
  int64_t notes; /* what note() adds up */
  const instruction *program;
  jmp_buf *handler; /* where FAIL leads to */
  int level;        /* of the running program */
  tl_vm *jit;
  tl_calls *calls;      /* the library's list of calls that are open */
  int32_t counters[64]; /* one per loop, or shared */
  recording recording;
  recording waiting[LEVELS]; /* by level: what waits for a call to come back */
} machine;

/*
** ---- 1. Describing the host
** --------------------------------------------------------------------------------
*/

/* Ids of what was described: the same numbers in every tl_vm of this program. */
static struct {
  tl_tag tag[4]; /* by enum tag */
  tl_layout array;
  tl_func note, call;
  tl_cell payload[4], register_tag; /* of a register, by tl_type */
} ids;

/* A function with an effect, as the interpreter's libraries have them. Compiled code calls it too. */
static void note(machine *m, int64_t number) { m->notes = m->notes * 3 + number; }

/* See step 5. */
static const void *call_from_code(machine *m, value *registers, const tl_call_site *site,
                                  const instruction *pc);

static void describe(tl_vm *vm) {
  ids.tag[NIL] = tl_add_tag(vm, "nil", NIL, TL_VOID);
  ids.tag[INT] = tl_add_tag(vm, "int", INT, TL_INT);
  ids.tag[FLOAT] = tl_add_tag(vm, "float", FLOAT, TL_FLOAT);
  ids.tag[ARRAY] = tl_add_tag(vm, "array", ARRAY, TL_REF);
  tl_set_slots(vm, sizeof(value), offsetof(value, as), offsetof(value, tag), 1);
  tl_set_frame_words(vm, 1); /* where to go on: an instruction's address */

  /* An item is a value like any other: its payload has four views, which lie in one place, and a tag. */
  tl_class payload = tl_alias_class(vm, "item.payload"), tag = tl_alias_class(vm, "item.tag");
  tl_element item = {.stride = sizeof(value), .absent = ids.tag[NIL]};
  const char *views[4] = {"item.int", "item.float", "item.ref", "item.addr"};
  for (int type = 0; type < 4; type++)
    item.value[type] = tl_add_cell(vm, views[type], offsetof(value, as), 8, (tl_type)type, payload, 0);
  item.tag = tl_add_cell(vm, "item.tag", offsetof(value, tag), 1, TL_INT, tag, 0);

  /* An array is a record with an indexed part, which begins at index 0. */
  tl_class header = tl_alias_class(vm, "array.header");
  tl_cell kind = tl_add_cell(vm, "array.kind", offsetof(array, kind), 8, TL_INT, header, TL_IMMUTABLE);
  tl_cell count = tl_add_cell(vm, "array.count", offsetof(array, count), 8, TL_INT, header, 0);
  tl_cell items = tl_add_cell(vm, "array.items", offsetof(array, items), 8, TL_ADDR, header, 0);
  ids.array = tl_add_layout(vm, "array", sizeof(array), kind, ARRAY_KIND);
  tl_set_items(vm, ids.array, count, items, 0, &item);

  /* What a call of note() may change: the notes, and nothing that a trace knows of. */
  tl_class notes[] = {tl_alias_class(vm, "notes"), 0};
  ids.note = tl_add_func(vm, "note", (const void *)(uintptr_t)note, "ai>v", 0, NULL, notes);

  /* A call of a program may change anything. Registers lie in memory as items do. */
  memcpy(ids.payload, item.value, sizeof ids.payload);
  ids.register_tag = item.tag;
  tl_set_slot_cells(vm, ids.payload, ids.register_tag);
  ids.call = tl_add_func(vm, "call", (const void *)(uintptr_t)call_from_code, "aaaa>a", TL_EFFECT_REENTERS,
                         NULL, NULL);
}

/*
** ---- 3. Recording
** ------------------------------------------------------------------------------------------
*/

/*
** Bit n: register n is live. All of them are is always right; a compiler that knows better makes better
** loops.
*/
static const uint8_t all_live[REGISTERS / 8] = {0xff, 0xff};

/* A register that a call may have changed: memory has what it holds. The trace looks there from now on. */
static void look_again(machine *m, int number) {
  static const tl_type types[4] = {[NIL] = TL_VOID, [INT] = TL_INT, [FLOAT] = TL_FLOAT, [ARRAY] = TL_REF};
  tl_vm *vm = m->jit;
  uint8_t tag = m->registers[number].tag;
  tl_value place = tl_item_addr(vm, tl_frame_base(vm), tl_const_int(vm, number), sizeof(value), 0);
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, ids.register_tag, place), tl_const_int(vm, tag), TL_EXIT_GUARD);
  tl_value payload = tag == NIL ? 0 : tl_load(vm, ids.payload[types[tag]], place);
  tl_slot_known(vm, number, ids.tag[tag], payload);
}

static tl_value read_register(machine *m, int number) {
  if (tl_slot_is_forgotten(m->jit, number)) look_again(m, number);
  return tl_slot_read(m->jit, number, ids.tag[m->registers[number].tag]);
}

/* The value of a number as a float. */
static tl_value as_float(machine *m, int number) {
  tl_value value = read_register(m, number);
  return m->registers[number].tag == INT ? tl_op1(m->jit, TL_INT_TO_FLOAT, value) : value;
}

static int both_ints(const machine *m, int b, int c) {
  return m->registers[b].tag == INT && m->registers[c].tag == INT;
}

/*
** Says what the instruction does, for the values that the registers hold now. Reads and guards first, writes
** last.
*/
static void record(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  const value *r = m->registers;
  uint64_t words[1] = {(uintptr_t)pc};
  tl_resume_point(vm, r, words, all_live, REGISTERS);
  /* a side trace ends where it comes to a compiled loop */
  if (m->recording.is_side && m->recording.is_started && tl_has_loop(vm, pc)) {
    tl_record_link(vm, pc);
    m->recording.head = NULL;
    return;
  }
  m->recording.is_started = 1;
  /* what the loop began with it must know again at its end */
  for (int n = 0; n < REGISTERS && m->recording.has_called; n++)
    if (tl_slot_is_forgotten(vm, n) == 2) look_again(m, n);
  m->recording.has_called = 0;
  switch (pc->op) {
    case LOAD_INT: tl_slot_write(vm, pc->a, ids.tag[INT], tl_const_int(vm, pc->number)); break;
    case LOAD_FLOAT: tl_slot_write(vm, pc->a, ids.tag[FLOAT], tl_const_float(vm, pc->number / 4.0)); break;
    case MOVE: tl_slot_write(vm, pc->a, ids.tag[r[pc->b].tag], read_register(m, pc->b)); break;
    case ADD:
      if (both_ints(m, pc->b, pc->c)) {
        tl_value sum = tl_op2(vm, TL_INT_ADD, read_register(m, pc->b), read_register(m, pc->c));
        tl_slot_write(vm, pc->a, ids.tag[INT], sum);
      } else {
        tl_value sum = tl_op2(vm, TL_FLOAT_ADD, as_float(m, pc->b), as_float(m, pc->c));
        tl_slot_write(vm, pc->a, ids.tag[FLOAT], sum);
      }
      break;
    case LENGTH:
      tl_slot_write(vm, pc->a, ids.tag[INT], tl_item_count(vm, ids.array, read_register(m, pc->b)));
      break;
    case GET_ITEM: {
      /* checked by the trace, with the index */
      tl_tag tag = ids.tag[r[pc->b].as.a->items[r[pc->c].as.i].tag];
      tl_value item = tl_get_item(vm, ids.array, tag, read_register(m, pc->b), read_register(m, pc->c));
      tl_slot_write(vm, pc->a, tag, item);
      break;
    }
    case SET_ITEM: {
      tl_value list = read_register(m, pc->a), index = read_register(m, pc->b),
          item = read_register(m, pc->c);
      tl_put_item(vm, ids.array, ids.tag[r[pc->c].tag], list, index, item);
      break;
    }
    case NOTE: {
      tl_value args[2] = {tl_context(vm), read_register(m, pc->a)};
      tl_call(vm, ids.note, args, 2);
      break;
    }
    case JUMP_LESS: {
      int ints = both_ints(m, pc->a, pc->b);
      int less = ints ? r[pc->a].as.i < r[pc->b].as.i
                      : (r[pc->a].tag == INT ? (double)r[pc->a].as.i : r[pc->a].as.f) <
                            (r[pc->b].tag == INT ? (double)r[pc->b].as.i : r[pc->b].as.f);
      tl_value test = ints ? tl_op2(vm, TL_INT_LT, read_register(m, pc->a), read_register(m, pc->b))
                           : tl_op2(vm, TL_FLOAT_LT, as_float(m, pc->a), as_float(m, pc->b));
      /* Leaving by the loop's own jump is its normal end, and no failure. */
      int closes = !m->recording.is_side && m->program + pc->number == m->recording.head;
      tl_guard(vm, less ? TL_GUARD_TRUE : TL_GUARD_FALSE, test, 0, closes ? TL_EXIT_LOOP_END : TL_EXIT_GUARD);
      break;
    }
    case JUMP: break;
    case CALL: {
      /* the code stores all registers before it; the result's, and the counting one, are read again after it
      ** where they are wanted */
      tl_value args[1] = {tl_const_addr(vm, pc)};
      int32_t changed[2] = {pc->a, pc->c};
      tl_host_call(vm, ids.call, args, 1, changed, 2);
      m->recording.has_called = 1;
      break;
    }
    case FAIL:
    case HALT:
      tl_record_abort(vm, pc->op == FAIL ? "error" : "program ended");
      m->recording.head = NULL;
      return;
  }
  if (!tl_recording(vm)) { /* some call above failed, or gave up: the reason is in the statistics */
    tl_record_abort(vm, "not recordable");
    m->recording.head = NULL;
  }
}

/* The program calls another one: the recording waits, and others may begin meanwhile. */
static void put_aside(machine *m) {
  recording *waiting = &m->waiting[m->level];
  *waiting = m->recording;
  waiting->waits = waiting->head ? tl_record_aside(m->jit) : 0;
  m->recording.head = NULL;
}

/* The call has come back: it goes on, unless it was given up, as too many have waited. */
static void wake(machine *m) {
  recording *waiting = &m->waiting[m->level];
  if (waiting->waits && tl_record_wake(m->jit, waiting->waits)) m->recording = *waiting;
  waiting->waits = 0;
}

/* An error has ended the programs above `level`: what they have recorded leads nowhere. */
static void give_up_above(machine *m, int level) {
  if (m->recording.head) tl_record_abort(m->jit, "error");
  m->recording.head = NULL;
  for (; m->level > level; m->level--) {
    wake(m);
    if (m->recording.head) tl_record_abort(m->jit, "error");
    m->recording.head = NULL;
  }
}

/*
** ---- 2. and 4. Running
** -------------------------------------------------------------------------------------
*/

static void start(machine *m, const instruction *pc, int is_side, tl_status status) {
  if (status == TL_OK) m->recording = (recording){.head = pc, .is_side = is_side};
}

/* Runs compiled code and returns the instruction to go on with. */
static const instruction *enter(machine *m, tl_run run, const instruction *pc) {
  int action = TL_RUN;
  while (action == TL_RUN) {
    tl_exit_info info;
    tl_left left = tl_run_code(&run, m, m->registers);
    tl_exit(m->jit, left, m, &info);
    if (info.kind == TL_EXIT_REFUSED) return pc;
    pc = (const instruction *)(uintptr_t)info.frames[0].words[0];
    action = tl_next(m->jit, m->registers, &run);
  }
  if (action == TL_RECORD) start(m, pc, 1, tl_record_side(m->jit, m->registers));
  return pc;
}

/* The program has jumped backwards to `pc`: the head of a loop. */
static const instruction *loop_head(machine *m, const instruction *pc) {
  int32_t *counter = &m->counters[(pc - m->program) % 64];
  if (m->recording.head && m->recording.is_side) {
    tl_back_edge(m->jit, pc, 0);
  } else if (m->recording.head == pc) { /* once around */
    m->recording.head = NULL;
    if (tl_record_close(m->jit) == TL_AGAIN) start(m, pc, 0, tl_record(m->jit, pc, m->registers));
  } else if (m->recording.head) {
    tl_record_abort(m->jit, "inner loop");
    m->recording.head = NULL;
  }
  if (--*counter < 0) {
    tl_run run;
    switch (tl_hot(m->jit, pc, counter, m->registers, &run)) {
      case TL_NOTHING: break;
      case TL_RUN: return enter(m, run, pc);
      case TL_RECORD: start(m, pc, 0, tl_record(m->jit, pc, m->registers)); break;
    }
  }
  return pc;
}

static const instruction *const called[4]; /* see below */
static int interpret(machine *m);

static _Noreturn void fail(machine *m) {
  if (!m->handler) exit(3);
  longjmp(*m->handler, 1);
}

/* Runs the program that was just called; returns 0 if it has failed. */
static int interpret_protected(machine *m) {
  jmp_buf here, *before = m->handler;
  int level = m->level;
  m->handler = &here;
  if (setjmp(here) == 0) {
    if (interpret(m) != 0) fail(m);
    m->handler = before;
    return 1;
  }
  m->handler = before;
  give_up_above(m, level - 1);
  return 0;
}

/*
** What CALL does, in the interpreter and in compiled code. Whatever happens in here, the registers of all
** programs are in memory: compiled code has stored its own.
*/
static void call(machine *m, const instruction *pc) {
  value *r = m->registers;
  const instruction *program = m->program;
  if (m->level + 1 == LEVELS) fail(m);
  put_aside(m);
  r[pc->c].as.i = r[pc->c].tag == INT ? r[pc->c].as.i + 1 : 1;
  r[pc->c].tag = INT;
  m->registers = r + REGISTERS;
  memset(m->registers, 0, REGISTERS * sizeof(value));
  m->registers[0] = r[pc->a];
  m->program = called[pc->number];
  m->level++;
  int is_good = 1;
  if (pc->b) is_good = interpret_protected(m);
  else if (interpret(m) != 0) fail(m);
  r[pc->a] = is_good ? r[REGISTERS] : (value){.tag = NIL};
  m->registers = r;
  m->program = program;
  m->level = (int)(r - m->stack) / REGISTERS;
  wake(m);
}

/*
** ---- 5. What compiled code calls
** ------------------------------------------------------------------------------------
*/

/*
** The code has stored what the registers hold, and goes on if this returns anything but NULL. The machine
** has no frames beside its registers: what others would make of site->frames lies on the native stack here.
** If the program fails, the longjmp goes out over this function and the code that has called it, which
** nobody need tell: the next call sees by its place on the native stack that this one is over.
*/
static const void *call_from_code(machine *m, value *registers, const tl_call_site *site,
                                  const instruction *pc) {
  char here = 0;
  uint64_t epoch = tl_call_begin(m->jit, m->calls, &here);
  call(m, pc);
  return tl_call_end(m->jit, m->calls, site, &here, epoch) ? registers : NULL;
}

/*
** ---- The interpreter itself
** -----------------------------------------------------------------------------------------
*/

static double number_of(const value *v) { return v->tag == INT ? (double)v->as.i : v->as.f; }

static int interpret(machine *m) {
  const instruction *pc = m->program;
  value *r = m->registers;
  for (;;) {
    if (m->recording.head) record(m, pc);
    switch (pc->op) {
      case LOAD_INT: r[pc->a].as.i = pc->number; r[pc->a].tag = INT; break;
      case LOAD_FLOAT: r[pc->a].as.f = pc->number / 4.0; r[pc->a].tag = FLOAT; break;
      case MOVE: r[pc->a] = r[pc->b]; break;
      case ADD:
        if (both_ints(m, pc->b, pc->c)) {
          r[pc->a].as.i = (int64_t)((uint64_t)r[pc->b].as.i + (uint64_t)r[pc->c].as.i);
          r[pc->a].tag = INT;
        } else {
          r[pc->a].as.f = number_of(&r[pc->b]) + number_of(&r[pc->c]);
          r[pc->a].tag = FLOAT;
        }
        break;
      case LENGTH: r[pc->a].as.i = r[pc->b].as.a->count; r[pc->a].tag = INT; break;
      case GET_ITEM: {
        const array *list = r[pc->b].as.a;
        if ((uint64_t)r[pc->c].as.i >= (uint64_t)list->count) return 1;
        r[pc->a] = list->items[r[pc->c].as.i];
        break;
      }
      case SET_ITEM: {
        array *list = r[pc->a].as.a;
        if ((uint64_t)r[pc->b].as.i >= (uint64_t)list->count) return 1;
        list->items[r[pc->b].as.i] = r[pc->c];
        break;
      }
      case NOTE: note(m, r[pc->a].as.i); break;
      case JUMP_LESS: {
        int less = both_ints(m, pc->a, pc->b) ? r[pc->a].as.i < r[pc->b].as.i
                                              : number_of(&r[pc->a]) < number_of(&r[pc->b]);
        if (less) {
          const instruction *target = m->program + pc->number;
          pc = target <= pc ? loop_head(m, target) : target;
          continue;
        }
        break;
      }
      case JUMP: {
        const instruction *target = m->program + pc->number;
        pc = target <= pc ? loop_head(m, target) : target;
        continue;
      }
      case CALL: call(m, pc); break;
      case FAIL: fail(m);
      case HALT: return 0;
    }
    pc++;
  }
}

/*
** ---- Programs, and the comparison
** --------------------------------------------------------------------------
*/

/* s = 0; x = 0.25; i = 0; do { s = s + i; x = x + s; i = i + 1 } while (i < 900) */
static const instruction sums[] = {
    {LOAD_INT, 0, 0, 0, 0}, {LOAD_FLOAT, 1, 0, 0, 1}, {LOAD_INT, 2, 0, 0, 0}, {LOAD_INT, 3, 0, 0, 1},
    {LOAD_INT, 4, 0, 0, 900},
    {ADD, 0, 0, 2, 0}, {ADD, 1, 1, 0, 0}, {ADD, 2, 2, 3, 0}, {JUMP_LESS, 2, 4, 0, 5}, {HALT, 0, 0, 0, 0}};

/* Twice over the array in register 8: t = a[i]; s = s + t; a[i] = s. Items 150 to 159 are floats, so that
** s becomes one, and the loop is compiled once for integers and once for floats. */
static const instruction array_sum[] = {
    {LOAD_INT, 3, 0, 0, 1}, {LENGTH, 4, 8, 0, 0}, {LOAD_INT, 6, 0, 0, 0}, {LOAD_INT, 7, 0, 0, 2},
    {LOAD_INT, 0, 0, 0, 0}, {LOAD_INT, 2, 0, 0, 0}, /* 4: outer loop */
    {GET_ITEM, 5, 8, 2, 0}, {ADD, 0, 0, 5, 0}, {SET_ITEM, 8, 2, 0, 0}, {ADD, 2, 2, 3, 0},
    {JUMP_LESS, 2, 4, 0, 6},
    {ADD, 6, 6, 3, 0}, {JUMP_LESS, 6, 7, 0, 4}, {HALT, 0, 0, 0, 0}};

/*
** do { note(i); i = i + 1 } while (i < 200), with a jump forwards over an instruction that is rarely executed
*/
static const instruction notes[] = {
    {LOAD_INT, 2, 0, 0, 0}, {LOAD_INT, 3, 0, 0, 1}, {LOAD_INT, 4, 0, 0, 200}, {LOAD_INT, 5, 0, 0, 180},
    {NOTE, 2, 0, 0, 0}, {JUMP_LESS, 2, 5, 0, 7}, {NOTE, 5, 0, 0, 0}, {ADD, 2, 2, 3, 0},
    {JUMP_LESS, 2, 4, 0, 4},
    {HALT, 0, 0, 0, 0}};

/* do { j = 0; do { s = s + j; j = j + 1 } while (j < 10); if (i < 30) x = x + s; i = i + 1 } while (i <
** 60): a nest of loops, which runs without the interpreter in the end */
static const instruction nest[] = {
    {LOAD_INT, 0, 0, 0, 0}, {LOAD_FLOAT, 1, 0, 0, 1}, {LOAD_INT, 2, 0, 0, 0}, {LOAD_INT, 3, 0, 0, 1},
    {LOAD_INT, 4, 0, 0, 60}, {LOAD_INT, 5, 0, 0, 10}, {LOAD_INT, 7, 0, 0, 30},
    {LOAD_INT, 6, 0, 0, 0}, /* 7: outer loop */
    {ADD, 0, 0, 6, 0}, {ADD, 6, 6, 3, 0}, {JUMP_LESS, 6, 5, 0, 8},
    {JUMP_LESS, 7, 2, 0, 13}, {ADD, 1, 1, 0, 0}, {ADD, 2, 2, 3, 0}, {JUMP_LESS, 2, 4, 0, 7},
    {HALT, 0, 0, 0, 0}};

/* Programs that are called, with x in register 0. */
enum { TRIANGLE, RISKY, SEVERAL, TREE };

/* s = 0; j = 0; do { s = s + j; j = j + 1 } while (j < x); s */
static const instruction triangle[] = {
    {LOAD_INT, 1, 0, 0, 0}, {LOAD_INT, 2, 0, 0, 0}, {LOAD_INT, 3, 0, 0, 1},
    {ADD, 1, 1, 2, 0}, {ADD, 2, 2, 3, 0}, {JUMP_LESS, 2, 0, 0, 3}, {MOVE, 0, 1, 0, 0}, {HALT, 0, 0, 0, 0}};

/* if (40 < x) fail; triangle(x) */
static const instruction risky[] = {
    {LOAD_INT, 1, 0, 0, 40}, {JUMP_LESS, 1, 0, 0, 4}, {CALL, 0, 0, 3, TRIANGLE}, {HALT, 0, 0, 0, 0},
    {FAIL, 0, 0, 0, 0}};

/* s = 0; i = 0; do { s = s + risky(i); i = i + 1 } while (i < x); s: an error jumps over this loop's code */
static const instruction several[] = {
    {LOAD_INT, 1, 0, 0, 0}, {LOAD_INT, 2, 0, 0, 0}, {LOAD_INT, 3, 0, 0, 1},
    {MOVE, 4, 2, 0, 0}, {CALL, 4, 0, 5, RISKY}, {ADD, 1, 1, 4, 0}, {ADD, 2, 2, 3, 0}, {JUMP_LESS, 2, 0, 0, 3},
    {MOVE, 0, 1, 0, 0}, {HALT, 0, 0, 0, 0}};

/* if (x < 1) x; else { s = 0; three times: s = s + tree(x - 1) + 1; s }: a loop's code within itself */
static const instruction tree[] = {
    {LOAD_INT, 1, 0, 0, 1}, {JUMP_LESS, 0, 1, 0, 14}, {LOAD_INT, 2, 0, 0, 0}, {LOAD_INT, 3, 0, 0, 3},
    {LOAD_INT, 4, 0, 0, 0}, {LOAD_INT, 6, 0, 0, -1}, {ADD, 5, 0, 6, 0},
    {MOVE, 7, 5, 0, 0}, {CALL, 7, 0, 8, TREE}, {ADD, 4, 4, 7, 0}, {ADD, 4, 4, 1, 0}, {ADD, 2, 2, 1, 0},
    {JUMP_LESS, 2, 3, 0, 7}, {MOVE, 0, 4, 0, 0}, {HALT, 0, 0, 0, 0}};

static const instruction *const called[4] = {triangle, risky, several, tree};

/* do { t = triangle(i); s = s + t; u = several(i), or nil; v = u; i = i + 1 } while (i < 60) */
static const instruction calls[] = {
    {LOAD_INT, 0, 0, 0, 0}, {LOAD_INT, 2, 0, 0, 0}, {LOAD_INT, 3, 0, 0, 1}, {LOAD_INT, 4, 0, 0, 60},
    {LOAD_FLOAT, 9, 0, 0, 2},
    {MOVE, 5, 2, 0, 0}, {CALL, 5, 0, 7, TRIANGLE}, {ADD, 0, 0, 5, 0}, {ADD, 9, 9, 9, 0}, {MOVE, 6, 2, 0, 0},
    {CALL, 6, 1, 7, SEVERAL}, {MOVE, 1, 6, 0, 0}, {ADD, 2, 2, 3, 0}, {JUMP_LESS, 2, 4, 0, 5},
    {HALT, 0, 0, 0, 0}};

/* tree(6) */
static const instruction recursion[] = {
    {LOAD_INT, 0, 0, 0, 6}, {CALL, 0, 0, 1, TREE}, {HALT, 0, 0, 0, 0}};

#define ITEMS 200

typedef struct result {
  value registers[REGISTERS];
  value items[ITEMS];
  int64_t notes;
  uint64_t guards; /* executed by compiled code */
  uint64_t traces;
  uint64_t misuses; /* rules of the header that this host has broken */
} result;

static uint64_t number_in(const char *json, const char *name) {
  const char *at = strstr(json, name);
  return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static result run(const instruction *program, tl_config config) {
  static value items[ITEMS]; /* static: its address is the same in all runs */
  static array list = {ARRAY_KIND, ITEMS, items};
  static machine m; /* static: it is large */
  memset(&m, 0, sizeof m);
  m.program = program;
  m.registers = m.stack;
  for (int i = 0; i < ITEMS; i++) {
    memset(&items[i], 0, sizeof items[i]);
    items[i].tag = i / 10 == 15 ? FLOAT : INT;
    if (items[i].tag == FLOAT) items[i].as.f = i + 0.5;
    else items[i].as.i = i * 7;
  }
  m.registers[8].as.a = &list;
  m.registers[8].tag = ARRAY;
  config.abi = TL_ABI_VERSION;
  m.jit = tl_new(&config);
  if (!m.jit) {
    fprintf(stderr, "tl_new: %s\n", tl_config_error());
    exit(2);
  }
  describe(m.jit);
  m.calls = tl_get_calls(m.jit);
  tl_set_counters(m.jit, m.counters, 64);
  if (interpret(&m) != 0) exit(3);
  result result = {.notes = m.notes};
  memcpy(result.registers, m.registers, sizeof result.registers);
  memcpy(result.items, items, sizeof items);
  const char *json = tl_stats_json(m.jit);
  result.guards = number_in(json, "\"guards_executed\": ");
  result.traces = number_in(strstr(json, "\"compile\""), "\"traces\": ");
  if (getenv("VERBOSE")) puts(tl_stats_text(m.jit));
  result.misuses = tl_misuses(m.jit);
  tl_free(m.jit);
  return result;
}

static int same_value(const value *a, const value *b) {
  return a->tag == b->tag && (a->tag == NIL || a->as.i == b->as.i);
}

static int same(const result *a, const result *b) {
  for (int i = 0; i < REGISTERS; i++)
    if (!same_value(&a->registers[i], &b->registers[i])) return 0;
  for (int i = 0; i < ITEMS; i++)
    if (!same_value(&a->items[i], &b->items[i])) return 0;
  return a->notes == b->notes;
}

int main(void) {
  const instruction *programs[] = {sums, array_sum, notes, nest, calls, recursion};
  const char *names[] = {"sums", "array_sum", "notes", "nest", "calls", "recursion"};
  for (int p = 0; p < 6; p++) {
    result expected = run(programs[p], (tl_config){.flags = TL_FLAG_OFF});
    uint32_t flags = TL_FLAG_VERIFY | TL_FLAG_CHECK | TL_FLAG_COUNT_GUARDS | TL_FLAG_COUNT_ITERATIONS;
    result found = run(programs[p], (tl_config){.threshold = 5, .flags = flags});
    if (expected.traces != 0 || found.traces == 0 || found.misuses != 0 || !same(&expected, &found)) {
      fprintf(stderr, "%s: wrong with the JIT on (%" PRIu64 " traces)\n", names[p], found.traces);
      return 1;
    }
    /* Each execution of a guard would be thousands of runs: the first ones, then ever fewer. */
    uint64_t runs = 0;
    for (uint64_t n = 1; n <= found.guards; n += 1 + n / 16, runs++) {
      result forced = run(programs[p], (tl_config){.threshold = 5, .force_exit = n});
      if (!same(&expected, &forced)) {
        fprintf(stderr, "%s: wrong with guard execution %" PRIu64 " forced to fail\n", names[p], n);
        return 1;
      }
    }
    printf("%s: %" PRIu64 " traces, %" PRIu64 " guards executed, %" PRIu64 " forced exits\n", names[p],
           found.traces,
           found.guards, runs);
  }
  return 0;
}
