/* effects.c: bytecodes that do several things at once, and fields that hold a value with its tag.
**
** The loop makes a pair in each iteration, whose constructor fills both fields; exchanges the fields of
** another one, and back; and sums up. From iteration 100 on these fields have other types:
**
**   do { q = pair(i, p); exchange(p); s = s + p.first, if that is a number; exchange(p);
**        if (i == 100) p = q; i = i + 1 } while (i < COUNT)
**
** A field holds an integer, a float, a pair or nothing. It runs with the JIT off and on, with pairs that are
** made where the program makes them and with those that code never makes (tl_set_reserve), with and without a
** barrier, and with each execution of a guard forced to fail. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelift.h"

enum tag { NOTHING, INTEGER, FLOAT, PAIR };

typedef struct value {
  union {
    int64_t i;
    double f;
    struct pair *p;
  } as;
  uint8_t tag;
} value;

typedef struct pair {
  uint64_t kind;
  value first, second;
  uint64_t is_old; /* what the barrier looks at */
} pair;

#define PAIR_KIND 0x50u
#define COUNT 150
#define PAIRS 4096

enum { I, P, Q, S, SLOTS };
enum { MAKE, EXCHANGE, SUM, EXCHANGE_BACK, MOVE, NEXT };

typedef struct machine {
  value frame[SLOTS];
  pair pairs[PAIRS];
  int64_t made, mended;
  tl_vm *vm;
} machine;

static struct {
  tl_tag tag[4];
  tl_layout pair;
  tl_field first, second;
} ids;

/* Pairs are never freed; each run has its own. */
static pair *make(machine *m) {
  if (m->made == PAIRS) exit(9);
  pair *p = &m->pairs[m->made++];
  p->kind = PAIR_KIND;
  return p;
}

static pair *new_pair(machine *m, int64_t layout, int64_t items, int64_t keys) {
  (void)layout, (void)items, (void)keys;
  return make(m);
}

static int reserve(void *context, tl_layout layout, uint32_t items, uint32_t keys, uint32_t count) {
  machine *m = context;
  return layout == ids.pair && items == 0 && keys == 0 && m->made + count < PAIRS;
}

static void mend(machine *m, pair *p) { m->mended += p->is_old != 0; }

static tl_field tagged(tl_vm *vm, const char *name, size_t offset) {
  static const char *const views[4] = {"int", "float", "ref", "addr"};
  char text[32];
  tl_cell value[4];
  snprintf(text, sizeof text, "%s.payload", name);
  tl_class payload = tl_alias_class(vm, text);
  for (int type = 0; type < 4; type++) {
    snprintf(text, sizeof text, "%s.%s", name, views[type]);
    value[type] = tl_add_cell(vm, text, (int32_t)offset, 8, (tl_type)type, payload, 0);
  }
  snprintf(text, sizeof text, "%s.tag", name);
  tl_class tag = tl_alias_class(vm, text);
  offset += offsetof(struct value, tag);
  tl_cell tag_cell = tl_add_cell(vm, text, (int32_t)offset, 1, TL_INT, tag, 0);
  return tl_add_tagged_field(vm, ids.pair, value, tag_cell);
}

/* How the host's pairs are described. */
typedef struct variant {
  const char *name;
  int holds_memory, has_barrier;
} variant;

static void describe(tl_vm *vm, machine *m, const variant *v) {
  ids.tag[NOTHING] = tl_add_tag(vm, "nothing", NOTHING, TL_VOID);
  ids.tag[INTEGER] = tl_add_tag(vm, "integer", INTEGER, TL_INT);
  ids.tag[FLOAT] = tl_add_tag(vm, "float", FLOAT, TL_FLOAT);
  ids.tag[PAIR] = tl_add_tag(vm, "pair", PAIR, TL_REF);
  tl_set_slots(vm, sizeof(value), offsetof(value, as), offsetof(value, tag), 1);
  tl_set_frame_words(vm, 1);
  tl_cell kind =
      tl_add_cell(vm, "kind", offsetof(pair, kind), 8, TL_INT, tl_alias_class(vm, "kind"), TL_IMMUTABLE);
  ids.pair = tl_add_layout(vm, "pair", sizeof(pair), kind, PAIR_KIND);
  ids.first = tagged(vm, "first", offsetof(pair, first));
  ids.second = tagged(vm, "second", offsetof(pair, second));
  tl_func alloc = tl_add_func(vm, "new_pair", (const void *)(uintptr_t)new_pair, "aiii>r",
                              TL_EFFECT_ALLOCATES, NULL, NULL);
  tl_set_alloc(vm, ids.pair, alloc);
  if (v->has_barrier) {
    tl_cell old = tl_add_cell(vm, "is_old", offsetof(pair, is_old), 8, TL_INT, tl_alias_class(vm, "old"), 0);
    tl_set_barrier(vm, ids.pair, old, 1, kind, ~0);
    tl_class accounts[] = {tl_alias_class(vm, "accounts"), 0};
    tl_set_barrier_call(vm, ids.pair, tl_add_func(vm, "mend", (const void *)(uintptr_t)mend, "ar>v", 0, NULL,
                                                  accounts));
  }
  if (v->holds_memory) tl_set_reserve(vm, ids.pair, reserve, m);
}

