/*
** The stencils of calls, returns and loops. See tlua_stencils.c, which includes this file once.
*/

/* --- calls --- */

/* Before a function's first instruction. */
STENCIL(ENTRY) {
  if (l_likely(--*counter() >= 0) && l_likely(!L->hookmask))
    NEXT;
  CALL_HELPER(entry, nothing());
}

/* The results that are wanted, of tlua_call_word. */
#define WANTED(word) ((int16_t)(word))

/*
** Of a Lua function with code; all others are for the stencil that comes right after this one. It returns to
** the one after that.
*/
#define CALL_LUA(arguments) { \
  StkId ra = RA; \
  if (l_likely(rawtt(s2v(ra)) == ctb(LUA_VLCL))) { \
    const Proto *p = clLvalue(s2v(ra))->p; \
    CallInfo *called = ci->next; \
    TluaCode *code = (TluaCode *)p->jit_code; \
    size_t size = (size_t)p->maxstacksize; \
    if (l_likely(code != NULL) && l_likely(called != NULL) && l_likely(top + size < L->stack_last.p)) { \
      if (l_unlikely(p->numparams > (arguments))) { \
        for (ptrdiff_t given = arguments; given < p->numparams; given++) { \
          setnilvalue(s2v(top)); \
          top++; \
        } \
      } \
      ci->u.l.savedpc = other_pc(); \
      L->top.p = top; \
      called->func.p = ra; \
      called->top.p = ra + 1 + size; \
      tlua_set_call_word(called, (uint32_t)IMMEDIATE); \
      tlua_set_way_back(called, place_after_call()); \
      called->u.l.savedpc = p->code; \
      L->ci = called; \
      return code(L, called, ra + 1, nothing(), p->k); \
    } \
  } \
  JUMP; \
}

STENCIL(CALL) {
  StkId top = REGISTER(hole_b);
  CALL_LUA(OFFSET(hole_c))
}
STENCIL(CALL_OPEN) {
  StkId top = L->top.p;
  CALL_LUA(top - RA - 1)
}

/*
** Of the results of a short form, of which there is one, no more are wanted; where all are, it ends them. No
** address of a closure is that of a function.
*/
#define CALL_OTHER(arguments, END) { \
  StkId ra = RA; \
  int tag = ttypetag(s2v(ra)); \
  if (l_likely(tag == LUA_VLCF || tag == LUA_VCCL)) { \
    const TluaCallCell *met = (TluaCallCell *)cell(); \
    if (l_likely(fvalueraw(val_(s2v(ra))) == met->function) && met->quick != NULL && tlua_may_call(L, top) \
        && call_quick(met->quick, L, ra, arguments)) { \
      END; \
      NEXT; \
    } \
    L->top.p = top; \
    WORK_WITH(call, (TValue *)met); \
  } \
  SLOW(CALL); \
}

STENCIL(CALL_OTHER) {
  StkId top = REGISTER(hole_b);
  CALL_OTHER(OFFSET(hole_c), (void)0)
}
STENCIL(CALL_OTHER_OPEN) {
  StkId top = L->top.p;
  CALL_OTHER(top - RA - 1, (void)0)
}
STENCIL(CALL_OTHER_ALL) {
  StkId top = REGISTER(hole_b);
  CALL_OTHER(OFFSET(hole_c), L->top.p = RA + 1)
}
STENCIL(CALL_OTHER_OPEN_ALL) {
  StkId top = L->top.p;
  CALL_OTHER(top - RA - 1, L->top.p = RA + 1)
}

/*
** After a call, where the function returns to. It does not know the constants of its caller. Hooks may have
** been set, or the stack may have moved.
*/
STENCIL(AFTER_CALL) {
  k = constants();
  if (l_unlikely(ci->u.l.trap))
    CALL_HELPER(trap, other_pc());
  NEXT;
}

/* Whether no variable of the frame is captured or to be closed, at this moment. */
static inline int is_closed (const lua_State *L, StkId base) {
  const UpVal *open = L->openupval;
  return L->tbclist.p < base && (open == NULL || uplevel(open) < base);
}

STENCIL(CLOSE) {
  if (l_likely(is_closed(L, RA)))
    NEXT;
  WORK(CLOSE);
}

/* Back from the function of 'ci': to C, which has called it, or to a Lua function. */
#define LEAVE_TO(caller) { \
  TluaCode *back = (TluaCode *)tlua_way_back(ci); \
  return back(L, caller, (caller)->func.p + 1, nothing(), k); \
}

