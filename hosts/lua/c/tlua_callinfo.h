/*
** The words of a CallInfo: all that the hooks, the engines and the recorder know of them. For 5.4 and 5.5.
**
** Problem: a CallInfo is the interpreter's record of a running function. Compiled code runs without such
** records, and an exit must write them as the interpreter would have; but their layout is not the same in
** all versions of Lua. 5.5 has no 'nresults': the wanted results stand in the low byte of 'callstatus', plus
** one, whose other bits lie elsewhere than in 5.4.
**
** Design: records are read and written by the functions of this file only, and so are the words that the
** library keeps for a frame until an exit. What is the same in 5.4 and 5.5 (the function's and the top's
** place, the list of records) is used as it is; what is not has the same name in both. To the recorder a call
** status is a word that it hands on; the bits that it asks for, or sets, have names here.
**
** Invariant: no other file of this folder names a member of a CallInfo that is read or written here, a bit
** of its status, or the number of a word (tests/structure.rs). The recorder's own numbers, 'wanted' and
** 'extra', mean the same in all versions. A record is complete after tlua_frame_make or tlua_frame_make_c.
**
** Example, a frame that was inlined when the code is left, and comes back:
**   tlua_words_write(words, pc, wanted, status, extra);    recording: before an instruction, or a call
**   tlua_frame_make(L->ci->next, func, words);             after the exit
*/
#ifndef tlua_callinfo_h
#define tlua_callinfo_h

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lapi.h"
#include "ldo.h"
#include "lobject.h"
#include "lstate.h"

/* --- the running function --- */

/* Where the interpreter goes on in a Lua function that waits, or that it is to take afresh. */
static inline const Instruction *tlua_saved_pc (const CallInfo *ci) {
  return ci->u.l.savedpc;
}

static inline void tlua_save_pc (CallInfo *ci, const Instruction *pc) {
  ci->u.l.savedpc = pc;
}

/* Whether the interpreter looks at hooks before this function's next instruction. */
static inline int tlua_trap (const CallInfo *ci) {
  return ci->u.l.trap;
}

/* C code calls the function, which has a record but has not begun. */
static inline void tlua_set_fresh (CallInfo *ci) {
  ci->callstatus |= CIST_FRESH;
}

static inline void tlua_set_trap (CallInfo *ci) {
  ci->u.l.trap = 1;
}

static inline void tlua_clear_trap (CallInfo *ci) {
  ci->u.l.trap = 0;
}

/*
** Where baseline code goes on when the function returns: at a place in its caller's code, or in the function
** below, which finds out where that is. It is set whenever the record becomes a Lua function's, in room that
** only C functions use. See tlua_baseline.h for what it gets.
*/
static inline void *tlua_way_back (const CallInfo *ci) {
  return (void *)ci->u.c.ctx;
}

static inline void tlua_set_way_back (CallInfo *ci, void *code) {
  ci->u.c.ctx = (lua_KContext)code;
}

int tlua_find_way_back (lua_State *L, CallInfo *ci, StkId base, const Instruction *pc, TValue *k);

/* For a function that the interpreter or C has called. */
static inline void tlua_called (CallInfo *ci) {
  tlua_set_way_back(ci, (void *)tlua_find_way_back);
}

#define TLUA_WAY_BACK_OFFSET offsetof(CallInfo, u.c.ctx)
_Static_assert(TLUA_WAY_BACK_OFFSET >= offsetof(CallInfo, u.l.nextraargs) + sizeof(int),
               "it is no word of a Lua function");

/* Whether C code has called the function: a return from it leaves 'luaV_execute'. */
static inline int tlua_is_fresh (const CallInfo *ci) {
  return (ci->callstatus & CIST_FRESH) != 0;
}

/* Variable arguments that lie below the function; for compiled code also where their number is. */
static inline int tlua_extra_arguments (const CallInfo *ci) {
  return ci->u.l.nextraargs;
}

#define TLUA_SAVED_PC_OFFSET offsetof(CallInfo, u.l.savedpc)
#define TLUA_TRAP_OFFSET offsetof(CallInfo, u.l.trap)
#define TLUA_TRAP_SIZE sizeof(((CallInfo *)0)->u.l.trap)
#define TLUA_EXTRA_OFFSET offsetof(CallInfo, u.l.nextraargs)
#define TLUA_EXTRA_SIZE sizeof(((CallInfo *)0)->u.l.nextraargs)

/*
** How a function was called, as compiled code reads and writes it: one number of four bytes, which holds the
** wanted results and the call status.
*/
#define TLUA_CALL_SIZE 4
#if LUA_VERSION_NUM == 504

