/* misuse_record.c: recordings that break the rules. Each fails at the call that is wrong, with a sentence
** that stays, also when the recording is given up; the next recording is as good as any. */
#include "misuse.h"

static int key, loop_key;
static slot frame[4];
static const uint8_t live[1] = {0x0f};
static const uint64_t words[1] = {7};

static tl_vm *vm;
static tl_tag t_int, t_nil, t_ref, t_wide;
static tl_cell cell;
/* no part; items without tags; items with tags; keys, but no way to insert */
static tl_layout plain, numbers, table, keyed;
static tl_field field;
static tl_func one, nothing, reenters, host, tells;

static void *never(void *context) { return context; }

static void describe(int has_slot_cells) {
  const void *address = (const void *)(uintptr_t)never;
  tl_config config = {.abi = TL_ABI_VERSION, .flags = TL_FLAG_VERIFY, .max_ops = 50, .max_snapshots = 3,
                      .max_frames = 3};
  vm = tl_new(&config);
  if (!vm) exit(2);
  t_int = tl_add_tag(vm, "int", 1, TL_INT);
  t_nil = tl_add_tag(vm, "nil", 0, TL_VOID);
  t_ref = tl_add_tag(vm, "ref", 2, TL_REF);
  t_wide = tl_add_tag(vm, "wide", 300, TL_INT);
  EXPECT(tl_set_slots(vm, 16, 0, 8, 2) == TL_OK && tl_set_frame_words(vm, 1) == TL_OK);
  tl_class memory = tl_alias_class(vm, "memory"), payload = tl_alias_class(vm, "payload");
  cell = tl_add_cell(vm, "cell", 0, 8, TL_INT, memory, 0);
  tl_cell base = tl_add_cell(vm, "base", 8, 8, TL_ADDR, memory, 0);
  tl_cell tag = tl_add_cell(vm, "tag", 8, 1, TL_INT, memory, 0);
  tl_cell name = tl_add_cell(vm, "name", 16, 8, TL_REF, memory, 0);
  tl_element untagged = {.stride = 8, .untagged = TL_INT},
      tagged = {.stride = 24, .tag = tag, .absent = t_nil};
  static const char *const names[4] = {"item.int", "item.float", "item.ref", "item.addr"};
  for (int type = 0; type < 4; type++)
    untagged.value[type] = tagged.value[type] = tl_add_cell(vm, names[type], 0, 8, (tl_type)type, payload, 0);
  plain = tl_add_layout(vm, "plain", 16, 0, 0);
  field = tl_add_field(vm, plain, cell);
  numbers = tl_add_layout(vm, "numbers", 16, cell, 1);
  table = tl_add_layout(vm, "table", 16, cell, 2);
  keyed = tl_add_layout(vm, "keyed", 16, cell, 3);
  one = tl_add_func(vm, "one", address, "a>i", 0, NULL, NULL);
  nothing = tl_add_func(vm, "nothing", address, "a>v", TL_EFFECT_WRITES_ALL, NULL, NULL);
  reenters = tl_add_func(vm, "reenters", address, "a>v", TL_EFFECT_REENTERS, NULL, NULL);
  host = tl_add_func(vm, "host", address, "aaai>a", TL_EFFECT_REENTERS, NULL, NULL);
  tells = tl_add_func(vm, "tells", address, "aaai>i", TL_EFFECT_REENTERS, NULL, NULL);
  tl_func find = tl_add_func(vm, "find", address, "airr>a", TL_EFFECT_READS_ALL, NULL, NULL);
  EXPECT(tl_set_items(vm, numbers, cell, base, 0, &untagged) == TL_OK);
  EXPECT(tl_set_items(vm, table, cell, base, 0, &tagged) == TL_OK);
  EXPECT(tl_set_keys(vm, keyed, cell, base, &tagged, name, 0, 0, find, 0) == TL_OK);
  static const char *const views[4] = {"slot.int", "slot.float", "slot.ref", "slot.addr"};
  tl_class slots = tl_alias_class(vm, "slot.payload"), tags = tl_alias_class(vm, "slot.tag");
  tl_cell value[4];
  for (int type = 0; type < 4; type++)
    value[type] = tl_add_cell(vm, views[type], 0, 8, (tl_type)type, slots, 0);
  tl_cell slot_tag = tl_add_cell(vm, "slot.tag", 8, 2, TL_INT, tags, 0);
  if (has_slot_cells) EXPECT(tl_set_slot_cells(vm, value, slot_tag) == TL_OK);
  for (int i = 0; i < 4; i++) frame[i].tag = 1;
}

/* A recording whose first instruction is next. */
static void begin(void) {
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  tl_resume_point(vm, frame, words, live, 4);
  EXPECT(tl_recording(vm));
}

