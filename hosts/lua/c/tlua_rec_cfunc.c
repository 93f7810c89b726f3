/*
** Calls of C functions as they are: what has no lowering of its own is called from compiled code.
**
** Problem: a C function takes its arguments from the stack of a thread, may grow that stack, throw, collect,
** and run Lua code. Compiled code keeps its values in processor registers and can bear nothing of that.
**
** Design: the functions in the list of tlua_rec_cfunc_list.c run no Lua code for arguments of the given
** kinds, do not yield, and may be called again from the start without anybody noticing: what makes them fail
** comes before what they change. Compiled code writes function and arguments to the stack of a thread that
** is there for this only, and calls one function, which runs the C function there, protected and with the
** collector stopped; compiled code finds the results on that stack. Whatever goes wrong, and also results of
** other types than were recorded, is answered by NULL: the trace is left before the call, the interpreter
** makes the call itself and raises the error. Functions that change something have results that are known
** beforehand: nothing can go wrong after the change. What the smallest functions do in usual cases is done
** without a call. An application may add functions of its own to the list.
**
** Invariant: the thread's stack counts as empty between calls, no message handler belongs to it, and no
** hook. It is never the thread that runs compiled code, whose stack no call touches. The collector's debt
** comes out of a call as the function's own allocations have left it, so that the loop's head sees it.
**
** Example, 'a, b = string.find(s, "=")', which were integers when it was recorded:
**   p = load(thread, call.stack); store(p + 16, call.addr, find); store(p + 16, call.tag, c_function); ...
**   r = try_call call_pure(calls, callable, find, 2, 2, integer | integer << 8); a = load(r, call.int); ...
*/

#include "lprefix.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tlua_rec_cfunc.h"

#include "lapi.h"
#include "lfunc.h"
#include "lgc.h"
#include "lmem.h"
#include "lstring.h"
#include "ltable.h"
#include "lvm.h"

/* --- making a call --- */

/* More results than this have guards of their own. */
#define SHAPED ((int)sizeof(int64_t))

/* Room on the thread's stack: function, arguments, what a C function may count on, and nils for results. */
#define MOST_SLOTS (2 * TLUA_MOST_VALUES + 2 * LUA_MINSTACK)

/* Collections that the function's allocations would start are put off: nothing makes the debt positive. */
#define PUT_OFF ((l_mem)1 << 40)

typedef struct Job {
  lua_CFunction f;
  int results;
} Job;

/* Function and arguments of a call lie at the bottom of the thread's stack. */
static TValue *arguments_of (const lua_State *thread) {
  return s2v(thread->stack.p + 2);
}

/* The call, as the interpreter makes it. */
static void do_call (lua_State *thread, void *data) {
  Job *job = (Job *)data;
  StkId function = thread->ci->func.p + 1;
  CallInfo *ci = tlua_next_frame(thread, 1);
  tlua_frame_make_c(ci, function, thread->top.p + LUA_MINSTACK);
  lua_assert(ci->top.p <= thread->stack_last.p);
  thread->ci = ci;
  job->results = (*job->f)(thread);
  if (luai_unlikely(tlua_closes_values(ci)))
    luaF_close(thread, ci->func.p, CLOSEKTOP, 0);
}

/* Empties the stack after an error; what was to be closed is closed. */
static void clean_up (lua_State *thread, int status) {
  StkId first = thread->base_ci.func.p + 1;
  thread->ci = &thread->base_ci;
  if (thread->tbclist.p >= first)
    luaD_closeprotected(thread, savestack(thread, first), status);
}

/* The first result, on the thread's stack, which counts as empty again; NULL: it failed. */
static inline TValue *run (lua_State *thread, lua_CFunction f, int64_t count, int *results) {
  global_State *g = G(thread);
  lu_byte emergencies = g->gcstopem, stopped = g->gcstp;
  Job job = { .f = f, .results = 0 };
  lua_assert(thread->ci == &thread->base_ci && thread->top.p == thread->stack.p + 1);
  lua_assert(thread->stack_last.p - thread->top.p >= MOST_SLOTS);
  thread->top.p += count + 1;
  g->gcstopem = 1;
  g->gcstp = stopped | GCSTPGC;
  tlua_put_off_debt(g, PUT_OFF);
  int status = luaD_rawrunprotected(thread, do_call, &job);
  if (luai_unlikely(status != LUA_OK))
    clean_up(thread, status);
  tlua_put_off_debt(g, -PUT_OFF);
  g->gcstp = stopped;
  g->gcstopem = emergencies;
  TValue *first = s2v(thread->top.p - job.results);
  thread->ci = &thread->base_ci;
  thread->top.p = thread->stack.p + 1;
  *results = job.results;
  return status == LUA_OK ? first : NULL;
}

