/* misuse.c: a host that does everything wrong. Each mistake gives a status or a 0 and a sentence, nothing crashes, and
** the same tl_vm compiles a good loop afterwards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelift.h"

static int failures;

#define EXPECT(condition) \
  ((condition) ? (void)0 : (void)(failures++, fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition)))

/* The last call failed with a sentence that contains `text`. */
#define SAYS(vm, text) says(vm, text, __LINE__)

static void says(const tl_vm *vm, const char *text, int line) {
  const char *sentence = tl_last_error(vm);
  if (!sentence || !strstr(sentence, text)) {
    failures++;
    fprintf(stderr, "line %d: expected '%s' in '%s'\n", line, text, sentence ? sentence : "(null)");
  }
}

static void refuses(tl_config config, const char *text, int line) {
  tl_vm *vm = tl_new(&config);
  if (vm || !strstr(tl_config_error(), text)) {
    failures++;
    fprintf(stderr, "line %d: expected '%s' in '%s'\n", line, text, tl_config_error());
  }
}

#define REFUSES(text, ...) refuses((tl_config){__VA_ARGS__}, text, __LINE__)

static void configurations(void) {
  EXPECT(tl_new(NULL) == NULL);
  EXPECT(strstr(tl_config_error(), "null") != NULL);
  REFUSES("version 0", .threshold = 1);
  REFUSES("version 99", .abi = 99);
  REFUSES("flod", .abi = TL_ABI_VERSION, .passes = "-flod");
  REFUSES("`fold` should be", .abi = TL_ABI_VERSION, .passes = "fold");
  REFUSES("expand", .abi = TL_ABI_VERSION, .passes = "-expand");
  REFUSES("'recod'", .abi = TL_ABI_VERSION, .log = "recod");
  REFUSES("UTF-8", .abi = TL_ABI_VERSION, .log = "\xff\xfe");
  REFUSES("/no/such/folder/log", .abi = TL_ABI_VERSION, .log = "all", .log_file = "/no/such/folder/log");
}

static int key;
static uint32_t counter;
static tl_run run;

/* Everything that can be called with a handle that is none. */
static void with_handle(tl_vm *vm) {
  tl_exit_info info;
  memset(&info, 0, sizeof info);
  tl_value args[1] = {1};
  int64_t number = 0;
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
  EXPECT(tl_set_barrier(vm, 1, 1, 1, 1, 1) == TL_MISUSE);
  EXPECT(tl_add_func(vm, "f", NULL, ">v", 0, NULL, NULL) == 0);
  EXPECT(tl_set_counters(vm, &counter, 1) == TL_MISUSE);
  EXPECT(tl_hot(vm, &key, &counter, NULL, &run) == TL_NOTHING);
  EXPECT(tl_leave_to(vm, &key) == 0);
  tl_exit(vm, 0, NULL, NULL, &info);
  EXPECT(info.nframes == 0);
  tl_forget(vm, &key, &key + 1);
  EXPECT(tl_record(vm, &key, NULL) == TL_MISUSE);
  EXPECT(tl_recording(vm) == 0);
  tl_resume_point(vm, NULL, NULL, NULL, 0);
  tl_frame_push(vm, 0, NULL, NULL, 0);
  tl_frame_pop(vm);
  EXPECT(tl_frame_depth(vm) == 0);
  EXPECT(tl_slot_read(vm, 0, 1) == 0);
  tl_slot_write(vm, 0, 1, 1);
  EXPECT(tl_const_int(vm, 1) == 0 && tl_const_float(vm, 1) == 0);
  EXPECT(tl_const_ref(vm, &key) == 0 && tl_const_addr(vm, &key) == 0);
  EXPECT(tl_is_const_int(vm, 1, &number) == 0);
  EXPECT(tl_op1(vm, TL_INT_NEG, 1) == 0 && tl_op2(vm, TL_INT_ADD, 1, 1) == 0 && tl_op3(vm, TL_SELECT, 1, 1, 1) == 0);
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
  tl_guard_key_absent(vm, 1, 1, 1);
  tl_set_key(vm, 1, 1, 1, 1, 1, 0, 0);
  tl_insert_key(vm, 1, 1, 1, 1, 1);
  EXPECT(tl_call(vm, 1, args, 1) == 0 && tl_try_call(vm, 1, args, 1) == 0);
  EXPECT(tl_record_close(vm) != TL_OK);
  tl_record_abort(vm, "x");
  EXPECT(tl_stats_json(vm) == NULL && tl_stats_text(vm) == NULL && tl_last_abort(vm, &key) == NULL);
  EXPECT(tl_aborts(vm, &key) == 0);
  SAYS(vm, "null or was freed");
  tl_free(vm);
}

