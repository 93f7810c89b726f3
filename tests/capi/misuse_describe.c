/* misuse_describe.c: hosts that describe themselves wrongly. The first mistake stays: what is described
** after it fails with the same sentence, and nothing is recorded. */
#include "misuse.h"

static int key;
static slot frame[4];

static tl_tag t_int, t_nil;
static tl_class memory, other;
static tl_cell cell, narrow, number, real, object, address, far; /* far: 8 bytes at 100 */
static tl_cell views[4], key_cell, key_tag, item_tag;
static tl_layout plain, made; /* 16 bytes without any part; with an allocator */
static tl_func alloc, find, insert, acts;
static tl_element element, tagged;

static void *never(void *context) { return context; }

#define NEVER ((const void *)(uintptr_t)never)

/* A host that is described correctly. */
static tl_vm *host(void) {
  tl_config config = {.abi = TL_ABI_VERSION, .flags = TL_FLAG_VERIFY, .threshold = 1};
  tl_vm *vm = tl_new(&config);
  if (!vm) exit(2);
  t_int = tl_add_tag(vm, "int", 1, TL_INT);
  t_nil = tl_add_tag(vm, "nil", 0, TL_VOID);
  memory = tl_alias_class(vm, "memory");
  other = tl_alias_class(vm, "other");
  cell = tl_add_cell(vm, "cell", 0, 8, TL_INT, memory, 0);
  narrow = tl_add_cell(vm, "narrow", 4, 1, TL_INT, memory, TL_SIGNED);
  number = tl_add_cell(vm, "number", 8, 8, TL_INT, other, 0);
  real = tl_add_cell(vm, "real", 8, 8, TL_FLOAT, memory, 0);
  object = tl_add_cell(vm, "object", 8, 8, TL_REF, memory, 0);
  address = tl_add_cell(vm, "address", 8, 8, TL_ADDR, memory, 0);
  far = tl_add_cell(vm, "far", 100, 8, TL_INT, memory, 0);
  static const char *const names[4] = {"item.int", "item.float", "item.ref", "item.addr"};
  for (int type = 0; type < 4; type++) views[type] =
      tl_add_cell(vm, names[type], 0, 8, (tl_type)type, memory, 0);
  item_tag = tl_add_cell(vm, "item.tag", 8, 1, TL_INT, other, 0);
  key_cell = tl_add_cell(vm, "key", 16, 8, TL_REF, other, 0);
  key_tag = tl_add_cell(vm, "key.tag", 9, 1, TL_INT, other, 0);
  element = (tl_element){.stride = 8, .untagged = TL_FLOAT};
  tagged = (tl_element){.stride = 24, .tag = item_tag, .absent = t_nil};
  memcpy(element.value, views, sizeof views);
  memcpy(tagged.value, views, sizeof views);
  plain = tl_add_layout(vm, "plain", 16, 0, 0);
  made = tl_add_layout(vm, "made", 16, cell, 7);
  alloc = tl_add_func(vm, "alloc", NEVER, "aiii>r", TL_EFFECT_ALLOCATES, NULL, NULL);
  find = tl_add_func(vm, "find", NEVER, "airr>a", TL_EFFECT_READS_ALL, NULL, NULL);
  insert = tl_add_func(vm, "insert", NEVER, "airr>a", TL_EFFECT_READS_ALL | TL_EFFECT_WRITES_ALL, NULL, NULL);
  acts = tl_add_func(vm, "acts", NEVER, "airr>a", TL_EFFECT_WRITES_ALL, NULL, NULL);
  EXPECT(tl_set_alloc(vm, made, alloc) == TL_OK && insert != 0 && acts != 0);
  return vm;
}

static void complete(tl_vm *vm) {
  EXPECT(tl_set_slots(vm, sizeof(slot), offsetof(slot, payload), offsetof(slot, tag), 1) == TL_OK);
  EXPECT(tl_set_frame_words(vm, 1) == TL_OK);
}

/* A description has just failed: it stays so. */
static void stays_failed(tl_vm *vm, int line) {
  char first[400];
  snprintf(first, sizeof first, "%s", tl_last_error(vm));
  EXPECT(tl_add_tag(vm, "one more", 77, TL_INT) == 0);
  contains(tl_last_error(vm), first, line);
  EXPECT(tl_set_slots(vm, 16, 0, 8, 1) == TL_MISUSE);
  contains(tl_last_error(vm), first, line);
  EXPECT(tl_record(vm, &key, frame) == TL_MISUSE && tl_recording(vm) == 0);
  contains(tl_last_error(vm), first, line);
  EXPECT(strstr(tl_last_abort(vm, &key), "misuse") != NULL);
  tl_free(vm);
}

