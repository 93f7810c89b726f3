/*
** The stand-alone driver: a script file with arguments, messages on stderr, an exit code.
**
** Problem: programs see the driver (the table 'arg', '...', traceback, the mode of the collector), and tests
** compare its output with stock Lua's to the byte.
**
** Design: one protected C function sets up the state and runs the script; each chunk runs under a message
** handler that adds the traceback. Compiled with TLUA_STOCK, without any JIT and with a 'main', the same
** file is the oracle.
**
** Invariant: every Lua function runs inside a protected call made here.
**
** Example: a script that says error("x") prints "lua: s.lua:1: x" and a traceback, and the exit code is 1.
*/

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"

#include "lauxlib.h"
#include "lualib.h"

#include "tlua_driver.h"
#if !defined(TLUA_STOCK)
#if defined(TLUA_HAVE_RECORDER)
#include "tlua_cache.h"
#endif
#include "tlua_heap.h"
#include "tlua_report.h"
#endif
#if defined(TLUA_HAVE_RECORDER)
#include "tracelift.h"
#endif

/* The structs that Rust has too; the other side of this stands in src/config.rs and src/driver.rs. */
#define SAME(what) _Static_assert(what, #what)
SAME(sizeof(TluaConfig) == 32 && offsetof(TluaConfig, mode) == 0);
SAME(offsetof(TluaConfig, threshold) == 4 && offsetof(TluaConfig, period) == 8);
SAME(offsetof(TluaConfig, nests) == 12 && offsetof(TluaConfig, no_baseline) == 14);
SAME(offsetof(TluaConfig, seed) == 16 && offsetof(TluaConfig, jit) == 24);
SAME(sizeof(TluaStatistics) == 72 && offsetof(TluaStatistics, violations) == 64);
SAME(sizeof(TluaRun) == 208 && offsetof(TluaRun, argc) == 16);
SAME(offsetof(TluaRun, refuse_from) == 40 && offsetof(TluaRun, config) == 56);
SAME(offsetof(TluaRun, requests) == 88 && offsetof(TluaRun, statistics) == 96);
SAME(offsetof(TluaRun, refused) == 168 && offsetof(TluaRun, jit_text) == 184);
SAME(offsetof(TluaRun, view) == 192 && offsetof(TluaRun, cache) == 200);
#if defined(TLUA_HAVE_RECORDER)
/* as in the library's src/capi/config.rs */
SAME(sizeof(tl_config) == 88 && offsetof(tl_config, passes) == 48);
#endif

/* The state an interrupt is for. */
static lua_State *volatile interrupted_state = NULL;

static void complain (const char *prefix, const char *text) {
  if (prefix != NULL)
    fprintf(stderr, "%s: ", prefix);
  fprintf(stderr, "%s\n", text);
  fflush(stderr);
}

/* --- interrupt --- */

static void raise_interrupt (lua_State *L, lua_Debug *activation) {
  (void)activation;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "interrupted!");
}

static void catch_interrupt (int number) {
  signal(number, SIG_DFL);  /* a second one ends the process */
  lua_sethook(interrupted_state, raise_interrupt, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT,
              1);
}

/* --- protected calls --- */

static int handle_message (lua_State *L) {
  const char *text = lua_tostring(L, 1);
  if (text == NULL) {
    if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
      return 1;
    text = lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
  }
  luaL_traceback(L, L, text, 1);
  return 1;
}

/* Calls the function below its 'count' arguments; on failure the message is left on the stack. */
static int call_script (lua_State *L, int count) {
  int handler = lua_gettop(L) - count;
  lua_pushcfunction(L, handle_message);
  lua_insert(L, handler);
  interrupted_state = L;
  void (*before)(int) = signal(SIGINT, catch_interrupt);
  int status = lua_pcall(L, count, 0, handler);
  signal(SIGINT, before == SIG_ERR ? SIG_DFL : before);
  lua_remove(L, handler);
  return status;
}

static int report (lua_State *L, const char *prefix, int status) {
  if (status != LUA_OK) {
    const char *text = lua_tostring(L, -1);
    complain(prefix, text != NULL ? text : "(error message not a string)");
    lua_pop(L, 1);
  }
  return status;
}

/* --- what the script sees --- */

static void make_arg_table (lua_State *L, const TluaRun *run) {
  lua_createtable(L, (int)(run->argc - run->script), (int)run->script + 1);
  for (uint32_t i = 0; i < run->argc; i++) {
    lua_pushstring(L, run->argv[i]);
    lua_rawseti(L, -2, (lua_Integer)i - (lua_Integer)run->script);
  }
  lua_setglobal(L, "arg");
}

static int run_environment (lua_State *L, const char *prefix) {
  const char *name = "LUA_INIT" LUA_VERSUFFIX;
  const char *value = getenv(name);
  if (value == NULL) {
    name = "LUA_INIT";
    value = getenv(name);
  }
  if (value == NULL)
    return LUA_OK;
  int status;
  if (value[0] == '@')
    status = luaL_loadfile(L, value + 1);
  else
    status = luaL_loadbuffer(L, value, strlen(value), lua_pushfstring(L, "=%s", name));
  if (status == LUA_OK)
    status = call_script(L, 0);
  return report(L, prefix, status);
}

