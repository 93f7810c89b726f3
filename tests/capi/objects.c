/* objects.c: a host whose programs make objects, with and without holding memory for exits (tl_set_reserve).
**
** The loop makes two pairs in each iteration, one of which refers to itself, and keeps the last ones:
**
**   do { p = new pair; p.number = i; p.next = p; q = new pair; q.number = i + 1; q.next = p; i = i + 1 }
**   while (i < n)
**
** With tl_set_reserve compiled code makes none of them until it is left. The allocator then may refuse at any
** request: the exit gets pairs that the host has set aside. Without, or where a field of the layout lies
** within another, each pair is made where the program makes it, and the statistics say so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelift.h"

typedef struct pair {
  uint64_t kind;
  int64_t number;
  struct pair *next;
  struct pair *all; /* every pair, to free them */
} pair;

#define PAIR_KIND 0x50u
#define COUNT 200 /* iterations */
#define SPARES 8
#define OVERLAPS 2 /* memory is held, and a field is half of another one */

enum tag { NIL, INT, PAIR };
enum { I, P, Q, SLOTS };

typedef struct slot {
  union {
    int64_t i;
    pair *p;
  } as;
  uint8_t tag;
} slot;

typedef struct machine {
  slot frame[SLOTS];
  pair *all;
  uint64_t requests, refuse_from, refuse_count; /* requests for memory by compiled code and for exits */
  pair *spares[SPARES];
  uint32_t held;
  uint64_t given;
  int is_exiting;
} machine;

static struct {
  tl_tag integer, object;
  tl_layout pair;
  tl_field number, next;
} ids;

static pair *make(machine *m) {
  pair *p = calloc(1, sizeof *p);
  if (!p) exit(9);
  p->kind = PAIR_KIND;
  p->all = m->all;
  return m->all = p;
}

static pair *request(machine *m) {
  m->requests++;
  if (m->requests >= m->refuse_from && m->requests - m->refuse_from < m->refuse_count) return NULL;
  return make(m);
}

/* The layout's alloc: at an exit it may take what is held. */
static pair *new_pair(machine *m, int64_t layout, int64_t items, int64_t keys) {
  (void)layout, (void)items, (void)keys;
  pair *p = request(m);
  if (!p && m->is_exiting && m->held > 0) {
    m->given++;
    return m->spares[--m->held];
  }
  return p;
}

static int reserve(void *context, tl_layout layout, uint32_t items, uint32_t keys, uint32_t count) {
  machine *m = context;
  if (layout != ids.pair || items != 0 || keys != 0 || count > SPARES) return 0;
  while (m->held < count) {
    pair *p = request(m);
    if (!p) return 0;
    m->spares[m->held++] = p;
  }
  return 1; /* more than is wanted may stay */
}

static int describe(tl_vm *vm, machine *m, int holds_memory) {
  tl_add_tag(vm, "nil", NIL, TL_VOID);
  ids.integer = tl_add_tag(vm, "int", INT, TL_INT);
  ids.object = tl_add_tag(vm, "pair", PAIR, TL_REF);
  tl_set_slots(vm, sizeof(slot), offsetof(slot, as), offsetof(slot, tag), 1);
  tl_set_frame_words(vm, 1);
  tl_cell kind =
      tl_add_cell(vm, "pair.kind", offsetof(pair, kind), 8, TL_INT, tl_alias_class(vm, "kind"), TL_IMMUTABLE);
  ids.pair = tl_add_layout(vm, "pair", sizeof(pair), kind, PAIR_KIND);
  ids.number = tl_add_field(
      vm, ids.pair, tl_add_cell(vm, "pair.number", offsetof(pair, number), 8, TL_INT,
                                tl_alias_class(vm, "number"), 0));
  ids.next = tl_add_field(
      vm, ids.pair, tl_add_cell(vm, "pair.next", offsetof(pair, next), 8, TL_REF, tl_alias_class(vm, "next"),
                                0));
  if (holds_memory == OVERLAPS)
    tl_add_field(vm, ids.pair, tl_add_cell(vm, "pair.half", offsetof(pair, number), 4, TL_INT,
                                           tl_alias_class(vm, "number"), 0));
  tl_func alloc =
      tl_add_func(vm, "new_pair", (const void *)(uintptr_t)new_pair, "aiii>r", TL_EFFECT_ALLOCATES, NULL,
                  NULL);
  if (tl_set_alloc(vm, ids.pair, alloc) != TL_OK) return 0;
  return !holds_memory || tl_set_reserve(vm, ids.pair, reserve, m) == TL_OK;
}

