/* checks.c: TL_FLAG_CHECK finds what a host says that is not so. Each mistake is one that only memory, or the
** calls before it, can tell; without the flag the same calls are taken at their word. Sentences go to
** standard error as well, where nobody looks at them here. */
#include "misuse.h"

#include <pthread.h>

static int key, other_key;
static slot frame[8];
static const uint8_t live[1] = {0x0f}, few[1] = {0x07}, wide[1] = {0x1f};
static int32_t counters[1];

typedef struct pair {
  uint64_t kind;
  int64_t number;
} pair;
typedef struct list {
  uint64_t kind;
  int64_t count;
  int64_t *items;
} list;

static pair a_pair;
static int64_t numbers[3];
static list a_list;

static tl_vm *vm;
static tl_tag t_int, t_float, t_ref;
static tl_cell number_cell, kind_cell;
static tl_layout l_pair, l_list;
static tl_field f_number;
static tl_func f_reach;

static pair *alloc(void *context, int64_t layout, int64_t items, int64_t keys) {
  (void)context, (void)layout, (void)items, (void)keys;
  return NULL;
}

/* The library's reserve function that calls the library. */
static int calls_back(void *context, tl_layout layout, uint32_t items, uint32_t keys, uint32_t count) {
  (void)layout, (void)items, (void)keys, (void)count;
  *(int *)context += tl_has_loop(vm, &key) == 0 && tl_misuses(vm) == 0;
  return 1;
}

static void reaches(void) {}

static void describe(uint32_t flags) {
  tl_config config = {.abi = TL_ABI_VERSION, .threshold = 1, .flags = flags};
  vm = tl_new(&config);
  if (!vm) exit(2);
  t_int = tl_add_tag(vm, "int", 1, TL_INT);
  t_float = tl_add_tag(vm, "float", 2, TL_FLOAT);
  t_ref = tl_add_tag(vm, "ref", 3, TL_REF);
  EXPECT(tl_set_slots(vm, 16, 0, 8, 1) == TL_OK && tl_set_frame_words(vm, 1) == TL_OK);
  tl_class memory = tl_alias_class(vm, "memory");
  kind_cell = tl_add_cell(vm, "kind", 0, 8, TL_INT, memory, TL_IMMUTABLE);
  number_cell = tl_add_cell(vm, "number", offsetof(pair, number), 8, TL_INT, memory, 0);
  l_pair = tl_add_layout(vm, "pair", sizeof(pair), kind_cell, 7);
  f_number = tl_add_field(vm, l_pair, number_cell);
  l_list = tl_add_layout(vm, "list", sizeof(list), kind_cell, 8);
  tl_cell items = tl_add_cell(vm, "items", offsetof(list, items), 8, TL_ADDR, memory, 0);
  static const char *const names[4] = {"item.int", "item.float", "item.ref", "item.addr"};
  tl_element element = {.stride = 8, .untagged = TL_INT};
  for (int type = 0; type < 4; type++)
    element.value[type] = tl_add_cell(vm, names[type], 0, 8, (tl_type)type, tl_alias_class(vm, "payload"), 0);
  EXPECT(tl_set_items(vm, l_list, number_cell, items, 0, &element) == TL_OK);
  tl_class writes[] = {memory, 0};
  f_reach = tl_add_func(vm, "reach", (const void *)(uintptr_t)reaches, ">v", 0, NULL, writes);
  EXPECT(f_reach != 0 && tl_set_counters(vm, counters, 1) == TL_OK);
}

static void set_int(int n, int64_t number) { frame[n] = (slot){number, 1}; }

/* What memory holds before each mistake: two integers, a pair and a list. */
static void reset(void) {
  a_pair = (pair){7, 5};
  numbers[0] = 10, numbers[1] = 20, numbers[2] = 30;
  a_list = (list){8, 3, numbers};
  memset(frame, 0, sizeof frame);
  set_int(0, 5);
  set_int(1, 3);
  frame[2] = (slot){(int64_t)(intptr_t)&a_pair, 3};
  frame[3] = (slot){(int64_t)(intptr_t)&a_list, 3};
}

static void point(uint64_t pc) { tl_resume_point(vm, frame, &pc, live, 4); }
static tl_value integer(int n) { return tl_slot_read(vm, n, t_int); }
static tl_value object(int n) { return tl_slot_read(vm, n, t_ref); }
static tl_value constant(int64_t n) { return tl_const_int(vm, n); }

