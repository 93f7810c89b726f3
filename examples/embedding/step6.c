/* step6.c: functions that call themselves become code. See docs/embedding.md, step 6.
**
** Usage: step6 [check]. Runs its programs with the JIT off and on and compares the results; with "check" also
** with each of many executions of a guard forced to fail.
** "bench" instead prints how many times faster four programs are with the JIT on.
*/
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tracelift.h"

enum tag { NIL, INT, FLOAT, PAIR, ARRAY };

typedef struct value {
  union {
    int64_t i;
    double f;
    struct pair *p;
    struct array *a;
    const struct instruction *back; /* in the slot below a frame: where its caller goes on */
  } as;
  uint8_t tag; /* an enum tag */
} value;

/* listing objects */
typedef struct object {
  uint64_t kind; /* KIND_PAIR or KIND_ARRAY: how an object is recognized */
  struct object *next; /* all objects, for the collector */
  uint64_t is_marked;
} object;

typedef struct pair {
  object object;
  value first, second;
} pair;

typedef struct array {
  object object;
  int64_t count;
  value *items;
} array;

enum { KIND_PAIR = 0x50, KIND_ARRAY = 0x41 };
/* end */

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
  MAKE,       /* a = the pair of b and c */
  FIRST,      /* a = the first of b */
  SECOND,     /* a = the second of b */
  SET_FIRST,  /* the first of a = b */
  SET_SECOND, /* the second of a = b */
  NEW_ARRAY,  /* a = an array of b zeros */
  GET,        /* a = b[c] */
  PUT,        /* a[b] = c */
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
  uint32_t *live; /* for each instruction, the registers that are live before it */
  int is_recursive; /* it calls itself: its entry may have code */
  int32_t counter;  /* of its entries: so many may pass before the library is asked */
  int is_counted;   /* whether the library knows the counter */
} function;

#define FUNCTIONS 4

/* listing machine */
/* What is being recorded. */
typedef struct recording {
  int is_on;
  const instruction *head; /* of the loop; NULL: it is none */
  value *origin;           /* the frame that the code will be entered with */
  int is_side;             /* a side trace */
  int is_started;          /* whether an instruction of it was recorded */
  const instruction *entry;    /* of the function that it began with, or NULL */
  const instruction *returned; /* where the outermost frame goes on, which was returned to */
  value *bottom;               /* the outermost frame */
} recording;

typedef struct machine {
  value *base; /* the running frame's registers */
  value stack[1 + SLOTS];
  value *end;  /* of the stack: code reads it */
  function functions[FUNCTIONS];
  value result;
  object *objects; /* all of them */
  int64_t debt;    /* objects made since the last collection: code reads it */
  int64_t made, freed;
  pair *spares[64]; /* pairs that are held for exits: see reserve() */
  uint32_t held;
  tl_vm *jit;
  int32_t counters[64]; /* of back edges; loops may share one */
  recording recording;
} machine;
/* end */

#define COLLECT_AFTER 10000

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

/* NULL if there is no memory. */
static void *make_object(machine *m, size_t size, uint64_t kind) {
  object *o = calloc(1, size);
  if (!o) return NULL;
  o->kind = kind;
  o->next = m->objects;
  m->objects = o;
  m->debt++;
  m->made++;
  return o;
}

static pair *make_pair(machine *m, value first, value second) {
  pair *p = make_object(m, sizeof *p, KIND_PAIR);
  if (!p) fail("there is no memory");
  p->first = first;
  p->second = second;
  return p;
}

static array *make_array(machine *m, int64_t count) {
  array *a = make_object(m, sizeof *a, KIND_ARRAY);
  value *items = calloc(count > 0 ? (size_t)count : 1, sizeof *items);
  if (!a || !items) fail("there is no memory");
  a->count = count;
  m->debt += count / 4;
  a->items = items;
  for (int64_t n = 0; n < count; n++) items[n].tag = INT;
  return a;
}

/*
** ---- Describing the host
*/

/* listing describe */
static struct {
  tl_tag tag[5]; /* by enum tag */
  tl_layout pair, array;
  tl_field first, second;
  tl_cell debt;
  tl_cell end, room, back, payload[4], slot_tag;
} ids;

/* What code calls to make a pair; it fills the pair afterwards. */
static pair *new_pair(machine *m, int64_t layout, int64_t items, int64_t keys) {
  (void)layout, (void)items, (void)keys;
  pair *p = make_object(m, sizeof(pair), KIND_PAIR);
  return p || m->held == 0 ? p : m->spares[--m->held];
}

