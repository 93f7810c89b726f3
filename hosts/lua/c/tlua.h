/*
** Hook points of the Lua virtual machine. Every patched Lua file sees this header through lstate.h.
**
** Problem: an interpreter that is to be traced must tell when a loop is hot, must hand each instruction to a
** recorder while one is at work, and must be able to go on at another instruction and in other frames than
** it left. All of that has to cost next to nothing while nothing is hot.
**
** Design: a back edge decrements one of 16384 shared counters, chosen by the address of the instruction, and
** calls when it falls below 0; the rest is out of line. Recording rides on Lua's own hooks: a private bit in
** 'hookmask' makes the interpreter call luaG_traceexec before each instruction. The state of the JIT belongs
** to global_State and is reached by 'L->jit' from each thread.
**
** Invariant: 'L->jit' is never NULL. Before tlua_open there is no engine: a counter that calls is set to
** 2^31 - 1, and the interpreter behaves as stock Lua does.
**
** Example, what a loop costs:   if (--*counter_of(pc) < 0) goto l_jithot;   /\* four instructions *\/
*/
#ifndef tlua_h
#define tlua_h

#include <stdint.h>

#include "tlua_heap.h"

struct lua_State;
struct global_State;
struct CallInfo;
struct Proto;
struct Table;
struct TString;
struct TValue;
struct GCObject;
struct LClosure;
struct UpVal;
union StackValue;
union Node;
struct TluaEngine;
struct tl_config;

/* Bit of 'hookmask' that no hook of the program uses. */
#define TLUA_RECORD_BIT 0x80

/*
** So many that an instruction's counter is found by the low 16 bits of its address: one move instead of move
** and mask.
*/
#define TLUA_COUNTERS 16384
/* The most back edges that a counter can be set to. */
#define TLUA_OUT_OF_REACH ((uint32_t)INT32_MAX + 1)

/* What tlua_open is to do. Shared with Rust: keep in step with src/config.rs. */
enum TluaMode {
  TLUA_MODE_OFF = 0,     /* as stock Lua: counters are never looked at */
  TLUA_MODE_COUNT = 1,   /* hot loops are counted, nothing else */
  TLUA_MODE_STRESS = 2,  /* test: recordings that only count instructions */
  TLUA_MODE_POISON = 3,  /* test: as STRESS, and registers that are not live get overwritten */
  TLUA_MODE_JIT = 4,     /* the recorder */
  TLUA_MODE_SABOTAGE = 5 /* test of the test: as POISON, but live registers get lost too */
};

typedef struct TluaConfig {
  uint32_t mode;
  uint32_t threshold;  /* back edges until a loop is hot */
  uint32_t period;     /* test modes: mean distance of random events, in instructions */
  uint16_t nests;      /* test: code of our own runs inside each call from compiled code */
  uint16_t no_baseline; /* functions get no baseline code */
  uint64_t seed;       /* test modes: start of the random numbers */
  /* the recorder's library; NULL for its defaults with 'threshold'. Read by tlua_open only */
  const struct tl_config *jit;
} TluaConfig;

/* Counts since tlua_open. Shared with Rust: keep in step with src/config.rs. */
typedef struct TluaStatistics {
  uint64_t hot_loops;
  uint64_t hot_entries;
  uint64_t recordings;
  uint64_t recorded_instructions;
  uint64_t recordings_closed;   /* came back to their first instruction */
  uint64_t recordings_thrown;   /* ended by an error or a yield */
  uint64_t poisoned_registers;
  uint64_t spare_blocks;        /* given to exits when the allocator refused */
  uint64_t violations;          /* test modes: events that broke a rule; must stay 0 */
} TluaStatistics;

/* A table, and the constructor in a function that made it. */
typedef struct TluaWatched {
  const struct Table *table;
  struct TluaRoom *site;
  const struct Proto *owner;
} TluaWatched;
#define TLUA_LAST_MADE 64

