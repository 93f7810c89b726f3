/*
** The profiler of "-jp": where a program spends its time, by line and by function, and in what.
**
** Problem: counters and clocks in a program change it, and a JIT's code has neither lines nor functions that
** a profiler of the system knows.
**
** Design: a timer by the thread's processor time interrupts it, and the handler notes where it is
** (tlua_sample.c). What the samples mean is found out later: before the collector frees anything, since it
** may be a function, and at the end. Machine code is looked up in the library (tl_code_at): the words of the
** snapshot before it name the instruction. Baseline code of an instruction begins where the interpreter would
** enter it; what is rare lies after all of it, and has the frame's own place.
**
** Invariant: the program prints and computes what it would without; the signal is blocked while samples are
** looked at, and the profile is told once, after all that the program has written.
**
** Example: "tlua -jp=line,interval=1 a.lua" ends with rows as "  45.2   44.8 ...  a.lua:3" on standard error.
*/

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#define LUA_CORE

#include "lprefix.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lauxlib.h"

#include "tlua_callinfo.h"
#include "tlua_internal.h"
#include "tlua_profile.h"
#include "tlua_profile_rows.h"
#include "tlua_sample.h"

#include "ldebug.h"
#include "lstring.h"
#include "ltable.h"
#if defined(TLUA_HAVE_RECORDER)
#include "tracelift.h"
#endif

#if !defined(sigev_notify_thread_id)
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* The profile in progress, of which a process has one at most. */
static struct Profile {
  lua_State *L;         /* NULL: there is none */
  struct tl_vm *vm;
  TluaSampler *sampler;
  TluaProfileOptions options;
  timer_t timer;
  struct sigaction before;
  TluaRows lines, functions;
  uint64_t all, in[TLUA_STATES];
} profile;

/* What the handler reads. */
static TluaSampler *volatile active = NULL;

/* --- the signal --- */

static void on_signal (int number, siginfo_t *info, void *context) {
  (void)number;
  int error = errno;
  TluaSampler *sampler = active;
  if (sampler != NULL && info->si_code == SI_TIMER)
    tlua_sample_take(sampler, context, 1 + (info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0));
  errno = error;
}

/* Blocks the signal, or lets it through again. */
static void block (int is_blocked) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPROF);
  pthread_sigmask(is_blocked ? SIG_BLOCK : SIG_UNBLOCK, &signals, NULL);
}

/* --- what a sample means --- */

#if defined(TLUA_HAVE_RECORDER)

static int has_instruction (const Proto *p, const Instruction *pc) {
  return pc >= p->code && pc < p->code + p->sizecode;
}

/* The function of an instruction in the code of a tree: the tree's own, or one that its traces rely on. */
static const Proto *find_proto (const Proto *owner, const Instruction *pc) {
  if (owner == NULL || has_instruction(owner, pc))
    return owner;
  const TluaProto *data = owner->jit;
  for (int n = 0; data != NULL && n < data->anchors_used; n++) {
    const TValue *anchor = &data->anchors[n];
    if (novariant(rawtt(anchor) & 0x3f) == LUA_TPROTO && has_instruction(gco2p(gcvalue(anchor)), pc))
      return gco2p(gcvalue(anchor));
  }
  return NULL;
}

/* What the library knows of a place in a trace. */
static void look_up_trace (TluaSample *sample) {
  tl_code_info info;
  if (profile.vm == NULL || !tl_code_at(profile.vm, (const void *)sample->code, &info) || info.nwords == 0)
    return;
  const Instruction *pc = tlua_words_pc(info.words);
  const Proto *p = find_proto((const Proto *)info.owner, pc);
  if (p != NULL) {
    sample->p = p;
    sample->pc = pc;
  }
}

static int is_in_trace (const TluaSample *sample) {
  const tl_code_bounds *bounds = profile.sampler->bounds;
  return bounds != NULL && sample->code >= bounds->traces && sample->code < bounds->traces_end;
}

#else

static void look_up_trace (TluaSample *sample) { (void)sample; }
static int is_in_trace (const TluaSample *sample) { (void)sample; return 0; }

#endif

/* The code of one instruction is no longer than that, but for what is rare. */
#define LONGEST 512

