/* tracelift.h: the C interface of Tracelift, a tracing just-in-time compiler that interpreters embed.
**
** An interpreter that uses it does four things, and better five.
**
** 1. It describes its memory once: tags, slots, cells, record layouts, functions (section "Describing the
**    host").
** 2. At each backward jump it counts down a counter, and at zero asks tl_hot what to do: nothing, run
**    compiled code, or record (section "Running"). Functions that call themselves have no loop: there it
**    counts where they begin, and where they go on after a call ("Entries" in that section).
** 3. While it records, it calls one function here per operation of each bytecode that it is about to execute
**    (section "Recording"), and goes on interpreting.
** 4. It calls compiled code itself and hands the exit number to tl_exit, which writes the frame's slots and
**    says where the interpreter goes on.
** 5. After an exit it asks tl_next whether code goes on from there, or whether to record what the program
**    does next: a side trace. Once that is compiled, exit, side trace and the loop that it leads to follow
**    one another without the host. A host that never asks has loops only, and goes on in the interpreter
**    after each exit.
**
** Rules that hold everywhere:
** - No function here throws or calls back into the host, but for the functions that lifting needs: those
**   described with tl_add_func, which tl_exit calls, and tl_reserve, which tl_hot, tl_record_close and
**   tl_forget call; and for those of tl_set_name_of and tl_set_stable_name_of, which all may call. These call
**   nothing here, and neither collect nor throw. No frame of this library stands between the host and
**   compiled code, so host functions called by compiled code may longjmp over it.
** - A tl_vm belongs to one thread at a time. Compiled code belongs to the tl_vm that made it. After fork()
**   parent and child have a tl_vm each, with its code: the child's fork() copies that.
** - Ids are small integers; 0 is never a valid id or value, so a failed call can be passed on: recording
**   functions accept it, and the recording has failed by then (tl_recording tells).
** - Functions that can fail return a tl_status, or 0 for an id; tl_last_error says why, in one sentence. It
**   does so for functions that return nothing, too.
** - Failures stay. After a description that failed, each further one fails with the same sentence, and
**   tl_record does. After a call that failed in a recording, all further ones do nothing and give 0, and the
**   recording ends with that sentence.
**
** Example (the whole hot path of a host):
**
**     int32_t *counter = &counters[hash(pc)];
**     if (--*counter < 0) {
**       tl_run run;
**       switch (tl_hot(vm, pc, counter, frame_base, &run)) {
**         case TL_RUN: {
**           uint64_t left = tl_run_code(&run, context, frame_base);
**           tl_exit_info info;
**           tl_exit(vm, left, context, frame_base, &info);
**           pc = (const instruction *)info.frames[0].words[0];
**           break;  -- or ask tl_next: tests/capi/registers.c shows a whole interpreter
**         }
**         case TL_RECORD: start_recording(vm, pc); break;
**         case TL_NOTHING: break;
**       }
**     }
*/
#ifndef TRACELIFT_H
#define TRACELIFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface; tl_new refuses a host compiled for another one. */
#define TL_ABI_VERSION 7u
/* The library's: as text, "0.1.0"; as a number, of which the last three digits are the patch, the three
** before the minor, and all others the major version; and the interface that it implements. */
const char *tl_version(void);
uint32_t tl_version_number(void);
uint32_t tl_abi_version(void);

typedef struct tl_vm tl_vm;   /* one just-in-time compiler: schema, traces, code, statistics */

typedef uint32_t tl_value;    /* a value of the trace being recorded; 0: none */
typedef uint32_t tl_tag;      /* ids of things described; 0: none */
typedef uint32_t tl_class;
typedef uint32_t tl_cell;
typedef uint32_t tl_layout;
typedef uint32_t tl_field;
typedef uint32_t tl_func;

typedef enum tl_status {
  TL_OK = 0,
  TL_MISUSE = 1,        /* the call broke a rule of this interface: tl_last_error says which */
  TL_ABORTED = 2,       /* the recording was given up for a normal, counted reason */
  TL_AGAIN = 3,         /* slot types changed while recording: record again at once from here */
  TL_INTERNAL = 4       /* a bug of Tracelift's, counted; the program goes on in the interpreter */
} tl_status;

typedef enum tl_type { TL_INT = 0, TL_FLOAT = 1, TL_REF = 2, TL_ADDR = 3, TL_VOID = 4 } tl_type;

/* ----------------------------------------------------------------------------------------------------------
** Making and freeing
*/

/* Configuration; zero it, set `abi`, then what differs. 0 means the default. */
typedef struct tl_config {
  uint32_t abi;             /* TL_ABI_VERSION */
  uint32_t threshold;       /* back edges of a loop before it is recorded. Left 0: 2000, and recordings are
                            ** put off while compiling has had its share of the thread's processor time (3 %
                            ** of the first 80 ms, later twice what code has saved) and the loop has not
                            ** cost as much as its code would. One that is set is exact: the same is compiled
                            ** in each run */
  uint32_t max_ops;         /* operations in a recorded trace; default 8000, at most 1000000 */
  uint32_t max_snapshots;   /* snapshots in a recorded trace; default 2000, at most 1000000 */
  uint32_t max_frames;      /* host frames in a snapshot; default 20, at most 255 */
  uint32_t flags;           /* TL_FLAG_... */
  uint32_t side_threshold;  /* exits by one guard, or by a loop's end, before a side trace is recorded there;
                            ** default 1000, or `threshold` if that is lower */
  uint32_t max_sides;       /* side traces that hang on one loop; default 200 */
  uint64_t code_bytes;      /* limit of machine code; default 64 MiB, at most 1 GiB. When it is full
                            ** the code that was least useful makes room: see "evicted" in tl_stats_json */
  uint64_t force_exit;      /* test aid: the Nth guard execution (from 1) fails; 0: none */
  const char *passes;       /* optimizer passes switched, "-fold,-guards"; NULL: all on */
  const char *log;          /* stages: "trace,record,opt,resume,clif,asm,code,region,exit,abort,all" */
  const char *log_file;     /* where the log goes; NULL: standard error */
  uint64_t start_seed;      /* test aid: recordings start at random, `threshold` apart in the mean, and a
                            ** third is thrown away; 0: none of that */
  uint32_t bytecode_price;  /* what the host's interpreter takes for a bytecode, as a rule, in tenths of
                            ** nanoseconds, at most 1000000; default 30, as Lua's. Loops are timed; this is
                            ** for what is not. A host whose bytecodes take longer gains by code where others
                            ** lose, and must say so, or code that gains rests. Without effect where
                            ** `threshold` is set */
  uint32_t call_price;      /* what a call of the program's and its return take beside their bytecodes, in
                            ** nanoseconds, at most 1000000; default 12 */
} tl_config;

#define TL_FLAG_OFF 1u              /* never record: counters are set out of reach */
#define TL_FLAG_VERIFY 2u           /* verify every trace and Cranelift's input: for tests */
#define TL_FLAG_COUNT_ITERATIONS 4u /* compiled loops count their iterations for tl_stats_json */
#define TL_FLAG_COUNT_GUARDS 8u     /* compiled code counts guard executions (as force_exit does) */
#define TL_FLAG_NO_EXEC 16u         /* test aid: behave as if the system refused executable memory */
#define TL_FLAG_NO_UNROLLING 32u    /* short loops become machine code once, not several times in a row */
#define TL_FLAG_NO_PREFETCHING 64u  /* loops do not ask early for the memory that they walk through */
#define TL_FLAG_NO_QUICK_CODE 128u  /* Cranelift makes all machine code, also what can be made without it */
#define TL_FLAG_NO_REGIONS 256u     /* trees of traces stay functions that are linked */
#define TL_FLAG_PERF_MAP 512u       /* perf is told the names of code, in /tmp/perf-PID.map */
#define TL_FLAG_JITDUMP 1024u       /* "perf inject --jit" is told of code, in jit-PID.dump, which lies in
                                    ** the folder that the variable JITDUMPDIR names, or in the current one */
#define TL_FLAG_GDB 2048u           /* gdb is told of code, by its interface for just-in-time compilers */
#define TL_FLAG_CODE_MAP 4096u      /* code is kept for tl_code_at: profilers */
#define TL_FLAG_VIEW 8192u          /* what tl_view_write shows is noted, and counted by compiled loops */
#define TL_FLAG_CHECK 16384u        /* what the host says is compared with what it does: see tl_misuses */
#define TL_FLAG_THREAD 32768u       /* code is made on another thread, while the program goes on: as long, for
                                    ** some hundredths more of the processors' time */