/* The loop, step by step: 0 p = new pair, 1 p.number = i, 2 p.next = p, 3 q = new pair, 4 q.number = i +
** 1, 5 q.next = p, 6 i = i + 1, back to 0 if i < COUNT. Everything is live everywhere. */
static const uint8_t live[1] = {1u << I | 1u << P | 1u << Q};

static void record(tl_vm *vm, machine *m, int step) {
  uint64_t words[1] = {(uint64_t)step};
  int slot = step < 3 ? P : Q;
  tl_resume_point(vm, m->frame, words, live, SLOTS);
  switch (step) {
    case 0:
    case 3: tl_slot_write(vm, slot, ids.object, tl_new_record(vm, ids.pair, 0, 0)); break;
    case 1:
    case 4: {
      tl_value i = tl_slot_read(vm, I, ids.integer);
      if (step == 4) i = tl_op2(vm, TL_INT_ADD, i, tl_const_int(vm, 1));
      tl_set(vm, ids.number, tl_slot_read(vm, slot, ids.object), i);
      break;
    }
    case 2:
    case 5: tl_set(vm, ids.next, tl_slot_read(vm, slot, ids.object), tl_slot_read(vm, P, ids.object)); break;
    default: {
      tl_value sum = tl_op2(vm, TL_INT_ADD, tl_slot_read(vm, I, ids.integer), tl_const_int(vm, 1));
      tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_LT, sum, tl_const_int(vm, COUNT)), 0, TL_EXIT_LOOP_END);
      tl_slot_write(vm, I, ids.integer, sum);
    }
  }
}

static int enter(tl_vm *vm, machine *m, const tl_run *run, int step) {
  tl_exit_info info;
  tl_left left = tl_run_code(run, m, m->frame);
  m->is_exiting = 1;
  tl_exit(vm, left, m, &info);
  m->is_exiting = 0;
  return info.kind == TL_EXIT_REFUSED ? step : (int)info.frames[0].words[0];
}

static const char loop_key = 0;

static void interpret(tl_vm *vm, machine *m, int32_t *counter) {
  slot *f = m->frame;
  int step = 0, recording = 0;
  f[I] = (slot){{.i = 0}, INT};
  f[P] = f[Q] = (slot){{.i = 0}, NIL};
  for (;;) {
    if (recording) record(vm, m, step);
    slot *s = &f[step < 3 ? P : Q];
    switch (step) {
      case 0:
      case 3: *s = (slot){{.p = make(m)}, PAIR}; break; /* the interpreter's own memory never ends */
      case 1: s->as.p->number = f[I].as.i; break;
      case 4: s->as.p->number = f[I].as.i + 1; break;
      case 2:
      case 5: s->as.p->next = f[P].as.p; break;
      default:
        f[I].as.i++;
        if (f[I].as.i >= COUNT) {
          if (recording) tl_record_abort(vm, "loop ended");
          return;
        }
        step = -1;
        if (recording) tl_record_close(vm);
        recording = 0;
        if (--*counter < 0) {
          tl_run run;
          switch (tl_hot(vm, &loop_key, counter, f, &run)) {
            case TL_RUN: step = enter(vm, m, &run, 0) - 1; break;
            case TL_RECORD: recording = tl_record(vm, &loop_key, f) == TL_OK; break;
            case TL_NOTHING: break;
          }
        }
    }
    step++;
  }
}

typedef struct outcome {
  uint64_t requests, given, put_off, guards, pairs;
  int is_right, is_virtual;
} outcome;