/* A description that is wrong in one call. */
#define WRONG(failed, text)          \
  do {                               \
    tl_vm *vm = host();              \
    BAD(failed, text);               \
    stays_failed(vm, __LINE__);      \
  } while (0)

static void tags_and_slots(void) {
  WRONG(tl_add_tag(vm, NULL, 9, TL_INT) == 0, "tl_add_tag: a text is null");
  WRONG(tl_add_tag(vm, "\xff", 9, TL_INT) == 0, "UTF-8");
  WRONG(tl_add_tag(vm, "", 9, TL_INT) == 0, "a name is empty");
  WRONG(tl_add_tag(vm, "t", 9, (tl_type)17) == 0, "17 is no tl_type");
  WRONG(tl_add_tag(vm, "int", 9, TL_INT) == 0, "there is a tag int already");
  WRONG(tl_set_slots(vm, 0, 0, 8, 1) == TL_MISUSE, "tl_set_slots: a stride of 0");
  WRONG(tl_set_slots(vm, 1u << 20, 0, 8, 1) == TL_MISUSE, "a stride of 1048576");
  WRONG(tl_set_slots(vm, 16, 12, 0, 1) == TL_MISUSE, "a payload of 8 bytes at 12 lies outside");
  WRONG(tl_set_slots(vm, 16, UINT32_MAX, 0, 1) == TL_MISUSE,
        "a payload of 8 bytes at 4294967295 lies outside");
  WRONG(tl_set_slots(vm, 16, 0, 16, 1) == TL_MISUSE, "a tag of 1 bytes at 16 lies outside");
  WRONG(tl_set_slots(vm, 16, 0, 8, 3) == TL_MISUSE, "a tag of 3 bytes");
  WRONG(tl_set_slots(vm, 16, 4, 8, 4) == TL_MISUSE, "the tag at 8 lies in the payload at 4");
  WRONG(tl_set_slots(vm, 16, 0, 8, 1) == TL_OK && tl_set_slots(vm, 16, 0, 8, 1) == TL_MISUSE,
        "called before");
  WRONG(tl_set_frame_words(vm, 9) == TL_MISUSE, "at most 8");
  WRONG(tl_set_frame_words(vm, 0) == TL_MISUSE, "at least 1");
  WRONG(tl_set_frame_words(vm, 1) == TL_OK && tl_set_frame_words(vm, 2) == TL_MISUSE, "called before");
}

/* The cells of slots; what a cell must be follows from tl_set_slots. */
static tl_status slot_cells(tl_vm *vm, int has_slots, int wrong, tl_cell instead, uint32_t tag) {
  tl_cell value[4];
  memcpy(value, views, sizeof value);
  if (wrong >= 0) value[wrong] = instead;
  if (has_slots) EXPECT(tl_set_slots(vm, 16, 0, 8, 1) == TL_OK);
  return tl_set_slot_cells(vm, value, tag);
}

static void cells_of_slots(void) {
  WRONG(slot_cells(vm, 0, -1, 0, item_tag) == TL_MISUSE, "tl_set_slots comes first");
  WRONG(slot_cells(vm, 1, 0, 99, item_tag) == TL_MISUSE, "99 is no cell");
  WRONG(slot_cells(vm, 1, 0, views[2], item_tag) == TL_MISUSE, "cell item.ref is not the payload of a slot");
  WRONG(slot_cells(vm, 1, 0, number, item_tag) == TL_MISUSE, "cell number is not the payload of a slot");
  WRONG(slot_cells(vm, 1, -1, 0, 99) == TL_MISUSE, "99 is no cell");
  WRONG(slot_cells(vm, 1, -1, 0, key_tag) == TL_MISUSE, "the cell of the tag is not that of a slot");
  WRONG(slot_cells(vm, 1, -1, 0, 0) == TL_MISUSE, "the cell of the tag is not that of a slot");
  WRONG(tl_set_slots(vm, 16, 0, 8, 1) == TL_OK && tl_set_slot_cells(vm, NULL, item_tag) == TL_MISUSE,
        "the cells of the payload is null");
  tl_vm *vm = host();
  EXPECT(slot_cells(vm, 1, -1, 0, item_tag) == TL_OK);
  tl_free(vm);
}