/* So many fields: it is all that a state has of the JIT, and macros in the interpreter use most of them. */
typedef struct Tlua {
  int32_t counters[TLUA_COUNTERS];   /* first, so that their address is that of the struct */
  uint32_t threshold;
  struct lua_State *recording;       /* thread being recorded, or NULL */
  int oldpc;                         /* 'oldpc' of that thread when the recording began */
  int recorded_since_hot;            /* whether the recording moved since the last hot event */
  int waiting;                       /* recordings that wait for a call to come back; the engine counts */
  unsigned put_aside;                /* how often one began to wait */
  uint64_t *unit_limit;              /* see tlua_rec.c; NULL: there are no units */
  unsigned locals_set;               /* how often a local variable was set from outside */
  uint32_t identities;               /* closures that code has relied on; see tlua_fixed.c */
  const struct TluaEngine *engine;   /* NULL: no JIT */
  int is_switched_off;               /* whether the program wants no code; see tlua_switch.c */
  int is_library_off;                /* whether its library makes none */
  int counted_before;                /* whether counters were set while there was none */
  void *engine_state;
  void (*at_shutdown) (struct lua_State *L);
  /* for profilers; see tlua_sample.c */
  struct lua_State *running;         /* the thread that was resumed last */
  volatile int collecting;           /* the collector is at work */
  void (*drain) (struct lua_State *L);        /* before functions are freed; NULL: there is none */
  void (*profile_end) (struct lua_State *L);  /* NULL: there is none */
  TluaConfig config;
  TluaStatistics statistics;
  struct TluaMatch *match;           /* see tlua_match.c; NULL until needed */
  struct TluaQuick *quick;           /* see tlua_baseline_lib.c; NULL until needed */
  int (*ipairs_step) (struct lua_State *L);  /* the iterator that "ipairs" returns */
  int (*next_step) (struct lua_State *L);  /* the one that "pairs" returns */
  struct TString *type_names[9];     /* what 'type' returns, by type */
  struct TluaKept *kept;             /* short strings; see tlua_short.c */
  int is_full;                       /* the collection was asked for, or memory was short */
  int most_short;                    /* about how many there were in the last collections */
  union Node *no_nodes;              /* the hash part of tables without one */
  TluaWatched made[TLUA_LAST_MADE];  /* tables that were made last, by address; see tlua_room.c */
} Tlua;

/*
** Offset in bytes of the counter of an instruction; instructions are aligned to four bytes, as counters are.
*/
#define tlua_counter_offset(pc) ((size_t)(uint16_t)(size_t)(pc))
#define tlua_counter(jit, pc) ((int32_t *)((char *)(jit)->counters + tlua_counter_offset(pc)))

/* --- used inside luaV_execute only --- */

#define tlua_back_edge() { if (l_unlikely(--*tlua_counter(L->jit, pc) < 0)) goto l_jithot; }

/* A function begins, or a coroutine goes on in one. Each function has a counter of its own. */
#define tlua_entry_edge() { if (l_unlikely(--ci_func(ci)->p->jit_entries < 0)) goto l_jitentry; } \
 l_jitentered: ;

/*
** Out of line part of the counters. Whatever the slow path did, 'L->ci' and its 'savedpc' tell where to go
** on; every local variable of the interpreter is taken afresh. 'l_jitresume' lies after the call hook. What
** is asked of 'ci' is defined in tlua_callinfo.h.
*/
#define tlua_resume_block() \
  if (0) { \
   l_jitentry: \
    if (!tlua_hot_entry(L, ci)) goto l_jitentered; \
    goto l_jitreload; \
   l_jithot: \
    tlua_hot_loop(L, ci, pc); \
   l_jitreload: \
    if (l_unlikely(L->status == LUA_YIELD)) return; \
    ci = L->ci; \
    cl = ci_func(ci); \
    k = cl->p->k; \
    pc = tlua_saved_pc(ci); \
    if (l_unlikely(L->hookmask)) tlua_set_trap(ci); \
    trap = tlua_trap(ci); \
    goto l_jitresume; \
  }

/* --- baseline code --- */

/* How baseline code comes back to the interpreter's loop. */
enum {
  TLUA_STAY,   /* there is none here: the interpreter goes on */
  TLUA_LEFT,   /* the interpreter goes on in L->ci at its savedpc */
  TLUA_START,  /* the interpreter begins the function of L->ci */
  TLUA_DONE    /* a function that C has called is over: 'luaV_execute' returns */
};

/*
** Goes on in baseline code, where there is some for this place. 'trap' may be set: for the stack that has
** moved it need not be looked at any more.
*/
#define tlua_enter_code() \
  if (l_unlikely(cl->p->jit_code != NULL)) { \
    int how = tlua_baseline_enter(L, ci, pc); \
    if (how == TLUA_LEFT) goto l_jitreload; \
    if (how == TLUA_DONE) return; \
    if (how == TLUA_START) { ci = L->ci; goto startfunc; } \
  }