/* Holds so many pairs, that an exit gets if there is no memory. */
static int reserve(void *context, tl_layout layout, uint32_t items, uint32_t keys, uint32_t count) {
  machine *m = context;
  (void)layout, (void)items, (void)keys;
  if (count > sizeof m->spares / sizeof *m->spares) return 0;
  for (; m->held < count; m->held++) {
    pair *p = make_object(m, sizeof(pair), KIND_PAIR);
    if (!p) return 0;
    m->spares[m->held] = p;
  }
  return 1;
}

/* The payload of a value at an offset: four views of one place, and its tag. */
static void value_cells(tl_vm *vm, const char *name, size_t offset, tl_cell payload[4], tl_cell *tag) {
  static const char *const views[4] = {"int", "float", "ref", "addr"};
  char text[40];
  snprintf(text, sizeof text, "%s.payload", name);
  tl_class class = tl_alias_class(vm, text);
  for (int type = 0; type < 4; type++) {
    snprintf(text, sizeof text, "%s.%s", name, views[type]);
    payload[type] = tl_add_cell(vm, text, (int32_t)offset, 8, (tl_type)type, class, 0);
  }
  snprintf(text, sizeof text, "%s.tag", name);
  offset += offsetof(value, tag);
  *tag = tl_add_cell(vm, text, (int32_t)offset, 1, TL_INT, tl_alias_class(vm, text), 0);
}

static void describe_objects(tl_vm *vm) {
  tl_cell payload[4], tag;
  tl_cell kind = tl_add_cell(vm, "kind", offsetof(object, kind), 8, TL_INT, tl_alias_class(vm, "kind"),
                             TL_IMMUTABLE);
  ids.pair = tl_add_layout(vm, "pair", sizeof(pair), kind, KIND_PAIR);
  value_cells(vm, "first", offsetof(pair, first), payload, &tag);
  ids.first = tl_add_tagged_field(vm, ids.pair, payload, tag);
  value_cells(vm, "second", offsetof(pair, second), payload, &tag);
  ids.second = tl_add_tagged_field(vm, ids.pair, payload, tag);
  tl_class debt[] = {tl_alias_class(vm, "debt"), 0};
  tl_func alloc = tl_add_func(vm, "new_pair", (const void *)(uintptr_t)new_pair, "aiii>r",
                              TL_EFFECT_ALLOCATES, NULL, debt);
  tl_set_alloc(vm, ids.pair, alloc);

  tl_class header = tl_alias_class(vm, "array");
  tl_cell count = tl_add_cell(vm, "count", offsetof(array, count), 8, TL_INT, header, 0);
  tl_cell items = tl_add_cell(vm, "items", offsetof(array, items), 8, TL_ADDR, header, 0);
  tl_element item = {.stride = sizeof(value), .absent = ids.tag[NIL]};
  value_cells(vm, "item", 0, item.value, &item.tag);
  ids.array = tl_add_layout(vm, "array", sizeof(array), kind, KIND_ARRAY);
  tl_set_items(vm, ids.array, count, items, 0, &item);
}

static void describe(machine *m) {
  tl_vm *vm = m->jit;
  ids.tag[NIL] = tl_add_tag(vm, "nil", NIL, TL_VOID);
  ids.tag[INT] = tl_add_tag(vm, "int", INT, TL_INT);
  ids.tag[FLOAT] = tl_add_tag(vm, "float", FLOAT, TL_FLOAT);
  ids.tag[PAIR] = tl_add_tag(vm, "pair", PAIR, TL_REF);
  ids.tag[ARRAY] = tl_add_tag(vm, "array", ARRAY, TL_REF);
  tl_set_slots(vm, sizeof(value), offsetof(value, as), offsetof(value, tag), 1);
  tl_set_frame_words(vm, 1); /* where a frame goes on: an instruction's address */
  describe_objects(vm);
  ids.debt = tl_add_cell(vm, "debt", offsetof(machine, debt), 8, TL_INT, tl_alias_class(vm, "debt"), 0);
  tl_set_reserve(vm, ids.pair, reserve, m);
  ids.end = tl_add_cell(vm, "end", offsetof(machine, end), 8, TL_ADDR, tl_alias_class(vm, "end"), 0);
  ids.room = tl_add_cell(vm, "room", 0, 8, TL_INT, tl_alias_class(vm, "room"), 0);
  ids.back = tl_add_cell(vm, "back", offsetof(value, as), 8, TL_ADDR, tl_alias_class(vm, "back"), 0);
  value_cells(vm, "slot", 0, ids.payload, &ids.slot_tag);
}
/* end */

/*
** ---- Which registers are live
*/

/* listing live */
#define BIT(n) (1u << (n))