#define TLUA_CALL_OFFSET offsetof(CallInfo, nresults)
#define TLUA_CALL_FRESH ((int64_t)CIST_FRESH << 16)
_Static_assert(offsetof(CallInfo, callstatus) == TLUA_CALL_OFFSET + 2
               && sizeof(((CallInfo *)0)->nresults) == 2, "results and status are one number");

static inline int64_t tlua_call_of (int wanted, unsigned status) {
  return (int64_t)((uint32_t)(uint16_t)wanted | (uint32_t)status << 16);
}

static inline int tlua_wanted (const CallInfo *ci) {
  return ci->nresults;
}

/* Bits of a call status that this file makes out of others. */
#define TLUA_STATUS_BITS 0xffffu
/* The function was called by the '__call' of what the program has called: 5.5 counts that. */
#define TLUA_STATUS_BY_METHOD 0u
#define tlua_closes_by(ci) hastocloseCfunc((ci)->nresults)
#define tlua_set_hooks_allowed(ci, v) setoah((ci)->callstatus, v)

#else

#define TLUA_CALL_OFFSET offsetof(CallInfo, callstatus)
#define TLUA_CALL_FRESH ((int64_t)CIST_FRESH)
_Static_assert(sizeof(((CallInfo *)0)->callstatus) == 4, "results and status are one number");

#define TLUA_STATUS_BITS (0x3fffffffu & ~(unsigned)CIST_NRESULTS)
#define TLUA_STATUS_BY_METHOD (1u << CIST_CCMT)
_Static_assert(CIST_FIN < 1u << 30, "no call status has the bits above that");

static inline int64_t tlua_call_of (int wanted, unsigned status) {
  return (int64_t)((uint32_t)(wanted + 1) | (status & TLUA_STATUS_BITS));
}

static inline int tlua_wanted (const CallInfo *ci) {
  return get_nresults(ci->callstatus);
}

#define tlua_closes_by(ci) (((ci)->callstatus & CIST_TBC) != 0)
#define tlua_set_hooks_allowed(ci, v) setoah(ci, v)

#endif

/*
** That number, read and written at once. After two stores of halves the processor at times takes the wrong
** one for a load, and has to begin anew: of eight functions that were called in turn, this took two thirds of
** the time.
*/
static inline uint32_t tlua_call_word (const CallInfo *ci) {
  uint32_t word;
  memcpy(&word, (const char *)ci + TLUA_CALL_OFFSET, sizeof(word));
  return word;
}

static inline void tlua_set_call_word (CallInfo *ci, uint32_t word) {
  memcpy((char *)ci + TLUA_CALL_OFFSET, &word, sizeof(word));
}

/*
** The same for a frame whose halves have just been written: a load of the whole would have to wait until both
** are in memory. A compiler that knew the number's origin would write one half only.
*/
static inline void tlua_set_status (CallInfo *ci, unsigned status) {
  uint32_t word = (uint32_t)tlua_call_of(tlua_wanted(ci), status);
#if defined(__GNUC__)
  __asm__("" : "+r" (word));
#endif
  tlua_set_call_word(ci, word);
}

/* --- a frame's words, while it has no record --- */

/* Bits of a call status: C code has called the function; it has replaced its caller. */
#define TLUA_STATUS_FRESH CIST_FRESH
#define TLUA_STATUS_TAIL CIST_TAIL

/* 'pcall' has called the function; in words only, since the record of 'pcall' itself says it elsewhere. */
#define TLUA_STATUS_PROTECTED (1u << 30)
_Static_assert((TLUA_STATUS_PROTECTED & TLUA_STATUS_BITS) == 0, "no call status has that bit");

/*
** Words that the library keeps with a frame: where it goes on, the registers up to its top (0: all), the
** results that its caller wants, its call status, how many variable arguments lie below it.
*/
enum { TLUA_WORD_PC, TLUA_WORD_TOP, TLUA_WORD_RESULTS, TLUA_WORD_STATUS, TLUA_WORD_EXTRA, TLUA_WORDS };

/* Sets all words of a frame, which has no top of its own. */
static inline void tlua_words_write (uint64_t *words, const Instruction *pc, int wanted, unsigned status,
                                     int extra) {
  memset(words, 0, TLUA_WORDS * sizeof(uint64_t));
  words[TLUA_WORD_PC] = (uint64_t)(uintptr_t)pc;
  words[TLUA_WORD_RESULTS] = (uint64_t)(int64_t)wanted;
  words[TLUA_WORD_STATUS] = status;
  words[TLUA_WORD_EXTRA] = (uint64_t)extra;
}

/* The frame goes on with an open instruction, whose operands end here. */
static inline void tlua_words_set_top (uint64_t *words, uint32_t top) {
  words[TLUA_WORD_TOP] = top;
}

