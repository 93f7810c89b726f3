/*
** Memory that is held for the tables and closures that exits make.
**
** Problem: compiled code keeps objects that nobody else sees in registers, and makes them when it is left;
** then nothing can fail any more, since half of the interpreter's state is that of the loop's last
** iteration. But each table is up to three blocks from an allocator that may refuse, and a closure over
** registers one, and one for each of these.
**
** Design: for each shape (room for items and keys, or site) that exits may make, the library says how many.
** So many blocks of each part are taken from the state's allocator beforehand, and wait in lists. A table is
** made from the allocator as ever; only if that refuses, and only during an exit, a waiting block is given
** out. It is on the state's accounts from then on, and a block as the allocator has made it, so that the
** collector frees it as any other. Before the next entry the library asks again, and what was given out is
** replaced.
**
** Invariant: 'held' blocks of each part wait in a shape's list; after tlua_rec_reserve has returned 1 they
** are as many as it was asked for. Nothing here throws or collects.
**
** Example, a loop with 'last = { x = i, y = i }': the library asks for (items 0, keys 2, count 1) when the
** loop is compiled, and one Table and one block of two nodes wait until the function is freed.
*/

#include "lprefix.h"

#include "tlua_rec.h"

#include "lfunc.h"
#include "ltable.h"

/* Waiting blocks are linked through their first word. */
typedef struct Waiting {
  struct Waiting *next;
} Waiting;

struct TluaSpare {
  TluaSpare *next;
  TluaShape shape;
  uint32_t wanted;
  size_t size[TLUA_PARTS];
  uint32_t each[TLUA_PARTS];  /* blocks for one object */
  uint32_t held[TLUA_PARTS];
  Waiting *blocks[TLUA_PARTS];
};

static int is_closure (const TluaRecorder *rec, const TluaShape *shape) {
  return shape->layout == rec->schema.object.closure;
}

static size_t size_of (const TluaRecorder *rec, const TluaShape *shape, int part) {
  if (is_closure(rec, shape)) {
    int upvalues = tlua_rec_site(rec, shape->items)->upvalues;
    return part == TLUA_PART_CLOSURE ? (size_t)sizeLclosure(upvalues)
        : part == TLUA_PART_UPVALUES ? sizeof(UpVal) : 0;
  }
  switch (part) {
    case TLUA_PART_TABLE: return sizeof(Table);
    case TLUA_PART_NODES: return shape->keys == 0 ? 0 : TLUA_NODES_BYTES(shape->keys);
    default: return shape->items * sizeof(TValue);
  }
}

/* Lua tells its allocator the type of a new object where the size of an old one would be. */
static int type_of (const TluaRecorder *rec, const TluaShape *shape, int part) {
  if (is_closure(rec, shape))
    return part == TLUA_PART_CLOSURE ? LUA_TFUNCTION : LUA_TUPVAL;
  return part == TLUA_PART_TABLE ? LUA_TTABLE : 0;
}

/* A block of a part; on nobody's accounts yet. */
static void *allocate (lua_State *L, const TluaShape *shape, int part) {
  const TluaRecorder *rec = (const TluaRecorder *)L->jit->engine_state;
  return tlua_own(L, NULL, (size_t)type_of(rec, shape, part), size_of(rec, shape, part));
}

static TluaSpare *find (const TluaRecorder *rec, const TluaShape *shape) {
  TluaSpare *spare = rec->spares;
  while (spare != NULL && (spare->shape.layout != shape->layout || spare->shape.items != shape->items
                           || spare->shape.keys != shape->keys))
    spare = spare->next;
  return spare;
}

static void *take (TluaSpare *spare, int part) {
  Waiting *block = spare->blocks[part];
  if (block != NULL) {
    spare->blocks[part] = block->next;
    spare->held[part]--;
  }
  return block;
}

void *tlua_rec_block (lua_State *L, const TluaShape *shape, int part) {
  const TluaRecorder *rec = (const TluaRecorder *)L->jit->engine_state;
  void *block = allocate(L, shape, part);
  if (block == NULL && rec->is_exiting) {
    TluaSpare *spare = find(rec, shape);
    block = spare != NULL ? take(spare, part) : NULL;
    L->jit->statistics.spare_blocks += block != NULL;
  }
  if (block != NULL)
    tlua_becomes_lua(L, size_of(rec, shape, part));
  return block;
}

void tlua_rec_free_block (lua_State *L, const TluaShape *shape, int part, void *block) {
  const TluaRecorder *rec = (const TluaRecorder *)L->jit->engine_state;
  if (block != NULL)
    tlua_realloc(L, block, size_of(rec, shape, part), 0);
}

/* Brings the lists of a shape to the wanted length. Returns 0 when the allocator refuses. */
static int fill (lua_State *L, TluaSpare *spare) {
  for (int part = 0; part < TLUA_PARTS; part++) {
    size_t size = spare->size[part];
    uint32_t wanted = spare->wanted * spare->each[part];
    if (size == 0)
      continue;
    while (spare->held[part] > wanted)
      tlua_own(L, take(spare, part), size, 0);
    while (spare->held[part] < wanted) {
      Waiting *block = (Waiting *)allocate(L, &spare->shape, part);
      if (block == NULL)
        return 0;
      block->next = spare->blocks[part];
      spare->blocks[part] = block;
      spare->held[part]++;
    }
  }
  return 1;
}

static TluaSpare *add (lua_State *L, TluaRecorder *rec, const TluaShape *shape) {
  TluaSpare *spare = (TluaSpare *)tlua_own(L, NULL, 0, sizeof(TluaSpare));
  if (spare == NULL)
    return NULL;
  *spare = (TluaSpare){ .next = rec->spares, .shape = *shape };
  for (int part = 0; part < TLUA_PARTS; part++) {
    spare->size[part] = size_of(rec, shape, part);
    spare->each[part] = 1;
  }
  if (is_closure(rec, shape))
    spare->each[TLUA_PART_UPVALUES] = (uint32_t)tlua_rec_site(rec, shape->items)->shared;
  rec->spares = spare;
  return spare;
}

int tlua_rec_reserve (void *context, tl_layout layout, uint32_t items, uint32_t keys, uint32_t count) {
  lua_State *L = (lua_State *)context;
  TluaRecorder *rec = (TluaRecorder *)L->jit->engine_state;
  const TluaShape shape = { .layout = layout, .items = items, .keys = keys & ~TL_HOST_BITS };
  TluaSpare *spare = find(rec, &shape);
  if (spare == NULL) {
    if (count == 0)
      return 1;
    spare = add(L, rec, &shape);
    if (spare == NULL)
      return 0;
  }
  spare->wanted = count;
  return fill(L, spare);
}

void tlua_rec_free_spares (lua_State *L, TluaRecorder *rec) {
  while (rec->spares != NULL) {
    TluaSpare *spare = rec->spares;
    rec->spares = spare->next;
    spare->wanted = 0;
    fill(L, spare);
    tlua_own(L, spare, sizeof(TluaSpare), 0);
  }
}