/* The registers that an instruction reads, and the one that it writes, or none. */
static uint32_t reads(const instruction *i) {
  switch (i->op) {
    case INTEGER: case REAL: case JUMP: return 0;
    case MOVE: case FIRST: case SECOND: case NEW_ARRAY: return BIT(i->b);
    case ADD: case SUBTRACT: case MULTIPLY: case REMAINDER: case MAKE: case GET: return BIT(i->b) | BIT(i->c);
    case PUT: return BIT(i->a) | BIT(i->b) | BIT(i->c);
    case CALL: return (BIT(i->b) - 1) << (i->a + 1);
    case RETURN: return BIT(i->a);
    default: return BIT(i->a) | BIT(i->b);
  }
}

static uint32_t writes(const instruction *i) {
  switch (i->op) {
    case JUMP_LESS: case JUMP_EQUAL: case JUMP: case RETURN: return 0;
    case SET_FIRST: case SET_SECOND: case PUT: return 0;
    default: return BIT(i->a);
  }
}

/* Backwards, until nothing changes: what is read before it is written. */
static void find_live(function *f) {
  int changes = 1;
  f->live = calloc((size_t)f->length, sizeof *f->live);
  if (!f->live) fail("there is no memory");
  while (changes) {
    changes = 0;
    for (int n = f->length - 1; n >= 0; n--) {
      const instruction *i = &f->code[n];
      int jumps = i->op == JUMP_LESS || i->op == JUMP_EQUAL || i->op == JUMP;
      uint32_t after = jumps ? f->live[i->n] : 0;
      if (i->op != JUMP && i->op != RETURN) after |= f->live[n + 1];
      uint32_t before = reads(i) | (after & ~writes(i));
      changes |= before != f->live[n];
      f->live[n] = before;
    }
  }
}
/* end */

/* Bit n: register n is live before this instruction. */
typedef struct mask {
  uint8_t bits[REGISTERS / 8];
} mask;

static mask live_at(machine *m, const instruction *pc) {
  const function *f = function_of(m, pc);
  uint32_t live = f->live[pc - f->code];
  return (mask){{(uint8_t)live, (uint8_t)(live >> 8)}};
}

/* The same in a frame that has called, up to its return: the result is not there yet. */
static mask live_after_call(machine *m, const instruction *back) {
  mask live = live_at(m, back);
  int result = back[-1].a;
  live.bits[result / 8] &= (uint8_t)~(1u << result % 8);
  return live;
}

/*
** ---- The collector: marks what live registers refer to, and frees the rest
*/

/* listing collector */
static void mark(value v) {
  if (v.tag < PAIR) return;
  object *o = v.tag == PAIR ? &v.as.p->object : &v.as.a->object;
  while (!o->is_marked) {
    o->is_marked = 1;
    if (o->kind == KIND_PAIR) { /* lists are long in their second part */
      pair *p = (pair *)o;
      mark(p->first);
      if (p->second.tag < PAIR) return;
      o = p->second.tag == PAIR ? &p->second.as.p->object : &p->second.as.a->object;
    } else {
      array *a = (array *)o;
      for (int64_t n = 0; n < a->count; n++) mark(a->items[n]);
    }
  }
}

static void mark_frame(const value *base, mask live) {
  for (int n = 0; n < REGISTERS; n++)
    if (live.bits[n / 8] >> n % 8 & 1) mark(base[n]);
}

static void sweep(machine *m) {
  for (object **at = &m->objects; *at;) {
    object *o = *at;
    if (o->is_marked) {
      o->is_marked = 0;
      at = &o->next;
      continue;
    }
    *at = o->next;
    if (o->kind == KIND_ARRAY) free(((array *)o)->items);
    free(o);
    m->freed++;
  }
}

/* Between two instructions, of which `pc` is the next one. Dead registers hold anything: no roots. */
static void collect(machine *m, const instruction *pc) {
  mark_frame(m->base, live_at(m, pc));
  for (value *base = m->base; base[-1].as.back;) {
    const instruction *back = base[-1].as.back;
    base -= back[-1].a + 1;
    mark_frame(base, live_after_call(m, back));
  }
  for (uint32_t n = 0; n < m->held; n++) m->spares[n]->object.is_marked = 1;
  sweep(m);
  m->debt = 0;
}
/* end */

/*
** ---- Recording
*/

static void end_recording(machine *m, const char *reason) {
  if (m->recording.is_on) tl_record_abort(m->jit, reason);
  m->recording.is_on = 0;
}

/* Where a slot lies, counted from the frame that the code is entered with. */
static tl_value place_of(machine *m, const value *at) {
  tl_value number = tl_const_int(m->jit, at - m->recording.origin);
  return tl_item_addr(m->jit, tl_frame_base(m->jit), number, sizeof(value), 0);
}

