/*
** The stencils of instructions on tables. See tlua_stencils.c, which includes this file once.
*/

/* --- tables --- */

/* Whether it is known that there is no such metamethod. */
static inline int lacks (const Table *metatable, TMS event) {
  return l_likely(metatable == NULL) || (metatable->flags & (1u << event));
}

/*
** The common way comes first, and without a jump: what it does at its end stands there, and once more after
** all that is rare. So the two functions below are one, cut in two.
*/

/* The value of a field where it was found last; NULL if it is not there. */
static inline const TValue *field_at (const Table *t, const TString *key, const TluaFieldCell *found) {
  const Node *n = (const Node *)((const char *)t->node + found->offset);
  if (l_unlikely(t->lsizenode != found->log_size))
    return NULL;
  if (l_unlikely(!keyisshrstr(n)))
    return NULL;
  return l_likely(eqshrstr(keystrval(n), key)) ? gval(n) : NULL;
}

/* As tlua_field; the cell knows from now on. */
static inline const TValue *find_field (const Table *t, const TString *key, TluaFieldCell *found) {
  const TValue *slot = tlua_field(t, key);
  if (slot != NULL) {
    found->log_size = t->lsizenode;
    found->offset = (uint32_t)((const char *)slot - (const char *)t->node);
  }
  return slot;
}

static inline const TValue *known_field (const Table *t, const TString *key, TluaFieldCell *found) {
  const TValue *slot = field_at(t, key, found);
  return l_likely(slot != NULL) ? slot : find_field(t, key, found);
}

#define GET_FIELD(holder, name, SLOWLY) { \
  if (l_likely(ttistable(holder))) { \
    const Table *t = hvalue(holder); \
    const TValue *slot = field_at(t, name, cell()); \
    if (l_likely(slot != NULL) && l_likely(!isempty(slot))) { \
      setobj2s(L, RA, slot); \
      NEXT; \
    } \
    slot = find_field(t, name, cell()); \
    if (slot != NULL && !isempty(slot)) { \
      setobj2s(L, RA, slot); \
      NEXT; \
    } \
    if (t->metatable == NULL) { \
      setnilvalue(VA); \
      NEXT; \
    } \
    slot = call_inherited(L, t, name); \
    if (l_likely(slot != NULL)) { \
      setobj2s(L, RA, slot); \
      NEXT; \
    } \
  } \
  SLOWLY; \
}

#define PUT(table, slot, value) { \
  setobj2t(L, (TValue *)(slot), value); \
  if (l_likely(!iscollectable(value)) || l_likely(!isblack(table)) || l_likely(!iswhite(gcvalue(value)))) \
    NEXT; \
  SLOW(barrier); \
}

/*
** The node where a key that the table lacks belongs, if it can be put there as it is; or NULL. As luaH_newkey
** does it. A black table would need a barrier.
*/
static inline Node *free_node (Table *t, const TString *key) {
  Node *n = gnode(t, lmod(key->hash, sizenode(t)));
  if (lacks(t->metatable, TM_NEWINDEX) && t->lastfree != NULL && !isblack(t) && isempty(gval(n)))
    return n;
  return NULL;
}

#define PUT_FIELD(holder, name, value, SLOWLY) { \
  if (l_likely(ttistable(holder))) { \
    Table *t = hvalue(holder); \
    const TValue *slot = field_at(t, name, cell()); \
    if (l_likely(slot != NULL) && l_likely(!isempty(slot))) \
      PUT(t, slot, value); \
    slot = find_field(t, name, cell()); \
    if (slot != NULL && (!isempty(slot) || lacks(t->metatable, TM_NEWINDEX))) { \
      invalidateTMcache(t); \
      PUT(t, slot, value); \
    } \
    if (slot == NULL && !ttisnil(value)) { \
      TString *key = name; \
      Node *n = free_node(t, key); \
      if (n != NULL) { \
        n->u.key_tt = ctb(LUA_VSHRSTR); \
        keyval(n).gc = obj2gco(key); \
        invalidateTMcache(t); \
        setobj2t(L, gval(n), value); \
        NEXT; \
      } \
    } \
  } \
  SLOWLY; \
}

