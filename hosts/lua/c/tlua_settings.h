/*
** The JIT's settings as words: see tlua_settings.c.
**
** Example: TluaSettings settings; tlua_settings_init(&settings);
** tlua_settings_word(&settings, "opt=threshold=1,-fold"); tlua_settings_open(&settings, L);
*/
#ifndef tlua_settings_h
#define tlua_settings_h

#include <stdint.h>

#include "lua.h"

#include "tlua_report.h"

/* Room for lists of passes, of stages, of tools, of a profile, and for the name of a file. */
#define TLUA_LIST_ROOM 512
#define TLUA_FILE_ROOM 4096

/* So many fields: one for each thing that words say. */
typedef struct TluaSettings {
  int is_off;
  int has_no_baseline;
  int profiles;
  uint32_t flags;         /* TL_FLAG_... */
  uint32_t reports;       /* a bit for each TLUA_REPORT_... */
  uint64_t threshold;     /* these five: 0 for the default */
  uint64_t side_threshold;
  uint64_t code_limit;    /* in KiB */
  uint64_t force_exit;
  uint64_t start_seed;
  char passes[TLUA_LIST_ROOM];  /* the first of the texts */
  char log[TLUA_LIST_ROOM];
  char tools[TLUA_LIST_ROOM];  /* debuggers and profilers that are told of machine code */
  char cache[TLUA_FILE_ROOM];  /* the directory with hints of earlier runs; empty: there is none */
  char profile[TLUA_LIST_ROOM];  /* what is wanted of the profile */
  char files[TLUA_REPORTS][TLUA_FILE_ROOM];  /* of the reports that are made, by form */
} TluaSettings;

void tlua_settings_init (TluaSettings *settings);

/* One word, as "opt=-fold": returns 0 if it means nothing. */
int tlua_settings_word (TluaSettings *settings, const char *word);

/* The directory with hints of earlier runs: returns 0 for one that can be none. */
int tlua_settings_cache (TluaSettings *settings, const char *directory);

/*
** Words separated by spaces or commas, each with or without "-j". What follows a comma and is no word belongs
** to the list before: "opt=-fold,-guards,v". Returns NULL, or what is wrong, which the next call overwrites.
*/
const char *tlua_settings_words (TluaSettings *settings, const char *words);

/* Switches a state's JIT on. Returns NULL, or what is wrong. 'settings' must live as long as the state. */
const char *tlua_settings_open (const TluaSettings *settings, lua_State *L);

#endif