/* Each mistake, from the first resume point on. */
static void adds_and_subtracts(void) {
  tl_slot_write(vm, 0, t_int, tl_op2(vm, TL_INT_ADD, integer(0), integer(1)));
  set_int(0, 2);
  point(2), point(3);
}
static void forgets_a_type(void) {
  tl_slot_write(vm, 0, t_float, tl_op1(vm, TL_INT_TO_FLOAT, integer(0)));
  point(2), point(3);
}
static void closes_wrongly(void) {
  tl_slot_write(vm, 0, t_int, constant(9));
  EXPECT(tl_record_close(vm) == TL_MISUSE);
}
static void reads_another_type(void) { tl_slot_read(vm, 0, t_float); }
static void reads_no_type(void) {
  frame[1].tag = 77;
  integer(1);
}
static void reads_the_dead(void) {
  tl_slot_write(vm, 3, t_int, constant(1));
  set_int(3, 1);
  tl_resume_point(vm, frame, (uint64_t[]){2}, few, 4);
  integer(3);
}
static void contradicts_a_mask(void) {
  point(2);
  tl_resume_point(vm, frame, (uint64_t[]){2}, few, 4);
}
static void has_too_many_bits(void) { tl_resume_point(vm, frame, (uint64_t[]){2}, wide, 4); }
static void pushes_too_many_bits(void) { tl_frame_push(vm, 4, (uint64_t[]){2}, wide, 4); }
static void guards_what_fails(void) {
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_LT, integer(0), integer(1)), 0, TL_EXIT_GUARD);
}
static void guards_another_class(void) { tl_guard_class(vm, l_list, object(2)); }
static void reads_beyond(void) { tl_get_item(vm, l_list, 0, object(3), constant(3)); }
static void writes_beyond(void) { tl_put_item(vm, l_list, 0, object(3), constant(-1), constant(1)); }
static void overflows(void) { tl_op2(vm, TL_INT_ADD_OVF, constant(INT64_MAX), integer(0)); }
static void stores_nothing(void) {
  tl_store(vm, number_cell, object(2), constant(6));
  point(2), point(3);
}
static void sets_nothing(void) {
  tl_set(vm, f_number, object(2), constant(6));
  a_pair.number = 7;
  point(2), point(3);
}
static void puts_nothing(void) {
  tl_put_item(vm, l_list, 0, object(3), constant(1), constant(6));
  point(2), point(3);
}
static void changes_the_immutable(void) {
  tl_load(vm, kind_cell, object(2));
  a_pair.kind = 9;
  tl_load(vm, kind_cell, object(2));
}
static void reads_of_null(void) {
  frame[2].payload = 0;
  tl_get(vm, f_number, object(2));
}
static void loads_the_stale(void) {
  tl_slot_write(vm, 0, t_int, constant(5));
  tl_load(vm, number_cell, tl_item_addr(vm, tl_frame_base(vm), constant(0), 16, 0));
}
static void is_nowhere(void) {
  tl_slot_write(vm, 0, t_int, constant(1));
  tl_resume_point(vm, (void *)16, (uint64_t[]){2}, live, 4);
  tl_resume_point(vm, (void *)16, (uint64_t[]){3}, live, 4);
}

static const struct mistake {
  void (*make)(void);
  const char *sentence;
} mistakes[] = {
    {adds_and_subtracts, "slot 0 holds 2 in memory, but what was recorded makes it 8"},
    {forgets_a_type, "slot 0 holds int in memory, but what was recorded makes it float"},
    {closes_wrongly, "slot 0 holds 5 in memory, but what was recorded makes it 9"},
    {reads_another_type, "slot 0 is read as float, but memory holds int"},
    {reads_no_type, "slot 1 is read as int, but memory holds 0x4d, which is no tag"},
    {reads_the_dead, "slot 3 is read, but `live` has called it dead"},
    {contradicts_a_mask, "`live` contradicts itself: slot 3"},
    {has_too_many_bits, "`live` has bits for slots from 4 on"},
    {pushes_too_many_bits, "`live` has bits for slots from 4 on"},
    {guards_what_fails, "guard_true of 0 fails now"},
    {guards_another_class, "guard_class: the object is no list, as its class word is 0x7"},
    {reads_beyond, "get_item: index 3 lies outside of the 3 items of list"},
    {writes_beyond, "put_item: index -1 lies outside of the 3 items of list"},
    {overflows, "int_add_ovf of 9223372036854775807 and 5 fails now"},
    {stores_nothing, "number holds 5 in memory, but what was recorded has stored 6"},
    {sets_nothing, "number holds 7 in memory, but what was recorded has stored 6"},
    {puts_nothing, "item.int holds 20 in memory, but what was recorded has stored 6"},
    {changes_the_immutable, "kind is immutable, but was 7 and is 9"},
    {reads_of_null, "number is read of null"},
    {loads_the_stale, "number is loaded from slot 0, which the trace has written: use tl_slot_read"},
    {is_nowhere, "where no memory is"},
};