/*
** Adds nils up to 'wanted' results, or looks whether there are exactly ~wanted if that is negative. Returns
** how many matter, or -1. The stack is as long as any frame's, and more.
*/
static int fit (TValue *results, int count, int64_t wanted) {
  if (wanted < 0)
    return count == (int)~wanted ? count : -1;
  for (; count < (int)wanted; count++)
    setnilvalue(&((StackValue *)results + count)->val);
  return (int)wanted;
}

/* The tags of the first results, a byte each. */
static int64_t shape_of (const TValue *results, int count) {
  uint64_t shape = 0;
  for (int n = count < SHAPED ? count : SHAPED; n-- > 0; )
    shape = shape << 8 | rawtt(&results[n]);
  return (int64_t)shape;
}

/* No tag is negative. */
#define ANY_SHAPE (-1)

/* The first result and how many there are, or NULL: it cannot be called, or it failed. */
static TValue *answer_of (TluaCalls *calls, const TluaCallable *callable, lua_CFunction f, int count,
                          int *found) {
  lua_State *thread = calls->thread;
  if (callable->shortcut != NULL) {
    *found = callable->shortcut(thread, arguments_of(thread), count, calls->results);
    if (*found >= 0)
      return calls->results;
  }
  if (callable->is_ready != NULL && !callable->is_ready(thread, arguments_of(thread), count))
    return NULL;
  return run(thread, f, count, found);
}

/* The results, or NULL: the call failed, or the results are not 'wanted' ones of the given shape. */
static TValue *call_function (TluaCalls *calls, const TluaCallable *callable, lua_CFunction f, int64_t count,
                              int64_t wanted,
                              int64_t shape) {
  int found;
  TValue *results = answer_of(calls, callable, f, (int)count, &found);
  if (results == NULL)
    return NULL;
  calls->found = found;
  if (shape == ANY_SHAPE)
    return results;
  int taken = fit(results, found, wanted);
  return taken >= 0 && shape_of(results, taken) == shape ? results : NULL;
}

/* A step of 'string.gmatch' that is not taken leaves the search where it was. */
static TValue *call_step (TluaCalls *calls, const TluaCallable *callable, lua_CFunction f, int64_t count,
                          int64_t wanted,
                          int64_t shape) {
  void *state = tlua_gmatch_state(clCvalue(s2v(calls->thread->stack.p + 1)));
  const char *places[2];
  tlua_gmatch_places(state, places, 0);
  TValue *results = call_function(calls, callable, f, count, wanted, shape);
  if (results == NULL)
    tlua_gmatch_places(state, places, 1);
  return results;
}

/* --- lowering --- */

static char kind_of (const TluaCallable *callable, int n) {
  size_t length = strlen(callable->kinds);
  return callable->kinds[(size_t)n < length ? (size_t)n : length - 1];
}

/*
** What 'tostring' asks metatables for, in this order; the second one only of values without a text of their
** own.
*/
static int guard_prints (TluaRecorder *rec, Operand o) {
  tl_vm *vm = rec->vm;
  int type = novariant(o.tt);
  int is_plain = type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING;
  const Table *now;
  tl_value metatable;
  if (type == LUA_TUSERDATA)
    return 0;
  if (type == LUA_TTABLE) {
    now = hvalue(o.now)->metatable;
    metatable = tl_get(vm, rec->schema.table.metatable, o.value);
    tl_guard(vm, now == NULL ? TL_GUARD_NULL : TL_GUARD_NONNULL, metatable, 0, TL_EXIT_GUARD);
  }
  else {
    now = G(rec->trace.thread)->mt[type];
    metatable = tlua_lib_guard_type_metatable(rec, type);
  }
  return now == NULL || (tlua_lib_guard_lacks(rec, now, metatable, "__tostring")
                         && (is_plain || tlua_lib_guard_lacks(rec, now, metatable, "__name")));
}

