/*
** What a run leaves to the next one: hints where code has paid, in a file of a directory.
**
** Problem: the library asks for names of places that are the same in each run, and addresses are not. A
** script may end by os.exit, with its state open.
**
** Design: a function's name is a hash of what the compiler has made of it: instructions, constants, lines,
** upvalues. Where its file lies does not matter, so that a module that several scripts load has the same
** names in all of them, and there is one file for a directory instead of one for each script: it is read
** before any script is, and its places are found by name. A place is a function and the number of an
** instruction. That a function had baseline code is a hint under another name of the function. What was
** learned is written when the state is closed, or when the process exits before that.
**
** Invariant: two functions with one name are as good as one: hints say where and when to record. What is in
** the file can neither stop a program nor change what it does; only a directory that cannot be is refused.
**
** Example: tlua -jcache=warm app.lua, twice.
*/

#define LUA_CORE

#include "lprefix.h"

#include <stdlib.h>
#include <string.h>

#include "tlua_cache.h"
#include "tlua_rec.h"
#include "tlua_version.h"

#include "lobject.h"

/* --- names --- */

/* Each step maps different states to different ones. */
static uint64_t add_word (uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ hash >> 29;
}

static uint64_t add_bytes (uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = (const unsigned char *)bytes;
  uint64_t word;
  for (hash = add_word(hash, size); size > 0;) {
    size_t part = size < sizeof(word) ? size : sizeof(word);
    word = 0;
    memcpy(&word, at, part);
    hash = add_word(hash, word);
    at += part;
    size -= part;
  }
  return hash;
}

static uint64_t add_constant (uint64_t hash, const TValue *k) {
  hash = add_word(hash, (uint64_t)rawtt(k));
  switch (ttypetag(k)) {
    case LUA_VNUMINT: return add_word(hash, (uint64_t)ivalue(k));
    case LUA_VNUMFLT: {
      lua_Number number = fltvalue(k);
      return add_bytes(hash, &number, sizeof(number));
    }
    case LUA_VSHRSTR: case LUA_VLNGSTR:
      return add_bytes(hash, getstr(tsvalue(k)), tsslen(tsvalue(k)));
    default: return hash;
  }
}

/* What the function is called in each run; computed once. */
static uint64_t name_of_function (Proto *p) {
  if (p->jit_name != 0)
    return p->jit_name;
  uint64_t hash = add_bytes((uint64_t)p->numparams << 8 | p->maxstacksize, p->code,
                            (size_t)p->sizecode * sizeof(Instruction));
  for (int i = 0; i < p->sizek; i++)
    hash = add_constant(hash, &p->k[i]);
  for (int i = 0; i < p->sizeupvalues; i++)
    hash = add_word(hash, (uint64_t)p->upvalues[i].instack << 8 | p->upvalues[i].idx);
  hash = add_word(hash, (uint64_t)p->linedefined << 32 | (uint32_t)p->lastlinedefined);
  hash = add_bytes(hash, p->lineinfo, (size_t)p->sizelineinfo);
  p->jit_name = hash | 1;
  return p->jit_name;
}

/* Keys of entries are odd, so their places differ from those of loops. */
static uint64_t name_of_place (Proto *p, const void *pc) {
  return add_word(name_of_function(p), (uint64_t)((const char *)pc - (const char *)p->code)) | 1;
}

static uint64_t stable_name_of (void *data, const void *key, const uint64_t *words) {
  const TluaRecorder *rec = (const TluaRecorder *)data;
  const void *pc = key != NULL ? key : (const void *)tlua_words_pc(words);
  Proto *p = tlua_places_find(&rec->places, pc);
  return p != NULL ? name_of_place(p, pc) : 0;
}

/* --- functions --- */

/* Other names than those of places. */
#define WITH_CODE UINT64_C(0x5DEECE66D0)

void tlua_cache_note_code (struct tl_vm *vm, Proto *p) {
  tl_note_hint(vm, add_word(name_of_function(p), WITH_CODE) | 1);
}

int tlua_cache_has_code (struct tl_vm *vm, Proto *p) {
  return tl_has_hint(vm, add_word(name_of_function(p), WITH_CODE) | 1) > 0;
}

int tlua_cache_has_entry (struct tl_vm *vm, Proto *p) {
  return tl_has_hint(vm, name_of_place(p, tlua_entry_key(p->code))) > 0;
}

/* --- opening and closing --- */

/* The state whose hints are written when the process exits, and the directory of each that has one. */
static lua_State *lasting = NULL;

void tlua_cache_close (lua_State *L) {
  TluaRecorder *rec = (TluaRecorder *)L->jit->engine_state;
  if (lasting != NULL && lasting->jit == L->jit)
    lasting = NULL;
  if (rec->cache != NULL)
    tl_write_hints(rec->vm, rec->cache);  /* where that is not possible the next run learns anew */
  rec->cache = NULL;
}

static void close_at_exit (void) {
  if (lasting != NULL)
    tlua_cache_close(lasting);
}

const char *tlua_cache_open (lua_State *L, const char *directory) {
  static int is_registered = 0;
  tl_vm *vm = tlua_jit_vm(L);
  if (vm == NULL || L->jit->is_library_off)
    return NULL;
  TluaRecorder *rec = (TluaRecorder *)L->jit->engine_state;
  if (tl_set_stable_name_of(vm, stable_name_of, rec) != TL_OK || tl_read_hints(vm, directory) != TL_OK)
    return tl_last_error(vm);
  rec->cache = directory;
  lasting = tlua_main_thread(G(L));
  if (!is_registered)
    is_registered = atexit(close_at_exit) == 0;
  return NULL;
}
