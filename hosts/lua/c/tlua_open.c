/*
** The engines by their mode, and how a state gets one.
**
** Problem: hooks serve engines, and engines use the services of the hooks. Somebody has to know both.
**
** Design: only this file knows which engines there are; tlua.c calls whichever the state has.
**
** Invariant: a state gets an engine once, before its counters can call.
**
** Example: tlua_open(L, &(TluaConfig){ .mode = TLUA_MODE_COUNT, .threshold = 100 });
*/

#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "tlua_internal.h"

static const TluaEngine count_engine = { .name = "count" };

static const TluaEngine *engine_of_mode (uint32_t mode) {
  switch (mode) {
    case TLUA_MODE_COUNT: return &count_engine;
    case TLUA_MODE_STRESS: return &tlua_stress_engine;
    case TLUA_MODE_POISON: return &tlua_poison_engine;
    case TLUA_MODE_SABOTAGE: return &tlua_sabotage_engine;
#if defined(TLUA_HAVE_RECORDER)
    case TLUA_MODE_JIT: return &tlua_recorder_engine;
#endif
    default: return NULL;
  }
}

int tlua_open (lua_State *L, const TluaConfig *config) {
  Tlua *jit = L->jit;
  jit->config = *config;
  if (config->mode == TLUA_MODE_OFF)
    return 1;
  const TluaEngine *engine = engine_of_mode(config->mode);
  if (engine == NULL || jit->engine != NULL)
    return 0;
  /* an engine finds zeros, also where the program has run for a while; see tlua_new */
  if (jit->counted_before)
    memset(jit->counters, 0, sizeof(jit->counters));
  jit->counted_before = 0;
  jit->no_nodes = tlua_no_nodes(L);
  if (engine->on_open != NULL && !engine->on_open(L, config))
    return 0;
  jit->engine = engine;
  jit->threshold = config->threshold == 0 ? 1 : config->threshold;
  if (jit->threshold > TLUA_OUT_OF_REACH)
    jit->threshold = TLUA_OUT_OF_REACH;
  /* engines with on_swallowed set the counters themselves */
  if (engine->on_swallowed == NULL)
    for (int i = 0; i < TLUA_COUNTERS; i++)
      jit->counters[i] = (int32_t)(jit->threshold - 1);
  return 1;
}
