/*
** Running one script, as the stand-alone interpreter does.
**
** Problem: Lua leaves functions by longjmp, which must not cross a Rust frame.
**
** Design: Rust fills a TluaRun and calls tlua_run once; state, protected calls and error messages stay in C.
**
** Invariant: tlua_run neither throws nor returns with a state left open.
**
** Example: argv { "lua", "x.lua", "1" }, script 1 gives arg[-1] = "lua", arg[0] = "x.lua", arg[1] = "1".
*/
#ifndef tlua_driver_h
#define tlua_driver_h

#include "tlua.h"

/* Shared with Rust: keep in step with src/driver.rs. So many fields: one call takes and gives them all. */
typedef struct TluaRun {
  const char *prefix;         /* of messages, as in "lua: out of memory"; NULL for none */
  const char *const *argv;    /* command line */
  uint32_t argc;
  uint32_t script;            /* index of the script in argv */
  uint32_t uses_environment;  /* run LUA_INIT, heed LUA_PATH and LUA_CPATH */
  /* TLUA_REPORT_... (tlua_report.h): the library's counts on stderr at the end, however the script ends */
  uint32_t report;
  uint32_t keeps_counts;      /* make jit_json and jit_text */
  uint32_t uses_malloc;       /* malloc alone, which tools can watch, and no heap (tlua_heap.h) */
  /* test aid: the first request for memory (from 1) that is refused; 0: do not count them */
  uint64_t refuse_from;
  uint64_t refuse_count;      /* test aid: so many are refused from there on; 0: all */
  TluaConfig config;
  /* out: requests for memory, if they are counted; those to shrink a block are none */
  uint64_t requests;
  TluaStatistics statistics;  /* out; untouched when the script leaves through os.exit */
  const char *refused;        /* out: reason when the state could not be opened, else NULL */
  /* out: the library's counts, from malloc; NULL if nobody asked, or without the recorder */
  char *jit_json;
  char *jit_text;             /* out: the same for people */
  const char *view;           /* the file that the library's view is written to, or NULL */
  const char *cache;          /* the directory with hints of earlier runs, or NULL */
} TluaRun;

/* Returns the exit code. */
int tlua_run (TluaRun *run);

#endif
