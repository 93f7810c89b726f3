/* wl_settings.c: the words -j... of the command.
**
** Problem: tests and people set thresholds, force exits and ask for reports. Design: each word sets a field
** of tl_config, or a bit of what else is wanted. Invariant: what is set before wl_open holds for it.
** Example: -jthreshold=1 -jside=1 -jverify -jstats
*/
#include "wl_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wl_internal.h"

static struct {
  tl_config config;
  bool budget, stats, json, summary, collect;
} settings;

/*
** Thresholds that are set are exact: what is hot is compiled, whether it pays or not. By its own policy the
** library waits until compiling has earned its time, and programs that gain nothing lose nothing: 'fibers'
** takes .8 of the time that it takes with these. But of 31 benchmarks, of which most are over after some ten
** milliseconds with code, all take 1.28 times as long in the mean, 1.07 in the sum, as a young program may
** not compile much.
*/
#define THRESHOLD 1000
#define SIDE_THRESHOLD 500

/*
** For that policy: what an instruction takes, in tenths of nanoseconds, and what a call takes beside its own.
** In a loop without calls it is 2 to 3 ns; programs look methods up and make objects. By Lua's prices the 31
** take 1.43 times as long as by the thresholds, by 7 ns and 15 1.36, by these and by 20 ns and 60 1.28.
*/
#define BYTECODE_PRICE 120
#define CALL_PRICE 30

tl_config wl_config(void) {
  tl_config config = settings.config;
  config.abi = TL_ABI_VERSION;
  config.bytecode_price = BYTECODE_PRICE;
  config.call_price = CALL_PRICE;
  if (settings.budget && config.threshold == 0) return config;
  if (config.threshold == 0) config.threshold = THRESHOLD;
  if (config.side_threshold == 0)
    config.side_threshold = config.threshold < SIDE_THRESHOLD ? config.threshold : SIDE_THRESHOLD;
  return config;
}

/* The number behind `name=`, or -1 if the word is another one; -2 if there is no number. */
static int64_t number_of(const char *word, const char *name) {
  size_t length = strlen(name);
  if (strncmp(word, name, length) != 0 || word[length] != '=') return -1;
  char *end;
  errno = 0;
  long long number = strtoll(word + length + 1, &end, 10);
  return errno || end == word + length + 1 || *end || number < 0 || number > INT32_MAX ? -2 : number;
}

const char *wl_set(const char *word) {
  static const struct {
    const char *name;
    uint32_t flag;
    bool *is_set;
  } words[] = {{"off", TL_FLAG_OFF, NULL},
               {"verify", TL_FLAG_VERIFY, NULL},
               {"guards", TL_FLAG_COUNT_GUARDS, NULL},
               {"budget", 0, &settings.budget},
               {"stats", 0, &settings.stats},
               {"json", 0, &settings.json},
               {"summary", 0, &settings.summary},
               {"collect", 0, &settings.collect}};
  for (size_t n = 0; n < sizeof words / sizeof *words; n++) {
    if (strcmp(word, words[n].name) != 0) continue;
    settings.config.flags |= words[n].flag;
    if (words[n].is_set) *words[n].is_set = true;
    return NULL;
  }
  if (strncmp(word, "log=", 4) == 0) {
    settings.config.log = word + 4;
    return NULL;
  }
  int64_t threshold = number_of(word, "threshold"), side = number_of(word, "side");
  int64_t force = number_of(word, "force"), seed = number_of(word, "seed");
  if (threshold >= 1) settings.config.threshold = (uint32_t)threshold;
  else if (side >= 1) settings.config.side_threshold = (uint32_t)side;
  else if (force >= 1) settings.config.force_exit = (uint64_t)force;
  else if (seed >= 1) settings.config.start_seed = (uint64_t)seed;
  else
    return "the words of -j are off, budget, threshold=N, side=N, stats, json, summary, verify, guards, "
           "collect, force=N, seed=N and log=STAGES";
  return NULL;
}

bool wl_collects_often(void) { return settings.collect; }

void wl_report(WrenVM *vm) {
  tl_vm *jit = wl_of(vm)->jit;
  if (settings.stats) fputs(tl_stats_text(jit), stderr);
  if (settings.json) fputs(tl_stats_json(jit), stderr);
  if (settings.summary) fputs(tl_summary(jit), stderr);
}