/* A new compiler, or NULL (then tl_config_error says why). It lives until tl_free. */
tl_vm *tl_new(const tl_config *config);
/* The reason why the last tl_new of this thread returned NULL. */
const char *tl_config_error(void);
/* Frees it with all its code. No compiled code of it may be running. */
void tl_free(tl_vm *vm);
/*
** Why a call on this vm failed last: one sentence, valid until the next call. It stays while calls succeed.
*/
const char *tl_last_error(const tl_vm *vm);

/* Checking. With TL_FLAG_CHECK each call looks whether it fits what was said before and what memory holds
** now. What does not is a misuse as any other (a status or 0, a sentence, a recording that has failed); the
** sentence is written to standard error too. It is for authors of hosts: recordings take some times as long,
** compiled code is the same. Beside what is always looked at, it finds
** - handles that were freed, calls by a function that the library is calling, and by two threads at once;
** - slots that do not hold what was recorded, at two resume points in a row or when a loop closes; stores
**   that the interpreter has not made; guards that fail at once; items out of bounds; immutable cells that
**   change;
** - loads from memory of slots that the trace has written, which is old while code runs;
** - slots read as another type than memory holds, or after `live` has called them dead; `live` with bits
**   beyond its slots, or with others than before for the same words;
** - side traces that begin with other frames than their exit has;
** - if tl_check_stack has told where the host's stack is: frames outside of it, and tl_next in another frame
**   than the last exit's innermost one.
** The interpreter must run while it records: memory is compared with what was recorded so far.
*/
/* How many calls broke a rule so far: a test of a host asserts that it is 0. Counts without TL_FLAG_CHECK,
** too. */
uint64_t tl_misuses(tl_vm *vm);
/* Frames' slots lie from `low` up to and without `high`; told again when they move; NULL twice: anywhere.
** With TL_FLAG_CHECK an exit whose slots lie elsewhere writes nothing, and answers TL_EXIT_REFUSED. */
tl_status tl_check_stack(tl_vm *vm, const void *low, const void *high);

/* ----------------------------------------------------------------------------------------------------------
** Describing the host. All before the first recording: what comes later fails, and so does a recording in
** progress. Names are those of the text form in logs: not empty, UTF-8, and different from others of the same
** kind.
*/

/* A dynamic type: its bits in memory and the type of its payload (TL_VOID: the tag is the whole value). Where
** slots have tags, no two tags have the same bits, and the bits fit a slot's tag. */
tl_tag tl_add_tag(tl_vm *vm, const char *name, uint64_t bits, tl_type payload);

/* Frame slots: `stride` bytes each (at most 4096), an 8-byte payload and, beside it, a tag of `tag_width`
** bytes (0: slots are untagged). Once, like tl_set_frame_words. */
tl_status tl_set_slots(tl_vm *vm, uint32_t stride, uint32_t payload, uint32_t tag_offset, uint32_t tag_width);

/* Slots of one word of 8 bytes that holds tag and payload together, as NaN boxing and tagged pointers do; in
** place of tl_set_slots. tl_slot_read, tl_slot_write and tl_slot_known are used as with others: they record
** what takes a word apart and puts it together. Reading tests the tag, and so is a guard. No units. */
tl_status tl_set_word_slots(tl_vm *vm, uint32_t stride, uint32_t offset);
/* How a word holds a value with a tag. It has the tag if its bits under `mask` are `low` to `high`, compared
** without sign. The payload's bits are the word less `bias`, shifted to the left by `left` and back, with the
** sign, by `right`; `left` is at most `right`, and both are 0 for floats. A tag without a payload is the word
** `low`, which `high` equals. For example,
**   an integer of 32 bits below a tag of 16:  {~0, T << 48, T << 48 | 0xffffffff, T << 48, 0, 32, 32}
**   a pointer of 48 bits below a tag of 16:   {~0, T << 48, T << 48 | 0xffffffffffff, T << 48, 0, 0, 0}
**   a float as it is, from 0 up to the tags:  {~0, 0, LAST, 0, 0x7ff8000000000000, 0, 0}
**   an integer of 63 bits above a zero bit:   {1, 0, 0, 0, 0, 0, 1}
**   a pointer with 1 in its lowest bits:      {7, 1, 1, 1, 0, 0, 0}
** The host guards that an integer fits before it is put into a word. */
typedef struct tl_word {
  uint64_t mask, low, high;
  uint64_t bias;
  uint64_t nan;            /* floats: the bits that each NaN is stored as */
  uint32_t left, right;
} tl_word;
tl_status tl_set_word(tl_vm *vm, tl_tag tag, const tl_word *word);

/* How many 64-bit words of its own the host keeps with each frame of a snapshot (1 to TL_MAX_WORDS). */
#define TL_MAX_WORDS 8
tl_status tl_set_frame_words(tl_vm *vm, uint32_t words);

/* An alias class: memory of different classes never overlaps. The same name gives the same class. */
tl_class tl_alias_class(tl_vm *vm, const char *name);

#define TL_SIGNED 1u       /* a narrow integer is sign-extended */
#define TL_IMMUTABLE 2u    /* never written once the object is made */
/* May change at any time from outside (by a signal handler, another thread): a load is made each time that
** the program comes to it, in each iteration, and never takes the place of another one. */
#define TL_VOLATILE 4u
/* As TL_VOLATILE, but for flags that tell a loop to stop some time soon: a guard of kind TL_EXIT_INTERRUPT
** may be made, and what it loads be loaded, in one of four iterations only. */
#define TL_POLLED 8u
/*
** A raw memory cell at `offset` (which may be negative) from an object or address; `width` in bytes, below 8
** for TL_INT only.
*/
tl_cell tl_add_cell(tl_vm *vm, const char *name, int32_t offset, uint32_t width, tl_type type, tl_class alias,
                    uint32_t flags);

/* A record layout of `size` bytes, at least 1; `class_word` and `class_value` recognize a real one (0: it has
** no class word, and tl_guard_class cannot be recorded). */
tl_layout tl_add_layout(tl_vm *vm, const char *name, uint32_t size, tl_cell class_word, uint64_t class_value);
/* A fixed field of a layout, lying in `cell`, which ends within the record's bytes. Fields that overlap have
** one alias class. */
tl_field tl_add_field(tl_vm *vm, tl_layout layout, tl_cell cell);

/* A field that holds a value with its tag, as slots do: the four views of its payload, and the tag. Its
** number is for tl_get_tagged and tl_set_tagged, and for nothing else. */
tl_field tl_add_tagged_field(tl_vm *vm, tl_layout layout, const tl_cell value[4], tl_cell tag);

/* How an item or entry holds a value: the four views of its payload (int, float, ref, addr) and its tag. */
typedef struct tl_element {
  uint32_t stride;     /* bytes from element to element */
  /* the payload as TL_INT, TL_FLOAT, TL_REF, TL_ADDR, in one alias class; offsets from the element */
  tl_cell value[4];
  tl_cell tag;         /* the tag; 0: untagged elements, all of type `untagged` */
  tl_type untagged;
  tl_tag absent;       /* the tag that means "nothing here"; 0: none */
} tl_element;
/* The indexed part: cells of the record with its count and the address of its first item; the first index. */
tl_status tl_set_items(tl_vm *vm, tl_layout layout, tl_cell count, tl_cell base, int64_t first,
                       const tl_element *element);
/* The keyed part: cells of the record with its size and the address of entry 0; key and key tag of an
** entry, whose cells can all be read where one can; the functions that find(context, layout, record, key) and
** insert(context, layout, record, key) an entry, both "airr>a"; find has no effects. */
tl_status tl_set_keys(tl_vm *vm, tl_layout layout, tl_cell size, tl_cell base, const tl_element *element,
                      tl_cell key, tl_cell key_tag, uint64_t key_tag_value, tl_func find, tl_func insert);
