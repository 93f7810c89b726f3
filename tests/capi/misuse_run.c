/*
** misuse_run.c: wrong settings, handles that are none, and code that is run and left wrongly; the same tl_vm
** runs a good loop. Then the same for entries and their counters.
*/
#include "misuse.h"

static int key, other_key;
static int32_t counters[1], stray;
static tl_run run;
static slot frame[4];
static const uint8_t live[1] = {0x0f};

static void refuses(tl_config config, const char *text, int line) {
  kinds++;
  tl_vm *vm = tl_new(&config);
  EXPECT(vm == NULL);
  contains(tl_config_error(), text, line);
}

#define REFUSES(text, ...) refuses((tl_config){__VA_ARGS__}, text, __LINE__)
#define SET .abi = TL_ABI_VERSION

static void settings(void) {
  kinds++;
  EXPECT(tl_new(NULL) == NULL && strstr(tl_config_error(), "null") != NULL);
  REFUSES("version 0", .threshold = 1);
  REFUSES("version 99", .abi = 99);
  REFUSES("passes: there is no pass `flod`", SET, .passes = "-flod");
  REFUSES("passes: `fold` should be", SET, .passes = "fold");
  REFUSES("the pass `expand` cannot be switched off", SET, .passes = "-expand");
  REFUSES("passes: a text is not UTF-8", SET, .passes = "-\xff");
  REFUSES("log: unknown log stage 'recod'", SET, .log = "recod");
  REFUSES("log: a text is not UTF-8", SET, .log = "\xff\xfe");
  REFUSES("/no/such/folder/log", SET, .log = "all", .log_file = "/no/such/folder/log");
  REFUSES("flags: 0x80000 is no TL_FLAG", SET, .flags = 0x80000u | TL_FLAG_VERIFY);
  REFUSES("max_ops is 4294967295", SET, .max_ops = UINT32_MAX);
  REFUSES("bytecode_price is 1000001", SET, .bytecode_price = 1000001);
  REFUSES("call_price is 4294967295", SET, .call_price = UINT32_MAX);
  REFUSES("max_snapshots is 4294967295", SET, .max_snapshots = UINT32_MAX);
  REFUSES("max_frames is 256", SET, .max_frames = 256);
  REFUSES("code_bytes is 18446744073709551615", SET, .code_bytes = UINT64_MAX);
}