STENCIL(NEWTABLE) { WORK_WITH(NEWTABLE, (TValue *)cell()); }

STENCIL(GETTABUP) {
  const TValue *holder = upvalue_of(base, hole_b)->v.p;
  GET_FIELD(holder, tsvalue(KONST(hole_c)), SLOW(GETTABUP))
}
STENCIL(GETFIELD) GET_FIELD(VB, tsvalue(KONST(hole_c)), SLOW(GETFIELD))
STENCIL(SETTABUP_R) {
  const TValue *holder = upvalue_of(base, hole_a)->v.p;
  PUT_FIELD(holder, tsvalue(KONST(hole_b)), VC, SLOW(SETTABUP))
}
STENCIL(SETTABUP_K) {
  const TValue *holder = upvalue_of(base, hole_a)->v.p;
  PUT_FIELD(holder, tsvalue(KONST(hole_b)), KONST(hole_c), SLOW(SETTABUP))
}
STENCIL(SETFIELD_R) PUT_FIELD(VA, tsvalue(KONST(hole_b)), VC, SLOW(SETFIELD))
STENCIL(SETFIELD_K) PUT_FIELD(VA, tsvalue(KONST(hole_b)), KONST(hole_c), SLOW(SETFIELD))

/* An item of the array that is there. Else compilers would test again whether it is NULL: see below. */
static inline const TValue *item_at (const Table *t, lua_Unsigned n) {
  const TValue *slot = &t->array[n - 1];
  if (slot == NULL)
    __builtin_unreachable();
  return slot;
}

/* An item of the array, or NULL. As luaH_getint it takes the limit along, where that is only a hint. */
static inline const TValue *item (Table *t, lua_Unsigned n) {
  lua_Unsigned limit = t->alimit;
  if (l_likely(n - 1u < limit))
    return item_at(t, n);
  if (!isrealasize(t) && ((n - 1u) & ~(limit - 1u)) < limit) {
    t->alimit = (unsigned)n;
    return item_at(t, n);
  }
  return NULL;
}

STENCIL(GETTABLE) {
  const TValue *rb = VB, *rc = VC;
  if (l_likely(ttistable(rb))) {
    const TValue *slot;
    if (l_likely(ttisinteger(rc))) {
      slot = item(hvalue(rb), l_castS2U(ivalue(rc)));
      if (l_likely(slot != NULL) && l_likely(!isempty(slot))) {
        setobj2s(L, RA, slot);
        NEXT;
      }
      if (slot != NULL && hvalue(rb)->metatable == NULL) {
        setnilvalue(VA);
        NEXT;
      }
      if (slot == NULL)
        slot = call_integer(L, hvalue(rb), ivalue(rc));
      else
        slot = NULL;
    }
    else if (ttisshrstring(rc)) {
      slot = tlua_field(hvalue(rb), tsvalue(rc));
      if (l_likely(slot != NULL && !isempty(slot))) {
        setobj2s(L, RA, slot);
        NEXT;
      }
      if (hvalue(rb)->metatable == NULL) {
        setnilvalue(VA);
        NEXT;
      }
      slot = call_inherited(L, hvalue(rb), tsvalue(rc));
    }
    else
      slot = call_key(L, hvalue(rb), rc);
    if (l_likely(slot != NULL)) {
      setobj2s(L, RA, slot);
      NEXT;
    }
  }
  SLOW(GETTABLE);
}

STENCIL(GETI) {
  const TValue *rb = VB;
  if (l_likely(ttistable(rb))) {
    const TValue *slot = item(hvalue(rb), (lua_Unsigned)IMMEDIATE);
    if (l_likely(slot != NULL && !isempty(slot))) {
      setobj2s(L, RA, slot);
      NEXT;
    }
    if (slot != NULL && hvalue(rb)->metatable == NULL) {
      setnilvalue(VA);
      NEXT;
    }
    slot = slot == NULL ? call_integer(L, hvalue(rb), IMMEDIATE) : NULL;
    if (l_likely(slot != NULL)) {
      setobj2s(L, RA, slot);
      NEXT;
    }
  }
  SLOW(GETI);
}