/*
** A value, and nil for the others that are wanted: few want more. A value that nobody wants does no harm: the
** place is free.
*/
STENCIL(RETURN1) {
  int wanted = WANTED(tlua_call_word(ci));
  if (l_likely(!L->hookmask)) {
    CallInfo *caller = ci->previous;
    StkId top = base;
    setobjs2s(L, base - 1, RA);
    L->ci = caller;
    if (l_unlikely(wanted != 1)) {
      top -= wanted == 0;
      for (; wanted > 1; wanted--) {
        setnilvalue(s2v(top));
        top++;
      }
    }
    L->top.p = top;
    LEAVE_TO(caller);
  }
  SLOW(RETURN1);
}
STENCIL(RETURN0) {
  int wanted = WANTED(tlua_call_word(ci));
  if (l_likely(!L->hookmask)) {
    CallInfo *caller = ci->previous;
    StkId to = base - 1;
    L->ci = caller;
    for (; l_unlikely(wanted > 0); wanted--) {
      setnilvalue(s2v(to));
      to++;
    }
    L->top.p = to;
    LEAVE_TO(caller);
  }
  SLOW(RETURN0);
}

/*
** So many values from RA on. Below a frame with variable arguments lie these, and the function once more:
** 'below' is how far.
*/
#define RETURN_VALUES(values, below) { \
  ptrdiff_t count = values, wanted = WANTED(tlua_call_word(ci)); \
  if (wanted < 0) \
    wanted = count; \
  if (l_likely(!L->hookmask)) { \
    CallInfo *caller = ci->previous; \
    StkId from = RA, to = base - 1 - (below); \
    ptrdiff_t given = l_likely(wanted <= count) ? wanted : count; \
    L->ci = caller; \
    for (ptrdiff_t n = 0; n < given; n++) { \
      setobjs2s(L, to, from); \
      to++; \
      from++; \
    } \
    for (; l_unlikely(given < wanted); given++) { \
      setnilvalue(s2v(to)); \
      to++; \
    } \
    L->top.p = to; \
    LEAVE_TO(caller); \
  } \
}

#define VALUES OFFSET(hole_i)
#define OPEN_VALUES (L->top.p - RA)
#define EXTRA (ci->u.l.nextraargs + OFFSET(hole_c))

STENCIL(RETURN) {
  RETURN_VALUES(VALUES, 0)
  SLOW(RETURN);
}
STENCIL(RETURN_OPEN) {
  RETURN_VALUES(OPEN_VALUES, 0)
  SLOW(RETURN);
}
/* Variables may have to be closed. */
STENCIL(RETURN_CLOSED) {
  if (l_likely(is_closed(L, base)))
    RETURN_VALUES(VALUES, 0)
  SLOW(RETURN);
}
STENCIL(RETURN_OPEN_CLOSED) {
  if (l_likely(is_closed(L, base)))
    RETURN_VALUES(OPEN_VALUES, 0)
  SLOW(RETURN);
}
/* Of a function with variable arguments. */
STENCIL(RETURN_EXTRA) {
  if (l_likely(is_closed(L, base)))
    RETURN_VALUES(VALUES, EXTRA)
  SLOW(RETURN);
}
STENCIL(RETURN_OPEN_EXTRA) {
  if (l_likely(is_closed(L, base)))
    RETURN_VALUES(OPEN_VALUES, EXTRA)
  SLOW(RETURN);
}

/* Of a Lua function with code, or of a short form with one result: from a function of fixed arguments. */
#define TAIL_CALL(arguments, IS_CLOSED) { \
  StkId ra = RA; \
  if (l_likely(rawtt(s2v(ra)) == ctb(LUA_VLCL)) && l_likely(IS_CLOSED)) { \
    const Proto *p = clLvalue(s2v(ra))->p; \
    TluaCode *code = (TluaCode *)p->jit_code; \
    ptrdiff_t count = arguments + 1; \
    StkId to = base - 1; \
    int size = p->maxstacksize; \
    if (l_likely(code != NULL) && l_likely(L->stack_last.p - (ra + count) > size)) { \
      ptrdiff_t wanted = p->numparams + 1; \
      for (ptrdiff_t n = 0; n < count; n++) \
        setobjs2s(L, to + n, ra + n); \
      for (; l_unlikely(count < wanted); count++) \
        setnilvalue(s2v(to + count)); \
      L->top.p = to + count; \
      ci->top.p = base + size; \
      ci->u.l.savedpc = p->code; \
      ci->callstatus |= CIST_TAIL; \
      return code(L, ci, base, nothing(), p->k); \
    } \
  } \
  if (ttypetag(s2v(ra)) == LUA_VLCF && l_likely(IS_CLOSED)) { \
    TluaCallCell *met = (TluaCallCell *)cell(); \
    ptrdiff_t count = arguments; \
    if (l_likely(fvalueraw(val_(s2v(ra))) == met->function) && met->quick != NULL \
        && tlua_may_call(L, ra + 1 + count) && call_quick(met->quick, L, ra, count)) \
      RETURN_VALUES(1, 0) \
    L->top.p = ra + 1 + count; \
    if (l_likely(work_tail(L, ci, base, this_pc(), (TValue *)met))) { \
      base = ci->func.p + 1; \
      RETURN_VALUES(OPEN_VALUES, 0) \
      CALL_HELPER(results, this_pc()); \
    } \
  } \
  SLOW(TAILCALL); \
}