static void cells(void) {
  WRONG(tl_alias_class(vm, NULL) == 0, "tl_alias_class: a text is null");
  WRONG(tl_alias_class(vm, "") == 0, "a name is empty");
  WRONG(tl_add_cell(vm, "c", 0, 8, TL_INT, 99, 0) == 0, "99 is no alias class");
  WRONG(tl_add_cell(vm, "c", 0, 3, TL_INT, memory, 0) == 0, "cell c: a int of 3 bytes");
  WRONG(tl_add_cell(vm, "c", 0, 0, TL_INT, memory, 0) == 0, "of 0 bytes");
  WRONG(tl_add_cell(vm, "c", 0, 4, TL_FLOAT, memory, 0) == 0, "a float of 4 bytes");
  WRONG(tl_add_cell(vm, "c", 0, 8, TL_VOID, memory, 0) == 0, "a cell has a type");
  WRONG(tl_add_cell(vm, "c", 0, 8, TL_INT, memory, 64) == 0, "0x40 is no flag of a cell");
  WRONG(tl_add_cell(vm, "c", 0, 8, TL_INT, memory, TL_IMMUTABLE | TL_VOLATILE) == 0,
        "immutable does not change");
  WRONG(tl_add_cell(vm, "c", 0, 8, TL_REF, memory, TL_SIGNED) == 0, "a ref has no sign");
  WRONG(tl_add_cell(vm, "cell", 0, 8, TL_INT, memory, 0) == 0, "there is a cell cell already");
}

static void layouts(void) {
  WRONG(tl_add_layout(vm, "l", 0, 0, 0) == 0, "tl_add_layout: layout l has 0 bytes");
  WRONG(tl_add_layout(vm, "l", 8, 99, 0) == 0, "99 is no cell");
  WRONG(tl_add_layout(vm, "l", 8, far, 1) == 0, "far lies beyond its 8 bytes");
  WRONG(tl_add_layout(vm, "l", 8, narrow, 256) == 0, "0x100 does not fit the class word narrow");
  WRONG(tl_add_layout(vm, "l", 16, real, 1) == 0, "real is a float");
  WRONG(tl_add_layout(vm, "l", 8, 0, 5) == 0, "a class value, but no class word");
  WRONG(tl_add_layout(vm, "plain", 8, 0, 0) == 0, "there is a layout plain already");
  WRONG(tl_add_field(vm, 99, cell) == 0, "99 is no layout");
  WRONG(tl_add_field(vm, plain, 99) == 0, "99 is no cell");
  WRONG(tl_add_field(vm, plain, far) == 0, "far lies beyond the 16 bytes of plain");
  WRONG(tl_add_field(vm, plain, cell) != 0 && tl_add_field(vm, plain, cell) == 0,
        "cell is a field of plain already");
  WRONG(tl_add_field(vm, plain, number) != 0 && tl_add_field(vm, plain, object) == 0,
        "object shares memory with the field at 8, but no alias class");
  WRONG(tl_add_field(vm, plain, key_tag) != 0 && tl_add_field(vm, plain, object) == 0, "shares memory");
  WRONG(tl_set_alloc(vm, plain, 99) == TL_MISUSE, "99 is no function");
  WRONG(tl_set_alloc(vm, plain, find) == TL_MISUSE, "find has another signature than \"aiii>r\"");
  WRONG(tl_set_alloc(vm, made, alloc) == TL_MISUSE, "the allocator of layout made was declared before");
}

static int reserve(void *context, tl_layout layout, uint32_t items, uint32_t keys, uint32_t count) {
  (void)context, (void)layout, (void)items, (void)keys, (void)count;
  return 0;
}

static tl_func mends(tl_vm *vm, uint32_t effects) {
  return tl_add_func(vm, "mend", NEVER, "ar>v", effects, NULL, NULL);
}

#define ITEMS(count, base, ...)                                                        \
  (tl_set_items(vm, plain, count, base, 0, &(tl_element){__VA_ARGS__}) == TL_MISUSE)
#define VIEWS .value = {views[0], views[1], views[2], views[3]}

