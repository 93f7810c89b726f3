/*
** Memory from the state's allocator, and what the JIT keeps with a function.
**
** Problem: the JIT takes memory at places where Lua's own functions must not be called: they may collect,
** run finalizers, and throw.
**
** Design: the allocator is called directly and answers NULL when it refuses. What becomes the program's is
** on the state's accounts; what is the JIT's own is not, so that collections begin, and
** 'collectgarbage("count")' answers, as without the JIT. Lua's functions that make objects run protected,
** with the collector stopped, so that a failure is an answer too.
**
** Invariant: nothing here collects, throws, or runs Lua code. This file uses no other file of ours.
**
** Example, a constant of a trace that lives as long as its function:   if (!tlua_anchor(L, p, &value)) ...
*/

#define LUA_CORE

#include "lprefix.h"

#include <string.h>

#include "tlua_internal.h"
#include "tlua_version.h"

#include "ldo.h"
#include "lgc.h"

void *tlua_own (lua_State *L, void *block, size_t old_size, size_t new_size) {
  global_State *g = G(L);
  return (*g->frealloc)(g->ud, block, old_size, new_size);
}

void tlua_becomes_lua (lua_State *L, size_t size) {
  tlua_take_account(G(L), (l_mem)size);
}

void *tlua_realloc (lua_State *L, void *block, size_t old_size, size_t new_size) {
  void *result = tlua_own(L, block, old_size, new_size);
  if (result == NULL && new_size > 0)
    return NULL;
  tlua_take_account(G(L), (l_mem)new_size - (l_mem)(block == NULL ? 0 : old_size));
  return result;
}

int tlua_protected (lua_State *L, Pfunc work, void *data) {
  global_State *g = G(L);
  lu_byte stopped = g->gcstopem;
  g->gcstopem = 1;
  int status = luaD_rawrunprotected(L, work, data);
  g->gcstopem = stopped;
  return status == LUA_OK;
}

/* --- data of functions --- */

TluaProto *tlua_proto (lua_State *L, Proto *p) {
  if (p->jit == NULL) {
    TluaProto *data = (TluaProto *)tlua_own(L, NULL, 0, sizeof(TluaProto));
    if (data != NULL)
      memset(data, 0, sizeof(TluaProto));
    p->jit = data;
  }
  return p->jit;
}

int tlua_anchor (lua_State *L, Proto *p, const TValue *value) {
  if (!iscollectable(value))
    return 1;
  TluaProto *data = tlua_proto(L, p);
  if (data == NULL)
    return 0;
  for (int i = 0; i < data->anchors_used; i++) {
    if (iscollectable(&data->anchors[i]) && gcvalue(&data->anchors[i]) == gcvalue(value))
      return 1;
  }
  if (data->anchors_used == data->anchors_size) {
    int size = data->anchors_size == 0 ? 4 : 2 * data->anchors_size;
    void *grown = tlua_own(L, data->anchors, (size_t)data->anchors_size * sizeof(TValue),
                           (size_t)size * sizeof(TValue));
    if (grown == NULL)
      return 0;
    data->anchors = (TValue *)grown;
    data->anchors_size = size;
  }
  setobj(L, &data->anchors[data->anchors_used], value);
  data->anchors_used++;
  luaC_barrier(L, obj2gco(p), value);
  return 1;
}