/* Whether the argument is of that kind, under guards for what its tag does not say. */
static int guard_kind (TluaRecorder *rec, char kind, Operand o) {
  switch (kind) {
    case 'b': return novariant(o.tt) <= LUA_TSTRING && o.tt != LUA_VLIGHTUSERDATA;
    case 'p': return guard_prints(rec, o);
    case 't': return o.tt == ctb(LUA_VTABLE);
    case 'l':
      if (o.tt != ctb(LUA_VTABLE) || hvalue(o.now)->metatable != NULL)
        return 0;
      tl_guard(rec->vm, TL_GUARD_NULL, tl_get(rec->vm, rec->schema.table.metatable, o.value), 0,
               TL_EXIT_GUARD);
      return 1;
    case 'a': return 1;
    default: return 0;
  }
}

static int guard_kinds (TluaRecorder *rec, const TluaCallable *callable, const LibraryCall *call) {
  for (int n = 0; n < call->count; n++) {
    if (!guard_kind(rec, kind_of(callable, n), call->arguments[n]))
      return 0;
  }
  return 1;
}

/* Function and arguments as they are now, where calls take them from. */
static void hand_over_now (TluaRecorder *rec, const LibraryCall *call) {
  lua_State *thread = rec->calls->thread;
  setobj2s(thread, thread->stack.p + 1, call->function.now);
  for (int n = 0; n < call->count; n++)
    setobj2s(thread, thread->stack.p + 2 + n, call->arguments[n].now);
}

/* The call as it would be made now. Returns how many results there are, or -1 if it fails. */
static int call_now (TluaRecorder *rec, const TluaCallable *callable, lua_CFunction f,
                     const LibraryCall *call) {
  TluaCalls *calls = rec->calls;
  void *state = callable->effects == TLUA_STEPS ? tlua_gmatch_state(clCvalue(call->function.now)) : NULL;
  const char *places[2];
  if (state != NULL)
    tlua_gmatch_places(state, places, 0);
  TValue *results = call_function(calls, callable, f, call->count, 0, ANY_SHAPE);
  int found = calls->found;
  if (state != NULL)
    tlua_gmatch_places(state, places, 1);
  int taken = call->wanted == LUA_MULTRET ? found : call->wanted;
  if (results == NULL || taken > TLUA_MOST_VALUES)
    return -1;
  fit(results, found, taken);
  memmove(calls->results, results, (size_t)taken * sizeof(TValue));
  return taken;
}

static void hand_over (TluaRecorder *rec, const LibraryCall *call) {
  tl_vm *vm = rec->vm;
  const TluaLibrary *library = &rec->schema.library;
  tl_value stack = tl_load(vm, library->call.stack, tl_const_addr(vm, rec->calls->thread));
  for (int n = 0; n <= call->count; n++) {
    Operand o = n == 0 ? call->function : call->arguments[n - 1];
    tl_value place = tl_item_addr(vm, stack, tl_const_int(vm, n + 1), sizeof(StackValue), 0);
    tl_type type = tlua_payload(o.tt);
    if (type != TL_VOID)
      tl_store(vm, library->call.value[type], place, o.value);
    tl_store(vm, library->call.tag, place, tl_const_int(vm, o.tt));
  }
}

/* Results like those that a call during the recording has found; the first one is at that address. */
static void add_results (TluaRecorder *rec, LibraryCall *call, tl_value first, int count) {
  tl_vm *vm = rec->vm;
  const TluaLibrary *library = &rec->schema.library;
  if (count > SHAPED)
    tlua_rec_resume_here(rec);
  for (int n = 0; n < count; n++) {
    int tt = rawtt(&rec->calls->results[n]);
    tl_type type = tlua_payload(tt);
    tl_value place = tl_item_addr(vm, first, tl_const_int(vm, n), sizeof(TValue), 0);
    if (n >= SHAPED)
      tl_guard(vm, TL_GUARD_VALUE, tl_load(vm, library->call.tag, place), tl_const_int(vm, tt),
               TL_EXIT_GUARD);
    tlua_lib_add(rec, call, tt, type != TL_VOID ? tl_load(vm, library->call.value[type], place) : 0);
  }
}