static void parts(void) {
  WRONG(tl_set_items(vm, plain, cell, address, 0, NULL) == TL_MISUSE, "tl_set_items: the element is null");
  WRONG(ITEMS(cell, address, .stride = 8), "0 is no cell");
  WRONG(tl_set_items(vm, 77, cell, address, 0, &element) == TL_MISUSE, "77 is no layout");
  WRONG(ITEMS(real, address, VIEWS, .stride = 8), "the count is real, of type float: expected int");
  WRONG(ITEMS(cell, object, VIEWS, .stride = 8), "the base is object, of type ref: expected addr");
  WRONG(ITEMS(cell, address, .value = {views[0], views[0], views[2], views[3]}, .stride = 8),
        "value[1] is item.int, of type int: expected float");
  WRONG(ITEMS(cell, address, .value = {number, views[1], views[2], views[3]}, .stride = 16),
        "not the same place");
  WRONG(ITEMS(cell, address, .value = {narrow, views[1], views[2], views[3]}, .stride = 16),
        "a payload has 8");
  WRONG(ITEMS(cell, address, VIEWS, .stride = 0), "a stride of 0 bytes, but an element reaches over 8");
  WRONG(ITEMS(cell, address, VIEWS, .stride = 8, .tag = item_tag),
        "a stride of 8 bytes, but an element reaches over 9");
  WRONG(ITEMS(cell, address, VIEWS, .stride = 16, .tag = real), "the tag is real, of type float");
  WRONG(ITEMS(cell, address, VIEWS, .stride = 8, .untagged = TL_VOID), "elements without tags have a type");
  WRONG(ITEMS(cell, address, VIEWS, .stride = 8, .untagged = (tl_type)9), "9 is no tl_type");
  WRONG(ITEMS(cell, address, VIEWS, .stride = 8, .absent = t_nil), "nil cannot mean that nothing is there");
  WRONG(ITEMS(cell, address, VIEWS, .stride = 16, .tag = item_tag, .absent = t_int), "it has a payload");
  WRONG(tl_set_items(vm, plain, cell, address, 0, &element) == TL_OK
            && tl_set_items(vm, plain, cell, address, 0, &element) == TL_MISUSE,
        "the indexed part of layout plain was declared before");

  WRONG(tl_set_keys(vm, plain, cell, address, NULL, key_cell, 0, 0, find, 0) == TL_MISUSE,
        "the element is null");
  WRONG(tl_set_keys(vm, plain, cell, address, &tagged, cell, 0, 0, find, 0) == TL_MISUSE,
        "the key is cell, of type int");
  WRONG(tl_set_keys(vm, plain, cell, address, &tagged, key_cell, key_tag, 999, find, 0) == TL_MISUSE,
        "0x3e7 does not fit the key's tag of 1 bytes");
  WRONG(tl_set_keys(vm, plain, cell, address, &tagged, key_cell, 0, 0, alloc, 0) == TL_MISUSE,
        "alloc has another signature than \"airr>a\"");
  WRONG(tl_set_keys(vm, plain, cell, address, &tagged, key_cell, 0, 0, find, alloc) == TL_MISUSE,
        "alloc has another");
  WRONG(tl_set_keys(vm, plain, cell, address, &tagged, key_cell, 0, 0, acts, 0) == TL_MISUSE,
        "acts has effects");
  WRONG(tl_set_keys(vm, plain, cell, address, &tagged, key_cell, 0, 0, 0, 0) == TL_MISUSE,
        "0 is no function");
  WRONG((tagged.stride = 16, tl_set_keys(vm, plain, cell, address, &tagged, key_cell, 0, 0, find,
                                         0)) == TL_MISUSE,
        "a stride of 16 bytes, but an element reaches over 24");

  WRONG(tl_set_key_next(vm, plain, cell) == TL_MISUSE, "layout plain has no keyed part");
  WRONG(tl_set_key_next(vm, plain, address) == TL_MISUSE, "what follows an entry is address, of type addr");
  WRONG(tl_set_reserve(vm, plain, reserve, NULL) == TL_MISUSE, "tl_set_alloc of layout plain comes first");
  WRONG(tl_set_reserve(vm, made, NULL, NULL) == TL_MISUSE, "the function that holds memory is null");
  WRONG(tl_set_barrier(vm, plain, real, 1, cell, 1) == TL_MISUSE,
        "what tells of the object is real, of type float");
  WRONG(tl_set_barrier(vm, plain, cell, 1, cell, 0) == TL_MISUSE, "a mask is 0");
  WRONG(tl_set_barrier(vm, plain, cell, 1, cell, 1) == TL_OK
        && tl_set_barrier(vm, plain, cell, 1, cell, 1) == TL_MISUSE,
        "the barrier of layout plain was declared before");
  WRONG(tl_set_barrier_call(vm, plain, find) == TL_MISUSE,
        "find is not declared with the signature \"ar>v\"");
  WRONG(tl_set_barrier_call(vm, plain, mends(vm, 0)) == TL_MISUSE, "plain has no barrier");
  WRONG(tl_set_barrier_call(vm, plain, mends(vm, TL_EFFECT_ALLOCATES)) == TL_MISUSE,
        "mend may make objects");
  tl_func mend;
  WRONG(tl_set_barrier(vm, plain, cell, 1, cell, 1) == TL_OK
        && tl_set_barrier_call(vm, plain, mend = mends(vm, 0)) == TL_OK
        && tl_set_barrier_call(vm, plain, mend) == TL_MISUSE,
        "the barrier's function of layout plain was declared before");
}