/* A recording has just failed: it says so, takes anything, and says the same when it ends. */
static void ends_failed(const char *text, int line, int closes) {
  kinds++;
  contains(tl_last_error(vm), text, line);
  if (tl_recording(vm)) {
    failures++;
    fprintf(stderr, "line %d: the recording should have failed: %s\n", line, text);
  }
  tl_value value = tl_op2(vm, TL_INT_ADD, tl_slot_read(vm, 1, t_int), tl_const_int(vm, 1));
  tl_guard(vm, TL_GUARD_TRUE, value, 0, TL_EXIT_GUARD);
  tl_slot_write(vm, 1, t_int, value);
  contains(tl_last_error(vm), text, line);
  if (closes) {
    tl_status status = tl_record_close(vm);
    if (status != TL_MISUSE) {
      failures++;
      fprintf(stderr, "line %d: status %d\n", line, (int)status);
    }
  } else
    tl_record_abort(vm, "stopped");
  contains(tl_last_error(vm), text, line);
  const char *reason = tl_last_abort(vm, &key);
  EXPECT(reason != NULL && strstr(reason, "misuse") != NULL);
}

/* A recording that one call breaks; that gives up and is closed, each once. */
#define WRONG(call, text)                          \
  do {                                             \
    for (int closes = 0; closes < 2; closes++) {   \
      begin();                                     \
      kinds -= closes;                             \
      (void)(call);                                \
      ends_failed(text, __LINE__, closes);         \
    }                                              \
  } while (0)

static tl_value integer(void) { return tl_slot_read(vm, 0, t_int); }
static tl_value object(void) { return tl_slot_read(vm, 2, t_ref); }
static tl_value number(int64_t value) { return tl_const_int(vm, value); }

static void without_recording(void) {
  BAD(tl_op1(vm, TL_INT_NEG, 1) == 0, "no recording is in progress");
  BAD(tl_record_close(vm) == TL_MISUSE, "no recording is in progress");
  BAD(tl_record_link(vm, &key) == TL_MISUSE, "no recording is in progress");
  BAD(tl_record_end(vm, "x") == TL_MISUSE, "no recording is in progress");
  BAD_CALL(tl_record_abort(vm, "nothing to abort"), "no recording is in progress");
  BAD_CALL(tl_resume_point(vm, frame, words, live, 4), "no recording is in progress");
  BAD(tl_record(vm, NULL, frame) == TL_MISUSE, "tl_record: the key is null");
  BAD(tl_record(vm, &key, NULL) == TL_MISUSE, "tl_record: the frame's base is null");
  begin();
  BAD(tl_record(vm, &loop_key, frame) == TL_MISUSE, "a recording is in progress");
  EXPECT(tl_recording(vm));
  tl_record_abort(vm, NULL);
  EXPECT(strcmp(tl_last_abort(vm, &key), "abandoned") == 0 && tl_aborts(vm, &key) == 1);
  begin();
  BAD_CALL(tl_record_abort(vm, "\xff"), "a text is not UTF-8");
  EXPECT(strcmp(tl_last_abort(vm, &key), "abandoned") == 0 && !tl_recording(vm));
}

static void slots(void) {
  WRONG((integer(), tl_slot_read(vm, 0, t_ref)), "slot 0 is read as ref but was last written as int");
  WRONG(tl_slot_write(vm, 0, t_nil, number(1)), "does not fit tag nil");
  WRONG(tl_slot_write(vm, 0, t_int, 0), "does not fit tag int");
  WRONG(tl_slot_write(vm, 0, t_ref, number(1)), "does not fit tag ref");
  WRONG(tl_slot_write(vm, 0, t_int, 4711), "operand 0x1267 is no value of this recording");
  WRONG(tl_slot_read(vm, 0, 99), "99 is no tag");
  WRONG(tl_slot_write(vm, 0, 99, number(1)), "99 is no tag");
  WRONG(tl_slot_read(vm, -1, t_int), "slot -1 of the frame at slot 0 lies below the entry frame");
  WRONG(tl_slot_write(vm, -1, t_int, number(1)), "below the entry frame");
  WRONG(tl_slot_read(vm, INT32_MIN, t_int), "below the entry frame");
  WRONG(tl_slot_read(vm, 4, t_int), "slot 4 is read, but the frames have 4 slots");
  WRONG(tl_slot_read(vm, 1 << 20, t_int), "lies beyond all frames");
  WRONG(tl_slot_write(vm, INT32_MAX, t_int, number(1)), "lies beyond all frames");
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  tl_slot_read(vm, 0, t_int);
  ends_failed("slot 0 is read before the first tl_resume_point", __LINE__, 1);
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  tl_slot_write(vm, 0, t_int, number(1));
  ends_failed("slot 0 is written before the first tl_resume_point", __LINE__, 1);
}