STENCIL(TAILCALL) TAIL_CALL(OFFSET(hole_i), 1)
STENCIL(TAILCALL_OPEN) TAIL_CALL(L->top.p - RA - 1, 1)
STENCIL(TAILCALL_CLOSED) TAIL_CALL(OFFSET(hole_i), is_closed(L, base))
STENCIL(TAILCALL_OPEN_CLOSED) TAIL_CALL(L->top.p - RA - 1, is_closed(L, base))

/* --- loops --- */

/* A jump back has been made. */
#define COUNT_BACK_EDGE \
  if (l_unlikely(--*counter() < 0)) \
    CALL_HELPER(hot, other_pc()); \
  if (l_unlikely(ci->u.l.trap)) \
    CALL_HELPER(trap, other_pc())

STENCIL(BACK_EDGE) {
  COUNT_BACK_EDGE;
  JUMP;
}

/* Of integers. The jump is over the loop. */
STENCIL(FORPREP) {
  StkId ra = RA;
  if (l_likely(ttisinteger(s2v(ra)) && ttisinteger(s2v(ra + 1)) && ttisinteger(s2v(ra + 2)))) {
    lua_Integer first = ivalue(s2v(ra)), last = ivalue(s2v(ra + 1)), step = ivalue(s2v(ra + 2));
    if (l_likely(step != 0)) {
      lua_Unsigned count;
      setivalue(s2v(ra + 3), first);
      if (step > 0 ? first > last : first < last) JUMP;
      count = step > 0 ? l_castS2U(last) - l_castS2U(first) : l_castS2U(first) - l_castS2U(last);
      if (l_unlikely(step != 1))
        count /= step > 0 ? l_castS2U(step) : 0u - l_castS2U(step);
      setivalue(s2v(ra + 1), l_castU2S(count));
      NEXT;
    }
  }
  SLOW(FORPREP);
}

STENCIL(FORLOOP) {
  StkId ra = RA;
  if (l_likely(ttisinteger(s2v(ra + 2)))) {
    lua_Unsigned count = l_castS2U(ivalue(s2v(ra + 1)));
    if (l_likely(count > 0)) {
      lua_Integer index = intop(+, ivalue(s2v(ra)), ivalue(s2v(ra + 2)));
      chgivalue(s2v(ra + 1), l_castU2S(count - 1));
      chgivalue(s2v(ra), index);
      setivalue(s2v(ra + 3), index);
      COUNT_BACK_EDGE;
      JUMP;
    }
  }
  else {  /* of floats */
    lua_Number step = fltvalue(s2v(ra + 2)), last = fltvalue(s2v(ra + 1));
    lua_Number index = luai_numadd(L, fltvalue(s2v(ra)), step);
    if (l_likely(step > 0 ? index <= last : last <= index)) {
      chgfltvalue(s2v(ra), index);
      setfltvalue(s2v(ra + 3), index);
      COUNT_BACK_EDGE;
      JUMP;
    }
  }
  if (l_unlikely(ci->u.l.trap))
    CALL_HELPER(trap, this_pc() + 1);
  NEXT;
}

