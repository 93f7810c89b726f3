/* words.c: values of one word. The same little machine twice: NaN boxing, with integers of 32 bits, floats
** and pointers; and pointers with a tag in their lowest bit beside integers of 63 bits.
**
** The programs run with the JIT off and on, and with each execution of a guard forced to fail. Integers that
** do not fit become floats in the first kind, and end the loop in the second. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelift.h"

typedef uint64_t word;

typedef struct cell {
  uint64_t kind;
  word held;
} cell;

#define CELL_KIND 0x43u
#define SLOTS 6
#define STEPS 200

enum kind { INTEGER, NUMBER, CELL, NOTHING, KINDS };

/* How a kind of words works: see tl_set_word. */
typedef struct boxing {
  const char *name;
  tl_word coding[KINDS];
  int has[KINDS];
  int64_t least, most; /* integers */
} boxing;

#define TAG(number) ((uint64_t)(number) << 48)

static const boxing boxings[2] = {
    {"NaN boxing",
     {[INTEGER] = {~0ull, TAG(0xfff9), TAG(0xfff9) | 0xffffffffull, TAG(0xfff9), 0, 32, 32},
      [NUMBER] = {~0ull, 0, TAG(0xfff8), 0, 0x7ff8000000000000ull, 0, 0},
      [CELL] = {~0ull, TAG(0xfffa), TAG(0xfffb) - 1, TAG(0xfffa), 0, 0, 0},
      [NOTHING] = {~0ull, TAG(0xfffc), TAG(0xfffc), 0, 0, 0, 0}},
     {1, 1, 1, 1}, INT32_MIN, INT32_MAX},
    {"tagged pointers",
     {[INTEGER] = {1, 0, 0, 0, 0, 0, 1}, [CELL] = {7, 1, 1, 1, 0, 0, 0}, [NOTHING] = {7, 3, 3, 0, 0, 0, 0}},
     {1, 0, 1, 1}, INT64_MIN / 2, INT64_MAX / 2}};

/* The interpreter's own ways of doing this, from the same numbers. */
static enum kind kind_of(const boxing *b, word w) {
  for (int kind = 0; kind < KINDS; kind++) {
    const tl_word *c = &b->coding[kind];
    if (b->has[kind] && (w & c->mask) >= c->low && (w & c->mask) <= c->high) return (enum kind)kind;
  }
  abort();
}

static word integer(const boxing *b, int64_t i) {
  const tl_word *c = &b->coding[INTEGER];
  return (((uint64_t)i << c->right) >> c->left) + c->bias;
}

static int64_t as_integer(const boxing *b, word w) {
  const tl_word *c = &b->coding[INTEGER];
  return (int64_t)((w - c->bias) << c->left) >> c->right;
}

static word number(double d) {
  word w;
  memcpy(&w, &d, sizeof w);
  return isnan(d) ? boxings[0].coding[NUMBER].nan : w;
}

static double as_number(const boxing *b, word w) {
  double d;
  if (kind_of(b, w) == INTEGER) return (double)as_integer(b, w);
  memcpy(&d, &w, sizeof d);
  return d;
}

static cell *as_cell(const boxing *b, word w) { return (cell *)(uintptr_t)(w - b->coding[CELL].bias); }

/* a = b + c; a = the content of cell b; the content of cell a = b; if a < b go back to `c` */
enum op { ADD, GET, PUT, LESS };
typedef struct step {
  uint8_t op, a, b, c;
} step;

typedef struct machine {
  const boxing *boxing;
  const step *program;
  int length;
  word slots[SLOTS];
  cell cells[2];
  tl_vm *vm;
  int32_t counter;
  int is_recording;
} machine;

static struct {
  tl_tag tag[KINDS];
  tl_layout cell;
  tl_field held;
} ids;

static void describe(tl_vm *vm, const boxing *b) {
  static const char *const names[KINDS] = {"integer", "number", "cell", "nothing"};
  static const tl_type types[KINDS] = {TL_INT, TL_FLOAT, TL_REF, TL_VOID};
  tl_set_word_slots(vm, sizeof(word), 0);
  for (int kind = 0; kind < KINDS; kind++) {
    ids.tag[kind] = tl_add_tag(vm, names[kind], (uint64_t)kind, types[kind]);
    if (b->has[kind]) tl_set_word(vm, ids.tag[kind], &b->coding[kind]);
  }
  tl_set_frame_words(vm, 1);
  tl_cell kind = tl_add_cell(vm, "kind", offsetof(cell, kind), 8, TL_INT, tl_alias_class(vm, "kind"), 0);
  tl_cell held = tl_add_cell(vm, "held", offsetof(cell, held), 8, TL_INT, tl_alias_class(vm, "held"), 0);
  ids.cell = tl_add_layout(vm, "cell", sizeof(cell), kind, CELL_KIND);
  ids.held = tl_add_field(vm, ids.cell, held);
}