/* Everything that can be called with a handle that is none. */
static void with_handle(tl_vm *vm) {
  tl_exit_info info;
  memset(&info, 0, sizeof info);
  tl_value args[1] = {1};
  int64_t number = 0;
  kinds++;
  EXPECT(tl_add_tag(vm, "t", 1, TL_INT) == 0);
  EXPECT(tl_set_slots(vm, 16, 0, 8, 1) == TL_MISUSE);
  EXPECT(tl_set_frame_words(vm, 1) == TL_MISUSE);
  EXPECT(tl_alias_class(vm, "c") == 0);
  EXPECT(tl_add_cell(vm, "c", 0, 8, TL_INT, 1, 0) == 0);
  EXPECT(tl_add_layout(vm, "l", 8, 0, 0) == 0);
  EXPECT(tl_add_field(vm, 1, 1) == 0);
  EXPECT(tl_set_items(vm, 1, 1, 1, 0, NULL) == TL_MISUSE);
  EXPECT(tl_set_keys(vm, 1, 1, 1, NULL, 1, 1, 1, 1, 1) == TL_MISUSE);
  EXPECT(tl_set_alloc(vm, 1, 1) == TL_MISUSE);
  EXPECT(tl_set_reserve(vm, 1, NULL, NULL) == TL_MISUSE);
  EXPECT(tl_set_barrier(vm, 1, 1, 1, 1, 1) == TL_MISUSE && tl_set_barrier_call(vm, 1, 1) == TL_MISUSE);
  EXPECT(tl_add_func(vm, "f", NULL, ">v", 0, NULL, NULL) == 0);
  EXPECT(tl_set_counters(vm, counters, 1) == TL_MISUSE);
  EXPECT(tl_add_counter(vm, counters) == TL_MISUSE);
  EXPECT(tl_host_code(vm, "", 1, &(uint32_t){0}) == NULL);
  tl_host_code_free(vm, 0);
  tl_host_code_refused(vm);
  tl_code_info found;
  EXPECT(tl_is_watched(vm) == 0 && tl_get_code_bounds(vm) == NULL);
  EXPECT(tl_host_code_note(vm, 0, "code", NULL, 0) == TL_MISUSE);
  EXPECT(tl_code_at(vm, &key, &found) == 0);
  tl_drop_counter(vm, counters);
  EXPECT(tl_hot(vm, &key, counters, frame, &run) == TL_NOTHING);
  EXPECT(tl_next(vm, frame, &run) == TL_NOTHING);
  EXPECT(tl_has_loop(vm, &key) == 0);
  EXPECT(tl_leave_to(vm, &key) == 0);
  tl_declined(vm);
  EXPECT(tl_asks_ahead(vm) == 0);
  tl_foresee(vm, &key, 1);
  tl_tick(vm, counters);
  tl_exit(vm, (tl_left){0, frame}, NULL, &info);
  EXPECT(info.nframes == 0);
  tl_forget(vm, &key, &key + 1);
  EXPECT(tl_record(vm, &key, frame) == TL_MISUSE);
  EXPECT(tl_record_side(vm, frame) == TL_MISUSE);
  EXPECT(tl_recording(vm) == 0);
  tl_resume_point(vm, NULL, NULL, NULL, 0);
  tl_frame_push(vm, 0, NULL, NULL, 0);
  tl_frame_pop(vm);
  EXPECT(tl_frame_depth(vm) == 0);
  EXPECT(tl_slot_read(vm, 0, 1) == 0);
  tl_slot_write(vm, 0, 1, 1);
  EXPECT(tl_const_int(vm, 1) == 0 && tl_const_float(vm, 1) == 0);
  EXPECT(tl_const_ref(vm, &key) == 0 && tl_const_addr(vm, &key) == 0);
  const void *object = NULL;
  EXPECT(tl_is_const_int(vm, 1, &number) == 0 && tl_is_const_ref(vm, 1, &object) == 0);
  EXPECT(tl_op1(vm, TL_INT_NEG, 1) == 0 && tl_op2(vm, TL_INT_ADD, 1, 1) == 0
         && tl_op3(vm, TL_SELECT, 1, 1, 1) == 0);
  EXPECT(tl_context(vm) == 0 && tl_frame_base(vm) == 0 && tl_item_addr(vm, 1, 1, 8, 0) == 0);
  EXPECT(tl_load(vm, 1, 1) == 0);
  tl_store(vm, 1, 1, 1);
  tl_guard(vm, TL_GUARD_TRUE, 1, 0, TL_EXIT_GUARD);
  EXPECT(tl_new_record(vm, 1, 0, 0) == 0);
  tl_guard_class(vm, 1, 1);
  EXPECT(tl_get(vm, 1, 1) == 0 && tl_item_count(vm, 1, 1) == 0 && tl_get_item(vm, 1, 1, 1, 1) == 0);
  tl_set(vm, 1, 1, 1);
  tl_set_item(vm, 1, 1, 1, 1, 1);
  tl_put_item(vm, 1, 1, 1, 1, 1);
  EXPECT(tl_get_key(vm, 1, 1, 1, 1, 0, 0) == 0);
  tl_guard_key_absent(vm, 1, 1, 1, 1, 1, 1);
  tl_set_key(vm, 1, 1, 1, 1, 1, 0, 0);
  tl_insert_key(vm, 1, 1, 1, 1, 1);
  EXPECT(tl_call(vm, 1, args, 1) == 0 && tl_try_call(vm, 1, args, 1) == 0);
  tl_mend(vm, 1, args, 1);
  tl_back_edge(vm, &key, 0);
  tl_loop_skipped(vm, &key);
  EXPECT(tl_tree_key(vm) == NULL);
  EXPECT(tl_record_unit(vm, &key, frame) == TL_MISUSE && tl_unit_argument(vm, 0, 1) == 0);
  EXPECT(tl_records_unit(vm) == 0 && tl_find_unit(vm, &key, NULL, 0) == 0 && tl_has_unit(vm, &key) == 0);
  tl_drop_entries(vm, &key);
  tl_call_unit(vm, 1, args, 1, 0, NULL, 0);
  EXPECT(tl_unit_returned(vm, 1) == 0 && tl_unit_return(vm, 1, 1) != TL_OK);
  EXPECT(tl_unit_limit(vm) == NULL && tl_unit_depth(vm, 1) == TL_MISUSE);
  EXPECT(tl_record_close(vm) != TL_OK && tl_record_link(vm, &key) != TL_OK
         && tl_record_end(vm, "x") != TL_OK);
  tl_record_abort(vm, "x");
  EXPECT(tl_set_name_of(vm, NULL, NULL) == TL_MISUSE && tl_set_meanings(vm, NULL, 0) == TL_MISUSE);
  EXPECT(tl_set_stable_name_of(vm, NULL, NULL) == TL_MISUSE && tl_give_hints(vm, "x", 1) == TL_MISUSE);
  EXPECT(tl_take_hints(vm, NULL, 0, NULL) == NULL && tl_has_hint(vm, 1) == 0);
  tl_note_hint(vm, 1);
  EXPECT(tl_read_hints(vm, "x") == TL_MISUSE && tl_write_hints(vm, "x") == TL_MISUSE);
  EXPECT(tl_summary(vm) == NULL && tl_set_option(vm, "-fold") == TL_MISUSE);
  EXPECT(tl_stats_json(vm) == NULL && tl_stats_text(vm) == NULL && tl_last_abort(vm, &key) == NULL);
  EXPECT(tl_aborts(vm, &key) == 0);
  SAYS("null or was freed");
  tl_free(vm);
}