/* Code calls a function that makes a count right; the interpreter does not, and nobody is wrong. */
static void calls_make_memory_loose(void) {
  for (int calls = 0; calls < 2; calls++) {
    describe(TL_FLAG_CHECK);
    reset();
    EXPECT(tl_record(vm, &key, frame) == TL_OK);
    point(1);
    tl_value items = object(3);
    if (calls) tl_call(vm, f_reach, NULL, 0);
    point(2);
    tl_put_item(vm, l_list, 0, items, constant(3), constant(1));
    EXPECT(tl_misuses(vm) == !calls && tl_recording(vm) == calls);
    tl_free(vm);
  }
}

/* A resume point that is told again is the same one: the interpreter has done nothing in between. */
static void tells_again(void) {
  describe(TL_FLAG_CHECK);
  reset();
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  point(1);
  tl_slot_write(vm, 0, t_int, constant(9));
  point(2), point(2), point(2);
  EXPECT(tl_recording(vm) && tl_misuses(vm) == 0);
  point(3);
  EXPECT(!tl_recording(vm) && tl_misuses(vm) == 1);
  SAYS("slot 0 holds 5 in memory, but what was recorded makes it 9");
  tl_free(vm);
}

static void recordings(void) {
  for (size_t n = 0; n < sizeof mistakes / sizeof *mistakes; n++) {
    const struct mistake *mistake = &mistakes[n];
    for (int checks = 0; checks < 2; checks++) {
      if (!checks && mistake->make == is_nowhere) continue; /* without the flag nobody can tell */
      describe(checks ? TL_FLAG_CHECK : 0);
      reset();
      EXPECT(tl_record(vm, &key, frame) == TL_OK);
      point(1);
      if (checks || mistake->make != closes_wrongly) mistake->make();
      if (!checks) {
        EXPECT(tl_recording(vm) && tl_misuses(vm) == 0);
      } else {
        kinds++;
        SAYS(mistake->sentence);
        EXPECT(!tl_recording(vm) && tl_misuses(vm) == 1);
        if (mistake->make != closes_wrongly) EXPECT(tl_record_close(vm) == TL_MISUSE);
        SAYS(mistake->sentence);
      }
      tl_free(vm);
    }
  }
}

/* while (slot0 < 1000) slot0 += slot1 */
static void compile(void) {
  reset();
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  point(1);
  tl_value sum = tl_op2(vm, TL_INT_ADD, integer(0), integer(1));
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_LT, sum, constant(1000)), 0, TL_EXIT_LOOP_END);
  tl_slot_write(vm, 0, t_int, sum);
  set_int(0, 8);
  EXPECT(tl_record_close(vm) == TL_OK);
  counters[0] = -1;
}

static void exits(void) {
  tl_run run;
  tl_exit_info info;
  describe(TL_FLAG_CHECK);
  BAD(tl_check_stack(vm, frame + 8, frame) == TL_MISUSE, "the stack's end lies below its beginning");
  EXPECT(tl_check_stack(vm, frame, frame + 8) == TL_OK);
  BAD(tl_record(vm, &key, frame + 9) == TL_MISUSE, "tl_record: a frame of 0 slots");
  compile();
  BAD(tl_hot(vm, &key, counters, frame - 1, &run) == TL_NOTHING, "lies outside of the stack");
  while (tl_hot(vm, &key, counters, frame, &run) != TL_RUN) counters[0] = -1;
  tl_left left = tl_run_code(&run, NULL, frame);
  left.base = frame + 8;
  BAD_CALL(tl_exit(vm, left, NULL, &info), "tl_exit: a frame of 1 slots at");
  EXPECT(info.kind == TL_EXIT_REFUSED && frame[0].payload == 8 && frame[0].tag == 1);
  EXPECT(tl_check_stack(vm, frame, frame + 8) == TL_OK);
  EXPECT(tl_hot(vm, &key, counters, frame, &run) == TL_RUN);
  tl_exit(vm, tl_run_code(&run, NULL, frame), NULL, &info);
  EXPECT(info.kind == TL_EXIT_LOOP_END && frame[0].payload == 998);
  BAD(tl_next(vm, frame + 1, &run) == TL_NOTHING, "that of the last exit's innermost frame");
  EXPECT(tl_check_stack(vm, NULL, NULL) == TL_OK); /* it may lie anywhere, and has moved */
  BAD(tl_record(vm, NULL, frame + 9) == TL_MISUSE, "tl_record: the key is null");
  tl_free(vm);
}