static void operands(void) {
  WRONG(tl_op2(vm, TL_INT_ADD, number(1), 0), "an operand is 0");
  WRONG(tl_op2(vm, TL_INT_ADD, number(1), 4711), "no value of this recording");
  WRONG(tl_op2(vm, TL_INT_ADD, number(1), number(2) + 100), "no value of this recording");
  WRONG(tl_op2(vm, TL_FLOAT_ADD, number(1), number(1)), "float_add: operand 1 is int, expected float");
  WRONG(tl_op1(vm, TL_INT_ADD, integer()), "int_add: 1 operands, expected 2");
  WRONG(tl_op1(vm, TL_INT_ADD, number(1)), "int_add: 1 operands, expected 2");
  WRONG(tl_op3(vm, TL_INT_NEG, number(1), number(1), number(1)), "int_neg: 3 operands, expected 1");
  WRONG(tl_op3(vm, TL_SELECT, number(1), number(1), object()),
        "select: operand 3 is ref, expected the same type");
  WRONG(tl_op1(vm, (tl_op)9999, number(1)), "9999 is no tl_op");
  WRONG(tl_op1(vm, TL_JUMP, number(1)), "jump is not recorded by the host");
  WRONG(tl_op1(vm, TL_JUMP_IF, number(1)), "jump_if is not recorded by the host");
  WRONG(tl_op1(vm, TL_LOAD, number(1)), "load has a function of its own");
  WRONG(tl_is_const_int(vm, 4711, NULL), "no value of this recording");
  WRONG(tl_is_const_ref(vm, 4711, NULL), "no value of this recording");
  begin(); /* a value of the recording before this one */
  tl_value old = number(5);
  tl_record_abort(vm, "over");
  WRONG(tl_op1(vm, TL_INT_NEG, old), "no value of this recording");
  begin(); /* too many values: no misuse, and a sentence all the same */
  for (int n = 0; n < 100; n++) tl_op2(vm, TL_INT_ADD, integer(), integer());
  BAD(!tl_recording(vm), "the trace has too many operations");
  EXPECT(tl_record_close(vm) == TL_ABORTED);
}

static void guards(void) {
  WRONG((tl_store(vm, cell, object(), number(1)), tl_guard(vm, TL_GUARD_TRUE, integer(), 0, TL_EXIT_GUARD)),
        "a guard after an effect of the same bytecode: the interpreter could not redo it");
  WRONG((tl_store(vm, cell, object(), number(1)), tl_op2(vm, TL_INT_ADD_OVF, integer(), integer())),
        "could not redo");
  WRONG((tl_frame_push(vm, 2, words, live, 2), tl_guard(vm, TL_GUARD_TRUE, number(1), 0, TL_EXIT_GUARD)),
        "a guard after a frame was pushed or popped");
  WRONG(tl_guard(vm, TL_GUARD_VALUE, integer(), integer(), TL_EXIT_GUARD),
        "guard_value: operand 2 is int, expected a constant");
  WRONG(tl_guard(vm, TL_GUARD_TRUE, integer(), number(1), TL_EXIT_GUARD),
        "guard_true: 2 operands, expected 1");
  WRONG(tl_guard(vm, TL_GUARD_NULL, integer(), 0, TL_EXIT_GUARD),
        "guard_null: operand 1 is int, expected ref or addr");
  WRONG(tl_guard(vm, TL_INT_ADD, number(1), 0, TL_EXIT_GUARD), "int_add is no guard");
  WRONG(tl_guard(vm, TL_GUARD_TRUE, number(1), 0, (tl_exit_kind)12), "12 is no tl_exit_kind");
  WRONG(tl_guard(vm, TL_GUARD_TRUE, number(1), 0, TL_EXIT_FINISH), "4 is no tl_exit_kind");
  WRONG(tl_guard(vm, TL_GUARD_TRUE, number(1), 0, TL_EXIT_REFUSED), "5 is no tl_exit_kind");
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  tl_guard(vm, TL_GUARD_TRUE, number(1), 0, TL_EXIT_GUARD);
  ends_failed("a guard before the first tl_resume_point", __LINE__, 1);
}

static void memory(void) {
  WRONG(tl_load(vm, cell, integer()), "load: operand 1 is int");
  WRONG(tl_load(vm, 99, object()), "99 is no cell");
  WRONG(tl_store(vm, cell, object(), object()), "store: operand 2 is ref, expected int");
  WRONG(tl_item_addr(vm, tl_frame_base(vm), integer(), 0, 0), "item_addr: a stride of 0");
  WRONG(tl_get(vm, 99, object()), "99 is no field");
  WRONG(tl_get(vm, field, integer()), "get: operand 1 is int, expected ref");
  WRONG(tl_set(vm, field, object(), object()), "set: operand 2 is ref, expected int");
  WRONG(tl_guard_class(vm, plain, object()), "guard_class: layout plain has no class word");
  WRONG(tl_guard_class(vm, 0, object()), "0 is no layout");
  WRONG(tl_set_key_room(vm, object(), 4), "the recording has not made that record");
  WRONG(tl_new_record(vm, 99, 0, 0), "99 is no layout");
  WRONG(tl_new_record(vm, plain, 0, 0), "new: layout plain has no allocator");
}