static int are_known (const TluaRecorder *rec, int count) {
  for (int n = 0; n < count; n++) {
    if (rec->schema.tag_of[rawtt(&rec->calls->results[n])] == 0)
      return 0;
  }
  return 1;
}

/* What a function that changes something answers. */
static void add_answer (TluaRecorder *rec, const TluaCallable *callable, LibraryCall *call) {
  switch (callable->answer) {
    case TLUA_FIRST: tlua_lib_add_operand(call, call->arguments[0]); break;
    case TLUA_DESTINATION: tlua_lib_add_operand(call, call->arguments[tlua_lib_has(call, 4) ? 4 : 0]); break;
    case TLUA_ELEMENT:
      tlua_lib_add_operand(call, tlua_rec_get_item(rec, call->arguments[0], call->arguments[1].value,
                                                   ivalue(call->arguments[1].now)));
      break;
    default: break;
  }
}

static void refuse (TluaRecorder *rec, const TluaCallable *callable, const char *why) {
  const char *name = callable->name != NULL ? callable->name : "a declared function";
  snprintf(rec->at.reason_text, sizeof rec->at.reason_text, "call of %s %s", name, why);
  tlua_rec_give_up(rec, rec->at.reason_text);
}

void tlua_cfunc_call (TluaRecorder *rec, const TluaCallable *callable, LibraryCall *call) {
  tl_vm *vm = rec->vm;
  TluaCalls *calls = rec->calls;
  lua_CFunction f = call->function.tt == LUA_VLCF ? fvalue(call->function.now)
      : clCvalue(call->function.now)->f;
  int count = 0, wanted = 0;
  if (!guard_kinds(rec, callable, call)) {
    refuse(rec, callable, "with such arguments");
    return;
  }
  hand_over_now(rec, call);
  if (callable->is_ready != NULL
      && !callable->is_ready(calls->thread, arguments_of(calls->thread), call->count)) {
    refuse(rec, callable, "that may stop halfway");
    return;
  }
  if (callable->answer == TLUA_BY_CALL) {
    count = call_now(rec, callable, f, call);
    wanted = call->wanted == LUA_MULTRET ? ~count : count;
    if (count < 0 || !are_known(rec, count)) {
      refuse(rec, callable, count < 0 ? "that fails" : "with a result of an unknown type");
      return;
    }
  }
  else
    add_answer(rec, callable, call);
  if (rec->at.reason != NULL)
    return;
  hand_over(rec, call);
  tlua_rec_resume_here(rec);
  tl_value arguments[6] = { tl_const_addr(vm, calls), tl_const_addr(vm, callable),
                            tl_const_addr(vm, (const void *)(uintptr_t)f),
                            tl_const_int(vm, call->count), tl_const_int(vm, wanted),
                            tl_const_int(vm, shape_of(calls->results, count)) };
  tl_value first = tl_try_call(vm, rec->schema.library.call.function[callable->effects], arguments, 6);
  add_results(rec, call, first, count);
}

/* --- names of other functions --- */

static const TValue *field_of (const Table *t, const char *name) {
  for (int n = 0; n < (int)sizenode(t); n++) {
    const Node *node = gnode(t, n);
    if (keytt(node) == ctb(LUA_VSHRSTR) && !isempty(gval(node)) && strcmp(getstr(keystrval(node)), name) == 0)
      return gval(node);
  }
  return NULL;
}

static int is_printable (const char *text) {
  while (*text != '\0' && isprint((unsigned char)*text) && (unsigned char)*text < 128)
    text++;
  return *text == '\0';
}

/* The field of the table that holds the function, or NULL. */
static const char *name_in (const TValue *module, lua_CFunction f) {
  if (module == NULL || !ttistable(module))
    return NULL;
  const Table *t = hvalue(module);
  for (int n = 0; n < (int)sizenode(t); n++) {
    const Node *node = gnode(t, n);
    const TValue *value = gval(node);
    int is_it = (ttislcf(value) && fvalue(value) == f) || (ttisCclosure(value) && clCvalue(value)->f == f);
    if (is_it && keytt(node) == ctb(LUA_VSHRSTR) && is_printable(getstr(keystrval(node))))
      return getstr(keystrval(node));
  }
  return NULL;
}