/*
** A step of a loop and the jump back after it. A table's is tlua_baseline_step's work; all other functions of
** C are called.
*/
#define ITERATE { \
  StkId ra = RA; \
  const TValue *f = s2v(ra); \
  if (l_unlikely(!ttislcf(f)) || l_unlikely(!work_step(L, ci, base, this_pc(), (TValue *)cell()))) { \
    if (l_unlikely(!ttislcf(f) && !ttisCclosure(f)) || l_unlikely(getCcalls(L) >= LUAI_MAXCCALLS - 1)) \
      SLOW(TFORCALL); \
    setobjs2s(L, ra + 4, ra); \
    setobjs2s(L, ra + 5, ra + 1); \
    setobjs2s(L, ra + 6, ra + 2); \
    L->top.p = ra + 7; \
    ci->u.l.savedpc = this_pc() + 1; \
    L->nCcalls++; \
    call_function(L, ra + 4, IMMEDIATE); \
    L->nCcalls--; \
    base = ci->func.p + 1; \
    if (l_unlikely(ci->u.l.trap)) \
      CALL_HELPER(TFORLOOP, this_pc() + 1); /* to which no hook is called */ \
    ra = RA; \
  } \
  if (l_unlikely(ttisnil(s2v(ra + 4)))) \
    NEXT; \
  setobjs2s(L, ra + 2, ra + 4); \
  COUNT_BACK_EDGE; \
  JUMP; \
}

STENCIL(TFORCALL_MANY) ITERATE

/*
** The node of the key after that of the last step, whose node the cell knows; NULL if it is not found, or is
** an item.
*/
static inline const Node *node_after (const Table *t, const TValue *key, const TluaFieldCell *last) {
  const Node *n = (const Node *)((const char *)t->node + last->offset), *end = gnode(t, sizenode(t));
  if (ttisnil(key)) {
    if (t->alimit != 0 || t->lsizenode >= TLUA_MOST_LEARNT)
      return NULL;
    n = t->node - 1;
  }
  else if (l_unlikely(t->lsizenode != last->log_size)
           || l_unlikely(n->u.key_tt != rawtt(key) || keyval(n).i != val_(key).i))
    return NULL;
  while (++n < end) {
    if (!isempty(gval(n)))
      return n;
  }
  return NULL;
}

/*
** For two variables or one, a step of 'ipairs' is done here, and one of 'next' to an item, or from node to
** node. The call that it stands for needs room, and counts.
*/
STENCIL(TFORCALL) {
  StkId ra = RA;
  const TValue *f = s2v(ra), *holder = s2v(ra + 1), *control = s2v(ra + 2);
  if (l_likely(ttislcf(f) && ttistable(holder)) && !L->hookmask && getCcalls(L) + 1 < LUAI_MAXCCALLS
      && L->stack_last.p - (ra + 7) > LUA_MINSTACK) {
    Table *t = hvalue(holder);
    if (l_likely(fvalue(f) == L->jit->ipairs_step)) {
      lua_Integer next = intop(+, ivalue(control), 1);
      const TValue *slot = l_likely(ttisinteger(control)) ? item(t, l_castS2U(next)) : NULL;
      if (l_likely(slot != NULL) && l_likely(!isempty(slot))) {
        setivalue(s2v(ra + 2), next);
        setivalue(s2v(ra + 4), next);
        setobj2s(L, ra + 5, slot);
        COUNT_BACK_EDGE;
        JUMP;
      }
    }
    else if (l_likely(fvalue(f) == L->jit->next_step)) {
      lua_Unsigned at = l_castS2U(ivalue(control));
      const Node *n = node_after(t, control, cell());
      if (n != NULL) {
        setobj2s(L, ra + 5, gval(n));
        getnodekey(L, s2v(ra + 4), n);
        setobjs2s(L, ra + 2, ra + 4);
        cell()->offset = (uint32_t)((const char *)n - (const char *)t->node);
        cell()->log_size = t->lsizenode;
        COUNT_BACK_EDGE;
        JUMP;
      }
      if (ttisinteger(control) && at - 1u < t->alimit && at < t->alimit && !isempty(&t->array[at])) {
        setobj2s(L, ra + 5, &t->array[at]);
        setivalue(s2v(ra + 2), (lua_Integer)at + 1);
        setivalue(s2v(ra + 4), (lua_Integer)at + 1);
        COUNT_BACK_EDGE;
        JUMP;
      }
    }
  }
  ITERATE
}

/* There is nothing to be closed after most loops. */
STENCIL(TFORPREP) {
  if (l_likely(l_isfalse(s2v(RA + 3))))
    JUMP;
  SLOW(TFORPREP);
}

STENCIL(TFORLOOP) {
  StkId ra = RA;
  if (l_likely(!ttisnil(s2v(ra + 4)))) {
    setobjs2s(L, ra + 2, ra + 4);
    COUNT_BACK_EDGE;
    JUMP;
  }
  NEXT;
}
