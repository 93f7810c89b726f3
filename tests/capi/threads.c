/* threads.c: several VMs on several threads at once, a VM that moves between threads, processes that fork.
**
** The interpreter is that of the guide's first step; each of its machines has a VM of its own. What they
** compute is compared with what one computes with the JIT off. A VM belongs to one thread at a time: which
** one that is may change. A process that forks has the VM twice, each with its code. */
#define main whole /* its function, and what a machine runs */
#include "../../examples/embedding/step1.c"
#undef main

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 12

/* The same loop from another start, so that there is more than one to compile. */
static const instruction other[] = {
    {INTEGER, 0, 0, 0, 5}, {INTEGER, 1, 0, 0, 0}, {INTEGER, 2, 0, 0, 1}, {INTEGER, 3, 0, 0, 50000},
    {ADD, 0, 0, 1, 0}, {REMAINDER, 4, 0, 3, 0}, {ADD, 0, 0, 4, 0}, {ADD, 1, 1, 2, 0}, {JUMP_LESS, 1, 3, 0, 4},
    {RETURN, 0, 0, 0, 0}};

static value expected[2];

/* The tags' numbers are the same in each VM; `describe` would write them while others read. */
static void describe_again(tl_vm *vm) {
  int same = tl_add_tag(vm, "nil", NIL, TL_VOID) == ids.tag[NIL];
  same &= tl_add_tag(vm, "int", INT, TL_INT) == ids.tag[INT];
  same &= tl_add_tag(vm, "float", FLOAT, TL_FLOAT) == ids.tag[FLOAT];
  if (!same) fail("tags are numbered in another way");
  tl_set_slots(vm, sizeof(value), offsetof(value, as), offsetof(value, tag), 1);
  tl_set_frame_words(vm, 1);
}

static machine *new_machine(uint32_t flags) {
  machine *m = calloc(1, sizeof *m);
  tl_config config = {.abi = TL_ABI_VERSION, .threshold = 5, .flags = flags};
  if (!m) fail("no memory");
  m->base = m->stack + 1;
  m->jit = tl_new(&config);
  if (!m->jit) fail(tl_config_error());
  describe_again(m->jit);
  if (tl_set_counters(m->jit, m->counters, 64) != TL_OK) fail(tl_last_error(m->jit));
  return m;
}

static void free_machine(machine *m) {
  tl_free(m->jit);
  free(m);
}

/* Runs one of the programs from its beginning. */
static value run_on(machine *m, int number) {
  memset(m->stack, 0, sizeof m->stack);
  m->whole = number ? (function)CODE(other) : (function)CODE(sum);
  interpret(m, m->whole.code);
  return m->result;
}

static int is_right(machine *m, int number) {
  value found = run_on(m, number);
  return same(&found, &expected[number]);
}

static uint64_t traces_of(machine *m) {
  const char *json = tl_stats_json(m->jit);
  return number_in(json ? strstr(json, "\"compile\"") : NULL, "\"traces\": ");
}

/* Where code is made. */
static const uint32_t compiling[] = {0, TL_FLAG_THREAD};

/* VMs that come and go while others run, every other one with a thread that compiles. There code comes when
** it comes: the VM that goes first of these may still wait for it. */
static void *on_its_own(void *argument) {
  int wrong = 0;
  for (int round = 0; round < ROUNDS; round++) {
    machine *m = new_machine(TL_FLAG_CHECK | compiling[round % 2]);
    for (int number = 0; number < 2; number++) wrong += !is_right(m, number);
    for (int more = 0; round > 1 && more < 1000 && traces_of(m) == 0; more++) wrong += !is_right(m, 0);
    if (round == 1) {
      free_machine(m);
      continue;
    }
    wrong += traces_of(m) == 0 || tl_misuses(m->jit) != 0;
    free_machine(m);
  }
  *(int *)argument = wrong;
  return NULL;
}

static void at_once(void) {
  pthread_t threads[THREADS];
  int wrong[THREADS] = {0};
  for (int n = 0; n < THREADS; n++)
    if (pthread_create(&threads[n], NULL, on_its_own, &wrong[n]) != 0) fail("no thread");
  for (int n = 0; n < THREADS; n++) {
    pthread_join(threads[n], NULL);
    if (wrong[n]) fail("wrong beside other threads");
  }
  printf("%d threads, %d VMs each\n", THREADS, ROUNDS);
}

/* One VM, handed from thread to thread: what one has compiled, the next one runs. */
static void *goes_on(void *argument) {
  machine *m = argument;
  int right = 1;
  for (int number = 0; number < 2; number++) right &= is_right(m, number);
  return right ? m : NULL;
}

static void moves(uint32_t flags) {
  machine *m = new_machine(flags);
  for (int n = 0; n < THREADS; n++) {
    pthread_t thread;
    void *found;
    if (pthread_create(&thread, NULL, goes_on, m) != 0) fail("no thread");
    pthread_join(thread, &found);
    if (!found || !goes_on(m)) fail("wrong after a move");
  }
  printf("moved, %d traces\n", (int)traces_of(m));
  free_machine(m);
}

/* A warm VM in a process that forks: child and parent go on with the code, make more, and free it. */
static void forks(uint32_t flags) {
  for (int is_child_first = 0; is_child_first < 2; is_child_first++) {
    machine *m = new_machine(flags), *second = new_machine(flags);
    if (!is_right(m, 0)) fail("wrong before the fork");
    int wait_for_it[2], status = 0;
    char byte;
    if (pipe(wait_for_it) != 0) fail("no pipe");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      close(wait_for_it[1]);
      if (!is_child_first && read(wait_for_it[0], &byte, 1) < 0) _exit(3);
      int right = is_right(m, 0) && is_right(m, 1) && is_right(second, 1) && is_right(second, 0);
      free_machine(m);
      _exit(right ? 0 : 1);
    }
    if (child < 0) fail("no fork");
    if (is_child_first && waitpid(child, &status, 0) != child) fail("no child");
    if (!is_right(m, 1) || !is_right(second, 0)) fail("wrong after the fork");
    free_machine(m);
    if (!is_right(second, 1)) fail("wrong after the fork, beside a VM that is gone");
    close(wait_for_it[0]);
    close(wait_for_it[1]);
    if (!is_child_first && waitpid(child, &status, 0) != child) fail("no child");
    if (status != 0) fail("wrong in the child");
    free_machine(second);
  }
  printf("forked\n");
}

int main(void) {
  machine *m;
  {
    tl_config config = {.abi = TL_ABI_VERSION, .flags = TL_FLAG_OFF};
    tl_vm *vm = tl_new(&config);
    if (!vm) fail(tl_config_error());
    describe(vm);
    tl_free(vm);
  }
  m = new_machine(TL_FLAG_OFF);
  for (int number = 0; number < 2; number++) expected[number] = run_on(m, number);
  free_machine(m);
  at_once();
  for (int n = 0; n < 2; n++) {
    moves(compiling[n]);
    forks(compiling[n]);
  }
  return 0;
}