/* The n-th entry of a table of tables, if its key is a name. */
static const TValue *named_table (const Table *t, int n, const char **name) {
  const Node *node = gnode(t, n);
  if (keytt(node) != ctb(LUA_VSHRSTR) || !ttistable(gval(node)) || !is_printable(getstr(keystrval(node))))
    return NULL;
  *name = getstr(keystrval(node));
  return gval(node);
}

/*
** Looks where 'require' keeps modules, the standard ones first, and then among the methods of userdata,
** whose metatables are in the registry. Reads only.
*/
static int find_name (TluaRecorder *rec, lua_CFunction f, const char **module, const char **name) {
  static const char *const standard[] =
      { "coroutine", "debug", "io", "math", "os", "package", "string", "table", "utf8" };
  const Table *registry = hvalue(&G(rec->trace.thread)->l_registry);
  const TValue *loaded = field_of(registry, LUA_LOADED_TABLE);
  if (loaded == NULL || !ttistable(loaded))
    return 0;
  *module = "";
  *name = name_in(field_of(hvalue(loaded), LUA_GNAME), f);
  for (size_t n = 0; *name == NULL && n < sizeof(standard) / sizeof(standard[0]); n++) {
    *module = standard[n];
    *name = name_in(field_of(hvalue(loaded), standard[n]), f);
  }
  for (int n = 0; *name == NULL && n < (int)sizenode(hvalue(loaded)); n++)
    *name = name_in(named_table(hvalue(loaded), n, module), f);
  for (int n = 0; *name == NULL && n < (int)sizenode(registry); n++) {
    const TValue *metatable = named_table(registry, n, module);
    if (metatable != NULL)
      *name = name_in(field_of(hvalue(metatable), "__index"), f);
  }
  return *name != NULL;
}

void tlua_cfunc_give_up (TluaRecorder *rec, lua_CFunction f, const char *registered) {
  const char *module = "", *name = registered;
  if (*registered == '\0' && !find_name(rec, f, &module, &name)) {
    tlua_rec_give_up(rec, "call of a C function");
    return;
  }
  snprintf(rec->at.reason_text, sizeof rec->at.reason_text, "call of %.24s%s%.24s", module,
           *module != '\0' ? "." : "", name);
  tlua_rec_give_up(rec, rec->at.reason_text);
}

/* --- what calls need --- */

static const char registry_key = 0;

/*
** The first long text that a library makes puts a metatable into the registry. That must not happen in
** compiled code, which may know that table.
*/
static int make_text (lua_State *thread) {
  luaL_Buffer text;
  luaL_buffinitsize(thread, &text, 2 * LUAL_BUFFERSIZE);
  luaL_pushresultsize(&text, 0);
  return 0;
}

static void do_open (lua_State *L, void *data) {
  TluaCalls *calls = (TluaCalls *)data;
  calls->thread = lua_newthread(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &registry_key);
  lua_sethook(calls->thread, NULL, 0, 0);
  calls->thread->nCcalls = 0x10000;  /* it cannot yield */
  luaL_checkstack(calls->thread, MOST_SLOTS, NULL);
  lua_pushcfunction(calls->thread, make_text);
  if (lua_pcall(calls->thread, 0, 0, 0) != LUA_OK)
    luaD_throw(L, LUA_ERRMEM);
}

int tlua_cfunc_open (lua_State *L, TluaRecorder *rec) {
  ptrdiff_t top = savestack(L, L->top.p);
  rec->calls = (TluaCalls *)tlua_own(L, NULL, 0, sizeof(TluaCalls));
  if (rec->calls == NULL)
    return 0;
  memset(rec->calls, 0, sizeof(TluaCalls));
  if (luaD_rawrunprotected(L, do_open, rec->calls) == LUA_OK)
    return 1;
  L->top.p = restorestack(L, top);
  tlua_cfunc_close(L, rec);
  return 0;
}

void tlua_cfunc_close (lua_State *L, TluaRecorder *rec) {
  if (rec->calls == NULL)
    return;
  while (rec->calls->declared != NULL) {
    TluaCallable *callable = rec->calls->declared;
    rec->calls->declared = callable->next;
    tlua_own(L, callable, sizeof(TluaCallable), 0);
  }
  tlua_own(L, rec->calls, sizeof(TluaCalls), 0);
  rec->calls = NULL;
}

/* --- functions of the application --- */