/* listing known */
/* A register of a frame that was returned to: nobody has looked at it yet, and memory has it. */
static void look_at(machine *m, int number) {
  static const tl_type types[5] = {TL_VOID, TL_INT, TL_FLOAT, TL_REF, TL_REF};
  tl_vm *vm = m->jit;
  const value *r = &m->base[number];
  tl_value place = place_of(m, r);
  tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, ids.slot_tag, place), tl_const_int(vm, r->tag), TL_EXIT_GUARD);
  tl_value payload = r->tag == NIL ? 0 : tl_load(vm, ids.payload[types[r->tag]], place);
  tl_slot_known(vm, number, ids.tag[r->tag], payload);
}
/* end */

/* listing reading */
static tl_value read_register(machine *m, int number) {
  if (m->recording.returned && m->base <= m->recording.bottom && !tl_slot_is_known(m->jit, number))
    look_at(m, number);
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
  if (a->tag >= PAIR || b->tag >= PAIR) return a->tag == b->tag && a->as.p == b->as.p;
  if (a->tag == NIL || b->tag == NIL) return a->tag == b->tag;
  return a->tag == INT && b->tag == INT ? a->as.i == b->as.i : number_of(a) == number_of(b);
}

/* listing jump */
/* The code goes on if the jump is made as now. */
static void record_jump(machine *m, const instruction *pc, tl_op of_ints, tl_op of_floats, int is_taken) {
  tl_vm *vm = m->jit;
  tl_value test;
  const value *a = &m->base[pc->a], *b = &m->base[pc->b];
  if (a->tag != b->tag && (a->tag == NIL || b->tag == NIL || a->tag >= PAIR || b->tag >= PAIR)) {
    read_register(m, pc->a), read_register(m, pc->b); /* their types say it all, and are tested */
    return;
  }
  if (a->tag == NIL) return; /* both are, which reading would say */
  if (a->tag >= PAIR) test = tl_op2(vm, TL_REF_EQ, read_register(m, pc->a), read_register(m, pc->b));
  else if (are_ints(m, pc->a, pc->b))
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

/* A return. Who has called the outermost frame differs from one time to the next: that is guarded. */
static void record_return(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  recording *now = &m->recording;
  const instruction *back = m->base[-1].as.back;
  if (!back || (m->base == now->bottom && now->head)) {
    end_recording(m, "return from the trace's function");
    return;
  }
  tl_tag tag = ids.tag[m->base[pc->a].tag];
  tl_value result = read_register(m, pc->a);
  if (m->base > now->bottom) {
    tl_frame_pop(vm);
  } else {
    tl_value found = tl_load(vm, ids.back, place_of(m, m->base - 1));
    tl_guard(vm, TL_GUARD_VALUE, found, tl_const_addr(vm, back), TL_EXIT_GUARD);
    tl_frame_return(vm, -(back[-1].a + 1));
    now->bottom = m->base - (back[-1].a + 1);
    now->returned = back;
  }
  tl_slot_write(vm, back[-1].a, tag, result);
}
/* end */

/* listing records */
/* Code that makes objects leaves when a collection is due. */
static void record_debt(machine *m) {
  tl_vm *vm = m->jit;
  tl_value debt = tl_load(vm, ids.debt, tl_context(vm));
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_LT, debt, tl_const_int(vm, COLLECT_AFTER)), 0,
           TL_EXIT_COLLECT);
}

/* A record that the bytecode has made itself may be filled without being an effect. */
static void record_make(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  const value *r = m->base;
  record_debt(m);
  tl_value first = read_register(m, pc->b), second = read_register(m, pc->c);
  tl_value made = tl_new_record(vm, ids.pair, 0, 0);
  tl_set_tagged(vm, ids.first, ids.tag[r[pc->b].tag], made, first);
  tl_set_tagged(vm, ids.second, ids.tag[r[pc->c].tag], made, second);
  tl_slot_write(vm, pc->a, ids.tag[PAIR], made);
}

/* The tag of a register says that it is a pair: no further guard is needed. */
static void record_part(machine *m, const instruction *pc, tl_field field, const value *now) {
  tl_value part = tl_get_tagged(m->jit, field, ids.tag[now->tag], read_register(m, pc->b));
  tl_slot_write(m->jit, pc->a, ids.tag[now->tag], part);
}

static void record_get(machine *m, const instruction *pc) {
  const value *now = &m->base[pc->b].as.a->items[m->base[pc->c].as.i];
  tl_value array = read_register(m, pc->b), index = read_register(m, pc->c);
  tl_value item = tl_get_item(m->jit, ids.array, ids.tag[now->tag], array, index);
  tl_slot_write(m->jit, pc->a, ids.tag[now->tag], item);
}