static uint64_t number_in(const char *json, const char *name) {
  const char *at = strstr(json, name);
  return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static outcome run(int holds_memory, uint64_t refuse_from, uint64_t refuse_count, uint64_t force_exit) {
  machine m = {.refuse_from = refuse_from, .refuse_count = refuse_count};
  static int32_t counters[1];
  uint32_t flags = force_exit ? TL_FLAG_VERIFY : TL_FLAG_VERIFY | TL_FLAG_CHECK | TL_FLAG_COUNT_GUARDS;
  tl_config config = {.abi = TL_ABI_VERSION, .threshold = 3, .flags = flags, .force_exit = force_exit};
  tl_vm *vm = tl_new(&config);
  if (!vm || !describe(vm, &m, holds_memory) || tl_set_counters(vm, counters, 1) != TL_OK) exit(2);
  outcome o = {0};
  for (int again = 0; again < 2; again++) {
    interpret(vm, &m, counters);
    const slot *f = m.frame;
    o.is_right = f[I].as.i == COUNT && f[P].tag == PAIR && f[Q].tag == PAIR && f[P].as.p->number == COUNT - 1
              && f[P].as.p->next == f[P].as.p && f[Q].as.p->number == COUNT && f[Q].as.p->next == f[P].as.p
              && f[P].as.p->kind == PAIR_KIND && f[Q].as.p->kind == PAIR_KIND;
    if (!o.is_right) break;
  }
  const char *json = tl_stats_json(vm);
  if (!strstr(json, "\"aborts\": {}")) {
    fprintf(stderr, "recordings were given up: %s\n", json);
    exit(5);
  }
  if (tl_misuses(vm) != 0) {
    fprintf(stderr, "a rule was broken: %s\n", tl_last_error(vm));
    exit(6);
  }
  o.put_off = number_in(json, "\"unsecured_entries\": ");
  o.guards = number_in(json, "\"guards_executed\": ");
  o.is_virtual = strstr(json, "\"never_virtual\": []") != NULL;
  o.requests = m.requests;
  o.given = m.given;
  tl_free(vm);
  for (pair *p = m.all; p;) {
    pair *next = p->all;
    free(p);
    p = next;
    o.pairs++;
  }
  return o;
}

static int failed(const char *what, uint64_t n) {
  fprintf(stderr, "%s (%" PRIu64 ")\n", what, n);
  return 1;
}

int main(void) {
  outcome with = run(1, UINT64_MAX, 0, 0), without = run(0, UINT64_MAX, 0, 0);
  if (!with.is_right || !with.is_virtual || with.pairs > 60) return failed("held: too many pairs made",
      with.pairs);
  if (!without.is_right || without.is_virtual || without.pairs < 4 * COUNT)
    return failed("not held: pairs left out", without.pairs);
  outcome overlaps = run(OVERLAPS, UINT64_MAX, 0, 0);
  if (!overlaps.is_right || overlaps.is_virtual || overlaps.pairs < 4 * COUNT)
    return failed("a field within another: pairs left out", overlaps.pairs);

  uint64_t given = 0, put_off = 0;
  const uint64_t counts[] = {1, 3, UINT64_MAX};
  for (int c = 0; c < 3; c++) {
    for (uint64_t from = 1; from <= with.requests + 1; from++) {
      outcome o = run(1, from, counts[c], 0);
      if (!o.is_right) return failed("held: wrong when memory is refused from a request on", from);
      given += o.given;
      put_off += o.put_off;
    }
    for (uint64_t from = 1; from <= without.requests + 1; from += 1 + from / 16) {
      outcome o = run(0, from, counts[c], 0);
      if (!o.is_right || o.given > 0)
        return failed("not held: wrong when memory is refused from a request on", from);
    }
  }
  if (given == 0 || put_off == 0) return failed("no exit needed what is held", given);

  /* each guard fails once while the allocator refuses everything but what is held first */
  for (uint64_t n = 1; n <= with.guards; n += 1 + n / 16) {
    if (!run(1, 3, UINT64_MAX, n).is_right) return failed("held: wrong with a guard execution forced to fail",
                                                          n);
  }
  printf("%" PRIu64 " pairs made instead of %" PRIu64 "; %" PRIu64 " given, %" PRIu64 " entries put off\n",
         with.pairs,
         without.pairs, given, put_off);
  return 0;
}
