/* misuse.h: what the hosts share that do everything wrong.
**
** Each mistake gives a status or a 0 at once, and a sentence that names it; nothing crashes, hangs or panics.
** A program prints how many kinds of mistakes it has made: tests/capi.rs adds them up. Example:
** BAD(tl_load(vm, 99, value) == 0, "99 is no cell"). */
#ifndef MISUSE_H
#define MISUSE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracelift.h"

static int failures, kinds;

#define EXPECT(condition) \
  ((condition) ? (void)0 : (void)(failures++, fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition)))

static void contains(const char *sentence, const char *text, int line) {
  if (!sentence || !strstr(sentence, text)) {
    failures++;
    fprintf(stderr, "line %d: expected '%s' in '%s'\n", line, text, sentence ? sentence : "(null)");
  }
}

/* The last call failed with a sentence that contains `text`. */
#define SAYS(text) contains(tl_last_error(vm), text, __LINE__)

/* A kind of mistake: what the call gives, and what it says. */
#define BAD(condition, text) (kinds++, EXPECT(condition), SAYS(text))

/* The same for a call that gives nothing. */
#define BAD_CALL(call, text) (kinds++, (call), SAYS(text))

typedef struct slot {
  int64_t payload;
  uint8_t tag;
} slot;

/* The end of each program. */
static inline int told(void) {
  printf("%d kinds\n", kinds);
  if (failures) fprintf(stderr, "%d failures\n", failures);
  return failures != 0;
}

#endif