static tl_tag t_int;

static tl_vm *host(tl_config config) {
  tl_vm *vm = tl_new(&config);
  if (!vm) exit(2);
  t_int = tl_add_tag(vm, "int", 1, TL_INT);
  EXPECT(tl_set_slots(vm, sizeof(slot), offsetof(slot, payload), offsetof(slot, tag), 1) == TL_OK);
  EXPECT(tl_set_frame_words(vm, 1) == TL_OK);
  return vm;
}

/* while (slot0 != 1000) slot0 += 1 */
static void compile(tl_vm *vm) {
  uint64_t words[1] = {7};
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  tl_resume_point(vm, frame, words, live, 4);
  tl_value value = tl_slot_read(vm, 0, t_int);
  tl_value more = tl_op2(vm, TL_INT_NE, value, tl_const_int(vm, 1000));
  tl_guard(vm, TL_GUARD_TRUE, more, 0, TL_EXIT_LOOP_END);
  tl_slot_write(vm, 0, t_int, tl_op2(vm, TL_INT_ADD, value, tl_const_int(vm, 1)));
  EXPECT(tl_record_close(vm) == TL_OK);
}

static void running(void) {
  tl_config config = {SET, .flags = TL_FLAG_VERIFY};
  tl_vm *vm = host(config);
  for (int i = 0; i < 4; i++) frame[i].tag = 1;
  BAD(tl_hot(vm, &key, counters, frame, &run) == TL_NOTHING,
      "none of those that tl_set_counters and tl_add_counter were told");
  BAD(tl_set_counters(vm, NULL, 4) == TL_MISUSE, "at least one counter");
  BAD(tl_set_counters(vm, counters, 0) == TL_MISUSE, "at least one counter");
  BAD(tl_add_counter(vm, NULL) == TL_MISUSE, "the counter is null or not aligned");
  uint32_t number = 0;
  const unsigned char code[] = {0xc3};
  BAD(tl_host_code(vm, NULL, 1, &number) == NULL, "tl_host_code needs code");
  BAD(tl_host_code(vm, code, 0, &number) == NULL, "tl_host_code needs code");
  BAD(tl_host_code(vm, code, 1, NULL) == NULL, "tl_host_code needs code");
  const unsigned char *held = tl_host_code(vm, code, 1, &number);
  EXPECT(held != NULL && held != code && *held == 0xc3);
  tl_host_code_free(vm, number);
  tl_host_code_free(vm, number + 1); /* there is none */
  int32_t unknown = -1;
  tl_drop_counter(vm, &unknown);
  EXPECT(unknown == -1);
  static uint32_t bytes[2];
  BAD(tl_set_counters(vm, (int32_t *)(void *)((char *)bytes + 1), 1) == TL_MISUSE, "not aligned");
  EXPECT(tl_set_counters(vm, counters, 1) == TL_OK);
  BAD(tl_set_counters(vm, counters, 1) == TL_MISUSE, "there are counters already");
  BAD(tl_hot(vm, &key, &stray, frame, &run) == TL_NOTHING, "none of those");
  BAD(tl_hot(vm, &key, NULL, frame, &run) == TL_NOTHING, "none of those");
  BAD_CALL(tl_tick(vm, &stray), "none of those");
  BAD(tl_hot(vm, NULL, counters, frame, &run) == TL_NOTHING, "tl_hot: the key is null");
  BAD(tl_hot(vm, &key, counters, NULL, &run) == TL_NOTHING, "tl_hot: the frame's base is null");
  BAD(tl_leave_to(vm, NULL) == 0, "the key of the loop around is null");

  tl_exit_info info = {.nframes = 17};
  BAD_CALL(tl_exit(vm, (tl_left){0, frame}, NULL, &info), "tl_exit: there is no code that was called");
  EXPECT(info.kind == TL_EXIT_REFUSED && info.nframes == 0);
  BAD_CALL(tl_declined(vm), "there is no code that was to be called");
  BAD_CALL(tl_foresee(vm, NULL, 1), "what the loop is known by");
  compile(vm);
  BAD_CALL(tl_exit(vm, (tl_left){0, frame}, NULL, &info), "tl_exit: there is no code that was called");

  EXPECT(tl_hot(vm, &key, counters, frame, &run) == TL_NOTHING); /* the first time: see tl_set_counters */
  BAD(tl_hot(vm, &key, counters, frame, NULL) == TL_NOTHING, "there is no tl_run to fill");
  frame[0].payload = 3;
  EXPECT(tl_hot(vm, &key, counters, frame, &run) == TL_RUN);
  tl_left left = tl_run_code(&run, NULL, frame);
  BAD_CALL(tl_exit(vm, left, NULL, NULL), "tl_exit needs a tl_exit_info");
  BAD_CALL(tl_exit(vm, (tl_left){left.exit, NULL}, NULL, &info), "tl_exit: the frame's base is null");
  EXPECT(info.kind == TL_EXIT_REFUSED);
  tl_exit(vm, left, NULL, &info);
  EXPECT(info.kind == TL_EXIT_LOOP_END && info.nframes == 1 && info.frames[0].words[0] == 7);
  EXPECT(frame[0].payload == 1000 && frame[0].tag == 1);
  /* once is enough */
  BAD_CALL(tl_exit(vm, left, NULL, &info), "tl_exit: there is no code that was called");
  BAD(tl_next(vm, NULL, &run) == TL_NOTHING, "tl_next: the frame's base is null");

  /* no such trace, no such exit */
  static const uint64_t no_exits[] = {0xffffffff00000000u, 4711, UINT64_MAX};
  for (size_t n = 0; n < sizeof no_exits / sizeof *no_exits; n++) {
    kinds++;
    EXPECT(tl_hot(vm, &key, counters, frame, &run) == TL_RUN);
    tl_exit(vm, (tl_left){no_exits[n], frame}, NULL, &info);
    EXPECT(info.kind == TL_EXIT_REFUSED && info.nframes == 0);
  }
  EXPECT(tl_hot(vm, &key, counters, frame, &run) == TL_RUN);
  tl_declined(vm);
  frame[0].tag = 2; /* a type that the code does not expect */
  EXPECT(tl_hot(vm, &key, counters, frame, &run) == TL_NOTHING);
  BAD(tl_record_side(vm, frame) == TL_MISUSE, "no side trace was asked for");
  BAD(tl_record_side(vm, NULL) == TL_MISUSE, "tl_record_side: the frame's base is null");
  BAD_CALL(tl_forget(vm, &key + 1, &key), "the first key lies above the last one");
  tl_forget(vm, &key, &key + 1);
  frame[0].tag = 1;
  EXPECT(tl_hot(vm, &key, counters, frame, &run) != TL_RUN);
  EXPECT(strstr(tl_stats_json(vm), "internal") == NULL);
  tl_free(vm);
}