static void elements(void) {
  WRONG(tl_item_count(vm, plain, object()), "item_count: layout plain has no indexed part");
  WRONG(tl_get_item(vm, plain, t_int, object(), number(0)), "layout plain has no indexed part");
  WRONG(tl_get_item(vm, numbers, t_int, object(), number(0)), "get_item: the items of numbers have no tags");
  WRONG(tl_set_item(vm, numbers, t_int, object(), number(0), number(0)),
        "set_item: the items of numbers have no tags");
  WRONG(tl_get_item(vm, table, 0, object(), number(0)),
        "get_item: the items of table have tags, and none is given");
  WRONG(tl_put_item(vm, table, t_nil, object(), number(0), number(0)), "put_item: 3 operands, expected 2");
  WRONG(tl_put_item(vm, table, t_int, object(), number(0), 0), "put_item: 2 operands, expected 3");
  WRONG(tl_get_item(vm, table, t_wide, object(), number(0)),
        "the bits of tag wide do not fit the 1 bytes of tag");
  WRONG(tl_get_item(vm, table, t_int, object(), object()), "get_item: operand 2 is ref, expected int");
  WRONG(tl_get_key(vm, plain, t_int, object(), tl_const_ref(vm, &key), 0, 0),
        "layout plain has no keyed part");
  WRONG(tl_get_key(vm, keyed, t_int, object(), object(), 0, 0),
        "get_key: operand 2 is ref, expected a constant");
  WRONG(tl_get_key(vm, keyed, 0, object(), tl_const_ref(vm, &key), 0, 0), "the entries of keyed have tags");
  WRONG(tl_guard_key_absent(vm, plain, object(), tl_const_ref(vm, &key), UINT32_MAX, 0, 0),
        "layout plain has no keyed part");
  WRONG(tl_guard_key_absent(vm, keyed, object(), tl_const_ref(vm, &key), 0, 0, 0),
        "the entries of keyed do not say which one follows: no hint");
  WRONG(tl_insert_key(vm, keyed, t_int, object(), tl_const_ref(vm, &key), number(1)),
        "insert_key: layout keyed has no function that inserts");
}

static void calls(void) {
  tl_value *none = NULL;
  WRONG(tl_call(vm, 99, none, 0), "99 is no function");
  WRONG(tl_call(vm, one, none, 1), "call: the arguments of one is null");
  WRONG(tl_call(vm, one, none, 0), "call: one is called with 0 arguments, expected 1");
  WRONG(tl_call(vm, one, none, UINT32_MAX), "one is called with 4294967295 arguments");
  WRONG(tl_call(vm, one, (tl_value[]){number(1)}, 1), "call: one is called with other types than declared");
  WRONG(tl_try_call(vm, one, (tl_value[]){tl_context(vm)}, 1),
        "try_call: one returns int, which is never null");
  WRONG(tl_try_call(vm, nothing, (tl_value[]){tl_context(vm)}, 1),
        "nothing returns nothing, which is never null");
  WRONG(tl_mend(vm, 99, none, 0), "99 is no function");
  WRONG(tl_mend(vm, one, (tl_value[]){tl_context(vm)}, 1),
        "mend: one is called with other types than declared");
  WRONG(tl_mend(vm, reenters, (tl_value[]){number(1)}, 1),
        "mend: reenters may make objects or run any code");
}

/* A good call of the host, which may change slot 1. */
static void call_host(void) {
  tl_host_call(vm, host, (tl_value[]){number(7)}, 1, (int32_t[]){1}, 1);
}