static inline const Instruction *tlua_words_pc (const uint64_t *words) {
  return (const Instruction *)(uintptr_t)words[TLUA_WORD_PC];
}

/* The frame goes on with an open instruction, whose operands end at the thread's top, wherever that is. */
#define TLUA_TOP_AS_IT_IS UINT32_MAX

/* Registers up to the top; 0: as many as the function has; or TLUA_TOP_AS_IT_IS. */
static inline uint64_t tlua_words_top (const uint64_t *words) {
  return words[TLUA_WORD_TOP];
}

/* The results that the caller wants, or LUA_MULTRET. */
static inline int tlua_words_wanted (const uint64_t *words) {
  return (int)(int64_t)words[TLUA_WORD_RESULTS];
}

static inline unsigned tlua_words_status (const uint64_t *words) {
  return (unsigned)words[TLUA_WORD_STATUS];
}

static inline int tlua_words_extra (const uint64_t *words) {
  return (int)words[TLUA_WORD_EXTRA];
}

/* --- records --- */

/* The called function's place above that of 'pcall': 'true' lies between them. */
#define TLUA_PROTECTED_SLOTS 2

/*
** The record after the running one, made if need be. Where memory is short it is NULL, or an error if it may
** throw. May collect.
*/
static inline CallInfo *tlua_next_frame (lua_State *L, int may_throw) {
  return L->ci->next != NULL ? L->ci->next : luaE_extendCI(L, may_throw);
}

static inline void tlua_set_call (CallInfo *ci, int wanted, unsigned status) {
#if LUA_VERSION_NUM == 504
  ci->nresults = (short)wanted;
  ci->callstatus = (unsigned short)(status & TLUA_STATUS_BITS);
#else
  ci->callstatus = (l_uint32)tlua_call_of(wanted, status);
#endif
}

/* Makes a record that of a Lua function, as its words say. */
static inline void tlua_frame_make (CallInfo *ci, StkId func, const uint64_t *words) {
  ci->func.p = func;
  ci->top.p = func + 1 + clLvalue(s2v(func))->p->maxstacksize;
  tlua_set_call(ci, tlua_words_wanted(words), tlua_words_status(words));
  ci->u.l.trap = 0;
  ci->u.l.nextraargs = tlua_words_extra(words);
  ci->u.l.savedpc = tlua_words_pc(words);
  tlua_called(ci);
}

/* Makes a record that of a C function, of which all results are wanted. */
static inline void tlua_frame_make_c (CallInfo *ci, StkId func, StkId top) {
  ci->func.p = func;
  tlua_set_call(ci, LUA_MULTRET, CIST_C);
  ci->top.p = top;
}

/* The same for a C function that wants so many results, and has made a Lua function's frame above it. */
static inline void tlua_frame_make_caller (CallInfo *ci, StkId func, StkId top, int wanted) {
  tlua_frame_make_c(ci, func, top);
  tlua_set_call(ci, wanted, CIST_C);
}

/* Whether the running thread is to be left: it has yielded, and returns to where it was resumed. */
static inline int tlua_is_suspended (const lua_State *L) {
  return L->status == LUA_YIELD;
}

/* The thread yields so many values from the top, by a C function without a continuation. */
static inline void tlua_suspend (lua_State *L, CallInfo *ci, int count) {
  L->status = LUA_YIELD;
  ci->u2.nyield = count;
  ci->u.c.k = NULL;
}

/*
** Whether the thread waits in a yield that has no continuation. The values that it is resumed with are the
** results of that call.
*/
static inline int tlua_waits_for_values (const lua_State *L) {
  return L->status == LUA_YIELD && !isLua(L->ci) && L->ci->u.c.k == NULL;
}

/* Begins what a protected call that may yield does before it calls; the function comes after 'true'. */
static inline void tlua_begin_protected (lua_State *L, CallInfo *ci, lua_KFunction rest) {
  ci->u.c.k = rest;
  ci->u.c.ctx = 0;
  ci->u2.funcidx = cast_int(savestack(L, ci->func.p + TLUA_PROTECTED_SLOTS));
  ci->u.c.old_errfunc = L->errfunc;
  L->errfunc = 0;
  tlua_set_hooks_allowed(ci, L->allowhook);
  ci->callstatus |= CIST_YPCALL;
}

static inline void tlua_end_protected (lua_State *L, CallInfo *ci) {
  ci->callstatus &= ~CIST_YPCALL;
  L->errfunc = ci->u.c.old_errfunc;
}

/* Whether a C function has marked values of its own as to be closed when it returns. */
static inline int tlua_closes_values (const CallInfo *ci) {
  return tlua_closes_by(ci);
}

#endif