static tl_value read(machine *m, int slot) { return tl_slot_read(m->vm, slot, ids.tag[m->frame[slot].tag]); }

static tl_value get(machine *m, tl_field field, tl_value record, const value *now) {
  return tl_get_tagged(m->vm, field, ids.tag[now->tag], record);
}

static void record(machine *m, int step) {
  static const uint8_t live[1] = {(1u << SLOTS) - 1};
  tl_vm *vm = m->vm;
  const value *f = m->frame;
  uint64_t words[1] = {(uint64_t)step};
  tl_resume_point(vm, f, words, live, SLOTS);
  switch (step) {
    case MAKE: {
      /* a slot first, then fields, then what is read after that, then another one: all of a record of its own
      ** */
      tl_value made = tl_new_record(vm, ids.pair, 0, 0);
      tl_slot_write(vm, Q, ids.tag[PAIR], made);
      tl_set_tagged(vm, ids.first, ids.tag[INTEGER], made, read(m, I));
      tl_set_tagged(vm, ids.second, ids.tag[f[P].tag], made, read(m, P));
      break;
    }
    case EXCHANGE:
    case EXCHANGE_BACK: {
      tl_value p = read(m, P);
      tl_guard_class(vm, ids.pair, p);
      const pair *now = f[P].as.p;
      tl_value first = get(m, ids.first, p, &now->first), second = get(m, ids.second, p, &now->second);
      tl_set_tagged(vm, ids.first, ids.tag[now->second.tag], p, second);
      tl_set_tagged(vm, ids.second, ids.tag[now->first.tag], p, first);
      break;
    }
    case SUM: {
      tl_value p = read(m, P);
      tl_guard_class(vm, ids.pair, p);
      const value *first = &f[P].as.p->first;
      tl_value number = get(m, ids.first, p, first);
      if (first->tag == INTEGER) number = tl_op1(vm, TL_INT_TO_FLOAT, number);
      else if (first->tag != FLOAT) break;
      tl_slot_write(vm, S, ids.tag[FLOAT], tl_op2(vm, TL_FLOAT_ADD, read(m, S), number));
      break;
    }
    case MOVE: {
      int moves = f[I].as.i == 100;
      tl_value test = tl_op2(vm, TL_INT_EQ, read(m, I), tl_const_int(vm, 100));
      tl_guard(vm, moves ? TL_GUARD_TRUE : TL_GUARD_FALSE, test, 0, TL_EXIT_GUARD);
      if (moves) tl_slot_write(vm, P, ids.tag[PAIR], read(m, Q));
      break;
    }
    default: {
      tl_value next = tl_op2(vm, TL_INT_ADD, read(m, I), tl_const_int(vm, 1));
      tl_slot_write(vm, I, ids.tag[INTEGER], next);
      /* a guard after a slot was written */
      tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_LT, next, tl_const_int(vm, COUNT)), 0, TL_EXIT_LOOP_END);
    }
  }
}

static const char loop_key = 0;

static void interpret(machine *m, int32_t *counter) {
  value *f = m->frame;
  int step = 0, is_recording = 0;
  for (;;) {
    if (is_recording) record(m, step);
    switch (step) {
      case MAKE: {
        pair *q = make(m);
        q->first = f[I];
        q->second = f[P];
        f[Q] = (value){{.p = q}, PAIR};
        break;
      }
      case EXCHANGE:
      case EXCHANGE_BACK: {
        pair *p = f[P].as.p;
        value first = p->first;
        p->first = p->second;
        p->second = first;
        break;
      }
      case SUM: {
        const value *first = &f[P].as.p->first;
        if (first->tag == INTEGER) f[S].as.f += (double)first->as.i;
        if (first->tag == FLOAT) f[S].as.f += first->as.f;
        break;
      }
      case MOVE:
        if (f[I].as.i == 100) f[P] = f[Q];
        break;
      default: {
        if (++f[I].as.i >= COUNT) {
          if (is_recording) tl_record_abort(m->vm, "loop ended");
          return;
        }
        if (is_recording)
          is_recording = tl_record_close(m->vm) == TL_AGAIN && tl_record(m->vm, &loop_key, f) == TL_OK;
        step = -1;
        if (--*counter < 0) {
          tl_run run;
          tl_exit_info info;
          switch (tl_hot(m->vm, &loop_key, counter, f, &run)) {
            case TL_RUN:
              tl_exit(m->vm, tl_run_code(&run, m, f), m, &info);
              if (info.kind != TL_EXIT_REFUSED) step = (int)info.frames[0].words[0] - 1;
              break;
            case TL_RECORD: is_recording = tl_record(m->vm, &loop_key, f) == TL_OK; break;
            case TL_NOTHING: break;
          }
        }
      }
    }
    step++;
  }
}

