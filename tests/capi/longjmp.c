/* longjmp.c: a function called by compiled code raises an error by jumping over that code, back into the
** host.
**
** The frame that was running is given up, as interpreters do with errors: what its slots hold is from when
** the code was entered. What the loop did outside its frame has happened, once; and the tl_vm goes on as
** if the code had returned. */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "tracelift.h"

typedef struct slot {
  int64_t payload;
  uint8_t tag;
} slot;

typedef struct machine {
  jmp_buf error;
  int64_t calls, limit; /* check() raises an error at the call with number `limit` */
} machine;

static void check(machine *m, int64_t number) {
  if (number != m->calls) longjmp(m->error, 2);
  if (++m->calls == m->limit) longjmp(m->error, 1);
}

static int32_t counters[1];
static const char loop_key = 0;

/* i = 0; do { check(i); i = i + 1 } while (i < 10000), which jumps out with an error before it is done */
static int run(tl_vm *vm, machine *m, tl_tag integer, tl_func func) {
  static slot frame[1];
  static const uint8_t live[1] = {1};
  uint64_t words[1] = {0};
  volatile int recording = 0, entered = 0; /* volatile: they must survive the jump */
  m->calls = 0;
  frame[0] = (slot){0, 1};
  int error = setjmp(m->error);
  if (error) return error;
  while (frame[0].payload < 10000) { /* the loop's head is in front of check() */
    tl_run code;
    if (recording) {
      recording = 0;
      if (tl_record_close(vm) != TL_OK) return 3;
    }
    if (--counters[0] < 0) {
      switch (tl_hot(vm, &loop_key, counters, frame, &code)) {
        case TL_RUN: {
          tl_exit_info info;
          entered++;
          tl_left left = tl_run_code(&code, m, frame);
          tl_exit(vm, left, m, &info);
          if (info.kind == TL_EXIT_LOOP_END) return 0;
          break;
        }
        case TL_RECORD: recording = tl_record(vm, &loop_key, frame) == TL_OK; break;
        case TL_NOTHING: break;
      }
    }
    if (recording) {
      tl_resume_point(vm, frame, words, live, 1);
      tl_value args[2] = {tl_context(vm), tl_slot_read(vm, 0, integer)};
      tl_call(vm, func, args, 2);
      words[0] = 1;
      tl_resume_point(vm, frame, words, live, 1);
      tl_value next = tl_op2(vm, TL_INT_ADD, args[1], tl_const_int(vm, 1));
      tl_guard(vm, TL_GUARD_TRUE, tl_op2(vm, TL_INT_LT, next, tl_const_int(vm, 10000)), 0, TL_EXIT_LOOP_END);
      tl_slot_write(vm, 0, integer, next);
      words[0] = 0;
    }
    check(m, frame[0].payload);
    frame[0].payload++;
  }
  return entered ? 4 : 0;
}

/* What people call the loop. */
static int name_of(void *data, const void *key, const uint64_t *words, char *name, size_t room) {
  if (key == NULL || words != NULL) return 0;
  snprintf(name, room, "%s:7 run", (const char *)data);
  return 1;
}

int main(void) {
  tl_config config = {.abi = TL_ABI_VERSION, .threshold = 5, .flags = TL_FLAG_VERIFY};
  tl_vm *vm = tl_new(&config);
  tl_tag integer = tl_add_tag(vm, "int", 1, TL_INT);
  tl_set_slots(vm, sizeof(slot), offsetof(slot, payload), offsetof(slot, tag), 1);
  tl_set_frame_words(vm, 1);
  tl_func func = tl_add_func(vm, "check", (const void *)(uintptr_t)check, "ai>v",
                             TL_EFFECT_READS_ALL | TL_EFFECT_WRITES_ALL | TL_EFFECT_REENTERS, NULL, NULL);
  tl_set_counters(vm, counters, 1);
  tl_set_name_of(vm, name_of, (void *)(uintptr_t)"machine.c");
  machine m = {.limit = 0};
  for (int round = 0; round < 200; round++) {
    m.limit = round % 4 == 3 ? -1 : 9000 - round * 40; /* every fourth round runs to its end */
    int result = run(vm, &m, integer, func);
    int expected = m.limit < 0 ? 0 : 1;
    int64_t calls = m.limit < 0 ? 10000 : m.limit;
    if (result != expected || m.calls != calls) {
      fprintf(stderr, "round %d: result %d, %lld calls\n", round, result, (long long)m.calls);
      return 1;
    }
  }
  const char *stats = tl_stats_json(vm);
  if (!strstr(stats, "\"loop_end\": 50") || !strstr(stats, "\"title\": \"loop machine.c:7 run\"")) {
    fprintf(stderr, "%s\n", stats);
    return 1;
  }
  tl_free(vm);
  return 0;
}