static void functions(void) {
  const char *signatures[] = {"i", "x>i", "i>", "i>q", "i>ii", "iiiiiii>i", "fffffffff>v"};
  for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
    WRONG(tl_add_func(vm, "f", NEVER, signatures[i], 0, NULL, NULL) == 0, signatures[i]);
  WRONG(tl_add_func(vm, "f", NEVER, NULL, 0, NULL, NULL) == 0, "a text is null");
  WRONG(tl_add_func(vm, "f", NULL, "i>i", 0, NULL, NULL) == 0, "the address of f is null");
  WRONG(tl_add_func(vm, "find", NEVER, "i>i", 0, NULL, NULL) == 0, "there is a function find already");
  WRONG(tl_add_func(vm, "f", NEVER, "i>i", 1024, NULL, NULL) == 0, "0x400 is no effect of a function");
  WRONG(tl_add_func(vm, "f", NEVER, "i>i", 0, (tl_class[]){memory, 99, 0}, NULL) == 0,
        "99 is no alias class");
  WRONG(tl_add_func(vm, "f", NEVER, "i>i", 0, NULL, (tl_class[]){98, 0}) == 0, "98 is no alias class");
}

/* What can be told at the first recording only. */
static void incomplete(void) {
  tl_vm *vm = host();
  tl_set_frame_words(vm, 1);
  BAD(tl_record(vm, &key, frame) == TL_MISUSE, "tl_set_slots was not called");
  stays_failed(vm, __LINE__);
  vm = host();
  tl_set_slots(vm, 16, 0, 8, 1);
  BAD(tl_record(vm, &key, frame) == TL_MISUSE, "tl_set_frame_words was not called");
  stays_failed(vm, __LINE__);
  vm = host();
  tl_add_tag(vm, "wide", 256, TL_INT);
  complete(vm);
  BAD(tl_record(vm, &key, frame) == TL_MISUSE, "the bits of tag wide do not fit the 1 bytes of a slot's tag");
  stays_failed(vm, __LINE__);
  vm = host();
  tl_add_tag(vm, "twin", 1, TL_REF);
  complete(vm);
  BAD(tl_record(vm, &key, frame) == TL_MISUSE, "tag twin has the bits 0x1 of another one");
  stays_failed(vm, __LINE__);
}

/* Descriptions that come too late: during a recording, which fails too, and after it. */
static void late(void) {
  uint64_t words[1] = {0};
  const uint8_t live[1] = {15};
  tl_vm *vm = host();
  complete(vm);
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  tl_resume_point(vm, frame, words, live, 4);
  BAD(tl_alias_class(vm, "late") == 0, "tl_alias_class: it comes before the first recording");
  EXPECT(tl_recording(vm) == 0 && tl_record_close(vm) == TL_MISUSE);
  SAYS("it comes before the first recording");
  stays_failed(vm, __LINE__);
  vm = host();
  complete(vm);
  EXPECT(tl_record(vm, &key, frame) == TL_OK);
  tl_record_abort(vm, "enough");
  BAD(tl_set_barrier(vm, plain, cell, 1, cell, 1) == TL_MISUSE,
      "tl_set_barrier: it comes before the first recording");
  stays_failed(vm, __LINE__);
}

/* Quadratic work would take minutes here. */
static void many(void) {
  enum { MANY = 100000 };
  tl_vm *vm = host();
  tl_layout wide = tl_add_layout(vm, "wide", 8 * MANY, 0, 0);
  char text[32];
  for (int n = 0; n < MANY; n++) {
    snprintf(text, sizeof text, "part %d", n);
    tl_class class_id = tl_alias_class(vm, text);
    if (class_id == 0 || class_id != tl_alias_class(vm, text)
        || tl_add_field(vm, wide, tl_add_cell(vm, text, 8 * n, 8, TL_INT, class_id, 0)) == 0) {
      EXPECT(!"a class or a field was refused");
      break;
    }
  }
  tl_free(vm);
}

int main(void) {
  tags_and_slots();
  cells_of_slots();
  cells();
  layouts();
  parts();
  functions();
  incomplete();
  late();
  many();
  return told();
}