static tl_tag t_int, t_nil, t_ref;
static tl_class memory;
static tl_cell cell;
static tl_layout plain; /* a layout without any part */
static struct slot {
  int64_t payload;
  uint8_t tag;
} frame[4];

static void descriptions(tl_vm *vm) {
  EXPECT(tl_add_tag(vm, NULL, 1, TL_INT) == 0);
  SAYS(vm, "null");
  EXPECT(tl_add_tag(vm, "\xff", 1, TL_INT) == 0);
  SAYS(vm, "UTF-8");
  EXPECT(tl_add_tag(vm, "t", 1, (tl_type)17) == 0);
  SAYS(vm, "17 is no tl_type");
  EXPECT(tl_set_slots(vm, 16, 0, 8, 3) == TL_MISUSE);
  SAYS(vm, "3 bytes");
  EXPECT(tl_set_frame_words(vm, 9) == TL_MISUSE);
  SAYS(vm, "at most 8");
  EXPECT(tl_add_cell(vm, "c", 0, 8, TL_INT, 99, 0) == 0);
  SAYS(vm, "99 is no alias class");
  EXPECT(tl_add_cell(vm, "c", 0, 3, TL_INT, memory, 0) == 0);
  SAYS(vm, "of 3 bytes");
  EXPECT(tl_add_cell(vm, "c", 0, 4, TL_FLOAT, memory, 0) == 0);
  SAYS(vm, "of 4 bytes");
  EXPECT(tl_add_cell(vm, "c", 0, 8, TL_VOID, memory, 0) == 0);
  SAYS(vm, "a cell has a type");
  EXPECT(tl_add_layout(vm, "l", 8, 99, 0) == 0);
  SAYS(vm, "99 is no cell");
  EXPECT(tl_add_field(vm, 99, cell) == 0);
  SAYS(vm, "99 is no layout");
  EXPECT(tl_set_items(vm, plain, cell, cell, 0, NULL) == TL_MISUSE);
  SAYS(vm, "null");
  tl_element element = {0};
  EXPECT(tl_set_items(vm, plain, cell, cell, 0, &element) == TL_MISUSE);
  SAYS(vm, "0 is no cell");
  EXPECT(tl_set_alloc(vm, plain, 99) == TL_MISUSE);
  SAYS(vm, "99 is no function");
  const char *signatures[] = {"i", "x>i", "i>", "i>q", "i>ii", "iiiiiii>i"};
  for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
    EXPECT(tl_add_func(vm, "f", NULL, signatures[i], 0, NULL, NULL) == 0);
    SAYS(vm, signatures[i]);
  }
  tl_class classes[] = {memory, 99, 0};
  EXPECT(tl_add_func(vm, "f", NULL, "i>i", 0, classes, NULL) == 0);
  SAYS(vm, "99 is no alias class");
  EXPECT(tl_set_counters(vm, NULL, 4) == TL_MISUSE);
  EXPECT(tl_set_counters(vm, &counter, 0) == TL_MISUSE);
  SAYS(vm, "at least one counter");
}

static const uint8_t live[1] = {0x0f};

/* A recording whose first instruction is next. */
static void begin(tl_vm *vm) {
  uint64_t words[1] = {7};
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  tl_resume_point(vm, frame, words, live, 4);
  EXPECT(tl_recording(vm));
}