/* The instruction whose code begins last before the sample's. */
static void look_up_baseline (TluaSample *sample) {
  const Proto *p = sample->p;
  if (p == NULL || p->jit_places == NULL)
    return;
  uintptr_t last = 0;
  for (int n = 0; n < p->sizecode; n++) {
    uintptr_t place = (uintptr_t)p->jit_places[n];
    if (place > last && place <= sample->code && sample->code - place < LONGEST) {
      last = place;
      sample->pc = &p->code[n];
    }
  }
}

/* The name under which a table has a C function; NULL if it has it not, or not under a short name. */
static const char *field_with (const Table *t, lua_CFunction function) {
  for (size_t n = 0; n < (size_t)sizenode(t); n++) {
    Node *node = gnode(t, n);
    const TValue *value = gval(node);
    int is_it = (ttislcf(value) && fvalue(value) == function)
        || (ttisCclosure(value) && clCvalue(value)->f == function);
    if (is_it && keyisshrstr(node))
      return getshrstr(keystrval(node));
  }
  return NULL;
}

/* The table of that name in a table; NULL if it has none. */
static const Table *table_in (const Table *t, const char *name) {
  for (size_t n = 0; n < (size_t)sizenode(t); n++) {
    Node *node = gnode(t, n);
    if (keyisshrstr(node) && ttistable(gval(node)) && strcmp(getshrstr(keystrval(node)), name) == 0)
      return hvalue(gval(node));
  }
  return NULL;
}

/* A C function's name is that in a module that is loaded. Nothing is looked up as programs do. */
static void name_c_function (lua_State *L, lua_CFunction function, char *name, size_t room) {
  const Table *loaded = table_in(hvalue(&G(L)->l_registry), LUA_LOADED_TABLE);
  for (size_t n = 0; loaded != NULL && n < (size_t)sizenode(loaded); n++) {
    Node *node = gnode(loaded, n);
    const char *found = NULL;
    if (keyisshrstr(node) && ttistable(gval(node)))
      found = field_with(hvalue(gval(node)), function);
    if (found != NULL) {
      const char *module = getshrstr(keystrval(node));
      int is_global = strcmp(module, LUA_GNAME) == 0;
      snprintf(name, room, "%s%s%s [C]", is_global ? "" : module, is_global ? "" : ".", found);
      return;
    }
  }
  Dl_info info;
  if (dladdr((void *)function, &info) != 0 && info.dli_sname != NULL)
    snprintf(name, room, "%s [C]", info.dli_sname);
  else
    snprintf(name, room, "a C function without a name");
}

static void source_of (const Proto *p, char *source) {
  if (p->source != NULL)
    luaO_chunkid(source, getstr(p->source), tsslen(p->source));
  else
    strcpy(source, "?");
}

static void name_function (const Proto *p, char *name, size_t room) {
  char source[LUA_IDSIZE];
  source_of(p, source);
  if (p->linedefined == 0)
    snprintf(name, room, "%s, main chunk", source);
  else
    snprintf(name, room, "%s:%d, function", source, p->linedefined);
}

static void add_sample (lua_State *L, const TluaSample *found) {
  TluaSample sample = *found;
  char name[TLUA_ROW_NAME], source[LUA_IDSIZE];
  if (sample.code != 0 && is_in_trace(&sample))
    look_up_trace(&sample);
  else if (sample.code != 0)
    look_up_baseline(&sample);
  profile.all += sample.count;
  profile.in[sample.state] += sample.count;
  if (sample.p != NULL && sample.pc != NULL) {
    source_of(sample.p, source);
    snprintf(name, sizeof(name), "%s:%d", source, luaG_getfuncline(sample.p, pcRel(sample.pc + 1, sample.p)));
  }
  else if (sample.p != NULL)
    name_function(sample.p, name, sizeof(name));
  else
    strcpy(name, "outside of Lua functions");
  tlua_rows_add(&profile.lines, name, sample.state, sample.count);
  if (sample.function != NULL && sample.state == TLUA_IN_C)
    name_c_function(L, sample.function, name, sizeof(name));
  else if (sample.p != NULL)
    name_function(sample.p, name, sizeof(name));
  tlua_rows_add(&profile.functions, name, sample.state, sample.count);
}

/* Finds out what the samples mean that there are. What they lead to is all there. */
static void drain (lua_State *L) {
  TluaSampler *sampler = profile.sampler;
  if (L->jit != sampler->jit || sampler->used == 0)
    return;
  block(1);
  for (size_t n = 0; n < TLUA_SAMPLES; n++)
    if (sampler->table[n].count != 0)
      add_sample(L, &sampler->table[n]);
  memset(sampler->table, 0, sizeof(sampler->table));
  sampler->used = 0;
  block(0);
}