static void record_put(machine *m, const instruction *pc) {
  tl_value array = read_register(m, pc->a), index = read_register(m, pc->b), item = read_register(m, pc->c);
  tl_put_item(m->jit, ids.array, ids.tag[m->base[pc->c].tag], array, index, item);
}
/* end */

/* listing links */
/* The stack must have the room that the code needs which goes on at this entry. */
static void guard_room(machine *m, tl_value place, const instruction *pc) {
  tl_vm *vm = m->jit;
  tl_value slots = tl_load(vm, ids.room, tl_const_addr(vm, tl_room_cell(vm, pc)));
  tl_value end = tl_op1(vm, TL_ADDR_TO_INT, tl_load(vm, ids.end, tl_context(vm)));
  tl_value room = tl_op2(vm, TL_INT_SUB, end, tl_op1(vm, TL_ADDR_TO_INT, place));
  tl_value bytes = tl_op2(vm, TL_INT_MUL, slots, tl_const_int(vm, sizeof(value)));
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_GE, room, bytes), 0, TL_EXIT_INTERRUPT);
}

/* The trace ends here, in the frame that runs now: its callers' frames are made in memory. */
static void link_at(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  if (m->base > m->recording.bottom) {
    guard_room(m, place_of(m, m->base), pc);
    tl_link_frames(vm);
    for (const value *base = m->base; base > m->recording.bottom; base -= base[-1].as.back[-1].a + 1)
      tl_store(vm, ids.back, place_of(m, base - 1), tl_const_addr(vm, base[-1].as.back));
  }
  tl_record_link(vm, pc);
  m->recording.is_on = 0;
}

/* Whether the trace goes on in other code: at a loop that has some; where a function that calls itself calls
** what the trace began with, or what has code; and after a return from where the trace began. */
static int is_linked_at(machine *m, const instruction *pc) {
  const recording *now = &m->recording;
  const function *f = function_of(m, pc);
  if (!now->is_started || pc == now->head) return 0;
  if (pc == f->code && f->is_recursive) return !now->head && (pc == now->entry || tl_has_loop(m->jit, pc));
  if (f->is_recursive && m->base <= now->bottom && pc == now->returned) return 1;
  return !f->is_recursive && tl_has_loop(m->jit, pc);
}
/* end */

/* listing record */
/* Says what the instruction about to be executed does, for the values that the registers hold now. */
static void record(machine *m, const instruction *pc) {
  tl_vm *vm = m->jit;
  uint64_t words[1] = {(uintptr_t)pc};
  mask live = live_at(m, pc);
  tl_resume_point(vm, m->recording.origin, words, live.bits, REGISTERS);
  if (is_linked_at(m, pc)) {
    link_at(m, pc);
    return;
  }
  m->recording.is_started = 1;
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
    case MAKE: record_make(m, pc); break;
    case FIRST: record_part(m, pc, ids.first, &m->base[pc->b].as.p->first); break;
    case SECOND: record_part(m, pc, ids.second, &m->base[pc->b].as.p->second); break;
    case SET_FIRST:
    case SET_SECOND: {
      tl_value pair = read_register(m, pc->a), part = read_register(m, pc->b);
      tl_field field = pc->op == SET_FIRST ? ids.first : ids.second;
      tl_set_tagged(vm, field, ids.tag[m->base[pc->b].tag], pair, part);
      break;
    }
    case NEW_ARRAY: end_recording(m, "new array"); return;
    case GET: record_get(m, pc); break;
    case PUT: record_put(m, pc); break;
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
  m->recording = (recording){.is_on = 1, .head = head, .origin = m->base, .bottom = m->base};
}
/* end */