static tl_value read(machine *m, int slot) {
  return tl_slot_read(m->vm, slot, ids.tag[kind_of(m->boxing, m->slots[slot])]);
}

static tl_value read_number(machine *m, int slot) {
  tl_value value = read(m, slot);
  return kind_of(m->boxing, m->slots[slot]) == INTEGER ? tl_op1(m->vm, TL_INT_TO_FLOAT, value) : value;
}

/* The sum, and guards that it fits an integer, or does not, as it is now. */
static void record_add(machine *m, const step *s) {
  tl_vm *vm = m->vm;
  const boxing *b = m->boxing;
  if (kind_of(b, m->slots[s->b]) != INTEGER || kind_of(b, m->slots[s->c]) != INTEGER) {
    tl_value sum = tl_op2(vm, TL_FLOAT_ADD, read_number(m, s->b), read_number(m, s->c));
    tl_slot_write(vm, s->a, ids.tag[NUMBER], sum);
    return;
  }
  int64_t now = as_integer(b, m->slots[s->b]) + as_integer(b, m->slots[s->c]);
  int fits = now >= b->least && now <= b->most;
  tl_value sum = tl_op2(vm, TL_INT_ADD, read(m, s->b), read(m, s->c));
  tl_value above = tl_op2(vm, TL_INT_SUB, sum, tl_const_int(vm, b->least));
  tl_value inside = tl_op2(vm, TL_UINT_LE, above,
                           tl_const_int(vm, (int64_t)((uint64_t)b->most - (uint64_t)b->least)));
  tl_guard(vm, fits ? TL_GUARD_TRUE : TL_GUARD_FALSE, inside, 0, TL_EXIT_GUARD);
  if (fits) tl_slot_write(vm, s->a, ids.tag[INTEGER], sum);
  else tl_slot_write(vm, s->a, ids.tag[NUMBER], tl_op1(vm, TL_INT_TO_FLOAT, sum));
}

static void record(machine *m, int at) {
  static const uint8_t live[1] = {(1u << SLOTS) - 1};
  tl_vm *vm = m->vm;
  const step *s = &m->program[at];
  uint64_t words[1] = {(uint64_t)at};
  tl_resume_point(vm, m->slots, words, live, SLOTS);
  switch (s->op) {
    case ADD: record_add(m, s); break;
    case GET: {
      enum kind kind = kind_of(m->boxing, as_cell(m->boxing, m->slots[s->b])->held);
      tl_value record = read(m, s->b);
      tl_guard_class(vm, ids.cell, record);
      tl_slot_write(vm, s->a, ids.tag[kind], tl_decode(vm, ids.tag[kind], tl_get(vm, ids.held, record)));
      break;
    }
    case PUT: {
      enum kind kind = kind_of(m->boxing, m->slots[s->b]);
      tl_value record = read(m, s->a), value = read(m, s->b);
      tl_guard_class(vm, ids.cell, record);
      tl_set(vm, ids.held, record, tl_encode(vm, ids.tag[kind], value));
      break;
    }
    default: {
      int is_less = as_number(m->boxing, m->slots[s->a]) < as_number(m->boxing, m->slots[s->b]);
      tl_value less = tl_op2(vm, TL_FLOAT_LT, read_number(m, s->a), read_number(m, s->b));
      tl_guard(vm, is_less ? TL_GUARD_TRUE : TL_GUARD_FALSE, less, 0, TL_EXIT_LOOP_END);
    }
  }
}

static int add(machine *m, const step *s) {
  const boxing *b = m->boxing;
  word x = m->slots[s->b], y = m->slots[s->c];
  if (kind_of(b, x) == INTEGER && kind_of(b, y) == INTEGER) {
    int64_t sum = as_integer(b, x) + as_integer(b, y);
    if (sum >= b->least && sum <= b->most) m->slots[s->a] = integer(b, sum);
    else if (b->has[NUMBER]) m->slots[s->a] = number((double)sum);
    else return 0;
  } else m->slots[s->a] = number(as_number(b, x) + as_number(b, y));
  return 1;
}

/* Back at the head of the loop, step 0: where to go on. */
static int head(machine *m) {
  if (m->is_recording) {
    m->is_recording = 0;
    if (tl_record_close(m->vm) == TL_AGAIN) m->is_recording = tl_record(m->vm, m->program, m->slots) == TL_OK;
  }
  if (--m->counter >= 0) return 0;
  tl_run run;
  switch (tl_hot(m->vm, m->program, &m->counter, m->slots, &run)) {
    case TL_RECORD: m->is_recording = tl_record(m->vm, m->program, m->slots) == TL_OK; return 0;
    case TL_NOTHING: return 0;
    case TL_RUN: {
      tl_exit_info info;
      tl_exit(m->vm, tl_run_code(&run, m, m->slots), m, &info);
      return info.kind == TL_EXIT_REFUSED ? 0 : (int)info.frames[0].words[0];
    }
  }
  return 0;
}

