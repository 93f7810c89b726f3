/*
** Tables that begin with their keys.
**
** Problem: a constructor such as { x = a, y = b } makes a table of the right size, and then puts one key after
** the other into it: each is hashed, finds a place, and is chained to those that collide with it. It is the
** same work for each table that this constructor makes.
**
** Design: it is done once, when the function gets baseline code: a *shape* is the hash part with all keys that
** the constructor's instructions name, and no values. A new table gets a copy of it. Its fields are then found,
** and set, as those of any table whose values have become nil.
**
** Invariant: the hash part is one that the interpreter could have made, by assigning each key and then nil.
** Keys are constants of the function, which lives as long as the shape. What keys there are does not depend on
** it: a key without a value is none.
**
** Example: for { x = 1, y = 2 } NEWTABLE copies two nodes of 24 bytes, and each SETFIELD finds its own.
*/

#define LUA_CORE

#include "lprefix.h"

#include <stdlib.h>
#include <string.h>

#include "tlua_baseline.h"

#include "lgc.h"
#include "lmem.h"
#include "lopcodes.h"
#include "ltable.h"

/* More fields are not told apart by their constructor's text alone, as a rule. */
#define MOST_NODES_LOG 5

typedef struct Shape {
  int pc;                /* of NEWTABLE */
  lu_byte size_log;
  int free;              /* nodes that may still be free: 'lastfree' */
  Node *nodes;
} Shape;

struct TluaShapes {
  int count, room;
  Shape *shapes;         /* in the order of the instructions */
};

/* --- which keys --- */

/* Whether an instruction writes the register, or lets others do it. */
static int ends_constructor (Instruction i, int table) {
  switch (GET_OPCODE(i)) {
    case OP_SETFIELD: case OP_SETTABLE: case OP_SETI:
      return 0;
    case OP_RETURN: case OP_RETURN0: case OP_RETURN1: case OP_FORLOOP: case OP_TFORLOOP: case OP_FORPREP:
      return 1;
    default:
      return testAMode(GET_OPCODE(i)) && getarg(i, POS_A, SIZE_A) <= table;
  }
}

/* Puts the keys of a constructor into an empty hash part, as many as it has places for. */
static int put_keys (lua_State *L, const Proto *p, int pc, Table *t) {
  int table = GETARG_A(p->code[pc]), count = 0;
  TValue yes;
  setbtvalue(&yes);
  for (int n = pc + 2; n < p->sizecode && count < sizenode(t); n++) {
    Instruction i = p->code[n];
    if (ends_constructor(i, table))
      break;
    if (GET_OPCODE(i) != OP_SETFIELD || GETARG_A(i) != table)
      continue;
    const TValue *key = &p->k[GETARG_B(i)];
    if (isempty(luaH_getshortstr(t, tsvalue(key)))) {
      luaH_set(L, t, key, &yes);  /* there is room: no memory is asked for */
      count++;
    }
  }
  return count;
}

/* --- shapes --- */

static int make_shape (lua_State *L, const Proto *p, int pc, Shape *shape) {
  int size_log = GETARG_B(p->code[pc]) - 1, size = 1 << size_log;
  Table t;  /* of which only the hash part is looked at; no object of the collector's */
  memset(&t, 0, sizeof(t));
  t.tt = LUA_VTABLE;
  t.lsizenode = (lu_byte)size_log;
  t.node = (Node *)malloc((size_t)size * sizeof(Node));
  if (t.node == NULL)
    return 0;
  memset(t.node, 0, (size_t)size * sizeof(Node));
  for (int n = 0; n < size; n++) {
    setnilkey(gnode(&t, n));
    setempty(gval(gnode(&t, n)));
  }
  t.lastfree = gnode(&t, size);
  int count = put_keys(L, p, pc, &t);
  for (int n = 0; n < size; n++)
    setempty(gval(gnode(&t, n)));
  *shape = (Shape){ .pc = pc, .size_log = t.lsizenode, .free = (int)(t.lastfree - t.node), .nodes = t.node };
  if (count == 0)
    free(t.node);
  return count > 0;
}

static int add_shape (struct TluaShapes *all, Shape shape) {
  if (all->count == all->room) {
    int room = all->room == 0 ? 4 : 2 * all->room;
    Shape *grown = (Shape *)realloc(all->shapes, (size_t)room * sizeof(Shape));
    if (grown == NULL) {
      free(shape.nodes);
      return 0;
    }
    all->shapes = grown;
    all->room = room;
  }
  all->shapes[all->count++] = shape;
  return 1;
}

/* Where memory is short there are fewer. */
struct TluaShapes *tlua_shapes_make (lua_State *L, const Proto *p) {
  struct TluaShapes *all = NULL;
  for (int pc = 0; pc < p->sizecode; pc++) {
    Instruction i = p->code[pc];
    Shape shape;
    if (GET_OPCODE(i) != OP_NEWTABLE || GETARG_B(i) == 0 || GETARG_B(i) > MOST_NODES_LOG + 1)
      continue;
    if (all == NULL && (all = (struct TluaShapes *)calloc(1, sizeof(struct TluaShapes))) == NULL)
      return NULL;
    if (make_shape(L, p, pc, &shape) && !add_shape(all, shape))
      return all;
  }
  return all;
}

void tlua_shapes_free (struct TluaShapes *all) {
  if (all == NULL)
    return;
  for (int n = 0; n < all->count; n++)
    free(all->shapes[n].nodes);
  free(all->shapes);
  free(all);
}

static const Shape *shape_of (const struct TluaShapes *all, int pc) {
  int low = 0, high = all == NULL ? 0 : all->count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (all->shapes[middle].pc == pc)
      return &all->shapes[middle];
    if (all->shapes[middle].pc < pc)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

int tlua_shape_table (lua_State *L, const struct TluaShapes *all, int pc, Table *t) {
  const Shape *shape = shape_of(all, pc);
  if (shape == NULL)
    return 0;
  int size = 1 << shape->size_log;
  Node *nodes = luaM_newvector(L, size, Node);
  memcpy(nodes, shape->nodes, (size_t)size * sizeof(Node));
  t->node = nodes;
  t->lsizenode = shape->size_log;
  t->lastfree = nodes + shape->free;
  return 1;
}