/* The recording has failed, and closing it says so. */
static void failed(tl_vm *vm, const char *text, int line) {
  if (tl_recording(vm)) {
    failures++;
    fprintf(stderr, "line %d: the recording should have failed: %s\n", line, text);
  }
  /* A failed recording takes anything, quietly. */
  tl_value value = tl_op2(vm, TL_INT_ADD, tl_slot_read(vm, 1, t_int), tl_const_int(vm, 1));
  tl_guard(vm, TL_GUARD_TRUE, value, 0, TL_EXIT_GUARD);
  tl_slot_write(vm, 1, t_int, value);
  tl_status status = tl_record_close(vm);
  if (status != TL_MISUSE) {
    failures++;
    fprintf(stderr, "line %d: status %d\n", line, (int)status);
  }
  says(vm, text, line);
}

#define FAILED(vm, text) failed(vm, text, __LINE__)

static void recordings(tl_vm *vm) {
  tl_value one, value;
  EXPECT(tl_op1(vm, TL_INT_NEG, 1) == 0);
  SAYS(vm, "no recording");
  EXPECT(tl_record_close(vm) == TL_MISUSE);
  SAYS(vm, "no recording");
  tl_record_abort(vm, "nothing to abort");
  EXPECT(tl_leave_to(vm, &counter) == 0); /* tl_hot has asked for nothing */

  begin(vm);
  EXPECT(tl_record(vm, &counter, frame) == TL_MISUSE);
  SAYS(vm, "a recording is in progress");
  tl_record_abort(vm, NULL);
  EXPECT(strcmp(tl_last_abort(vm, &key), "abandoned") == 0 && tl_aborts(vm, &key) == 1);

  begin(vm); /* a guard after a write */
  value = tl_slot_read(vm, 0, t_int);
  tl_slot_write(vm, 0, t_int, tl_const_int(vm, 5));
  tl_guard(vm, TL_GUARD_TRUE, value, 0, TL_EXIT_GUARD);
  FAILED(vm, "could not redo");

  EXPECT(tl_record(vm, &key, frame) == TL_OK); /* a guard without a resume point */
  tl_guard(vm, TL_GUARD_TRUE, tl_slot_read(vm, 0, t_int), 0, TL_EXIT_GUARD);
  FAILED(vm, "could not redo");

  begin(vm); /* tags */
  tl_slot_read(vm, 0, t_int);
  tl_slot_read(vm, 0, t_ref);
  FAILED(vm, "slot 0 is read as ref but was last written as int");
  begin(vm);
  tl_slot_write(vm, 0, t_nil, tl_const_int(vm, 1));
  FAILED(vm, "does not fit tag nil");
  begin(vm);
  tl_slot_write(vm, 0, t_int, 0);
  FAILED(vm, "does not fit tag int");
  begin(vm);
  tl_slot_write(vm, 0, t_int, 4711);
  FAILED(vm, "no value of this recording");
  begin(vm);
  EXPECT(tl_slot_read(vm, 0, 99) == 0);
  SAYS(vm, "99 is no tag");
  FAILED(vm, "99 is no tag");
  begin(vm);
  tl_slot_write(vm, 0, 99, tl_const_int(vm, 1));
  SAYS(vm, "99 is no tag");
  FAILED(vm, "99 is no tag");

  begin(vm); /* operands */
  EXPECT(tl_op2(vm, TL_INT_ADD, tl_const_int(vm, 1), 0) == 0);
  FAILED(vm, "an operand is 0");
  begin(vm);
  EXPECT(tl_op2(vm, TL_INT_ADD, tl_const_int(vm, 1), 4711) == 0);
  FAILED(vm, "no value of this recording");
  begin(vm);
  one = tl_const_int(vm, 1);
  EXPECT(tl_op2(vm, TL_FLOAT_ADD, one, one) == 0);
  FAILED(vm, "float_add");
  begin(vm);
  value = tl_slot_read(vm, 0, t_int);
  EXPECT(tl_op1(vm, TL_INT_ADD, value) == 0);
  FAILED(vm, "int_add: 1 operands, expected 2");
  begin(vm);
  one = tl_const_int(vm, 1);
  EXPECT(tl_op1(vm, TL_INT_ADD, one) == 0);
  FAILED(vm, "int_add: 1 operands, expected 2");
  begin(vm);
  one = tl_const_int(vm, 1);
  EXPECT(tl_op3(vm, TL_INT_NEG, one, one, one) == 0);
  FAILED(vm, "int_neg: 3 operands, expected 1");
  begin(vm);
  value = tl_slot_read(vm, 0, t_int);
  tl_guard(vm, TL_GUARD_VALUE, value, value, TL_EXIT_GUARD);
  FAILED(vm, "guard_value: operand 2 is int, expected a constant");

  begin(vm); /* operations */
  EXPECT(tl_op1(vm, (tl_op)9999, tl_const_int(vm, 1)) == 0);
  FAILED(vm, "9999 is no tl_op");
  begin(vm);
  EXPECT(tl_op1(vm, TL_JUMP, tl_const_int(vm, 1)) == 0);
  FAILED(vm, "jump is not recorded by the host");
  begin(vm);
  EXPECT(tl_op1(vm, TL_LOAD, tl_const_int(vm, 1)) == 0);
  FAILED(vm, "load has a function of its own");
  begin(vm);
  tl_guard(vm, TL_INT_ADD, tl_const_int(vm, 1), 0, TL_EXIT_GUARD);
  FAILED(vm, "int_add is no guard");
  begin(vm);
  tl_guard(vm, TL_GUARD_TRUE, tl_const_int(vm, 1), 0, (tl_exit_kind)12);
  FAILED(vm, "12 is no tl_exit_kind");
  begin(vm);
  tl_guard(vm, TL_GUARD_TRUE, tl_const_int(vm, 1), 0, TL_EXIT_FINISH);
  FAILED(vm, "4 is no tl_exit_kind");

  begin(vm); /* memory and records */
  EXPECT(tl_load(vm, cell, tl_slot_read(vm, 0, t_int)) == 0);
  FAILED(vm, "load: operand 1 is int");
  begin(vm);
  EXPECT(tl_load(vm, 99, tl_slot_read(vm, 2, t_ref)) == 0);
  FAILED(vm, "99 is no cell");
  begin(vm);
  EXPECT(tl_get_item(vm, plain, t_int, tl_slot_read(vm, 2, t_ref), tl_const_int(vm, 0)) == 0);
  FAILED(vm, "plain has no indexed part");
  begin(vm);
  EXPECT(tl_get_key(vm, plain, t_int, tl_slot_read(vm, 2, t_ref), tl_const_ref(vm, &key), 0, 0) == 0);
  FAILED(vm, "plain has no keyed part");
  begin(vm);
  EXPECT(tl_new_record(vm, 99, 0, 0) == 0);
  FAILED(vm, "99 is no layout");
  begin(vm);
  EXPECT(tl_call(vm, 99, NULL, 0) == 0);
  FAILED(vm, "99 is no function");

  begin(vm); /* frames */
  tl_frame_pop(vm);
  FAILED(vm, "tl_frame_pop");
  begin(vm);
  tl_frame_push(vm, 2, NULL, NULL, 0);
  EXPECT(tl_frame_depth(vm) == 1);
  EXPECT(tl_slot_read(vm, 0, t_int) == 0);
  FAILED(vm, "read before it was written");
  begin(vm);
  tl_frame_push(vm, 2, NULL, NULL, 0);
  EXPECT(tl_record_close(vm) == TL_MISUSE);
  SAYS(vm, "inside a called frame");
  EXPECT(tl_record(vm, &key, frame) == TL_OK); /* nothing recorded at all */
  EXPECT(tl_record_close(vm) == TL_MISUSE);
  SAYS(vm, "resume point");

  begin(vm); /* a layout that cannot be made, and a function without an address */
  value = tl_new_record(vm, plain, 0, 0);
  EXPECT(tl_record_close(vm) == TL_MISUSE);
  SAYS(vm, "allocator");
  begin(vm);
  tl_call(vm, tl_add_func(vm, "nowhere", NULL, ">v", TL_EFFECT_REENTERS, NULL, NULL), NULL, 0);
  EXPECT(tl_record_close(vm) == TL_ABORTED);
  SAYS(vm, "nowhere");
  EXPECT(strcmp(tl_last_abort(vm, &key), "function without address") == 0);
}

