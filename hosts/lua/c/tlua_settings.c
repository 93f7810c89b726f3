/*
** The JIT's settings as words.
**
** Problem: people write "-jopt=-fold" on the command line, or the same into the environment of a program
** that they do not start themselves.
**
** Design: a word changes the settings, and a later one wins. Words and their lists are tables. Passes and
** stages are not: the library knows their names, and says which it does not know when the state gets its JIT.
**
** Invariant: a word that is refused has changed nothing but room in the texts.
**
** Example: "on", "off", "v", "stats", "counts=all.txt", "stats=counts.json", "view=page.html", "cache=warm",
** "dump", "dump=record,exit", "compile=thread", "opt=threshold=1,-peel,-regions", "debug=perf,gdb", "p=line".
*/

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"

#include "tlua.h"
#include "tlua_cache.h"
#include "tlua_profile.h"
#include "tlua_report.h"
#include "tlua_settings.h"
#if defined(TLUA_HAVE_RECORDER)
#include "tracelift.h"
#endif

/* What "v" logs, and "dump" without stages. */
#define VERBOSE "trace,abort"
#define DUMPED "trace,abort,code"

/*
** The numbers, and the first bytes of the lists. A file's name is read only if there is a report of its form:
** zeros in all names would be five pages of memory, which few programs need.
*/
void tlua_settings_init (TluaSettings *settings) {
  memset(settings, 0, offsetof(TluaSettings, passes));
  settings->passes[0] = settings->log[0] = settings->tools[0] = '\0';
  settings->cache[0] = settings->profile[0] = '\0';
}

/* --- lists --- */

/* Adds 'item' to a list with commas. Returns 0 if there is no room. */
static int add (char *list, const char *item) {
  size_t used = strlen(list), length = strlen(item);
  if (used + length + 2 > TLUA_LIST_ROOM)
    return 0;
  if (used > 0)
    list[used++] = ',';
  memcpy(list + used, item, length + 1);
  return 1;
}

#if defined(TLUA_HAVE_RECORDER)

/* Items of "opt=" with a number. */
static const struct Number {
  const char *name;
  size_t offset;
  uint64_t most;
} numbers[] = {
  { "threshold", offsetof(TluaSettings, threshold), UINT32_MAX },
  { "side-threshold", offsetof(TluaSettings, side_threshold), UINT32_MAX },
  { "code-limit", offsetof(TluaSettings, code_limit), UINT32_MAX },
  { "force-exit", offsetof(TluaSettings, force_exit), UINT64_MAX },
  { "start-seed", offsetof(TluaSettings, start_seed), UINT64_MAX },
};

/* Items of "opt=" with a sign. The flag stands for the sign that is not the usual one. */
static const struct Switch {
  const char *name;
  char sign;
  uint32_t flag;
} switches[] = {
  { "unrolling", '-', TL_FLAG_NO_UNROLLING },
  { "prefetching", '-', TL_FLAG_NO_PREFETCHING },
  { "quick-code", '-', TL_FLAG_NO_QUICK_CODE },
  { "regions", '-', TL_FLAG_NO_REGIONS },
  { "exec", '-', TL_FLAG_NO_EXEC },
  { "verify", '+', TL_FLAG_VERIFY },
  { "check", '+', TL_FLAG_CHECK },
  { "count-guards", '+', TL_FLAG_COUNT_GUARDS },
};