static void calls_of_the_host(void) {
  BAD_CALL(tl_host_call(vm, host, NULL, 0, NULL, 0), "no recording is in progress");
  BAD(tl_slot_is_forgotten(vm, 1) == 0, "no recording is in progress");
  BAD_CALL(tl_note_call(vm, NULL), "a text is null");
  tl_value seven[2] = {0, 0};
  WRONG(tl_host_call(vm, 99, NULL, 0, NULL, 0), "99 is no function");
  WRONG(tl_host_call(vm, host, NULL, 0, NULL, 0),
        "host is called with 0 arguments beside the context, the frame and the call site, expected 1");
  WRONG(tl_host_call(vm, host, seven, UINT32_MAX, NULL, 0), "with 4294967295 arguments beside");
  WRONG(tl_host_call(vm, reenters, NULL, 0, NULL, 0), "with 0 arguments beside");
  WRONG(tl_host_call(vm, tells, seven, 1, NULL, 0),
        "tells is not declared with TL_EFFECT_REENTERS and the signature \"aaa...>a\"");
  WRONG(tl_host_call(vm, host, NULL, 1, NULL, 0), "tl_host_call: the arguments is null");
  WRONG(tl_host_call(vm, host, (tl_value[]){number(7)}, 1, NULL, 1), "the changed slots is null");
  WRONG(tl_host_call(vm, host, seven, 1, NULL, 0), "an operand is 0");
  WRONG(tl_host_call(vm, host, (tl_value[]){object()}, 1, NULL, 0), "with other types than declared");
  WRONG(tl_host_call(vm, host, (tl_value[]){number(7)}, 1, (int32_t[]){-1}, 1), "slot -1 of the frame");
  WRONG((tl_slot_write(vm, 1, t_int, number(5)), call_host()), "could not redo");
  WRONG((tl_frame_push(vm, 2, words, live, 2), call_host()), "after a frame was pushed or popped");
  /* what follows the call */
  const char *next = "what follows tl_host_call is tl_resume_point in the same frame";
  WRONG((call_host(), tl_slot_write(vm, 1, t_int, number(5))), next);
  WRONG((call_host(), tl_load(vm, cell, object())), next);
  WRONG((call_host(), tl_guard(vm, TL_GUARD_TRUE, integer(), 0, TL_EXIT_GUARD)), next);
  WRONG((call_host(), tl_frame_push(vm, 2, words, live, 2)), next);
  WRONG((tl_frame_push(vm, 2, words, live, 2), tl_resume_point(vm, frame, words, live, 2), call_host(),
         tl_frame_pop(vm)),
        next);
  WRONG((call_host(), call_host()), next);
  begin();
  call_host();
  BAD(tl_record_close(vm) == TL_MISUSE, next);
  /* what it has changed */
  WRONG((call_host(), tl_resume_point(vm, frame, words, live, 4), tl_slot_read(vm, 1, t_int)),
        "slot 1 is read after tl_host_call and before tl_slot_known");
  WRONG((call_host(), tl_resume_point(vm, frame, words, live, 4), tl_slot_known(vm, 1, t_int, object())),
        "does not fit tag int");
  WRONG((call_host(), tl_resume_point(vm, frame, words, live, 4), tl_slot_known(vm, 0, t_int, number(1))),
        "tl_slot_known: slot 0 is one that tl_slot_read reads");
  begin();
  tl_slot_read(vm, 1, t_int);
  call_host();
  tl_resume_point(vm, frame, words, live, 4);
  EXPECT(tl_slot_is_forgotten(vm, 0) == 0 && tl_slot_is_forgotten(vm, 1) == 2);
  BAD(tl_record_close(vm) == TL_MISUSE, "slot 1 is not known at the loop's end after tl_host_call");
}

/* Recordings that wait. */
static void aside(void) {
  BAD(tl_record_aside(vm) == 0, "no recording is in progress");
  BAD(tl_record_wake(vm, 0) == 0, "tl_record_wake: 0 is no recording");
  begin();
  uint32_t first = tl_record_aside(vm);
  EXPECT(first != 0 && !tl_recording(vm));
  BAD(tl_record_close(vm) == TL_MISUSE, "no recording is in progress");
  EXPECT(!tl_record_wake(vm, first + 1000) && tl_record_wake(vm, first) && tl_recording(vm));
  EXPECT(!tl_record_wake(vm, first) && tl_recording(vm)); /* it is awake */
  uint32_t again = tl_record_aside(vm);
  begin();
  EXPECT(!tl_record_wake(vm, again) && tl_recording(vm)); /* there is one in progress */
  tl_record_abort(vm, "over");
  EXPECT(!tl_record_wake(vm, again) && !tl_recording(vm)); /* it was given up */
}