/* while (slot0 != 1000) slot0 += 1 */
static void good_loop(tl_vm *vm) {
  static uint32_t counters[1];
  EXPECT(tl_set_counters(vm, counters, 1) == TL_OK);
  EXPECT(tl_hot(vm, &key, &counter, frame, &run) == TL_NOTHING); /* not one of the counters */
  begin(vm);
  tl_value number = tl_slot_read(vm, 0, t_int);
  tl_value more = tl_op2(vm, TL_INT_NE, number, tl_const_int(vm, 1000));
  tl_guard(vm, TL_GUARD_TRUE, more, 0, TL_EXIT_LOOP_END);
  tl_slot_write(vm, 0, t_int, tl_op2(vm, TL_INT_ADD, number, tl_const_int(vm, 1)));
  EXPECT(tl_record_close(vm) == TL_OK);
  frame[0].payload = 3;
  counters[0] = 0;
  EXPECT(tl_hot(vm, &key, counters, frame, NULL) == TL_NOTHING);
  SAYS(vm, "tl_run");
  EXPECT(tl_hot(vm, &key, counters, frame, &run) == TL_RUN);
  tl_exit_info info;
  tl_exit(vm, tl_run_code(&run, NULL, frame), NULL, frame, NULL);
  SAYS(vm, "tl_exit_info");
  frame[0].payload = 3;
  tl_exit(vm, tl_run_code(&run, NULL, frame), NULL, frame, &info);
  EXPECT(info.kind == TL_EXIT_LOOP_END && info.nframes == 1 && info.frames[0].words[0] == 7);
  EXPECT(frame[0].payload == 1000 && frame[0].tag == 1);
  tl_exit(vm, 0xffffffff00000000u, NULL, frame, &info); /* no trace has this number */
  EXPECT(info.kind == TL_EXIT_REFUSED && info.nframes == 0);
  tl_exit(vm, 4711, NULL, frame, &info); /* no exit has this number */
  EXPECT(info.kind == TL_EXIT_REFUSED && info.nframes == 0);
  frame[0].tag = 2; /* a type that the code does not expect */
  EXPECT(tl_hot(vm, &key, counters, frame, &run) == TL_NOTHING);
  tl_forget(vm, &key, &key + 1);
  frame[0].tag = 1;
  EXPECT(tl_hot(vm, &key, counters, frame, &run) != TL_RUN);
}

int main(void) {
  configurations();
  with_handle(NULL);
  static uint64_t other[64]; /* readable memory that is no handle, as freed memory mostly is */
  with_handle((tl_vm *)(void *)other);
  tl_config config = {.abi = TL_ABI_VERSION, .flags = TL_FLAG_VERIFY};
  tl_vm *vm = tl_new(&config);
  if (!vm) return 2;
  t_int = tl_add_tag(vm, "int", 1, TL_INT);
  t_nil = tl_add_tag(vm, "nil", 0, TL_VOID);
  t_ref = tl_add_tag(vm, "ref", 2, TL_REF);
  tl_set_slots(vm, sizeof(struct slot), offsetof(struct slot, payload), offsetof(struct slot, tag), 1);
  tl_set_frame_words(vm, 1);
  memory = tl_alias_class(vm, "memory");
  cell = tl_add_cell(vm, "cell", 0, 8, TL_INT, memory, 0);
  plain = tl_add_layout(vm, "plain", 16, 0, 0);
  for (int i = 0; i < 4; i++) frame[i].tag = 1;
  descriptions(vm);
  recordings(vm);
  good_loop(vm);
  EXPECT(strstr(tl_stats_json(vm), "internal") == NULL);
  tl_free(vm);
  if (failures) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}