/* Items of "debug=". */
static const struct Tool {
  const char *name;
  uint32_t flag;
} tools[] = {
  { "perf", TL_FLAG_PERF_MAP },
  { "jitdump", TL_FLAG_JITDUMP },
  { "gdb", TL_FLAG_GDB },
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static int set_number (TluaSettings *settings, const char *item, const char *digits) {
  size_t length = (size_t)(digits - 1 - item);
  for (size_t i = 0; i < COUNT(numbers); i++) {
    const struct Number *number = &numbers[i];
    if (strlen(number->name) != length || strncmp(number->name, item, length) != 0)
      continue;
    char *end;
    if (*digits < '0' || *digits > '9')
      return 0;
    unsigned long long value = strtoull(digits, &end, 10);
    if (*end != '\0' || value == 0 || value > number->most)
      return 0;
    *(uint64_t *)((char *)settings + number->offset) = value;
    return 1;
  }
  return 0;
}

static int set_item (TluaSettings *settings, const char *item) {
  const char *equals = strchr(item, '=');
  if (equals != NULL)
    return set_number(settings, item, equals + 1);
  if (*item != '-' && *item != '+')
    return 0;
  if (strcmp(item + 1, "baseline") == 0) {
    settings->has_no_baseline = *item == '-';
    return 1;
  }
  for (size_t i = 0; i < COUNT(switches); i++)
    if (strcmp(item + 1, switches[i].name) == 0) {
      if (*item == switches[i].sign)
        settings->flags |= switches[i].flag;
      else
        settings->flags &= ~switches[i].flag;
      return 1;
    }
  return add(settings->passes, item);  /* a pass, or what the library will not know */
}

#else

static int set_item (TluaSettings *settings, const char *item) {
  return add(settings->passes, item);
}

#endif

/* Each item of a list; all are separated by commas. Returns 0 for an empty list. */
static int each (TluaSettings *settings, const char *list, int (*one) (TluaSettings *, const char *)) {
  char item[TLUA_LIST_ROOM];
  if (*list == '\0')
    return 0;
  for (;;) {
    size_t length = strcspn(list, ",");
    if (length >= sizeof(item))
      return 0;
    memcpy(item, list, length);
    item[length] = '\0';
    if (length > 0 && !one(settings, item))
      return 0;
    if (list[length] == '\0')
      return 1;
    list += length + 1;
  }
}

static int set_stage (TluaSettings *settings, const char *item) {
  return add(settings->log, item);
}

static int set_tool (TluaSettings *settings, const char *item) {
  return add(settings->tools, item);
}

static int set_profile (TluaSettings *settings, const char *item) {
  return add(settings->profile, item);
}

/* Where code is made. Returns 0 for what is no such place. */
static int set_compiling (TluaSettings *settings, const char *where) {
  int is_thread = strcmp(where, "thread") == 0;
#if defined(TLUA_HAVE_RECORDER)
  settings->flags &= ~TL_FLAG_THREAD;
  settings->flags |= is_thread ? TL_FLAG_THREAD : 0;
#else
  (void)settings;
#endif
  return is_thread || strcmp(where, "inline") == 0;
}

/* JSON if the file's name says so. */
static int form_of (int form, const char *file) {
  size_t length = strlen(file);
  return length > 5 && strcmp(file + length - 5, ".json") == 0 ? TLUA_REPORT_JSON : form;
}

/* A report of this form; without a file it goes to standard error. */
static int set_report (TluaSettings *settings, int form, const char *file) {
  size_t length = strlen(file);
  if (length >= TLUA_FILE_ROOM)
    return 0;
  memcpy(settings->files[form], file, length + 1);
  settings->reports |= 1u << form;
  return 1;
}

int tlua_settings_cache (TluaSettings *settings, const char *directory) {
  size_t length = strlen(directory);
  if (length == 0 || length >= TLUA_FILE_ROOM)
    return 0;
  memcpy(settings->cache, directory, length + 1);
  return 1;
}

/* --- words --- */

/* Returns what follows 'start' in 'word'; NULL if it begins otherwise. */
static const char *after (const char *word, const char *start) {
  size_t length = strlen(start);
  return strncmp(word, start, length) == 0 ? word + length : NULL;
}

int tlua_settings_word (TluaSettings *settings, const char *word) {
  const char *rest;
  if (strcmp(word, "on") == 0 || strcmp(word, "off") == 0) {
    settings->is_off = word[1] == 'f';
    return 1;
  }
  if (strcmp(word, "v") == 0)
    return each(settings, VERBOSE, set_stage);
  if (strcmp(word, "dump") == 0)
    return each(settings, DUMPED, set_stage);
  if (strcmp(word, "stats") == 0)
    return set_report(settings, TLUA_REPORT_SUMMARY, "");
  if (strcmp(word, "counts") == 0)
    return set_report(settings, TLUA_REPORT_TEXT, "");
  if ((rest = after(word, "stats=")) != NULL)
    return *rest != '\0' && set_report(settings, form_of(TLUA_REPORT_SUMMARY, rest), rest);
  if ((rest = after(word, "counts=")) != NULL)
    return *rest != '\0' && set_report(settings, form_of(TLUA_REPORT_TEXT, rest), rest);
  if ((rest = after(word, "view=")) != NULL)
    return *rest != '\0' && set_report(settings, TLUA_REPORT_VIEW, rest);
  if ((rest = after(word, "cache=")) != NULL)
    return tlua_settings_cache(settings, rest);
  if ((rest = after(word, "dump=")) != NULL)
    return each(settings, rest, set_stage);
  if ((rest = after(word, "debug=")) != NULL)
    return each(settings, rest, set_tool);
  if (strcmp(word, "p") == 0) {
    settings->profiles = 1;
    return 1;
  }
  if ((rest = after(word, "p=")) != NULL) {
    settings->profiles = 1;
    return each(settings, rest, set_profile);
  }
  if ((rest = after(word, "compile=")) != NULL)
    return set_compiling(settings, rest);
  if ((rest = after(word, "opt=")) != NULL)
    return each(settings, rest, set_item);
  return 0;
}

/* Whether a word begins here, and no further item of a list. */
static int begins_word (const char *text) {
  static const char *const bare[] = { "on", "off", "v", "stats", "counts", "dump", "p" };
  static const char *const listed[] = { "-j", "stats=", "counts=", "view=", "cache=", "dump=", "debug=", "p=",
                                        "compile=", "opt=" };
  size_t length = strcspn(text, " \t,");
  for (size_t i = 0; i < COUNT(listed); i++)
    if (after(text, listed[i]) != NULL)
      return 1;
  for (size_t i = 0; i < sizeof(bare) / sizeof(bare[0]); i++)
    if (strlen(bare[i]) == length && strncmp(bare[i], text, length) == 0)
      return 1;
  return 0;
}

/* The length of a word with all of its list. */
static size_t word_length (const char *text) {
  size_t length = strcspn(text, " \t,");
  while (text[length] == ',' && strcspn(text + length + 1, " \t,") > 0 && !begins_word(text + length + 1))
    length += 1 + strcspn(text + length + 1, " \t,");
  return length;
}

const char *tlua_settings_words (TluaSettings *settings, const char *words) {
  static char complaint[TLUA_LIST_ROOM + 32];
  char word[TLUA_LIST_ROOM];
  for (;;) {
    words += strspn(words, " \t,");
    if (*words == '\0')
      return NULL;
    size_t length = word_length(words);
    if (length >= sizeof(word))
      return "a word is too long";
    memcpy(word, words, length);
    word[length] = '\0';
    words += length;
    const char *bare = after(word, "-j");
    if (!tlua_settings_word(settings, bare != NULL ? bare : word)) {
      snprintf(complaint, sizeof(complaint), "unrecognized word '%s'", word);
      return complaint;
    }
  }
}

/* --- opening --- */

#if defined(TLUA_HAVE_RECORDER)

/* The flags of all tools. An item that is none is complained of. */
static const char *tool_flags (const char *list, uint32_t *flags) {
  static char complaint[2 * TLUA_LIST_ROOM];
  while (*list != '\0') {
    size_t length = strcspn(list, ","), i = 0;
    while (i < COUNT(tools) && (strlen(tools[i].name) != length || strncmp(tools[i].name, list, length) != 0))
      i++;
    if (i == COUNT(tools)) {
      snprintf(complaint, sizeof(complaint), "debug: '%.*s' is not one of perf, jitdump, gdb", (int)length,
               list);
      return complaint;
    }
    *flags |= tools[i].flag;
    list += length + (list[length] == ',');
  }
  return NULL;
}

/* Whether the view can be written is said before the program runs. Returns NULL, or what is wrong. */
static const char *try_view (const char *file) {
  static char complaint[TLUA_FILE_ROOM + 64];
  FILE *view = fopen(file, "a");
  if (view != NULL) {
    fclose(view);
    return NULL;
  }
  snprintf(complaint, sizeof(complaint), "the view cannot be written: %s: %s", file, strerror(errno));
  return complaint;
}

#endif

/* An item of "p=": returns 0 if it means nothing. */
static int profile_item (TluaProfileOptions *options, const char *item) {
  const char *rest;
  char *end = NULL;
  if (strcmp(item, "line") == 0 || strcmp(item, "function") == 0) {
    options->by_line |= *item == 'l';
    options->by_function |= *item == 'f';
    return 1;
  }
  if ((rest = after(item, "file=")) != NULL) {
    snprintf(options->file, sizeof(options->file), "%s", rest);
    return *rest != '\0';
  }
  if ((rest = after(item, "interval=")) != NULL) {
    options->interval = *rest >= '0' && *rest <= '9' ? strtoull(rest, &end, 10) : 0;
    return end != NULL && *end == '\0' && options->interval >= 1 && options->interval <= 10000;
  }
  if ((rest = after(item, "least=")) != NULL) {
    options->least = *rest >= '0' && *rest <= '9' ? strtoull(rest, &end, 10) : 101;
    return end != NULL && *end == '\0' && options->least <= 100;
  }
  return 0;
}

static const char *open_profile (const TluaSettings *settings, lua_State *L, struct tl_vm *vm) {
  static char complaint[2 * TLUA_LIST_ROOM];
  TluaProfileOptions options = { .interval = 1, .least = 1 };
  if (!settings->profiles)
    return NULL;
  char list[TLUA_LIST_ROOM];
  memcpy(list, settings->profile, sizeof(list));
  for (char *item = list; *item != '\0';) {
    size_t length = strcspn(item, ",");
    int is_last = item[length] == '\0';
    item[length] = '\0';
    if (!profile_item(&options, item)) {
      snprintf(complaint, sizeof(complaint),
               "p: '%s' is not one of line, function, interval=N, least=N, file=NAME", item);
      return complaint;
    }
    item += length + !is_last;
  }
  return tlua_profile_open(L, &options, vm);
}

const char *tlua_settings_open (const TluaSettings *settings, lua_State *L) {
#if defined(TLUA_HAVE_RECORDER)
  uint32_t told = 0;
  const char *why = tool_flags(settings->tools, &told);
  if (why != NULL)
    return why;
  why = settings->reports & (1u << TLUA_REPORT_VIEW) ? try_view(settings->files[TLUA_REPORT_VIEW]) : NULL;
  if (why != NULL)
    return why;
  if (settings->is_off && settings->reports == 0)
    return open_profile(settings, L, NULL);
  /* counting needs the library, with the JIT off, too */
  uint32_t flags = settings->flags | told | (settings->profiles ? TL_FLAG_CODE_MAP : 0)
      | (settings->is_off ? TL_FLAG_OFF : 0)
      | (settings->reports & ~(1u << TLUA_REPORT_VIEW) ? TL_FLAG_COUNT_ITERATIONS : 0)
      | (settings->reports & (1u << TLUA_REPORT_VIEW) ? TL_FLAG_VIEW : 0);
  tl_config library = {
    .abi = TL_ABI_VERSION, .threshold = (uint32_t)settings->threshold, .flags = flags,
    .side_threshold = (uint32_t)settings->side_threshold, .code_bytes = settings->code_limit * 1024,
    .force_exit = settings->force_exit, .start_seed = settings->start_seed,
    .passes = settings->passes[0] != '\0' ? settings->passes : NULL,
    .log = settings->log[0] != '\0' ? settings->log : NULL,
  };
  TluaConfig config = { .mode = TLUA_MODE_JIT, .threshold = (uint32_t)settings->threshold, .period = 10,
                        .seed = 1, .no_baseline = (uint16_t)settings->has_no_baseline, .jit = &library };
  if (!tlua_open(L, &config))
    return tl_config_error();
  for (uint32_t form = 0; form < TLUA_REPORTS; form++)
    if (settings->reports & (1u << form))
      tlua_report_at_end(L, form, settings->files[form][0] != '\0' ? settings->files[form] : NULL);
  if (settings->cache[0] != '\0' && (why = tlua_cache_open(L, settings->cache)) != NULL) {
    static char complaint[TLUA_FILE_ROOM + 64];
    snprintf(complaint, sizeof(complaint), "cache: %s", why);
    return complaint;
  }
  /* a library that is not needed yet is not asked for */
  return settings->profiles ? open_profile(settings, L, tlua_jit_vm(L)) : NULL;
#else
  return open_profile(settings, L, NULL);
#endif
}