/* How far the entry that follows in a search lies after an entry, in entries; 0 if none does. For tables
** where a key is in the entry where it belongs, or in one of those that follow it, or nowhere;
** tl_guard_key_absent then takes hints. */
tl_status tl_set_key_next(tl_vm *vm, tl_layout layout, tl_cell next);
/* How a real one is made: alloc(context, layout, items, keys), "aiii>r", null when there is no memory. Code
** that makes an object real which it has kept virtual fills it right after this, without its barrier. */
tl_status tl_set_alloc(tl_vm *vm, tl_layout layout, tl_func alloc);
/* The same for objects that refer to slots of the frame, as closures that share its variables:
** alloc(context, frame base, layout, site, keys), "aaiii>r". The base is that which the trace was entered
** with, at exits too; `site` is what tl_new was given for items, a number that says something to the host
** only. The layout has no indexed part. The host sees to it that no such object is made after the slots have
** another owner: before a frame ends it asks tl_is_in_use, and passes the object to a call. */
tl_status tl_set_alloc_in_frame(tl_vm *vm, tl_layout layout, tl_func alloc);
/* Holds memory for exits: from its return until its next call for the same layout, items and keys, the
** layout's alloc and insert make `count` such objects at one exit, whatever the allocator says then. A
** count that is smaller than before lets memory go, and succeeds. Returns 0 if the memory is not there:
** code that may need it is not entered, and the library asks again before the next entry. It is asked
** again, too, when an exit has made such objects. */
typedef int (*tl_reserve)(void *context, tl_layout layout, uint32_t items, uint32_t keys, uint32_t count);
/* Without this, each object of the layout is made where the program makes it, and compiled code checks for
** lack of memory there; with it, objects that nobody else sees are never made, or at an exit only.
** `context` is passed on as it is. */
tl_status tl_set_reserve(tl_vm *vm, tl_layout layout, tl_reserve reserve, void *context);
/* The write barrier: a reference may be stored by compiled code unless both masks hit. */
tl_status tl_set_barrier(tl_vm *vm, tl_layout layout, tl_cell object, int64_t object_mask, tl_cell value,
                         int64_t value_mask);
/* What compiled code calls where both masks hit, before it stores: a function of signature "ar>v", of the
** context and the record. Without one it leaves the trace there each time, and the interpreter stores. Nobody
** may be able to tell whether the function was called too early or twice: it makes and collects nothing, and
** looks itself at what the masks test, since the code may remember that from before an earlier call. It
** declares what it writes that traces read; the cells that the masks test it may write without saying so. */
tl_status tl_set_barrier_call(tl_vm *vm, tl_layout layout, tl_func mend);

#define TL_EFFECT_READS_ALL 1u   /* may read memory of any alias class */
#define TL_EFFECT_WRITES_ALL 2u  /* may write memory of any alias class */
#define TL_EFFECT_ALLOCATES 4u   /* may make objects, without running the collector */
/* May run any code of the host's, as an interpreter that is called again. It stands for all effects at once:
** any memory may have been read and written, objects made, and the function may leave by longjmp, so that a
** loop without any guard may call it. Nothing that was known of memory before the call is known after it,
** immutable cells with numbers excepted. Only in a call by tl_host_call may it run the collector. */
#define TL_EFFECT_REENTERS 8u
/* A C function that traces may call. `signature`: one letter per parameter (i f r a), '>' and the result's
** letter or 'v', as "af>f". At most 6 integer or pointer and 8 float parameters. `reads` and `writes` list
** alias classes, ended by 0, or are NULL. No effects at all means pure. */
tl_func tl_add_func(tl_vm *vm, const char *name, const void *address, const char *signature, uint32_t effects,
                    const tl_class *reads, const tl_class *writes);

/* ----------------------------------------------------------------------------------------------------------
** Running
*/

/* Counters of back edges live in the host's memory, so that its fast path is one decrement and a test of
** the sign: a counter says how many back edges may pass before one calls. They must be zeros now, of which
** none is read or written: fresh memory of the system costs nothing until a loop uses it. Each loop uses the
** counter that its key hashes to; sharing is harmless. The library sets the counters from now on. Once, and
** before tl_add_counter. */
tl_status tl_set_counters(tl_vm *vm, int32_t *counters, uint32_t count);
/*
** Entries. A function that calls itself has no loop that could be recorded. What is hot is where it begins,
** and where it goes on after a call: an *entry*. A trace that begins at one ends at another one, by
** tl_record_link, in the frame of a function that it has called or of the one that has called it. There need
** be no code yet. So recursion becomes traces that follow one another in a circle, with frames on the host's
** stack alone. tests/capi/functions.c is a whole host; this is what it has more than one with loops only.
**
** Running. `f` is the function whose frame has its slots at `base`, and has a counter, 0 at first:
**
**     call:    make the callee's frame;  pc = at_entry(callee, its first instruction)
**     return:  back to the caller's;     pc = at_entry(caller, the instruction after its call)
**
**     at_entry(f, pc):
**       if (--f->counter >= 0) return pc;
**       if (!f->is_counted) f->is_counted = tl_add_counter(vm, &f->counter) == TL_OK;
**       tl_hot(vm, pc, &f->counter, base, &run)   -- and on as at a loop's head, to tl_run_code and tl_exit
**
** An exit gives frames, and the base that their places count from. The host finds its own record of the
** outermost one by that place: the code may have called and returned since it was entered. If tl_next has
** nothing after an exit of kind TL_EXIT_FINISH, the program has come to an entry without code: that counts as
** well.
**
** Recording. Where the program has called what the recording began with, or what has code (tl_has_loop), and
** the new frame lies `n` slots above the base that the code is entered with:
**
**     tl_resume_point(vm, entry_base, words, live, nslots);   -- of the callee's first instruction
**     place = tl_item_addr(vm, tl_frame_base(vm), tl_const_int(vm, n), slot_size, 0);
**     room = tl_load(vm, room_cell, tl_const_addr(vm, tl_room_cell(vm, pc)));
**     a guard (TL_EXIT_INTERRUPT) that the stack has room for `room` slots from `place` on
**     tl_link_frames(vm);
**     tl_store ...                                            -- what the host's own calls write of frames
**     tl_record_link(vm, pc);
**
** Where the outermost frame returns, to a caller `n` slots below it:
**
**     value = tl_slot_read(vm, result, tag);
**     guards that the caller goes on at this instruction, `back`, read from where the host keeps that
**     tl_frame_return(vm, -n);
**     tl_slot_write(vm, the register for the result, tag, value);
**     tl_resume_point(vm, entry_base, words, live, nslots);   -- of `back`, which is an entry
**     tl_record_link(vm, back);                               -- stores first, as above, if any are needed
**
** Another caller than the recorded one is an exit, which gets a side trace as others do. A trace that makes
** objects looks at the collector's debt itself, as no loop does it.
**
** tl_add_counter makes a counter of entries known: one for each function, wherever the host has it. It must
** be 0 or below now. Keys of entries are others than those of loops. TL_OK, also for one that is known, which
** it leaves alone; TL_MISUSE for what can be no counter. */
tl_status tl_add_counter(tl_vm *vm, int32_t *counter);
/* That counter will soon be gone; its keys were forgotten before (tl_forget). The library does not touch it
** from now on, and tl_hot does not know it. If it is none of those of tl_add_counter, nothing happens. */
void tl_drop_counter(tl_vm *vm, const int32_t *counter);

/*
** Compiled code as tl_hot and tl_next give it. The code may go on in other code of this vm before it comes
** back.
*/
typedef struct tl_left {
  uint64_t exit;            /* which exit of which code */
  void *base;               /* the slots that this exit's count from */
} tl_left;
typedef struct tl_run {
  tl_left (*enter)(void *context, void *base, const void *code);  /* called by tl_run_code */
  const void *code;
  uint32_t stack_slots;     /* slots above the frame base that an exit may write: secure them first */
  uint32_t frames;          /* frames beyond the current one that an exit may push: secure them first */
} tl_run;

/* Runs it, with the frame's slots at `base`; returns the exit taken, for tl_exit. If a host function that
** the code calls longjmps over it, the frame's slots are those of the entry, or of any exit or loop head
** since: right for an error that is caught further out, and for nothing else. */
static inline tl_left tl_run_code(const tl_run *run, void *context, void *base) {
  return run->enter(context, base, run->code);
}

typedef enum tl_action { TL_NOTHING = 0, TL_RUN = 1, TL_RECORD = 2 } tl_action;