/* Pushes the elements of 'arg' from 1 on: the script itself may be LUA_INIT's work by now. */
static int push_arguments (lua_State *L) {
  if (lua_getglobal(L, "arg") != LUA_TTABLE)
    return luaL_error(L, "'arg' is not a table");
  int count = (int)luaL_len(L, -1);
  luaL_checkstack(L, count + 3, "too many arguments to script");
  for (int i = 1; i <= count; i++)
    lua_rawgeti(L, -i, i);
  lua_remove(L, -count - 1);
  return count;
}

static int run_script (lua_State *L, const TluaRun *run) {
  const char *name = run->argv[run->script];
  int status = luaL_loadfile(L, strcmp(name, "-") == 0 ? NULL : name);
  if (status == LUA_OK)
    status = call_script(L, push_arguments(L));
  return report(L, run->prefix, status);
}

/* Runs in protected mode; pushes true when all went well. */
static int protected_run (lua_State *L) {
  TluaRun *run = (TluaRun *)lua_touserdata(L, 1);
  luaL_checkversion(L);
  if (!run->uses_environment) {
    lua_pushboolean(L, 1);
    lua_setfield(L, LUA_REGISTRYINDEX, "LUA_NOENV");
  }
  lua_warning(L, "@off", 0);  /* as the stand-alone interpreter begins; in 5.4 all states do */
  luaL_openlibs(L);
  make_arg_table(L, run);
  lua_gc(L, LUA_GCRESTART);
  lua_gc(L, LUA_GCGEN, 0, 0);  /* as the stand-alone interpreter does */
  if (run->uses_environment && run_environment(L, run->prefix) != LUA_OK)
    return 0;
  if (run_script(L, run) != LUA_OK)
    return 0;
  lua_pushboolean(L, 1);
  return 1;
}

/* --- memory --- */

static lua_State *new_state (const TluaRun *run) {
#if !defined(TLUA_STOCK)
  if (!run->uses_malloc)
    return tlua_newstate();
#endif
  (void)run;
  return luaL_newstate();
}

/* The state's allocator: counts requests, and refuses some. Those to shrink a block are neither. */
typedef struct Refusing {
  TluaRun *run;
  lua_Alloc allocate;
  void *user;
} Refusing;

static void *allocate (void *user, void *block, size_t old_size, size_t new_size) {
  Refusing *refusing = (Refusing *)user;
  TluaRun *run = refusing->run;
  if (new_size > 0 && (block == NULL || new_size > old_size)) {
    uint64_t number = ++run->requests;
    if (number >= run->refuse_from && (run->refuse_count == 0
                                       || number - run->refuse_from < run->refuse_count))
      return NULL;
  }
  return refusing->allocate(refusing->user, block, old_size, new_size);
}

#if defined(TLUA_HAVE_RECORDER)
/* Why the last run was refused. */
static _Thread_local char refusal[4200];
#endif

int tlua_run (TluaRun *run) {
  run->refused = NULL;
  lua_State *L = new_state(run);
  if (L == NULL) {
    run->refused = "cannot create state: not enough memory";
    return EXIT_FAILURE;
  }
  Refusing refusing = { .run = run };
  if (run->refuse_from != 0) {
    refusing.allocate = lua_getallocf(L, &refusing.user);
    lua_setallocf(L, allocate, &refusing);
  }
#if !defined(TLUA_STOCK)
  if (!tlua_open(L, &run->config)) {
#if defined(TLUA_HAVE_RECORDER)
    run->refused = run->config.mode == TLUA_MODE_JIT ? tl_config_error()
        : "the engine for this mode cannot be opened";
#else
    run->refused = "the engine for this mode cannot be opened";
#endif
    lua_close(L);
    return EXIT_FAILURE;
  }
#endif
#if defined(TLUA_HAVE_RECORDER)
  const char *why = run->cache != NULL ? tlua_cache_open(L, run->cache) : NULL;
  if (why != NULL) {
    snprintf(refusal, sizeof(refusal), "%s", why);
    run->refused = refusal;
    lua_close(L);
    return EXIT_FAILURE;
  }
#endif
#if !defined(TLUA_STOCK)
  tlua_report_at_end(L, run->report, NULL);
  if (run->view != NULL)
    tlua_report_at_end(L, TLUA_REPORT_VIEW, run->view);
#endif
  lua_gc(L, LUA_GCSTOP);
  lua_pushcfunction(L, protected_run);
  lua_pushlightuserdata(L, run);
  int status = lua_pcall(L, 1, 1, 0);
  int is_done = lua_toboolean(L, -1);
  report(L, run->prefix, status);
#if !defined(TLUA_STOCK)
  tlua_statistics(L, &run->statistics);
#endif
#if defined(TLUA_HAVE_RECORDER)
  if (run->keeps_counts) {
    run->jit_json = strdup(tlua_jit_stats_json(L));
    run->jit_text = strdup(tlua_jit_stats_text(L));
  }
#endif
  lua_close(L);
  fflush(stdout);
  return is_done && status == LUA_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

#if defined(TLUA_STOCK)
int main (int argc, char **argv) {
  if (argc < 2) {
    complain("lua", "usage: stock-lua script [args]");
    return EXIT_FAILURE;
  }
  argv[0] = (char *)"lua";
  TluaRun run = { .prefix = "lua", .argv = (const char *const *)argv, .argc = (uint32_t)argc, .script = 1,
                  .uses_environment = 1 };
  return tlua_run(&run);
}
#endif