int tlua_baseline_enter (struct lua_State *L, struct CallInfo *ci, const uint32_t *pc);
#define tlua_has_code(ci) (ci_func(ci)->p->jit_code != NULL)
#define tlua_is_coded(func) (ttisLclosure(s2v(func)) && clLvalue(s2v(func))->p->jit_code != NULL)
/*
** As 'ccall' of 'ldo.c', which calls functions from C, so that 'levels' C calls more are open meanwhile: of a
** Lua function that is coded. Returns 0 if something is in the way, and nothing has happened.
*/
int tlua_call_fresh (struct lua_State *L, union StackValue *func, int wanted, unsigned levels);
/* Runs the baseline code of the function in which a coroutine goes on. Returns 0 if it cannot run now. */
int tlua_run_resumed (struct lua_State *L, struct CallInfo *ci);
/* Three parts of 'lua_resume'. The coroutine goes on after its yield, which results in so many values. */
void tlua_resumed (struct lua_State *L, void *count);
/* Whatever its stack still holds goes on. This one and the one before may throw. */
void tlua_unroll (struct lua_State *L);
/* It has yielded, ended or thrown, as the status says. */
int tlua_end_resume (struct lua_State *L, int status, int *results);
void tlua_baseline_make (struct lua_State *L, struct Proto *p);
void tlua_baseline_freed (struct Proto *p);
void tlua_baseline_close (Tlua *jit);
void tlua_match_close (Tlua *jit);
/* Functions of 'lvm.c' that no other file of Lua calls. */
void tlua_push_closure (struct lua_State *L, struct Proto *p, struct UpVal **outer, union StackValue *base,
                        union StackValue *place);
int tlua_prepare_loop (struct lua_State *L, union StackValue *loop);
/*
** What 'tlua_baseline_lib.c', 'tlua_short.c', 'tlua_join.c', 'tlua_grow.c', 'tlua_room.c' and 'tlua_new.c' do
** for other files.
*/
void tlua_keep_type_names (struct lua_State *L);
/* The number by which strings are found. */
unsigned tlua_hash (const char *characters, size_t length, unsigned seed);
/* The short string of these characters; NULL if only Lua itself can make it. */
struct TString *tlua_find_short (struct lua_State *L, const char *characters, size_t length);
/* The same if the program has such a string, be it one that is about to be collected; else NULL. */
const struct TString *tlua_known_short (struct lua_State *L, const char *characters, size_t length);
/* The same of so many characters of a string, the first of which is 'from'. */
struct TString *tlua_find_part (struct lua_State *L, const struct TString *s, size_t from, size_t length);
/*
** A text in the shape of a string, for whoever joins it at once to others: it is no object of Lua, and there
** only until eight more were made. NULL if it is too long.
*/
struct TString *tlua_text_part (struct lua_State *L, const char *characters, size_t length);
void tlua_forget_short (struct global_State *g);
void tlua_short_close (Tlua *jit);
/* As luaV_concat, of few strings and numbers; returns 0 if it has to do it, and nothing has happened. */
int tlua_join (struct lua_State *L, int count);
int tlua_grow (struct lua_State *L, struct Table *t, const struct TValue *key, struct TValue *value);
/*
** The value of a short string that the table lacks, where its nodes, all for strings, grow for it in the
** table's block; else NULL, and nothing has happened. It neither throws nor collects.
*/
struct TValue *tlua_grow_by_string (struct lua_State *L, struct Table *t, const struct TValue *key);
/* The hash part of the table has grown. */
void tlua_room_grew (struct lua_State *L, const struct Table *t);
/* A constructor of the running function has made a table. */
void tlua_room_watch (struct lua_State *L, const struct Table *t, struct TluaRoom *site);
/* The constructors of a function are no more. */
void tlua_room_forget (Tlua *jit, const struct Proto *p);
/* The hash part of all tables without one; nodes in which nothing is. */
union Node *tlua_no_nodes (struct lua_State *L);
union Node *tlua_new_nodes (struct lua_State *L, int count);
/*
** A table with its parts in one block, and in it room for so many nodes, if it is not too large with them.
** NULL if there can be no such block. The number of nodes is 0 or a power of two.
*/
struct Table *tlua_new_whole (struct lua_State *L, size_t items, size_t nodes, size_t room);
/* Frees a table and its parts, if these lie in its block; else nothing has happened, and it returns 0. */
int tlua_free_whole (struct lua_State *L, struct Table *t);
/* How many nodes such a block has room for; 0 if the table is no such block, or has nodes elsewhere. */
unsigned tlua_node_room (const struct lua_State *L, const struct Table *t);
/* So many of them, all without keys. */
union Node *tlua_place_nodes (struct lua_State *L, struct Table *t, unsigned count);
/* What a new table is put together from. */
void tlua_set_nodes (struct lua_State *L, struct Table *t, void *nodes, size_t count);
void tlua_set_array (struct Table *t, void *array, size_t count);
void tlua_link_table (struct lua_State *L, struct Table *t);
/* A longer array part, with nothing in what is new. Returns 0 without memory, and nothing has happened. */
int tlua_grow_array (struct lua_State *L, struct Table *t, unsigned size);