/* Asks at the entry until it is hot; what is recorded there ends as `end` says. */
static tl_status record_entry(tl_vm *vm, int32_t *counter, tl_status (*end)(tl_vm *vm)) {
  uint64_t words[1] = {9};
  int asked = 0;
  while (--*counter >= 0 || tl_hot(vm, &other_key, counter, frame, &run) != TL_RECORD)
    if (++asked > 1000) exit(4);
  EXPECT(tl_record(vm, &other_key, frame) == TL_OK);
  tl_resume_point(vm, frame, words, live, 4);
  tl_value value = tl_slot_read(vm, 0, t_int);
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_NE, value, tl_const_int(vm, 1000)), 0, TL_EXIT_GUARD);
  tl_slot_write(vm, 0, t_int, tl_op2(vm, TL_INT_ADD, value, tl_const_int(vm, 1)));
  tl_resume_point(vm, frame, words, live, 4);
  return end(vm);
}

static tl_status closes(tl_vm *vm) { return tl_record_close(vm); }
static tl_status links_nowhere(tl_vm *vm) { return tl_record_link(vm, NULL); }
static tl_status links(tl_vm *vm) { return tl_record_link(vm, &other_key); }

/* Counters of entries, and what is recorded there. */
static void entries(void) {
  static int32_t row[1], counter, second;
  tl_config config = {SET, .threshold = 1, .flags = TL_FLAG_VERIFY};
  tl_vm *vm = host(config);
  static uint32_t bytes[2];
  BAD(tl_add_counter(vm, (int32_t *)(void *)((char *)bytes + 1)) == TL_MISUSE, "not aligned");
  BAD(tl_hot(vm, &other_key, &counter, frame, &run) == TL_NOTHING, "none of those");
  EXPECT(tl_add_counter(vm, &counter) == TL_OK && tl_add_counter(vm, &second) == TL_OK);
  BAD(tl_set_counters(vm, row, 1) == TL_MISUSE, "there are counters already");
  EXPECT(tl_add_counter(vm, &counter) == TL_OK); /* again: nothing */
  frame[0] = (slot){0, 1};
  BAD(record_entry(vm, &counter, closes) == TL_MISUSE, "only what began at a loop's head closes");
  BAD(tl_record_link(vm, &other_key) == TL_MISUSE, "no recording is in progress");
  BAD(record_entry(vm, &counter, links_nowhere) == TL_MISUSE, "tl_record_link: the key is null");
  EXPECT(!tl_has_loop(vm, &other_key) && tl_aborts(vm, &other_key) == 2);
  EXPECT(record_entry(vm, &counter, links) == TL_OK && tl_has_loop(vm, &other_key));
  EXPECT(tl_add_counter(vm, &counter) == TL_OK); /* and what was known of it stays */
  counter = -1;
  EXPECT(tl_hot(vm, &other_key, &counter, frame, &run) == TL_RUN && counter == 0);
  tl_exit_info info;
  tl_exit(vm, tl_run_code(&run, NULL, frame), NULL, &info);
  EXPECT(info.kind == TL_EXIT_GUARD && frame[0].payload == 1000);
  /* it goes while its code exists; nobody writes there any more, and nothing is known of it */
  tl_forget(vm, &other_key, &other_key + 1);
  tl_drop_counter(vm, &counter);
  tl_drop_counter(vm, &counter); /* again: nothing */
  counter = 77;
  BAD(tl_hot(vm, &other_key, &counter, frame, &run) == TL_NOTHING, "none of those");
  EXPECT(!tl_has_loop(vm, &other_key) && counter == 77);
  EXPECT(record_entry(vm, &second, links) == TL_OK && counter == 77);
  EXPECT(strstr(tl_stats_json(vm), "internal") == NULL);
  tl_free(vm);
}