/* A side trace of a loop in one frame that begins as if there were two. */
static void sides(void) {
  tl_run run;
  tl_exit_info info;
  describe(TL_FLAG_CHECK);
  compile();
  tl_action action = TL_NOTHING;
  for (int n = 0; n < 100 && action != TL_RECORD; n++) {
    set_int(0, 8);
    counters[0] = -1;
    if (tl_hot(vm, &key, counters, frame, &run) != TL_RUN) continue;
    tl_exit(vm, tl_run_code(&run, NULL, frame), NULL, &info);
    action = tl_next(vm, frame, &run);
  }
  EXPECT(action == TL_RECORD && tl_record_side(vm, frame) == TL_OK);
  tl_frame_push(vm, 4, (uint64_t[]){1}, live, 4);
  BAD_CALL(tl_resume_point(vm, frame, (uint64_t[]){1}, live, 4),
           "the side trace begins with 1 frames pushed, but its exit has 0");
  tl_record_abort(vm, NULL);
  tl_free(vm);
}

static void *busy(void *data) {
  for (int n = 0; n < 200000; n++) tl_has_loop(vm, data);
  return NULL;
}

static void handles(void) {
  describe(TL_FLAG_CHECK);
  tl_vm *gone = vm;
  tl_free(vm);
  kinds++;
  EXPECT(tl_has_loop(gone, &key) == 0 && tl_record(gone, &key, frame) == TL_MISUSE);
  EXPECT(strcmp(tl_last_error(gone), "the handle is null or was freed") == 0);
  EXPECT(tl_misuses((tl_vm *)(void *)16) == 0); /* not even memory */
  tl_free(gone);
  tl_free((tl_vm *)(void *)16);

  describe(TL_FLAG_CHECK);
  int called = 0;
  tl_func func = tl_add_func(vm, "alloc", (const void *)(uintptr_t)alloc, "aiii>r", TL_EFFECT_ALLOCATES,
                             NULL, NULL);
  EXPECT(tl_set_alloc(vm, l_pair, func) == TL_OK && tl_set_reserve(vm, l_pair, calls_back, &called) == TL_OK);
  reset();
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  point(1);
  tl_slot_write(vm, 2, t_ref, tl_new_record(vm, l_pair, 0, 0));
  tl_value sum = tl_op2(vm, TL_INT_ADD, integer(0), integer(1));
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_LT, sum, constant(1000)), 0, TL_EXIT_LOOP_END);
  tl_slot_write(vm, 0, t_int, sum);
  set_int(0, 8);
  EXPECT(tl_record_close(vm) == TL_OK);
  tl_run run;
  for (int n = 0; n < 20 && !called; n++) {
    counters[0] = -1;
    if (tl_hot(vm, &key, counters, frame, &run) == TL_RUN) tl_declined(vm);
  }
  kinds++;
  EXPECT(called > 0 && tl_misuses(vm) > 0);
  tl_free(vm);

  /* two threads at once: some call meets another one */
  describe(TL_FLAG_CHECK);
  pthread_t threads[2];
  kinds++;
  for (int round = 0; round < 50 && tl_misuses(vm) == 0; round++) {
    for (int n = 0; n < 2; n++) EXPECT(pthread_create(&threads[n], NULL, busy, &other_key) == 0);
    for (int n = 0; n < 2; n++) pthread_join(threads[n], NULL);
  }
  EXPECT(tl_misuses(vm) > 0);
  tl_free(vm);
}

static void versions(void) {
  unsigned major, minor, patch;
  EXPECT(sscanf(tl_version(), "%u.%u.%u", &major, &minor, &patch) == 3);
  EXPECT(tl_version_number() == major * 1000000 + minor * 1000 + patch && tl_abi_version() == TL_ABI_VERSION);
}

int main(void) {
  versions();
  recordings();
  calls_make_memory_loose();
  tells_again();
  exits();
  sides();
  handles();
  return told();
}