/* `counter` fell below zero at the loop or entry whose key is `key` (the address of its bytecode, say), with
** the frame's slots at `base`. Sets the counter anew. TL_RECORD: call tl_record, or the loop counts as
** aborted. */
tl_action tl_hot(tl_vm *vm, const void *key, int32_t *counter, const void *base, tl_run *run);

/* tl_hot has just answered TL_RECORD for a loop that is over after few iterations, such that recording the
** loop `outer` around it, and this one as it runs, makes better code. 1: it is left to that one, do not
** call tl_record now; 0: record it, because the other one could not be recorded, or would take too long to
** compile. Loops that are left are counted as given up. */
int tl_leave_to(tl_vm *vm, const void *outer);

/* How far recordings should go, by measurements of several hosts' programs; the host decides. */
typedef struct tl_advice {
  uint32_t inner_edges;       /* a recording takes in so many jumps back of loops without code */
  uint32_t levels_out;        /* the loop around a loop is looked for in so many callers */
  uint32_t side_bytecodes;    /* a side trace that is longer finds no loop that has code */
  uint32_t ended_bytecodes;   /* from so many on tl_record_end is better than tl_record_abort */
  /* so many tl_aborts of a loop, and inner loops without an iteration are passed over */
  uint32_t passed_over_after;
  uint32_t choice_tests;      /* tests whose both ways are computed at once */
  uint32_t choice_cycles;     /* the longest of these ways */
} tl_advice;
const tl_advice *tl_get_advice(void);

/*
** How long the program will go on. A young program compiles little, as it may be over soon. Where tl_hot has
** answered TL_NOTHING and this answers 1, a host that runs counted loops may say of each one that is running,
** in any frame, how many iterations it has to come: it is known by any address, the same each time. A host
** that says nothing loses nothing but time at the start.
*/
int tl_asks_ahead(tl_vm *vm);
void tl_foresee(tl_vm *vm, const void *counted, uint64_t left);

/*
** The host does not call the code that tl_hot has just given, for want of stack, frames or whatever else; for
** statistics.
*/
void tl_declined(tl_vm *vm);
/*
** `counter` fell below zero at a time when the host can neither run code nor record: counts the back edges
** and sets it.
*/
void tl_tick(tl_vm *vm, int32_t *counter);
/*
** The host wants to be asked again after so many more back edges, if not before: makes the counter fall below
** zero then. For hosts with code of their own that is not worth making at once.
*/
void tl_look_after(tl_vm *vm, int32_t *counter, uint32_t back_edges);
/* How many back edges of the loop `key` the interpreter has taken, as of the last tl_hot of that loop; or
** entries of the function. */
uint64_t tl_back_edges_of(tl_vm *vm, const void *key);

typedef enum tl_exit_kind {
  TL_EXIT_GUARD = 0,       /* a guard failed */
  TL_EXIT_LOOP_END = 1,    /* the loop is over */
  TL_EXIT_COLLECT = 2,     /* the host's collector wants to run: see below */
  TL_EXIT_INTERRUPT = 3,   /* the host's interrupt flag is up */
  TL_EXIT_FINISH = 4,      /* the trace ended */
  TL_EXIT_REFUSED = 5,     /* the entry's types did not match: nothing happened, no frames are given */
  TL_EXIT_ASSUMED = 6      /* of guards only: what the host took for unchanging has changed. Where that is
                           ** often so the code is entered no more but recorded anew; the exit is a guard's */
} tl_exit_kind;

/* Collections. Compiled code and tl_exit allocate, but never collect. A loop that makes objects therefore
** looks at the collector's debt once per iteration: the host records that as a guard of kind
** TL_EXIT_COLLECT. What it may rely on: a compiled loop that may allocate (by a call with
** TL_EFFECT_ALLOCATES or TL_EFFECT_REENTERS) keeps the guard. Where nothing is allocated, but was when the
** loop was recorded, the guard no longer looks at the debt: it fails once in some ten milliseconds, so
** that a program that waits for a finalizer or a weak reference does not wait for ever. From other loops
** the guard is removed; whoever wants to stop a loop for another reason records a guard of kind
** TL_EXIT_INTERRUPT. What the host must do: look at the debt after every tl_exit, whatever its kind, as
** the exit itself may have made objects; and after an exit of kind TL_EXIT_COLLECT without debt do a step
** of its collector, if it has anything that a program can wait for. */

typedef struct tl_frame {
  int32_t base;                  /* slots from tl_exit_info's base to this frame's */
  uint64_t words[TL_MAX_WORDS];  /* the host's words, as they were recorded */
} tl_frame;

typedef struct tl_exit_info {
  tl_exit_kind kind;
  uint32_t nframes;              /* outermost first */
  const tl_frame *frames;        /* valid until the next tl_exit */
  /* What the frames' bases count from: the entry frame's slots, or, if side traces were linked to loops in
  ** other frames, those of the frame that the last of these loops was entered in. frames[0] is this frame,
  ** or a caller of it, if its base is below 0: then the code has returned from the frames above. */
  void *base;
  const void *owner;             /* of the tree that was left; see tl_record_owner */
  /* A unit was left (see "Units"): so many of the first frames are its callers'. Then of each caller the last
  ** frame and the next one's first one are the same frame: the former says how it was called, the latter what
  ** it goes on with. */
  uint32_t outer;
} tl_exit_info;

/* Compiled code returned `left`: restores the slots of all frames and says where to go on. It cannot fail; it
** is called once for each tl_run_code, or else it answers TL_EXIT_REFUSED and does nothing. */
void tl_exit(tl_vm *vm, tl_left left, void *context, tl_exit_info *info);

/* What to do after the exit that tl_exit has just restored, for hosts that record side traces: TL_RUN:
** run the code in the innermost frame, whose slots are at `base`, when the stack and frames that it asks for
** are there; TL_RECORD: record a side trace from here, with tl_record_side; TL_NOTHING: go on
** interpreting. Collect first when that is due: code that runs after an exit does not look. Exits of
** kinds other than guard, loop end and finish lead nowhere. */
tl_action tl_next(tl_vm *vm, const void *base, tl_run *run);
/* Whether the loop `key` has code, at whose head a side trace may end. */
int tl_has_loop(tl_vm *vm, const void *key);
/* The recording has come to the head `key` of a loop. 1: the loop has code, and a side trace ends there.
** 0: it goes on. A side trace takes in some iterations of a loop that the tree's first trace has met, unless
** `is_long` says that many follow now. A host may ask this of each instruction. */
int tl_goes_on_at(tl_vm *vm, const void *key, int is_long);
/* Whether code of that loop takes the slots at `base` as they are now. If not, as a variable gets its type in
** the first iteration, say, a side trace does well to go on for one iteration before it ends there. */
int tl_loop_fits(tl_vm *vm, const void *key, const void *base);
/*
** Memory for code that the host has made itself, of a baseline compiler say: never writable and executable
** at once. The code is copied, and lies where the answer says until it is freed by its number, which `id`
** gets; it must not depend on its place. NULL if there is no room, up to `code_bytes` beside what the
** library's own code takes, or the system refuses. From the first such code on the library compares its own
** code with the host's, and no longer with an interpreter, when it estimates what compiling gains.
*/
const void *tl_host_code(tl_vm *vm, const void *code, size_t size, uint32_t *id);
/* None of it may run any more. */
void tl_host_code_free(tl_vm *vm, uint32_t id);
/* The host could make no code where it should have had some: the statistics count it as refused. */
void tl_host_code_refused(tl_vm *vm);
/* Where compiled code can read, in 8 bytes, how many slots from its base the code of the location `key` may
** need: see tl_record_link. There need be no such code yet. */
const uint64_t *tl_room_cell(tl_vm *vm, const void *key);

/* Keys from `low` up to and without `high` are no longer valid (the function was freed): frees their code.
** They may come again, as those of another function. Code of other keys that has taken the function in is for
** the host to forget as well. */
void tl_forget(tl_vm *vm, const void *low, const void *high);

/* Changes a setting on the way: "threshold=N", "side-threshold=N", or passes as in tl_config. Code that there
** is stays as it is. */
tl_status tl_set_option(tl_vm *vm, const char *text);