static void frames(void) {
  WRONG(tl_frame_pop(vm), "tl_frame_pop without tl_frame_push");
  WRONG(tl_frame_push(vm, -1, words, live, 2), "a frame -1 slots above its caller's");
  WRONG(tl_frame_push(vm, 1 << 24, words, live, 2), "a frame 16777216 slots above its caller's");
  WRONG(tl_frame_push(vm, INT32_MAX, words, live, 2), "slots above its caller's");
  WRONG(tl_frame_push(vm, INT32_MIN, words, live, 2), "slots above its caller's");
  WRONG((tl_frame_push(vm, 60000, words, live, 2), tl_frame_push(vm, 60000, words, live, 2)),
        "slots above its caller's");
  WRONG(tl_frame_push(vm, 2, NULL, live, 2), "the frame's words is null");
  WRONG(tl_frame_push(vm, 2, words, NULL, 2), "the bit map of live slots is null");
  WRONG(tl_frame_push(vm, 2, words, live, UINT32_MAX), "a frame of 4294967295 slots");
  WRONG(tl_resume_point(vm, NULL, words, live, 4), "tl_resume_point: the frame's base is null");
  WRONG(tl_resume_point(vm, frame, NULL, live, 4), "the frame's words is null");
  WRONG(tl_resume_point(vm, frame, words, NULL, 4), "the bit map of live slots is null");
  WRONG(tl_resume_point(vm, frame, words, live, 70000), "a frame of 70000 slots");
  WRONG((tl_frame_push(vm, 4, words, live, 4), tl_slot_read(vm, 0, t_int)),
        "slot 4 of a called frame is read before it was written");
  WRONG((tl_frame_push(vm, 4, words, live, 4), tl_slot_read(vm, -5, t_int)),
        "slot -5 of the frame at slot 4 lies below");
  WRONG(tl_frame_return(vm, -2), "tl_frame_return in a recording that begins at a loop's head");
  WRONG(tl_slot_known(vm, 0, t_int, 0), "slot 0 is known to hold a value that does not fit tag int");
  WRONG(tl_slot_known(vm, 0, t_int, number(1)), "tl_slot_known: slot 0 is one that tl_slot_read reads");
  BAD(tl_room_cell(vm, NULL) == NULL, "tl_room_cell: the key is null");
  EXPECT(tl_room_cell(vm, &loop_key) != NULL); /* there need be no code yet */
  begin(); /* far above the caller's, and never looked at */
  tl_frame_push(vm, 60000, words, live, 4);
  tl_slot_write(vm, 7, t_int, number(1));
  EXPECT(tl_recording(vm) && tl_frame_depth(vm) == 1);
  for (int n = 0; n < 5; n++) tl_frame_push(vm, 4, words, live, 4);
  BAD(!tl_recording(vm), "a call nests too deep");
  EXPECT(tl_record_close(vm) == TL_ABORTED);
}

/* Endings that do not fit what was recorded. */
static void endings(void) {
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  BAD(tl_record_close(vm) == TL_MISUSE, "the loop closed before its first resume point");
  BAD(tl_record_close(vm) == TL_MISUSE, "no recording is in progress"); /* twice */
  begin();
  tl_frame_push(vm, 2, words, live, 2);
  BAD(tl_record_close(vm) == TL_MISUSE, "the loop closed inside a called frame");
  begin();
  BAD(tl_record_link(vm, NULL) == TL_MISUSE, "tl_record_link: the key is null");
  begin();
  BAD(tl_record_close(vm) == TL_MISUSE, "nothing can leave the loop");
  begin();
  tl_slot_write(vm, 0, t_int, tl_op2(vm, TL_INT_ADD, integer(), number(1)));
  BAD(tl_record_close(vm) == TL_MISUSE, "nothing can leave the loop");
  begin(); /* a guard that tells the same in each iteration */
  tl_guard(vm, TL_GUARD_TRUE, integer(), 0, TL_EXIT_GUARD);
  BAD(tl_record_close(vm) == TL_ABORTED, "record a test for interrupts (TL_EXIT_INTERRUPT)");
  begin(); /* nothing is made, so that no collection is asked for */
  tl_guard(vm, TL_GUARD_TRUE, tl_load(vm, cell, tl_context(vm)), 0, TL_EXIT_COLLECT);
  BAD(tl_record_close(vm) == TL_ABORTED, "record a test for interrupts (TL_EXIT_INTERRUPT)");
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  BAD(tl_record_end(vm, "ends") == TL_MISUSE, "before the first tl_resume_point");
  begin();
  tl_slot_write(vm, 0, t_int, number(1));
  BAD(tl_record_end(vm, "ends") == TL_MISUSE, "could not redo");
}

/* while (slot0 != 1000) slot0 += 1; and a loop that only a jump out of a call leaves. */
static void good_loops(void) {
  begin();
  tl_value value = integer();
  tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_NE, value, number(1000)), 0, TL_EXIT_LOOP_END);
  tl_slot_write(vm, 0, t_int, tl_op2(vm, TL_INT_ADD, value, number(1)));
  EXPECT(tl_record_close(vm) == TL_OK);
  EXPECT(tl_record(vm, &loop_key, frame) == TL_OK);
  tl_resume_point(vm, frame, words, live, 4);
  tl_call(vm, reenters, (tl_value[]){tl_context(vm)}, 1);
  EXPECT(tl_record_close(vm) == TL_OK);
}

/* A unit with two arguments, at its first instruction. */
static void begin_unit(void) {
  EXPECT(tl_record_unit(vm, &key, frame) == TL_OK);
  EXPECT(tl_unit_argument(vm, 0, t_int) != 0 && tl_unit_argument(vm, 1, t_nil) == 0);
  tl_resume_point(vm, frame, words, live, 4);
  EXPECT(tl_recording(vm) && tl_records_unit(vm) != 0);
}

/* The same as WRONG for a recording of a unit, which is given up, and returned from. */
#define WRONG_UNIT(call, text)           \
  do {                                   \
    begin_unit();                        \
    (void)(call);                        \
    ends_failed(text, __LINE__, 0);      \
    begin_unit();                        \
    (void)(call);                        \
    EXPECT(unit_fails() == TL_MISUSE);   \
    SAYS(text);                          \
    EXPECT(!tl_recording(vm));           \
  } while (0)