/* A counter that goes although its code was not forgotten: that was the host's duty. The code stays, and is
** entered by whichever counter the place has next, also by one that lies where the first one lay. */
static void dropped_too_soon(void) {
  static int32_t counter, second;
  tl_config config = {SET, .threshold = 1, .flags = TL_FLAG_VERIFY};
  tl_vm *vm = host(config);
  EXPECT(tl_add_counter(vm, &counter) == TL_OK);
  frame[0] = (slot){0, 1};
  EXPECT(record_entry(vm, &counter, links) == TL_OK);
  for (int n = 0; n < 50; n++) {
    tl_exit_info info;
    frame[0].payload = 900;
    counter = -1;
    EXPECT(tl_hot(vm, &other_key, &counter, frame, &run) == TL_RUN);
    tl_exit(vm, tl_run_code(&run, NULL, frame), NULL, &info);
    EXPECT(info.kind == TL_EXIT_GUARD && frame[0].payload == 1000);
  }
  kinds++;
  tl_drop_counter(vm, &counter);
  counter = -1;
  EXPECT(tl_hot(vm, &other_key, &counter, frame, &run) == TL_NOTHING && counter == -1);
  SAYS("none of those");
  EXPECT(tl_add_counter(vm, &second) == TL_OK && tl_add_counter(vm, &counter) == TL_OK);
  counter = -1;
  while (tl_hot(vm, &other_key, &counter, frame, &run) == TL_NOTHING) counter = -1;
  tl_declined(vm);
  EXPECT(second == 0);
  tl_forget(vm, &other_key, &other_key + 1);
  EXPECT(strstr(tl_stats_json(vm), "internal") == NULL);
  tl_free(vm);
}