/* --- slow paths --- */

void tlua_hot_loop (struct lua_State *L, struct CallInfo *ci, const uint32_t *pc);
int tlua_hot_entry (struct lua_State *L, struct CallInfo *ci);
int tlua_record (struct lua_State *L, struct CallInfo *ci, const uint32_t *pc);
void tlua_wake (struct lua_State *L, struct CallInfo *ci);
void tlua_thrown (struct lua_State *L);
void tlua_thread_freed (struct lua_State *L);
void tlua_proto_freed (struct lua_State *L, struct Proto *p);
void tlua_mark_proto (struct global_State *g, struct Proto *p);
void tlua_mark_value (struct global_State *g, const struct TValue *v);
/* What is known of variables and closures; see tlua_fixed.c. */
enum { TLUA_RELIED_ON = 1, TLUA_SHARED };
#define tlua_made(p) { if ((p)->jit_made < 2) (p)->jit_made++; }
void tlua_loaded (struct lua_State *L, struct Proto *chunk);
void tlua_upvalue_set (struct lua_State *L, struct GCObject *owner);
void tlua_upvalue_joined (struct lua_State *L, const struct LClosure *closure, struct UpVal *variable);
void tlua_local_set (struct lua_State *L, union StackValue *place);
struct Tlua *tlua_new (void);
void tlua_shutdown (struct lua_State *L);

/* --- for whoever makes a state --- */

/*
** Gives the state an engine. Call it on the main thread, once; returns 0 when memory is short or the mode is
** unknown.
*/
int tlua_open (struct lua_State *L, const TluaConfig *config);

void tlua_statistics (struct lua_State *L, TluaStatistics *statistics);

/* Is told of each new state. Only the library has it (tlua_library.c): everywhere else it is NULL. */
void tlua_state_made (struct lua_State *L) __attribute__((weak));

/*
** Calls a function when the state is closed, before its engine; also when the program closes the state
** itself.
*/
void tlua_at_shutdown (struct lua_State *L, void (*function) (struct lua_State *L));

#if defined(TLUA_HAVE_RECORDER)
/*
** Declares that compiled code may call a C function of the application, light or as a closure, as it is.
** Without this, a loop that calls it stays with the interpreter. Whoever declares a function promises, for
** all arguments:
** - It calls no Lua code: no lua_call and its like, no operation that may find a metamethod, no lua_load, no
**   hooks. It does not yield, and does not run the collector.
** - All its errors come before its effects. When it has thrown, the interpreter calls it again from the
**   start, so that nothing but the state of the collector may be as it is because of the first call.
** - It does not look at the thread that it runs on (lua_getinfo, lua_pushthread), whose stack is empty below
**   its arguments, and does not keep its lua_State. What it gets and returns is as always; so are its
**   upvalues and the registry. It neither reads nor changes local variables of running functions, which
**   lua_getupvalue and lua_setupvalue of a closure of theirs could do.
** - Without flags it reads nothing that a Lua program can change, other than its arguments, which may be
**   tables whose identity it uses, but whose fields it does not read; and a second call instead of one shows
**   nowhere. It may make new objects. It is called twice where its results are of other types, or of another
**   number, than before. The flags take back a promise, or give another one. Call it after tlua_open: a
**   state without compiler has nothing to keep, and the answer is 1. Returns 0 if the function is declared
**   already, a flag is unknown, or memory is short.
**
** Example:   static int distance (lua_State *L) { ... }     tlua_declare_safe(L, distance, 0);
*/
#define TLUA_SAFE_READS 1u  /* reads what programs can change (tables, upvalues, userdata); changes nothing */
#define TLUA_SAFE_ACTS 2u   /* reads and changes whatever it likes, once for each call; returns no values */
int tlua_declare_safe (struct lua_State *L, int (*f) (struct lua_State *L), unsigned int flags);

/*
** What the library counted, as JSON or as text; "{}" and "" without the recorder. Valid until the next call.
*/
const char *tlua_jit_stats_json (struct lua_State *L);
/* The library's compiler, which the recorder speaks to; NULL if this is no state of it. */
struct tl_vm *tlua_jit_vm (struct lua_State *L);
const char *tlua_jit_stats_text (struct lua_State *L);
/* What of that helps whoever has written the program. */
const char *tlua_jit_summary (struct lua_State *L);
/* Writes the view to a file, if there is one (TL_FLAG_VIEW). Returns NULL, or what is wrong. */
const char *tlua_jit_view (struct lua_State *L, const char *path);
#endif

#endif