static tl_status unit_fails(void) { return tl_unit_return(vm, t_nil, 0); }

/* The unit that is recorded calls itself, with these arguments. */
static const tl_argument arguments[2] = {{0, 1}, {1, 2}};

static uint32_t itself(void) { return tl_find_unit(vm, &key, arguments, 2); }

static void push_frame(int32_t base) {
  tl_frame_push(vm, base, words, live, 4);
  tl_resume_point(vm, frame, words, live, 4);
}

static void call_itself(void) {
  push_frame(4);
  tl_call_unit(vm, itself(), (tl_value[]){number(3)}, 1, 2, NULL, 0);
}

static tl_value to_be_looked_at(void) {
  tl_value value = integer();
  call_itself();
  return value;
}

static void units(void) {
  EXPECT(arguments[0].tag == t_int && arguments[1].tag == t_nil);
  /* nothing is recorded */
  BAD(tl_unit_argument(vm, 0, t_int) == 0, "no recording is in progress");
  BAD_CALL(tl_call_unit(vm, 1, NULL, 0, 0, NULL, 0), "no recording is in progress");
  BAD(tl_unit_returned(vm, t_int) == 0, "no recording is in progress");
  BAD(tl_unit_return(vm, t_nil, 0) == TL_MISUSE, "no recording is in progress");
  EXPECT(tl_records_unit(vm) == 0);
  BAD(tl_record_unit(vm, NULL, frame) == TL_MISUSE, "tl_record_unit: the key is null");
  BAD(tl_record_unit(vm, &key, NULL) == TL_MISUSE, "tl_record_unit: the frame's base is null");
  BAD(tl_find_unit(vm, NULL, arguments, 2) == 0, "tl_find_unit: the key is null");
  BAD(tl_find_unit(vm, &key, NULL, 2) == 0, "tl_find_unit: the arguments is null");
  BAD(tl_find_unit(vm, &key, &(tl_argument){0, 99}, 1) == 0, "99 is no tag");
  BAD_CALL(tl_drop_entries(vm, NULL), "tl_drop_entries: the key is null");
  BAD(tl_unit_depth(vm, (1u << 20) + 1) == TL_MISUSE, "1048577 slots, expected 1048576 at most");
  EXPECT(tl_find_unit(vm, &key, NULL, 0) == 0 && itself() == 0 && !tl_has_unit(vm, &key));
  EXPECT(tl_unit_depth(vm, 1u << 10) == TL_OK && tl_unit_limit(vm) == tl_unit_limit(vm));
  /* in a recording of no unit */
  const char *late = "tl_unit_argument comes after tl_record_unit and before the first resume point";
  WRONG(tl_unit_argument(vm, 0, t_int), late);
  WRONG(tl_unit_returned(vm, t_int), "tl_unit_returned without tl_call_unit");
  WRONG(tl_call_unit(vm, 0, NULL, 0, 0, NULL, 0), "tl_call_unit: 0 is no unit that can be called");
  WRONG(tl_call_unit(vm, 99, NULL, 0, 0, NULL, 0), "tl_call_unit: 99 is no unit that can be called");
  begin();
  BAD(tl_record_unit(vm, &loop_key, frame) == TL_ABORTED, "a recording is in progress");
  BAD(tl_unit_return(vm, t_int, integer()) == TL_MISUSE, "tl_unit_return in a recording of no unit");
  EXPECT(!tl_recording(vm));
  /* arguments */
  WRONG_UNIT(tl_unit_argument(vm, 2, t_int), late);
  EXPECT(tl_record_unit(vm, &key, frame) == TL_OK);
  tl_unit_argument(vm, 0, t_int);
  tl_unit_argument(vm, 0, t_nil);
  ends_failed("tl_unit_argument: slot 0 is an argument already", __LINE__, 0);
  EXPECT(tl_record_unit(vm, &key, frame) == TL_OK);
  tl_unit_argument(vm, 0, 99);
  ends_failed("99 is no tag", __LINE__, 0);
  EXPECT(tl_record_unit(vm, &key, frame) == TL_OK);
  tl_unit_argument(vm, -1, t_int);
  ends_failed("slot -1 of the frame at slot 0 lies below the entry frame", __LINE__, 0);
}