/* ----------------------------------------------------------------------------------------------------------
** Recording: one at a time per vm.
**
** For each bytecode about to be executed the host calls tl_resume_point and then says what it does. Where a
** guard fails the interpreter does the whole bytecode again, so that all guards come before the first effect:
** a guard after an effect fails the recording (misuse).
**
** - Guards, beside tl_guard: TL_INT_ADD_OVF and its kin, TL_FLOAT_TO_INT_EXACT; tl_guard_class;
**   tl_new_record, which may find no memory; tl_get_item, tl_set_item, tl_put_item, tl_get_key, tl_set_key,
**   tl_insert_key, tl_guard_key_absent, tl_get_tagged; tl_try_call; tl_decode, and tl_slot_read where slots
**   are words; tl_set and tl_set_tagged of a reference, in a layout with tl_set_barrier and without
**   tl_set_barrier_call.
** - Effects: tl_store, tl_set and all others that write, tl_store_slots, calls of functions that have some.
** - Neither: reading slots, constants, tl_load, tl_get, pure operations, tl_mend. Nor tl_slot_write: exits
**   write slots, as they were before the bytecode. Nor what is written into a record that the same bytecode
**   has made: a constructor may make a record and fill it, with guards in between.
** - Both: tl_set_item, tl_put_item, tl_set_key and tl_insert_key. Of other records there is one of these in a
**   bytecode. One that writes more gives each its own resume point, with words that say how far it is; or
**   calls a function that does it all.
*/

/* Starts a recording at the loop or entry `key`, whose frame has its slots at `base`. */
tl_status tl_record(tl_vm *vm, const void *key, const void *base);
/* 1 while the recording is alive, 0 when there is none or it has failed (tl_record_close or
** tl_record_abort must still be called and give the reason). */
int tl_recording(const tl_vm *vm);

/* The bytecode that is next: if a guard fails from here on, the interpreter goes on with it. `base` is
** where the entry frame's slots are now; `words` the current frame's words; bit n of `live` says whether
** the current frame's slot n (of `nslots`) is live. The frame has so many slots at least: further ones may
** be written, but not read. All three are copied. */
void tl_resume_point(tl_vm *vm, const void *base, const uint64_t *words, const uint8_t *live,
                     uint32_t nslots);

/* The current frame calls: its slots from now on count from `base` slots above the current frame's base; all
** frames lie in one stack, within 65536 slots. When the callee returns the caller goes on at `words` with
** `live` (of `nslots`), which leaves out the slots that the results will go to. What the callee finds in its
** slots, its arguments say, is written after this call. The next guard comes after the next tl_resume_point.
** */
void tl_frame_push(tl_vm *vm, int32_t base, const uint64_t *words, const uint8_t *live, uint32_t nslots);
/* The code may be entered only where the stack has so many slots from the entry frame's base: tl_run, and the
** cell of tl_room_cell, tell the highest number. Where a call wants more room than its frame has slots, so
** that it overflows the stack where it does without the code. */
void tl_needs_slots(tl_vm *vm, int32_t slots);
/* The current frame, which was pushed, returned; its slots are forgotten. */
void tl_frame_pop(tl_vm *vm);
/* In a recording that began at an exit or an entry: the outermost frame returned to its caller, whose base
** lies `base` slots from that frame's: a negative number, or 0 if the caller has nothing below it. The host
** has recorded guards before that this caller is the one; memory still has the frame that returned. Results
** are written after this call; the caller's other slots from where its callee's began are dead. Nobody has
** looked at those below before the trace was entered, so that the host reads each from memory itself, under
** guards, and says so by tl_slot_known, before it uses tl_slot_read. */
void tl_frame_return(tl_vm *vm, int32_t base);
/* How many frames are pushed. */
uint32_t tl_frame_depth(const tl_vm *vm);

/* What the host knows the tree by whose loop is being recorded; it is given back by each exit of the tree. */
void tl_record_owner(tl_vm *vm, const void *owner);

/* Whether nothing was written since the last resume point, neither memory nor slots: guards may be recorded,
** and calls of the host. */
int tl_may_guard(tl_vm *vm);

/* The value of a slot of the current frame, which now holds `tag` (0 for a tag without a payload). In a
** called frame, negative numbers are slots of its callers; there are none below the entry frame's. */
tl_value tl_slot_read(tl_vm *vm, int32_t slot, tl_tag tag);
/* After tl_frame_return: whether a slot of the current frame was written, or is known. */
int tl_slot_is_known(tl_vm *vm, int32_t slot);
/* After tl_frame_return or tl_host_call: memory holds this in a slot that was not known, or was forgotten. */
void tl_slot_known(tl_vm *vm, int32_t slot, tl_tag tag, tl_value value);
/* Whether a slot of the current frame was forgotten by tl_host_call, and neither written nor known since: 0
** if not, 1 if so; 2 if so, and it must be known before tl_record_close, since the loop knew it at its head.
*/
uint32_t tl_slot_is_forgotten(tl_vm *vm, int32_t slot);
/* The slot now holds that value (0 for a tag without a payload). Writes no memory. */
void tl_slot_write(tl_vm *vm, int32_t slot, tl_tag tag, tl_value value);

tl_value tl_const_int(tl_vm *vm, int64_t value);
tl_value tl_const_float(tl_vm *vm, double value);
/*
** The host keeps the object alive while the trace lives, or as long as a guard before each use of the
** constant holds.
*/
tl_value tl_const_ref(tl_vm *vm, const void *object);
tl_value tl_const_addr(tl_vm *vm, const void *address);
/* The nth object of a layout that this recording makes, from 0, those first that the exit has left behind
** which a side trace begins at; and its site, or its room for items. 0 if there are not so many. */
tl_value tl_nth_made(tl_vm *vm, tl_layout layout, uint32_t n, uint32_t *items);
/* Whether this recording makes the object. */
int tl_is_made(tl_vm *vm, tl_value object);
/* The room for keyed entries that a record is made with, and the host's bits; TL_NO_ROOM if the recording
** does not make it. The second function has it made with another room. A host uses it when the record turns
** out to get more entries: the library then takes it for granted that they can be inserted. */
#define TL_NO_ROOM UINT32_MAX
uint32_t tl_key_room(tl_vm *vm, tl_value record);
void tl_set_key_room(tl_vm *vm, tl_value record, uint32_t keys);
/* Whether anything but slots from `slot` on, counted from the innermost frame's base, knows an object that
** this recording has made: a slot before it, or an operation other than those that write and read its own
** fields. */
int tl_is_in_use(tl_vm *vm, tl_value object, int32_t slot);
/* 1 and the number if the value is an integer constant, else 0. */
int tl_is_const_int(const tl_vm *vm, tl_value value, int64_t *number);
/* 1 and the address if the value is a constant reference, else 0. */
int tl_is_const_ref(const tl_vm *vm, tl_value value, const void **object);

/* The operations without payload, named as in the trace language; see docs/trace-language.md for each. */
typedef enum tl_op {
#define TL_OP(name, number) TL_##name = number,
#include "tracelift_ops.h"
#undef TL_OP
  TL_OP_LAST
} tl_op;
/* A pure operation; `b` and `c` are 0 where the operation takes fewer arguments. */
tl_value tl_op1(tl_vm *vm, tl_op op, tl_value a);
tl_value tl_op2(tl_vm *vm, tl_op op, tl_value a, tl_value b);
tl_value tl_op3(tl_vm *vm, tl_op op, tl_value a, tl_value b, tl_value c);
tl_value tl_context(tl_vm *vm);
tl_value tl_frame_base(tl_vm *vm);
/* base + index * stride + offset */
tl_value tl_item_addr(tl_vm *vm, tl_value base, tl_value index, uint32_t stride, int32_t offset);
/* A word, an integer, is guarded to have the tag that it has now: its payload, 0 if there is none. And the
** word of a value. For words in items, fields and cells; see tl_set_word. */
tl_value tl_decode(tl_vm *vm, tl_tag tag, tl_value word);
tl_value tl_encode(tl_vm *vm, tl_tag tag, tl_value value);
/* Raw memory. */
tl_value tl_load(tl_vm *vm, tl_cell cell, tl_value base);
void tl_store(tl_vm *vm, tl_cell cell, tl_value base, tl_value value);
/* A guard: TL_GUARD_TRUE and so on; `b` is the constant of TL_GUARD_VALUE, else 0. Each loop needs one at
** least, which can fail in any iteration: a test for interrupts (TL_EXIT_INTERRUPT of a TL_POLLED cell), say.
** */
void tl_guard(tl_vm *vm, tl_op op, tl_value a, tl_value b, tl_exit_kind kind);