static void interpret(machine *m) {
  for (int at = 0; at < m->length; at++) {
    if (m->is_recording) record(m, at);
    const step *s = &m->program[at];
    const boxing *b = m->boxing;
    switch (s->op) {
      case ADD:
        if (!add(m, s)) at = m->length;
        break;
      case GET: m->slots[s->a] = as_cell(b, m->slots[s->b])->held; break;
      case PUT: as_cell(b, m->slots[s->a])->held = m->slots[s->b]; break;
      default:
        if (as_number(b, m->slots[s->a]) < as_number(b, m->slots[s->b])) at = head(m) - 1;
    }
  }
  if (m->is_recording) tl_record_abort(m->vm, "loop ended");
}

/* slots: 0 i, 1 sum, 2 the number of steps, 3 one, 4 a cell, 5 what is added */
static const step sums[] = {{ADD, 1, 1, 5}, {ADD, 0, 0, 3}, {LESS, 0, 2, 0}};
static const step cells[] = {{GET, 1, 4, 0}, {ADD, 1, 1, 5}, {PUT, 4, 1, 0}, {ADD, 0, 0, 3}, {LESS, 0, 2, 0}};

typedef struct outcome {
  word slots[SLOTS], held;
  uint64_t traces, guards, misuses;
} outcome;

static uint64_t number_in(const char *json, const char *name) {
  const char *at = strstr(json, name);
  return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static outcome run(const boxing *b, const step *program, int length, word added, tl_config config) {
  static machine m; /* its cells lie at one place in all runs */
  m = (machine){.boxing = b, .program = program, .length = length};
  config.abi = TL_ABI_VERSION;
  m.vm = tl_new(&config);
  if (!m.vm) exit(2);
  describe(m.vm, b);
  if (tl_set_counters(m.vm, &m.counter, 1) != TL_OK) exit(3);
  m.slots[0] = m.slots[1] = integer(b, 0);
  m.slots[2] = integer(b, STEPS);
  m.slots[3] = integer(b, 1);
  m.cells[0] = (cell){CELL_KIND, integer(b, 7)};
  m.slots[4] = (word)(uintptr_t)&m.cells[0] + b->coding[CELL].bias;
  m.slots[5] = added;
  interpret(&m);
  outcome o = {.held = m.cells[0].held, .misuses = tl_misuses(m.vm)};
  memcpy(o.slots, m.slots, sizeof o.slots);
  const char *json = tl_stats_json(m.vm);
  o.guards = number_in(json, "\"guards_executed\": ");
  o.traces = number_in(strstr(json, "\"compile\""), "\"traces\": ");
  if (o.misuses) fprintf(stderr, "%s\n", tl_last_error(m.vm));
  tl_free(m.vm);
  return o;
}

static int same(const outcome *a, const outcome *b) {
  return memcmp(a->slots, b->slots, sizeof a->slots) == 0 && a->held == b->held;
}

static int try(const boxing *b, const char *name, const step *program, int length, word added) {
  outcome expected = run(b, program, length, added, (tl_config){.flags = TL_FLAG_OFF});
  uint32_t flags = TL_FLAG_VERIFY | TL_FLAG_CHECK | TL_FLAG_COUNT_GUARDS;
  outcome found = run(b, program, length, added, (tl_config){.threshold = 4, .flags = flags});
  if (!same(&expected, &found) || found.traces == 0 || found.misuses != 0) {
    fprintf(stderr, "%s, %s: wrong with the JIT on (%" PRIu64 " traces)\n", b->name, name, found.traces);
    return 1;
  }
  for (uint64_t n = 1; n <= found.guards; n += 1 + n / 16) {
    outcome forced = run(b, program, length, added, (tl_config){.threshold = 4, .force_exit = n});
    if (!same(&expected, &forced)) {
      fprintf(stderr, "%s, %s: wrong with guard execution %" PRIu64 " forced to fail\n", b->name, name, n);
      return 1;
    }
  }
  printf("%s, %s: right\n", b->name, name);
  return 0;
}

int main(void) {
  const boxing *nan = &boxings[0], *pointers = &boxings[1];
  int failed = try(nan, "integers", sums, 3, integer(nan, -5)) + try(nan, "floats", sums, 3, number(0.25))
             + try(nan, "NaNs", sums, 3, number(-NAN)) + try(nan, "overflow", sums, 3, integer(nan, 30000000))
             + try(nan, "cells", cells, 5, integer(nan, -3));
  failed += try(nan, "floats in cells", cells, 5, number(1.5));
  failed += try(pointers, "integers", sums, 3, integer(pointers, -5));
  failed += try(pointers, "cells", cells, 5, integer(pointers, 1ll << 40));
  failed += try(pointers, "overflow", sums, 3, integer(pointers, 1ll << 55));
  return failed;
}