static void calls_of_units(void) {
  const char *next = "what follows tl_call_unit is tl_resume_point and tl_unit_returned";
  WRONG_UNIT((push_frame(4), tl_call_unit(vm, itself(), NULL, 0, 2, NULL, 0)), "0 arguments, expected 1");
  WRONG_UNIT((push_frame(4), tl_call_unit(vm, itself(), NULL, 1, 2, NULL, 0)), "the arguments is null");
  WRONG_UNIT((push_frame(4), tl_call_unit(vm, itself(), (tl_value[]){0}, 1, 2, NULL, 0)), "an operand is 0");
  WRONG_UNIT((push_frame(4), tl_call_unit(vm, itself(), (tl_value[]){tl_context(vm)}, 1, 2, NULL, 0)),
             "tl_call_unit: an argument of another type than the unit takes");
  WRONG_UNIT((push_frame(4), tl_call_unit(vm, itself(), (tl_value[]){number(3)}, 1, 2, NULL, 1)),
             "the changed slots is null");
  WRONG_UNIT(tl_call_unit(vm, itself(), (tl_value[]){number(3)}, 1, 2, NULL, 0),
             "push a frame that lies above the unit's own");
  WRONG_UNIT((push_frame(0), tl_call_unit(vm, itself(), (tl_value[]){number(3)}, 1, 2, NULL, 0)),
             "push a frame that lies above the unit's own");
  WRONG_UNIT((call_host(), 0), "tl_host_call in a unit");
  WRONG_UNIT((call_itself(), integer()), next);
  WRONG_UNIT(tl_op2(vm, TL_INT_ADD, to_be_looked_at(), number(1)), next);
  WRONG_UNIT((call_itself(), tl_slot_write(vm, 2, t_int, number(1))), next);
  WRONG_UNIT((call_itself(), push_frame(4)), next);
  WRONG_UNIT((call_itself(), tl_guard(vm, TL_GUARD_TRUE, number(1), 0, TL_EXIT_GUARD)), next);
  WRONG_UNIT((call_itself(), tl_unit_returned(vm, t_int)), next); /* without a resume point */
  WRONG_UNIT((call_itself(), tl_resume_point(vm, frame, words, live, 4), tl_unit_returned(vm, 99)),
             "99 is no tag");
  WRONG_UNIT((call_itself(), tl_resume_point(vm, frame, words, live, 4), tl_unit_returned(vm, 0),
              tl_slot_read(vm, 2, t_int)),
             "slot 2 is read after");
  /* endings */
  begin_unit();
  call_itself();
  tl_resume_point(vm, frame, words, live, 4);
  BAD(tl_unit_return(vm, t_nil, 0) == TL_MISUSE, next);
  begin_unit();
  push_frame(4);
  BAD(tl_unit_return(vm, t_nil, 0) == TL_MISUSE, "tl_unit_return in a frame that was pushed");
  begin_unit();
  BAD(tl_unit_return(vm, t_int, 0) == TL_MISUSE, "a value that does not fit tag int");
  begin_unit();
  BAD(tl_unit_return(vm, t_nil, number(1)) == TL_MISUSE, "a value that does not fit tag nil");
  begin_unit();
  BAD(tl_unit_return(vm, 99, 0) == TL_MISUSE, "99 is no tag");
  begin_unit();
  BAD(tl_unit_return(vm, t_int, 4711) == TL_MISUSE, "no value of this recording");
  begin_unit(); /* the number of this recording, but there are not so many values */
  BAD(tl_unit_return(vm, t_int, number(1) + 100000) == TL_MISUSE, "no value of this recording");
  begin_unit();
  object();
  BAD(tl_unit_return(vm, t_nil, 0) == TL_ABORTED, "a slot that nobody has given it");
  begin_unit();
  BAD(tl_record_close(vm) == TL_MISUSE, "only what began at a loop's head closes");
  begin_unit();
  BAD(tl_record_end(vm, "over") == TL_MISUSE, "a unit ends by tl_unit_return");
  begin_unit();
  BAD(tl_record_link(vm, &key) == TL_MISUSE, "a unit ends by tl_unit_return");
  /* other code that ends without a look at what the unit has returned; first a good unit */
  begin_unit();
  tl_guard(vm, TL_GUARD_TRUE, integer(), 0, TL_EXIT_GUARD);
  EXPECT(tl_unit_return(vm, t_int, integer()) == TL_OK && itself() != 0 && tl_has_unit(vm, &key));
  for (int closes = 0; closes < 2; closes++) {
    EXPECT(tl_record(vm, &loop_key, frame) == TL_OK);
    tl_resume_point(vm, frame, words, live, 4);
    call_itself();
    tl_resume_point(vm, frame, words, live, 4);
    BAD((closes ? tl_record_close(vm) : tl_record_end(vm, "over")) == TL_MISUSE, next);
  }
  tl_forget(vm, &key, &key + 1);
  EXPECT(itself() == 0 && !tl_has_unit(vm, &key));
}

int main(void) {
  describe(0);
  WRONG(call_host(), "tl_host_call: tl_set_slot_cells was not called");
  tl_free(vm);
  describe(1);
  without_recording();
  slots();
  operands();
  guards();
  memory();
  elements();
  calls();
  calls_of_the_host();
  aside();
  frames();
  endings();
  units();
  calls_of_units();
  good_loops();
  EXPECT(strstr(tl_stats_json(vm), "internal") == NULL);
  tl_free(vm);
  return told();
}