/* Records. Each leaves the trace where docs/trace-language.md says so. */
/* The upper bits of the room for keyed entries are the host's own: who makes the record gets them as well. */
#define TL_HOST_BITS 0xff000000u
tl_value tl_new_record(tl_vm *vm, tl_layout layout, uint32_t items, uint32_t keys);
void tl_guard_class(tl_vm *vm, tl_layout layout, tl_value record);
tl_value tl_get(tl_vm *vm, tl_field field, tl_value record);
void tl_set(tl_vm *vm, tl_field field, tl_value record, tl_value value);
/* Both parts of a field of tl_add_tagged_field: its value, which has this tag now and is guarded to have it
** (0 for a tag without a payload); and its new value. */
tl_value tl_get_tagged(tl_vm *vm, tl_field field, tl_tag tag, tl_value record);
void tl_set_tagged(tl_vm *vm, tl_field field, tl_tag tag, tl_value record, tl_value value);
tl_value tl_item_count(tl_vm *vm, tl_layout layout, tl_value record);
/* `tag` is what the host sees there now; 0 in untagged layouts, and in no others. */
tl_value tl_get_item(tl_vm *vm, tl_layout layout, tl_tag tag, tl_value record, tl_value index);
void tl_set_item(tl_vm *vm, tl_layout layout, tl_tag tag, tl_value record, tl_value index, tl_value value);
void tl_put_item(tl_vm *vm, tl_layout layout, tl_tag tag, tl_value record, tl_value index, tl_value value);
/* `key` is a constant; `size` and `entry` say where the host sees it now (size UINT32_MAX: no hint). An
** entry is removed by setting it with the tag that the layout declares as absent, whatever other encodings
** of nothing the host has: where the next key goes may depend on it, so that objects are made before. */
tl_value tl_get_key(tl_vm *vm, tl_layout layout, tl_tag tag, tl_value record, tl_value key, uint32_t size,
                    uint32_t entry);
/* Here `entry` is where a search for the key begins now, and `followed` is how many it passes after that. */
void tl_guard_key_absent(tl_vm *vm, tl_layout layout, tl_value record, tl_value key, uint32_t size,
                         uint32_t entry, uint32_t followed);
void tl_set_key(tl_vm *vm, tl_layout layout, tl_tag tag, tl_value record, tl_value key, tl_value value,
                uint32_t size, uint32_t entry);
void tl_insert_key(tl_vm *vm, tl_layout layout, tl_tag tag, tl_value record, tl_value key, tl_value value);

/* Calls a described function. tl_try_call leaves the trace when the result, an object or address, is null. */
tl_value tl_call(tl_vm *vm, tl_func func, const tl_value *args, uint32_t nargs);
tl_value tl_try_call(tl_vm *vm, tl_func func, const tl_value *args, uint32_t nargs);
/* If the first argument, an integer, is not 0, which is seldom, calls a function with the context and the
** other arguments. For barriers that the host records itself: it is as tl_set_barrier_call says, but for the
** signature, which begins with 'a'. It is no effect: guards may follow. */
void tl_mend(tl_vm *vm, tl_func func, const tl_value *args, uint32_t nargs);

/* Calls of the host's own code, which may do anything: run the interpreter, collect, throw or yield by a
** longjmp across the compiled code, look at frames and slots, run and record other compiled code.
**
** `func` was declared with TL_EFFECT_REENTERS and a signature "aaa...>a": it is called with the context, the
** frame's base, the call site, and `args`. Before the call the code stores each slot that is live at the
** current resume point, where memory does not hold it yet; what the frames' words say the function writes
** into the host's records itself, as after an exit. `changed` are slots of the current frame that the call
** may change: those that its results go to, and those that closures may share. They are forgotten: before
** tl_slot_read the host reads each from memory, under guards, and says so by tl_slot_known. Other slots the
** function leaves alone, or it answers NULL.
**
** The function calls tl_call_begin before it does anything else, and tl_call_end when all is done. It returns
** any other pointer than NULL if the code is to go on. It returns NULL if it cannot: tl_call_end has said so
** (0); the host's stack or frames have not the room any more that the call site asks for; the frame's slots
** have moved; the host wants to be asked at each instruction; slots were changed that it had not named. The
** code is then left by an exit of kind TL_EXIT_INTERRUPT at the next resume point, which restores no slots;
** the frames' places count from where the base was when the code was entered.
**
** The next call of the recording is tl_resume_point in the same frame, for what comes after the call. The
** cells of slots are declared by tl_set_slot_cells. */
typedef struct tl_call_site {
  uint32_t nframes;         /* outermost first */
  uint32_t trace;           /* for tl_call_end */
  uint32_t stack_slots;     /* the room that must be there for the code to go on, counted as in tl_run; it */
  uint32_t more_frames;     /* may have grown during the call */
  tl_frame frames[1];       /* so many as nframes says, as in tl_exit_info; the base is the function's second
                            ** argument */
} tl_call_site;
void tl_host_call(tl_vm *vm, tl_func func, const tl_value *args, uint32_t nargs, const int32_t *changed,
                  uint32_t nchanged);
/* Counts a recorded call in the statistics under what it stands for, as "call of print". */
void tl_note_call(tl_vm *vm, const char *what);

/* ----------------------------------------------------------------------------------------------------------
** Units: functions as code that code calls, with arguments and result in registers, and without frames.
**
** tests/capi/units.c is a whole host.
**
** A unit is a function for arguments of certain tags. Its recording begins at the function's entry like that
** of an entry, and ends where it returns; its side traces end by a return as well. Its frame need not be in
** memory, nor those of its callers: the recording declares its arguments, and reads no other slot that it has
** not written. It makes no call by tl_host_call, and nothing of the frame's record is looked at. A side trace
** that begins where a callee has returned another tag than expected may read that result's slot, and only
** that: memory holds it (tl_set_slot_cells must have been called).
** Where such a function is called, by a unit or by other code, the host guards that it is this function, and
** pushes its frame as if it were to become part of the trace; then, at the callee's first instruction,
** tl_call_unit pops the frame again. The interpreter makes the call meanwhile: the recording is put aside as
** for tl_host_call, and goes on with the next resume point and tl_unit_returned.
** The interpreter enters a unit by a *gateway*: a recording of the function's entry that reads the arguments
** from their slots, calls the unit in its own frame (no frame is pushed), and ends at a return instruction.
** Where a unit is left, tl_exit_info has the frames of all callers; its `outer` says how many of the frames
** are theirs. A side trace is one of the unit's own frames: it begins at frames[outer], whose slots are the
** `base` of tl_record_side.
** How deep units call one another is for the host to say, by tl_unit_limit: each unit looks at its `end`
** before anything else whether the slots that it may need, those of its callee's frames included, end below
** that address, and leaves if not (a guard of kind TL_EXIT_INTERRUPT that the host records). The host sets
** the cell whenever it enters code: to the end of its stack, and no more slots above that frame than it has
** announced by tl_unit_depth. For these it has room on the native stack, and holds the records of frames
** that an exit may need: what that comes to for each slot is told beside the limit. A signal may set `end`
** to 0, to have all units left.
**
** Recording, in `f`, a call of `g` that has the value `x` for an argument, `n` slots above f's frame; the
** interpreter goes on at `back`, and finds the result in slot `r`:
**
**     unit = tl_find_unit(vm, entry_of_g, {{0, tag_of_x}}, 1);      -- 0: g is no unit, for such arguments
**     tl_frame_push(vm, n, back, live_but_r, nslots);
**     tl_slot_write(vm, 0, tag_of_x, x);
**     tl_resume_point(vm, entry_base, entry_of_g, live, nslots);
**     tl_call_unit(vm, unit, &x, 1, r, NULL, 0);
**     number = tl_record_aside(vm);                                 -- the interpreter makes the call
**     ...
**     tl_record_wake(vm, number);                                   -- it is back; 0: there is no recording
**     tl_resume_point(vm, entry_base, back, live, nslots);
**     result = tl_unit_returned(vm, the tag that slot r has now);
**
** tl_forget of a unit's function takes code of others along that calls it.
*/
typedef struct tl_limit {
  uint64_t end;            /* the host's; an address */
  uint32_t native_bytes;   /* of the native stack, for each slot that a call moves the base by, at most */
  uint32_t least_base;     /* slots that a call moves the base by, at least */
} tl_limit;
#define TL_NO_SLOT INT32_MIN

