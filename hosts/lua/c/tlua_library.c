/*
** States of programs that are linked with the library, and know nothing of a JIT.
**
** Problem: such a program makes its states by lua_newstate and luaL_newstate, and is not to be changed.
**
** Design: both call 'tlua_state_made' if there is such a function. Only the library 'libtlua5.4' has it: it
** names this file when it is linked. Commands have not, as they open the JIT themselves; states that C
** modules make there stay stock Lua's. The settings are those of TLUA_JIT, read once.
**
** Invariant: whatever is wrong with the settings, the state is one; what is wrong is told once.
**
** Example: TLUA_JIT=stats ./program
*/

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "lua.h"

#include "tlua.h"
#include "tlua_settings.h"

static TluaSettings settings;
static pthread_once_t is_read = PTHREAD_ONCE_INIT;
static int is_refused = 0;

static void refuse (const char *why) {
  is_refused = 1;
  fprintf(stderr, "TLUA_JIT: %s\n", why);
}

static void read_settings (void) {
  const char *words = getenv("TLUA_JIT");
  tlua_settings_init(&settings);
  const char *why = words != NULL ? tlua_settings_words(&settings, words) : NULL;
  const char *cache = getenv("TLUA_JIT_CACHE");
  if (why == NULL && cache != NULL && *cache != '\0' && !tlua_settings_cache(&settings, cache))
    why = "the directory of TLUA_JIT_CACHE is too long";
  if (why != NULL)
    refuse(why);
}

/* Called from lstate.c for each new state. */
void tlua_state_made (lua_State *L) {
  pthread_once(&is_read, read_settings);
  if (is_refused)
    return;
  const char *why = tlua_settings_open(&settings, L);
  if (why != NULL)
    refuse(why);
}