/* listing sides */
/* Records what comes after the exit, whose frames are there and have called one another. */
static void start_after(machine *m, const tl_exit_info *info) {
  value *origin = info->base;
  if (tl_record_side(m->jit, origin) != TL_OK) return;
  value *bottom = origin + info->frames[0].base;
  m->recording = (recording){.is_on = 1, .is_side = 1, .origin = origin, .bottom = bottom};
  for (uint32_t n = 1; n < info->nframes; n++) {
    const tl_frame *caller = &info->frames[n - 1];
    mask live = live_after_call(m, (const instruction *)(uintptr_t)caller->words[0]);
    tl_frame_push(m->jit, info->frames[n].base - caller->base, caller->words, live.bits, REGISTERS);
  }
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

/* listing entries */
/* The interpreter has come to an entry: counts, and asks at zero. */
static tl_action count_entry(machine *m, const instruction *pc, tl_run *run) {
  function *f = function_of(m, pc);
  if (!f->is_recursive || --f->counter >= 0) return TL_NOTHING;
  if (!f->is_counted) f->is_counted = tl_add_counter(m->jit, &f->counter) == TL_OK;
  return tl_hot(m->jit, pc, &f->counter, m->base, run);
}

static void start_at_entry(machine *m, const instruction *pc) {
  if (tl_record(m->jit, pc, m->base) != TL_OK) return;
  m->recording = (recording){.is_on = 1, .entry = pc, .origin = m->base, .bottom = m->base};
}
/* end */

/* listing enter */
/* Runs code, and what follows it, as long as there is any; where the interpreter goes on. */
static const instruction *enter(machine *m, tl_run run, const instruction *pc) {
  tl_exit_info info;
  tl_action action = TL_RUN;
  while (action == TL_RUN) {
    if (run.stack_slots > m->end - m->base) { /* its exits would write there */
      tl_declined(m->jit);
      return pc;
    }
    tl_left left = tl_run_code(&run, m, m->base);
    tl_exit(m->jit, left, m, &info);
    if (info.kind == TL_EXIT_REFUSED) return pc; /* a slot had another type: nothing has happened */
    pc = make_frames(m, &info);
    if (m->debt >= COLLECT_AFTER) collect(m, pc); /* the exit, too, may have made objects */
    action = tl_next(m->jit, m->base, &run);
    if (action == TL_RECORD) {
      start_after(m, &info);
      return pc;
    }
    /* the end of a trace whose link leads to no code yet: the program has come to an entry there, too */
    if (action == TL_NOTHING && info.kind == TL_EXIT_FINISH) action = count_entry(m, pc, &run);
  }
  if (action == TL_RECORD) start_at_entry(m, pc);
  return pc;
}

/* A function begins, or goes on after a call. */
static const instruction *at_entry(machine *m, const instruction *pc) {
  tl_run run;
  switch (m->recording.is_on ? TL_NOTHING : count_entry(m, pc, &run)) {
    case TL_RUN: return enter(m, run, pc);
    case TL_RECORD: start_at_entry(m, pc); return pc;
    case TL_NOTHING: return pc;
  }
  return pc;
}
/* end */

/* listing loop_head */
/* The program has jumped back to `pc`, the head of a loop. */
static const instruction *loop_head(machine *m, const instruction *pc) {
  int32_t *counter = &m->counters[(size_t)(pc - function_of(m, pc)->code) % 64];
  if (m->recording.is_on && m->recording.head == pc && m->base == m->recording.origin) { /* once around */
    m->recording.is_on = 0;
    if (tl_record_close(m->jit) == TL_AGAIN) start(m, pc);
  } else if (m->recording.is_on && m->recording.is_side) {
    tl_back_edge(m->jit, pc, 0);
  } else if (m->recording.is_on) {
    end_recording(m, "inner loop");
  }
  if (m->recording.is_on) return pc;
  if (--*counter < 0) {
    tl_run run;
    switch (tl_hot(m->jit, pc, counter, m->base, &run)) {
      case TL_NOTHING: break;
      case TL_RUN: return enter(m, run, pc);
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

static value *part_of(const value *v, const instruction *pc) {
  if (v->tag != PAIR) fail("a part of what is no pair");
  return pc->op == FIRST || pc->op == SET_FIRST ? &v->as.p->first : &v->as.p->second;
}

static value *item_of(const value *v, const value *index) {
  if (v->tag != ARRAY || index->tag != INT) fail("an item of what is no array");
  if (index->as.i < 0 || index->as.i >= v->as.a->count) fail("an index out of bounds");
  return &v->as.a->items[index->as.i];
}

static const instruction *call(machine *m, const instruction *pc) {
  if (m->stack + 1 + SLOTS - m->base < 3 * REGISTERS) fail("the stack is full");
  m->base[pc->a] = (value){.as.back = pc + 1, .tag = NIL};
  m->base += pc->a + 1;
  return at_entry(m, m->functions[pc->n].code);
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
  return at_entry(m, back);
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
      case MAKE:
        if (m->debt >= COLLECT_AFTER) collect(m, pc);
        r[pc->a] = (value){.as.p = make_pair(m, r[pc->b], r[pc->c]), .tag = PAIR};
        break;
      case FIRST:
      case SECOND: r[pc->a] = *part_of(&r[pc->b], pc); break;
      case SET_FIRST:
      case SET_SECOND: *part_of(&r[pc->a], pc) = r[pc->b]; break;
      case NEW_ARRAY:
        if (m->debt >= COLLECT_AFTER) collect(m, pc);
        r[pc->a] = (value){.as.a = make_array(m, r[pc->b].as.i), .tag = ARRAY};
        break;
      case GET: r[pc->a] = *item_of(&r[pc->b], &r[pc->c]); break;
      case PUT: *item_of(&r[pc->a], &r[pc->b]) = r[pc->c]; break;
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

/* p = (0, 0); do { q = (i + 0.5, p); s = s + first(q); k = i % 50; a[k] = a[k] + i; the first of the second
** of q = a[k]; p = (i, 1); i = i + 1 } while (i < 20000); s + first(p) */
static const instruction pairs[] = {
    {INTEGER, 1, 0, 0, 0}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 20000}, {REAL, 4, 0, 0, 500},
    {REAL, 0, 0, 0, 0}, {INTEGER, 10, 0, 0, 50}, {NEW_ARRAY, 9, 10, 0, 0}, {MAKE, 5, 1, 1, 0},
    {ADD, 6, 1, 4, 0}, {MAKE, 7, 6, 5, 0}, {FIRST, 8, 7, 0, 0}, {ADD, 0, 0, 8, 0}, {REMAINDER, 11, 1, 10, 0},
    {GET, 12, 9, 11, 0}, {ADD, 12, 12, 1, 0}, {PUT, 9, 11, 12, 0}, {SECOND, 8, 7, 0, 0},
    {SET_FIRST, 8, 12, 0, 0}, {MAKE, 5, 1, 2, 0}, {ADD, 1, 1, 2, 0}, {JUMP_LESS, 1, 3, 0, 8},
    {FIRST, 8, 5, 0, 0}, {ADD, 0, 0, 8, 0}, {RETURN, 0, 0, 0, 0}};

/* a list of 100 elements, made 300 times: l = nil; do { l = (i, l) } ..., and its sum */
static const instruction lists[] = {
    {INTEGER, 0, 0, 0, 0}, {INTEGER, 1, 0, 0, 0}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 300},
    {INTEGER, 4, 0, 0, 100},
    {INTEGER, 5, 0, 0, 0}, {INTEGER, 6, 0, 0, 0}, /* the list, which ends with 0, and its length */
    {MAKE, 5, 6, 5, 0}, {ADD, 6, 6, 2, 0}, {JUMP_LESS, 6, 4, 0, 7},
    {INTEGER, 6, 0, 0, 0}, {FIRST, 7, 5, 0, 0}, {ADD, 0, 0, 7, 0}, {SECOND, 5, 5, 0, 0}, {ADD, 6, 6, 2, 0},
    {JUMP_LESS, 6, 4, 0, 11}, {ADD, 1, 1, 2, 0}, {JUMP_LESS, 1, 3, 0, 5}, {RETURN, 0, 0, 0, 0}};

/* two ways through a loop within a loop: do { j = 0; do { if (j % 2 == 0) s = s + j; else s = s - i;
** j = j + 1 } while (j < 50); i = i + 1 } while (i < 400); s */
static const instruction ways[] = {
    {INTEGER, 0, 0, 0, 0}, {INTEGER, 1, 0, 0, 0}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 400},
    {INTEGER, 4, 0, 0, 50}, {INTEGER, 6, 0, 0, 2}, {INTEGER, 7, 0, 0, 0},
    {INTEGER, 5, 0, 0, 0}, {REMAINDER, 8, 5, 6, 0}, {JUMP_EQUAL, 8, 7, 0, 12}, {SUBTRACT, 0, 0, 1, 0},
    {JUMP, 0, 0, 0, 13}, {ADD, 0, 0, 5, 0}, {ADD, 5, 5, 2, 0}, {JUMP_LESS, 5, 4, 0, 8}, {ADD, 1, 1, 2, 0},
    {JUMP_LESS, 1, 3, 0, 7}, {RETURN, 0, 0, 0, 0}};

/* fib(n): if (n < 2) n; else fib(n - 1) + fib(n - 2); and fib(17) */
static const instruction fib[] = {
    {INTEGER, 1, 0, 0, 2}, {JUMP_LESS, 0, 1, 0, 9}, {INTEGER, 2, 0, 0, 1}, {SUBTRACT, 5, 0, 2, 0},
    {CALL, 4, 1, 0, 1}, {SUBTRACT, 6, 0, 1, 0}, {CALL, 5, 1, 0, 1}, {ADD, 0, 4, 5, 0}, {RETURN, 0, 0, 0, 0},
    {RETURN, 0, 0, 0, 0}};
static const instruction calls_fib[] = {{INTEGER, 1, 0, 0, 17}, {CALL, 0, 1, 0, 1}, {RETURN, 0, 0, 0, 0}};

#include "step6_bench.h"

/*
** ---- Running them, and the comparison
*/

#define CODE(name) {.code = name, .length = sizeof name / sizeof *name}

static const struct program {
  const char *name;
  function functions[FUNCTIONS];
} programs[] = {
    {"calls", {CODE(calls), CODE(square)}},
    {"pairs", {CODE(pairs)}},
    {"lists", {CODE(lists)}},
    {"ways", {CODE(ways)}},
    {"fib", {CODE(calls_fib), CODE(fib)}},
};

/* What "bench" runs: each program twice, as two people would write it. */
static const struct program benches[] = {
    {"area", {CODE(area)}}, {"area, functions", {CODE(slices), CODE(curve)}},
    {"sieve", {CODE(sieve)}}, {"sieve, functions", {CODE(primes), CODE(strike)}},
    {"points", {CODE(points)}}, {"points, functions", {CODE(moves), CODE(moved)}},
    {"ways", {CODE(long_ways)}}, {"ways, functions", {CODE(terms), CODE(term)}}};

typedef struct outcome {
  value result;
  uint64_t traces, guards, misuses;
  double seconds;
} outcome;

static uint64_t number_in(const char *json, const char *name) {
  const char *at = json ? strstr(json, name) : NULL;
  return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* listing run */
static outcome run(const struct program *program, tl_config config) {
  static machine m; /* static: it is large */
  memset(&m, 0, sizeof m);
  m.base = m.stack + 1;
  m.end = m.stack + 1 + SLOTS;
  memcpy(m.functions, program->functions, sizeof m.functions);
  for (int n = 0; n < FUNCTIONS && m.functions[n].code; n++) find_live(&m.functions[n]);
  for (int n = 0; n < FUNCTIONS; n++)
    for (int i = 0; i < m.functions[n].length; i++)
      m.functions[n].is_recursive |= m.functions[n].code[i].op == CALL && m.functions[n].code[i].n == n;
  config.abi = TL_ABI_VERSION;
  m.jit = tl_new(&config);
  if (!m.jit) fail(tl_config_error());
  describe(&m);
  if (tl_set_counters(m.jit, m.counters, 64) != TL_OK) fail(tl_last_error(m.jit));
  if (tl_check_stack(m.jit, m.stack, m.stack + 1 + SLOTS) != TL_OK) fail(tl_last_error(m.jit));
  double begin = now();
  interpret(&m, m.functions[0].code);
  double seconds = now() - begin;
  outcome found = {.result = m.result, .misuses = tl_misuses(m.jit)};
  const char *json = tl_stats_json(m.jit);
  found.guards = number_in(json, "\"guards_executed\": ");
  found.traces = number_in(json ? strstr(json, "\"compile\"") : NULL, "\"traces\": ");
  found.seconds = seconds;
  if (getenv("VERBOSE")) puts(tl_summary(m.jit));
  tl_free(m.jit);
  m.held = 0;
  m.base = m.stack + 1;
  sweep(&m); /* nothing is marked: all objects are freed */
  for (int n = 0; n < FUNCTIONS; n++) free(m.functions[n].live);
  return found;
}
/* end */

static int same(const value *a, const value *b) { return a->tag == b->tag && a->as.i == b->as.i; }

/* How many times faster a program is with the JIT on; the better of three runs each. */
static int bench(const struct program *program) {
  double best[2] = {1e9, 1e9};
  outcome found[2];
  for (int n = 0; n < 3; n++) {
    for (int is_on = 0; is_on < 2; is_on++) {
      found[is_on] = run(program, (tl_config){.flags = is_on ? 0 : TL_FLAG_OFF});
      if (found[is_on].seconds < best[is_on]) best[is_on] = found[is_on].seconds;
    }
  }
  if (!same(&found[0].result, &found[1].result)) fail("the results differ");
  printf("%-24s %6.2f s without, %6.3f s with: %5.1f times faster\n", program->name, best[0], best[1],
         best[0] / best[1]);
  return 0;
}

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
  if (count == 2 && strcmp(words[1], "bench") == 0) {
    for (size_t n = 0; n < sizeof benches / sizeof *benches; n++) failed += bench(&benches[n]);
    return failed;
  }
  if (count != 1 && !is_thorough) {
    fprintf(stderr, "usage: %s [check | bench]\n", words[0]);
    return 2;
  }
  for (size_t n = 0; n < sizeof programs / sizeof *programs; n++) failed += check(&programs[n], is_thorough);
  for (size_t n = 0; is_thorough && n < sizeof benches / sizeof *benches; n++)
    failed += check(&benches[n], 0);
  return failed;
}