#define SET_TABLE(value) { \
  const TValue *ra = VA, *rb = VB; \
  if (l_likely(ttistable(ra))) { \
    Table *t = hvalue(ra); \
    const TValue *slot; \
    if (l_likely(ttisinteger(rb))) { \
      slot = item(t, l_castS2U(ivalue(rb))); \
      if (l_likely(slot != NULL) && l_likely(!isempty(slot) || lacks(t->metatable, TM_NEWINDEX))) \
        PUT(t, slot, value); \
      slot = slot == NULL && isrealasize(t) && !isdummy(t) && !ttisnil(value) ? call_place(L, t, rb) : NULL; \
    } \
    else if (ttisshrstring(rb)) { \
      slot = tlua_field(t, tsvalue(rb)); \
      if (l_unlikely(slot != NULL && isempty(slot))) \
        slot = NULL; \
    } \
    else \
      slot = !ttisnil(value) ? call_place(L, t, rb) : NULL; \
    if (l_likely(slot != NULL)) \
      PUT(t, slot, value); \
  } \
  SLOW(SETTABLE); \
}
STENCIL(SETTABLE_R) SET_TABLE(VC)
STENCIL(SETTABLE_K) SET_TABLE(KONST(hole_c))

#define SET_I(value) { \
  const TValue *ra = VA; \
  if (l_likely(ttistable(ra))) { \
    Table *t = hvalue(ra); \
    const TValue *slot = item(t, (lua_Unsigned)IMMEDIATE); \
    if (l_likely(slot != NULL && (!isempty(slot) || lacks(t->metatable, TM_NEWINDEX)))) \
      PUT(t, slot, value); \
  } \
  SLOW(SETI); \
}
STENCIL(SETI_R) SET_I(VC)
STENCIL(SETI_K) SET_I(KONST(hole_c))

/*
** The value of a field that most tables lack. The cell knows where the search begins; keys are addresses, and
** seldom the same as a number.
*/
static inline const TValue *seldom_field (const Table *t, const TString *key, TluaFieldCell *first) {
  const Node *n = (const Node *)((const char *)t->node + first->offset);
  if (l_unlikely(t->lsizenode != first->log_size)) {
    n = gnode(t, lmod(key->hash, sizenode(t)));
    first->log_size = t->lsizenode;
    first->offset = (uint32_t)((const char *)n - (const char *)t->node);
  }
  for (;;) {
    int next = gnext(n);
    if (l_unlikely(keyval(n).gc == obj2gco(key)) && keyisshrstr(n))
      return gval(n);
    if (l_likely(next == 0))
      return NULL;
    n += next;
  }
}

/*
** A method is most often in the table that the object's metatable names, and those of strings always are.
** What is no table there is for the helper. The name is a short string.
*/
STENCIL(SELF) {
  TValue *rb = VB;
  const TString *key = tsvalue(KONST(hole_c));
  const TValue *slot;
  const Table *meta;
  if (l_likely(ttistable(rb))) {
    const Table *t = hvalue(rb);
    slot = seldom_field(t, key, cell() + 2);
    if (l_unlikely(slot != NULL) && !isempty(slot))
      goto found;
    meta = t->metatable;
  }
  else if (ttisstring(rb))
    meta = G(L)->mt[LUA_TSTRING];
  else
    SLOW(SELF);
  slot = l_likely(meta != NULL) ? known_field(meta, index_name(), cell()) : NULL;
  if (l_likely(slot != NULL) && l_likely(ttistable(slot))) {
    meta = hvalue(slot);
    slot = known_field(meta, key, cell() + 1);
    if (l_likely(slot != NULL) && l_likely(!isempty(slot)))
      goto found;
    slot = call_inherited(L, meta, key);
    if (l_likely(slot != NULL))
      goto found;
  }
  SLOW(SELF);
 found:
  setobjs2s(L, RA + 1, REGISTER(hole_b));
  setobj2s(L, RA, slot);
  NEXT;
}