/* Every threshold that can be set works: what is recorded, given up and tried again. */
static void thresholds(void) {
  static const uint32_t values[] = {1, 2, 65535, 65536, 65537, UINT32_MAX};
  for (size_t n = 0; n < sizeof values / sizeof *values; n++) {
    tl_config config = {SET, .threshold = values[n], .side_threshold = UINT32_MAX, .max_sides = UINT32_MAX};
    tl_vm *vm = tl_new(&config);
    if (!vm) exit(3);
    t_int = tl_add_tag(vm, "int", 1, TL_INT);
    tl_set_slots(vm, 16, 0, 8, 1);
    tl_set_frame_words(vm, 1);
    EXPECT(tl_set_counters(vm, counters, 1) == TL_OK);
    uint32_t attempts = 0;
    for (int again = 0; again < 4; again++) {
      counters[0] = -1;
      if (tl_hot(vm, &key, counters, frame, &run) != TL_RECORD) continue;
      EXPECT(tl_record(vm, &key, frame) == TL_OK);
      tl_record_abort(vm, "no");
      attempts++;
    }
    EXPECT(attempts > 0 && tl_aborts(vm, &key) == attempts && tl_aborts(vm, &other_key) == 0);
    EXPECT(strstr(tl_stats_json(vm), "internal") == NULL);
    tl_free(vm);
  }
}

/* What is said of code, and what is known of it where somebody asks. */
static void watched(void) {
  kinds++;
  tl_config config = {.abi = TL_ABI_VERSION, .flags = TL_FLAG_CODE_MAP};
  tl_vm *vm = tl_new(&config);
  EXPECT(vm != NULL && tl_is_watched(vm) == 1);
  const tl_code_bounds *bounds = tl_get_code_bounds(vm);
  EXPECT(bounds != NULL && bounds->host == 0 && bounds->traces == 0 && bounds->compiling == 0);
  const unsigned char code[] = {0x90, 0x90, 0x90, 0xc3};
  uint32_t id = 0;
  const unsigned char *held = tl_host_code(vm, code, sizeof code, &id);
  EXPECT(held != NULL && (uintptr_t)held >= bounds->host && (uintptr_t)held < bounds->host_end);
  tl_code_info found = {.kind = 17};
  EXPECT(tl_code_at(vm, held, &found) == 0 && found.kind == 17); /* nobody has said what it is */
  const tl_code_span good[] = {{0, 1}, {2, 4}}, far[] = {{0, 5}}, turned[] = {{2, 4}, {0, 1}};
  BAD(tl_host_code_note(vm, id, NULL, good, 2) == TL_MISUSE, "a text is null");
  BAD(tl_host_code_note(vm, id, "", good, 2) == TL_MISUSE, "a name is empty");
  BAD(tl_host_code_note(vm, id + 1, "code", good, 2) == TL_MISUSE, "is no code of the host's");
  BAD(tl_host_code_note(vm, id, "code", far, 1) == TL_MISUSE, "the spans are not in order");
  BAD(tl_host_code_note(vm, id, "code", turned, 2) == TL_MISUSE, "the spans are not in order");
  EXPECT(tl_host_code_note(vm, id, "twice twice", good, 2) == TL_OK);
  BAD(tl_code_at(vm, held, NULL) == 0, "the place for what is found is null");
  EXPECT(tl_code_at(vm, held + 3, &found) == 1 && strcmp(found.name, "twice twice") == 0);
  EXPECT(found.kind == TL_CODE_HOST && found.trace == UINT32_MAX && found.nwords == 0);
  EXPECT(found.start == held && found.size == sizeof code);
  EXPECT(tl_code_at(vm, held + 4, &found) == 0 && tl_code_at(vm, held - 1, &found) == 0);
  tl_host_code_free(vm, id);
  BAD(tl_host_code_note(vm, id, "code", good, 2) == TL_MISUSE, "is no code of the host's");
  tl_free(vm);
}

int main(void) {
  settings();
  with_handle(NULL);
  static uint64_t other[64]; /* readable memory that is no handle, as freed memory mostly is */
  with_handle((tl_vm *)(void *)other);
  running();
  entries();
  dropped_too_soon();
  thresholds();
  watched();
  return told();
}