/* Starts the recording of a unit at the function whose entry is `key`. tl_unit_argument comes next, once for
** each slot, and then the first resume point. TL_ABORTED: a recording is in progress, or the function was a
** unit and is none any more, since it was left too often. */
tl_status tl_record_unit(tl_vm *vm, const void *key, const void *base);
/* The unit is given that slot with this tag; its value, 0 if the tag has no payload. */
tl_value tl_unit_argument(tl_vm *vm, int32_t slot, tl_tag tag);
/* The recording of a unit, or of a side trace of one, ends with the return of that. TL_ABORTED: there is no
** code. TL_AGAIN: nor is there, but only since the function does nothing for such arguments that is worth a
** call. */
tl_status tl_unit_return(tl_vm *vm, tl_tag tag, tl_value value);
/* The unit that the current recording belongs to, 0 if none. */
uint32_t tl_records_unit(tl_vm *vm);

typedef struct tl_argument {
  int32_t slot;
  tl_tag tag;
} tl_argument;
/* The unit for these arguments that can be called: it has code, or is the one that is recorded. 0: none. */
uint32_t tl_find_unit(tl_vm *vm, const void *key, const tl_argument *arguments, uint32_t count);
/* The function is to be a unit: what code its entry has is entered no more. */
void tl_drop_entries(tl_vm *vm, const void *key);
/* Whether the function has any unit with code. */
int tl_has_unit(tl_vm *vm, const void *key);
/* Calls it: `args` are those arguments that have a payload, in the order of tl_unit_argument. In a unit
** the callee's frame lies above the caller's, or the limit would never be reached. `slot` is where the
** interpreter puts the result, counted from the caller's base, or TL_NO_SLOT. `changed` are slots that the
** callee may write, as for tl_host_call. */
void tl_call_unit(tl_vm *vm, uint32_t unit, const tl_value *args, uint32_t nargs, int32_t slot,
                  const int32_t *changed, uint32_t nchanged);
/* What it has returned has this tag now, and is guarded to have it; 0: any tag, and it is put into its slot.
** Its value. */
tl_value tl_unit_returned(tl_vm *vm, tl_tag tag);
tl_limit *tl_unit_limit(tl_vm *vm);
/* Before the first unit is recorded, and whenever it grows; at most 2^20 slots. No code runs. TL_ABORTED:
** there is no memory for that. */
tl_status tl_unit_depth(tl_vm *vm, uint32_t slots);

/* Calls that may be open: tl_call_begin and tl_call_end keep the list, for whose sake code is not freed while
** it is on the native stack. It lives as long as the vm. */
#define TL_MOST_CALLS 400
typedef struct tl_calls {
  uint64_t epoch;
  uint32_t depth;
  uint32_t until_timed;
  uint32_t timed_depth;
  uint32_t has_overflowed;
  uintptr_t open[TL_MOST_CALLS];
} tl_calls;
tl_calls *tl_get_calls(tl_vm *vm);
uint64_t tl_call_begin_slowly(tl_vm *vm, const void *stack);
int tl_call_end_slowly(tl_vm *vm, const tl_call_site *site, const void *stack, uint64_t epoch);

/* `stack` is some address in the function's own frame on the native stack, the same for both. A call that
** ends by longjmp has no tl_call_end. Gives what tl_call_end takes. */
static inline uint64_t tl_call_begin(tl_vm *vm, tl_calls *calls, const void *stack) {
  uint32_t depth = calls->depth;
  if (--calls->until_timed == 0 || depth == TL_MOST_CALLS
      || (depth > 0 && calls->open[depth - 1] <= (uintptr_t)stack))
    return tl_call_begin_slowly(vm, stack);
  calls->open[depth] = (uintptr_t)stack;
  calls->depth = depth + 1;
  return calls->epoch;
}

/* Returns 0 if the code must be left. */
static inline int tl_call_end(tl_vm *vm, tl_calls *calls, const tl_call_site *site, const void *stack,
                              uint64_t epoch) {
  uint32_t depth = calls->depth;
  if (epoch != calls->epoch || depth == 0 || calls->open[depth - 1] != (uintptr_t)stack
      || calls->timed_depth == depth)
    return tl_call_end_slowly(vm, site, stack, epoch);
  calls->depth = depth - 1;
  return 1;
}

/* The cells of a slot, counted from its address: the payload by tl_type (int, float, ref, addr), and the tag
** (0 where slots have none). In a description, after tl_set_slots. */
tl_status tl_set_slot_cells(tl_vm *vm, const tl_cell value[4], tl_cell tag);
/* Stores each slot that is live at the current resume point where memory does not hold it yet, for a function
** (of tl_call) that looks at slots. It is an effect. */
void tl_store_slots(tl_vm *vm);
/* While the program is in a call that was recorded by tl_host_call: the recording waits, and others may begin
** meanwhile. Returns a number to wake it by, or 0 if there is none. When the call has come back
** tl_record_wake makes it the recording in progress again (1), or says that it is there no more (0). It is
** given up if another one is in progress. */
uint32_t tl_record_aside(tl_vm *vm);
int tl_record_wake(tl_vm *vm, uint32_t number);

/* The loop is back at its head: compile it. TL_OK: compiled, entered from the next back edge on (with
** TL_FLAG_THREAD later); TL_AGAIN: call tl_record again now; TL_ABORTED: given
** up for a counted reason. In each case the recording is over.
** A loop that nothing can leave, neither a guard nor a call that reenters the host, is refused. */
tl_status tl_record_close(tl_vm *vm);
/* Starts the recording of the side trace that tl_next asked for. `base` is where the entry frame's slots
** are; for each further frame of the exit the host calls tl_frame_push before the first tl_resume_point.
** Slots of all these frames may be read. */
tl_status tl_record_side(tl_vm *vm, const void *base);
/* The recording passes a jump back to the head `key` of a loop, and goes on there; statistics count an
** iteration. `is_around`: whether that loop is one around the loop that the tree begins with (tl_tree_key).
** Where the loops of a nest are in each other's way the inner one gives way, if this is told. */
void tl_back_edge(tl_vm *vm, const void *key, int is_around);
/* The recording passes by the loop `key`, or leaves it. If it has not jumped back to its head the loop had no
** iteration this time, and the recording of a loop around it is thrown away, a few times: the next one may
** have some. */
void tl_loop_skipped(tl_vm *vm, const void *key);
/* The key of the loop or entry that the tree begins with which is being recorded; NULL outside recordings. */
const void *tl_tree_key(tl_vm *vm);
/* A recording has come to the location `key`, a loop's head or an entry (its own, too), and tl_resume_point
** was called there: compile it. The code there runs next; as long as there is none, the end of the trace is
** an exit, and tl_next says what to do. Status as of tl_record_close, without TL_AGAIN. The code there runs
** in the current frame. If that is not the frame that the trace began in, because the trace has returned or
** called, the host's frames in memory must be made those that the trace ends in: first it records guards that
** what this needs is there, and, where the frame lies above the first one, that there is room for as many
** slots as tl_room_cell tells; then it calls tl_link_frames, and then it records stores. The slots are
** written by the code. If the loop refuses the entry, tl_exit reports an exit of kind TL_EXIT_FINISH with the
** frames of this trace. */
void tl_link_frames(tl_vm *vm);
tl_status tl_record_link(tl_vm *vm, const void *key);
/* The trace ends here, before something that cannot be recorded but goes on after it, at the resume point
** that was called last: it is compiled, entered as any other, and the interpreter takes over at its end.
** Worth the while where much was recorded. `reason` is counted, apart from those of recordings that were
** given up. Status as of tl_record_link. */
tl_status tl_record_end(tl_vm *vm, const char *reason);
/* Gives the recording up. `reason` is counted under this text in the statistics; keep it short and constant.
** If the recording had failed before, that is counted, and tl_last_error says it. One text has
** a rule of its own: after "short function" an entry waits 16 times longer for the next attempt. Say it of a
** function that has returned soon after its entry, where the recording began. */
void tl_record_abort(tl_vm *vm, const char *reason);