/* --- the end --- */

static void print_profile (FILE *file) {
  static const char *const names[TLUA_STATES] = { "in traces", "in baseline code", "in the interpreter",
                                                  "in C functions", "in the collector", "compiling" };
  const TluaProfileOptions *options = &profile.options;
  fprintf(file, "profile: %" PRIu64 " samples, one for each %" PRIu64 " ms of processor time\n", profile.all,
          options->interval);
  if (profile.sampler->lost + profile.lines.forgotten + profile.functions.forgotten > 0)
    fprintf(file, "%" PRIu64 " more were lost for want of room\n", profile.sampler->lost
            + profile.lines.forgotten + profile.functions.forgotten);
  if (profile.all == 0)
    return;
  for (int state = 0; state < TLUA_STATES; state++)
    fprintf(file, "%7.1f %% %s\n", 100.0 * (double)profile.in[state] / (double)profile.all, names[state]);
  if (options->by_function || !options->by_line)
    tlua_rows_print(&profile.functions, file, "function", profile.all, options->least);
  if (options->by_line || !options->by_function)
    tlua_rows_print(&profile.lines, file, "line", profile.all, options->least);
}

/* A signal may be on its way, which would end the process if nobody caught it: to ignore it takes it away. */
static void stop (void) {
  struct sigaction ignored;
  memset(&ignored, 0, sizeof(ignored));
  ignored.sa_handler = SIG_IGN;
  timer_delete(profile.timer);
  active = NULL;
  sigaction(SIGPROF, &ignored, NULL);
  sigaction(SIGPROF, &profile.before, NULL);
}

/* The state ends, or the process does. */
static void end_profile (lua_State *L) {
  if (profile.L == NULL || L->jit != profile.sampler->jit)
    return;
  stop();
  drain(L);
  L->jit->drain = L->jit->profile_end = NULL;
  profile.L = NULL;
  fflush(stdout);
  const char *path = profile.options.file;
  FILE *file = path[0] == '\0' ? stderr : fopen(path, "w");
  if (file == NULL) {
    fprintf(stderr, "the profile cannot be written: ");
    perror(path);
  }
  else {
    print_profile(file);
    if (file != stderr)
      fclose(file);
  }
  tlua_rows_free(&profile.lines);
  tlua_rows_free(&profile.functions);
  tlua_sampler_free(profile.sampler);
}

static void end_at_exit (void) {
  if (profile.L != NULL)
    end_profile(profile.L);
}

/* --- the beginning --- */

static int start_timer (const TluaProfileOptions *options) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  struct sigevent event;
  memset(&event, 0, sizeof(event));
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGPROF;
  event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
  struct timespec interval = { (time_t)(options->interval / 1000),
                               (long)(options->interval % 1000) * 1000000 };
  struct itimerspec each = { interval, interval };
  if (sigaction(SIGPROF, &action, &profile.before) != 0)
    return 0;
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &profile.timer) != 0) {
    sigaction(SIGPROF, &profile.before, NULL);
    return 0;
  }
  block(0);
  if (timer_settime(profile.timer, 0, &each, NULL) == 0)
    return 1;
  stop();
  return 0;
}

const char *tlua_profile_open (lua_State *L, const TluaProfileOptions *options, struct tl_vm *vm) {
  static int is_registered = 0;
  if (profile.L != NULL)
    return NULL;
  memset(&profile, 0, sizeof(profile));
  profile.vm = vm;
  profile.options = *options;
#if defined(TLUA_HAVE_RECORDER)
  profile.sampler = tlua_sampler_new(L, vm != NULL ? tl_get_code_bounds(vm) : NULL);
#else
  profile.sampler = tlua_sampler_new(L, NULL);
#endif
  if (profile.sampler == NULL)
    return "p: there is no profiler for this machine, or no memory for it";
  active = profile.sampler;
  L->jit->running = L;
  if (!start_timer(options)) {
    active = NULL;
    tlua_sampler_free(profile.sampler);
    return "p: the system gives no timer";
  }
  profile.L = L;
  L->jit->drain = drain;
  L->jit->profile_end = end_profile;
  if (!is_registered)
    is_registered = atexit(end_at_exit) == 0;
  return NULL;
}