typedef struct outcome {
  double sum;
  int64_t i, made;
  uint64_t chain; /* what the pairs hold that can be reached, as one number */
  uint64_t traces, guards, misuses;
} outcome;

static uint64_t number_in(const char *json, const char *name) {
  const char *at = strstr(json, name);
  return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static uint64_t walked(const value *v, int depth) {
  if (v->tag != PAIR) return v->tag == NOTHING ? 17 : (uint64_t)v->as.i * 31 + v->tag;
  if (depth == 0) return 1;
  return walked(&v->as.p->first, depth - 1) * 1000003 + walked(&v->as.p->second, depth - 1) * 7 + 3;
}

static outcome run(const variant *v, tl_config config) {
  static machine m;
  static int32_t counter;
  memset(&m, 0, sizeof m);
  counter = 0;
  config.abi = TL_ABI_VERSION;
  m.vm = tl_new(&config);
  if (!m.vm) exit(2);
  describe(m.vm, &m, v);
  if (tl_set_counters(m.vm, &counter, 1) != TL_OK) exit(3);
  pair *p = make(&m);
  p->first = (value){{.i = 1000}, INTEGER};
  p->second = (value){{.f = 2.5}, FLOAT};
  p->is_old = 1;
  m.frame[I] = (value){{.i = 0}, INTEGER};
  m.frame[P] = (value){{.p = p}, PAIR};
  m.frame[S] = (value){{.f = 0}, FLOAT};
  interpret(&m, &counter);
  outcome o = {m.frame[S].as.f, m.frame[I].as.i, m.made, 0, 0, 0, tl_misuses(m.vm)};
  o.chain = walked(&m.frame[P], 12) * 3 + walked(&m.frame[Q], 12);
  const char *json = tl_stats_json(m.vm);
  o.guards = number_in(json, "\"guards_executed\": ");
  o.traces = number_in(strstr(json, "\"compile\""), "\"traces\": ");
  if (o.misuses) fprintf(stderr, "%s: %s\n", v->name, tl_last_error(m.vm));
  tl_free(m.vm);
  return o;
}

static int same(const outcome *a, const outcome *b) {
  return a->sum == b->sum && a->i == b->i && a->chain == b->chain;
}

static int try(const variant *v) {
  outcome expected = run(v, (tl_config){.flags = TL_FLAG_OFF});
  for (uint32_t threshold = 1; threshold < 9; threshold++) {
    uint32_t flags = TL_FLAG_VERIFY | TL_FLAG_CHECK | TL_FLAG_COUNT_GUARDS;
    outcome found = run(v, (tl_config){.threshold = threshold, .flags = flags});
    if (!same(&expected, &found) || found.traces == 0 || found.misuses != 0) {
      fprintf(stderr, "%s: wrong with the JIT on (%" PRIu64 " traces)\n", v->name, found.traces);
      return 1;
    }
    /* pairs that live for less than an iteration are not made, where that is allowed */
    if (v->holds_memory && found.made > expected.made - 80) {
      fprintf(stderr, "%s: %" PRId64 " pairs made of %" PRId64 "\n", v->name, found.made, expected.made);
      return 1;
    }
    for (uint64_t n = 1; n <= found.guards; n += 1 + n / 16) {
      outcome forced = run(v, (tl_config){.threshold = threshold, .force_exit = n, .flags = TL_FLAG_VERIFY});
      if (!same(&expected, &forced)) {
        fprintf(stderr, "%s: wrong with guard execution %" PRIu64 " forced to fail\n", v->name, n);
        return 1;
      }
    }
  }
  printf("%s: right\n", v->name);
  return 0;
}

int main(void) {
  static const variant variants[] = {{"pairs", 0, 0}, {"pairs that need not be made", 1, 0},
                                     {"pairs with a barrier", 0, 1}, {"both", 1, 1}};
  int failed = 0;
  for (int n = 0; n < 4; n++) failed += try(&variants[n]);
  return failed;
}