int tlua_cfunc_declare (lua_State *L, TluaRecorder *rec, lua_CFunction f, unsigned int flags) {
  TluaCalls *calls = rec->calls;
  if (f == NULL || (flags & ~(TLUA_SAFE_READS | TLUA_SAFE_ACTS)) != 0 || tlua_cfunc_find(rec, f, "") != NULL)
    return 0;
  TluaCallable *callable = (TluaCallable *)tlua_own(L, NULL, 0, sizeof(TluaCallable));
  if (callable == NULL)
    return 0;
  *callable = (TluaCallable){ .kinds = "a", .f = f, .next = calls->declared };
  callable->effects = flags & TLUA_SAFE_ACTS ? TLUA_ACTS : flags & TLUA_SAFE_READS ? TLUA_READS : TLUA_PURE;
  callable->answer = flags & TLUA_SAFE_ACTS ? TLUA_NOTHING : TLUA_BY_CALL;
  calls->declared = callable;
  return 1;
}

/* --- what the library is told --- */

#define CLASSES 20

static const tl_class *classes (tl_vm *vm, tl_class store[CLASSES], const char *const *names) {
  int n = 0;
  for (; names[n] != NULL; n++)
    store[n] = tl_alias_class(vm, names[n]);
  store[n] = 0;
  return store;
}

/* Arguments and results lie in the same memory. */
static int describe_values (tl_vm *vm, TluaLibrary *library) {
  static const char *const names[4] = { "call.int", "call.float", "call.ref", "call.addr" };
  tl_class value = tl_alias_class(vm, "call.value");
  library->call.stack = tl_add_cell(vm, "call.stack", (int32_t)offsetof(lua_State, stack), 8, TL_ADDR,
                                    tl_alias_class(vm, "call.stack"), 0);
  library->call.tag = tl_add_cell(vm, "call.tag", (int32_t)offsetof(TValue, tt_), 1, TL_INT,
                                  tl_alias_class(vm, "call.tag"), 0);
  int all = library->call.stack != 0 && library->call.tag != 0;
  for (int type = 0; type < 4; type++) {
    library->call.value[type] = tl_add_cell(vm, names[type], (int32_t)offsetof(TValue, value_), 8,
                                            (tl_type)type, value, 0);
    all = all && library->call.value[type] != 0;
  }
  return all;
}

int tlua_describe_calls (tl_vm *vm, TluaLibrary *library) {
  static const char *const handed[] = { "call.value", "call.tag", "call.stack", NULL };
  static const char *const made[] = { "call.value", "call.tag", "call.stack", "global.debt", NULL };
  static const char *const searched[] =
      { "call.value", "call.tag", "call.stack", "global.debt", "table.count", "table.flags",
                                          NULL };
  static const char *const changed[] =
      { "call.value", "call.tag", "call.stack", "global.debt", "table.count", "table.array",
                                         "table.log_size", "table.nodes", "table.last_free", "table.flags",
                                         "array.value",
                                         "array.tag", "node.key", "node.key_tag", "node.tag", "node.value",
                                         "node.next",
                                         "object.marked", NULL };
  const void *function = (const void *)(uintptr_t)call_function, *step = (const void *)(uintptr_t)call_step;
  const uint32_t reads_all = TL_EFFECT_READS_ALL, all = TL_EFFECT_READS_ALL | TL_EFFECT_WRITES_ALL;
  const struct {
    const char *name;
    const void *address;
    uint32_t effects;
    const char *const *reads;
    const char *const *writes;
  } rows[] = {
    [TLUA_PURE] = { "call_pure", function, 0, handed, made },
    [TLUA_STEPS] = { "call_step", step, 0, handed, made },
    [TLUA_READS] = { "call_reading", function, reads_all, handed, searched },
    [TLUA_WRITES] = { "call_changing", function, reads_all, handed, changed },
    [TLUA_ACTS] = { "call_acting", function, all, handed, made }
  };
  for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
    tl_class reads[CLASSES], writes[CLASSES];
    library->call.function[n] = tl_add_func(vm, rows[n].name, rows[n].address, "aaaiii>a",
                                            rows[n].effects | TL_EFFECT_ALLOCATES,
                                            classes(vm, reads, rows[n].reads),
                                            classes(vm, writes, rows[n].writes));
    if (library->call.function[n] == 0)
      return 0;
  }
  return describe_values(vm, library);
}