/* ----------------------------------------------------------------------------------------------------------
** Looking at machine code: for profilers, beside TL_FLAG_PERF_MAP, TL_FLAG_JITDUMP and TL_FLAG_GDB.
**
** A profiler of the host's notes addresses in a signal handler, where nothing here may be called, and asks
** what they are later. Code that was freed is known until other code lies there; what the host was told to be
** its words may have died with it.
*/

/* Whether a debugger or profiler is to be told of code: one of these flags, or TL_FLAG_CODE_MAP, is set. */
int tl_is_watched(tl_vm *vm);
/* A part of host code: offsets of its first byte and of the one after its last. */
typedef struct tl_code_span { uint32_t start, end; } tl_code_span;
/*
** What host code is called, and how to get from it to its caller on x86-64: the frame pointer is the
** caller's, who has pushed his own caller's there, and aligned the stack to 16 bytes before his call. In the
** spans, which are in order, the frame pointer holds the address where that one has been pushed.
*/
tl_status tl_host_code_note(tl_vm *vm, uint32_t id, const char *name, const tl_code_span *spans,
                            uint32_t count);

/* Kinds of code. */
#define TL_CODE_LOOP 0u     /* a trace that begins at a loop's head */
#define TL_CODE_ENTRY 1u    /* at an entry */
#define TL_CODE_SIDE 2u     /* a side trace */
#define TL_CODE_UNIT 3u     /* all traces of a unit */
#define TL_CODE_REGION 4u   /* a tree of traces as one function */
#define TL_CODE_GLUE 5u     /* what leads into traces, and out of them */
#define TL_CODE_HOST 6u     /* the host's own, if there is a note of it */
/* What is known of an address in code. */
typedef struct tl_code_info {
  uint32_t kind;            /* TL_CODE_... */
  uint32_t trace;           /* its number, or that of the root; UINT32_MAX for other code */
  const char *name;         /* valid until the next call */
  const void *start;        /* of the code */
  size_t size;
  void *owner;              /* as in tl_exit_info */
  const uint64_t *words;    /* of the innermost frame in the snapshot before that part of the code: as in
                            ** tl_frame. Valid until code is made or freed */
  uint32_t nwords;          /* 0: it is not known */
} tl_code_info;
/* What is known of an address, with TL_FLAG_CODE_MAP. Returns 0 if it is in no code. */
int tl_code_at(tl_vm *vm, const void *address, tl_code_info *info);
/* Where code may lie, as long as the vm lives; 0 before there is any. May be read at any time. */
typedef struct tl_code_bounds {
  volatile uintptr_t traces, traces_end;
  volatile uintptr_t host, host_end;
  volatile uint32_t compiling;   /* not 0: the library is compiling */
} tl_code_bounds;
const tl_code_bounds *tl_get_code_bounds(tl_vm *vm);

/* ----------------------------------------------------------------------------------------------------------
** Looking
*/

/* What people call a place of the program, for logs and statistics. The host's function writes
** "file:line function", with a NUL, into the `room` bytes at `name` and returns 1, or returns 0 for a place
** that it does not know. The place is that of a loop or an entry, if `key` is not NULL; else it is where a
** frame with these `words` (of tl_resume_point and tl_frame_push) goes on. NULL for `function`: there are no
** names any more, and what is told of is told by its key. */
typedef int (*tl_name_of)(void *data, const void *key, const uint64_t *words, char *name, size_t room);
tl_status tl_set_name_of(tl_vm *vm, tl_name_of function, void *data);

/* Warm start. What a run has learned of the program's places (which loops, entries and exits had code that
** has paid, what was tried in vain) serves the next one: what has paid is recorded after a few back edges,
** without waiting until there is time for compiling. These are hints: they change when something is recorded,
** and never what comes of it. Where tl_config sets a threshold they are learned and not used.
**
** The host names places by numbers that are the same in each run: a hash of what it has made of a function,
** and the place in it. The place is given as to tl_name_of; 0 is for one that has no name. The function is
** called as that of tl_set_name_of is. Two places with one name are as good as one.
**
** tl_give_hints takes bytes of an earlier run before the program runs. What is damaged, or another version's,
** is refused as a whole; the answer is TL_OK all the same, and the statistics say why. tl_take_hints gives
** the bytes for the next run, valid until the next call of it: what this run has learned, on top of `older`,
** which is what was given or what others have written since (or NULL, 0). NULL for a wrong call.
**
** tl_note_hint adds a hint of the host's own, by another name than those of places: say that a function was
** worth code of the host's. tl_has_hint: 1 if what has this name has paid in an earlier run, -1 if it was
** tried in vain, 0 if nothing is known, or hints are not used. */
typedef uint64_t (*tl_stable_name_of)(void *data, const void *key, const uint64_t *words);
tl_status tl_set_stable_name_of(tl_vm *vm, tl_stable_name_of function, void *data);
tl_status tl_give_hints(tl_vm *vm, const void *bytes, size_t size);
const void *tl_take_hints(tl_vm *vm, const void *older, size_t older_size, size_t *size);
void tl_note_hint(tl_vm *vm, uint64_t name);
int tl_has_hint(tl_vm *vm, uint64_t name);
/* The same with a file in a directory, which is made if its parent is there: TL_MISUSE if it can be none.
** A file that cannot be read or is damaged is refused as bytes are. Writing is done beside the file, which is
** then replaced, so that processes may share a directory; TL_MISUSE if it fails. */
tl_status tl_read_hints(tl_vm *vm, const char *directory);
tl_status tl_write_hints(tl_vm *vm, const char *directory);

/* What the host's own reasons (of tl_record_abort, and others) mean to whoever has written the program, for
** the summary and the view: for each a sentence, which is shown beside the reason. A row's `reason` may be
** the beginning of longer ones; the first row that fits counts. The rows live as long as the vm. */
typedef struct tl_meaning { const char *reason, *meaning; } tl_meaning;
tl_status tl_set_meanings(tl_vm *vm, const tl_meaning *rows, size_t count);

/* The statistics as JSON, or as text for people; NUL-terminated, valid until the next call on this vm. */
const char *tl_stats_json(tl_vm *vm);
const char *tl_stats_text(tl_vm *vm);
/* What of them helps whoever has written the program: what ran as machine code, what did not, and why. */
const char *tl_summary(tl_vm *vm);
/* Why the loop `key` is not compiled, or NULL when it is or was never tried. */
const char *tl_last_abort(tl_vm *vm, const void *key);
/* How often recordings of the loop `key` were given up. */
uint32_t tl_aborts(tl_vm *vm, const void *key);

/* A function of the program, for the view. Keys of its locations, and the first word of resume points and
** frames in it, are addresses of its instructions, or lie within one. */
typedef struct tl_view_info {
  const void *code;         /* its first instruction */
  const uint32_t *lines;    /* of each instruction; 0: not known */
  const uint32_t *loops;    /* pairs: indices of a loop's first instruction and of its last jump back */
  const void *source;       /* "@" and a file's name, "=" and another name, or else the text itself */
  const char *name;         /* what people call it; NULL: it has no name */
  size_t source_length;
  uint32_t count;           /* of instructions */
  uint32_t stride;          /* bytes of an instruction */
  uint32_t nloops;          /* of loops */
  uint32_t first_line;      /* 0: it is a whole file */
} tl_view_info;

/* Whether there is to be a view: TL_FLAG_VIEW. */
int tl_has_view(tl_vm *vm);
/* A function was loaded. All is copied. Files are read now, for the page to show what runs. It is gone with
** tl_forget, or when another one is told of that lies at the same place. */
tl_status tl_view_function(tl_vm *vm, const tl_view_info *info);
/* Writes the view: a page of HTML that stands alone, which says where the time went, what was not compiled
** and why, and shows sources, traces, exits with their counts, and machine code. A file whose name ends in
** ".json" gets the same as data. TL_MISUSE, and tl_last_error: it cannot be written. */
tl_status tl_view_write(tl_vm *vm, const char *path);

#ifdef __cplusplus
}
#endif
#endif
