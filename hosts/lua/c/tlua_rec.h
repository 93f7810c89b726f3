/*
** The recorder's own types, shared by its files.
**
** Problem: a recorder for a whole instruction set is too much for one file, and its parts need the same few
** services: read a register with its type, write one, say where the interpreter goes on, give up.
**
** Design: the files stand in an order in which each uses only those before it; below all of them are those
** of tlua_internal.h. A lowering function looks at the real values, which the instruction has not changed
** yet, to choose a path, records guards that keep compiled code on that path, and then the results. What they
** know of the interpreter's frames is tlua_callinfo.h. From the ground up:
**   what all need    tlua_rec_resume.c (where the interpreter goes on, giving up), tlua_rec_operand.c
**   closures         tlua_rec_made.c (which the recording makes), tlua_rec_spare.c (memory for objects that
**                    exits make), tlua_rec_upvalue.c, tlua_rec_share.c (those over registers),
**                    tlua_rec_closure.c
**   values           tlua_rec_number.c (arithmetic, comparisons), tlua_rec_metatable.c
**   ways             tlua_rec_choice.c (tests that only choose a number), tlua_rec_branch.c (all others)
**   frames           tlua_rec_frame.c (inlined functions), tlua_rec_exit.c (after compiled code),
**                    tlua_rec_meta.c (metamethods)
**   tables           tlua_rec_item.c (elements of arrays), tlua_rec_alloc.c (new ones), tlua_rec_key.c
**                    (keys that are known only when they are used), tlua_rec_table.c
**   instructions     tlua_rec_arith.c, tlua_rec_string.c, tlua_rec_test.c, tlua_rec_loop.c (numeric loops),
**                    tlua_rec_return.c (out of the first frame)
**   C functions      tlua_rec_lib_value.c (arguments and results), tlua_rec_lib_base.c, tlua_rec_lib_math.c,
**                    tlua_rec_lib_string.c, tlua_rec_cfunc_list.c, tlua_rec_cfunc.c (called as they are),
**                    tlua_rec_lib.c (which one it is)
**   calls            tlua_rec_nested.c (a test aid), tlua_rec_host.c (any function), tlua_rec_do.c (any
**                    instruction), tlua_rec_call.c, tlua_rec_iter.c (steps of generic loops)
**   the top          tlua_rec_ops.c (who lowers which opcode), tlua_describe.c (what the library is told),
**                    tlua_rec.c (the engine: events, entry and exit of compiled code)
**
** Invariant: in each lowering function reads come before guards, and guards before writes. An abort sets
** rec->at.reason, and nothing that was recorded for that instruction matters any more.
**
** Example, OP_UNM of an integer:
**   Operand b = tlua_rec_register(rec, GETARG_B(i));
**   tlua_rec_write(rec, GETARG_A(i), LUA_VNUMINT, tl_op1(rec->vm, TL_INT_NEG, b.value));
*/
#ifndef tlua_rec_h
#define tlua_rec_h

#include "tlua_callinfo.h"
#include "tlua_internal.h"
#include "tlua_places.h"
#include "tlua_schema.h"
#include "tlua_version.h"

#include "ldo.h"
#include "lopcodes.h"
#include "ltm.h"

#include "tracelift.h"

/*
** Blocks that tables with this room need, or closures made at this site, which stands for the items there;
** the memory held for exits is kept by such shapes. See tlua_rec_spare.c.
*/
enum { TLUA_PART_TABLE, TLUA_PART_NODES, TLUA_PART_ARRAY, TLUA_PARTS };
enum { TLUA_PART_CLOSURE, TLUA_PART_UPVALUES };
typedef struct TluaShape {
  tl_layout layout;
  uint32_t items, keys;
} TluaShape;
typedef struct TluaSpare TluaSpare;

/* Where a trace makes closures over registers: what they are, and whose registers they share. */
typedef struct TluaSite {
  Proto *p;                   /* of the closures */
  int base;                   /* of that frame, from the base that the trace is entered with */
  int upvalues;               /* how many they have */
  int shared;                 /* how many of them are registers */
} TluaSite;

/* Such a closure in a recording, as long as its registers are not closed. */
typedef struct TluaMade {
  tl_value closure;
  uint32_t site;
  int depth;                  /* of the frame */
  int highest;                /* the highest of the registers */
  int calls;                  /* of the host, before it was made; one after that has seen it if anybody can */
} TluaMade;

/* A recording makes no more of them that live at one time. */
#define TLUA_MOST_MADE 16

typedef struct TluaMades {
  TluaMade closures[TLUA_MOST_MADE];
  int count;
} TluaMades;

/* Records of frames that are held for exits. */
typedef struct TluaHeld {
  CallInfo *frames;
  int count;
  int wanted;                 /* so many are to be held */
  int is_wanted;              /* whether there is code that makes frames itself */
  uint32_t ahead;             /* so many were made last before that */
  int is_short;               /* whether that may have been left since there was no record for the next one */
} TluaHeld;

/* Where a thread of the system has its stack; see tlua_rec_depth.c. */
typedef struct TluaNative {
  const char *low, *high;
} TluaNative;

/* What calls of C functions need; see tlua_rec_cfunc.c. */
typedef struct TluaCalls TluaCalls;

/* A metatable that the recording has met: which it was, and what it is in the trace. */
typedef struct TluaMetatable {
  const Table *now;
  tl_value value;
} TluaMetatable;

/* Most metatables that a recording keeps in mind. */
#define TLUA_METATABLES 8

typedef struct TluaMetatables {
  TluaMetatable known[TLUA_METATABLES];
  int count;
} TluaMetatables;

/* Most frames of a recording. */
#define TLUA_FRAMES 16

/* Records that are held for an exit: 'pcall' may lie below each frame. */
#define TLUA_HELD (2 * TLUA_FRAMES)

/* Slots from its base that a unit may need: for its own frame, and for all that it calls and takes in. */
#define tlua_unit_needs(p) (4 * (p)->maxstacksize + 24)

/* Slots that units may call one another up to: at first, and where they do so again and again. */
#define TLUA_FIRST_DEPTH 1024
#define TLUA_MOST_DEPTH (1 << 19)

/* How often one prototype may stand on them: recursion is not unrolled further. */
#define TLUA_MOST_SAME 3

/* The same in a unit, which takes in calls with arguments of other types. */
#define TLUA_MOST_SAME_IN_UNIT 5

/*
** Who wants the results of a called function: a call instruction, the step of a generic loop, or an
** instruction with a metamethod, which wants a value for a register, a truth value for its jump, or nothing;
** or 'pcall', which a call instruction has called. Where C finishes a comparison after an exit, the jump is
** an instruction of its own.
*/
typedef enum TluaCaller { TLUA_CALLED, TLUA_ITERATOR, TLUA_PROTECTED, TLUA_META_VALUE, TLUA_META_TEST,
                          TLUA_META_LATE_TEST, TLUA_META_STORE } TluaCaller;

/* A frame during the recording; the first is the loop's own. */
typedef struct TluaFrame {
  TluaCaller caller;
  int target;                 /* the register that TLUA_META_VALUE is for */
  Proto *p;
  tl_value closure;           /* 0 in the loop's frame */
  int base;                   /* registers from the loop's frame */
  int function;               /* the caller's register with the function, where the results go */
  int reach;                  /* slots from the base that the trace is entered with which its call wants */
  int wanted;                 /* results, or LUA_MULTRET */
  unsigned status;            /* call status: TLUA_STATUS_* */
  int extra;                  /* variable arguments; not used in the loop's frame */
  int is_shared;              /* whether closures may share its registers */
  int is_known;               /* whether the trace knows which closure runs; see tlua_rec_upvalue.c */
  const Instruction *back;    /* where the caller goes on */
  Proto *called;              /* what 'pcall' was given; 'p' may be what that has left its frame to */
} TluaFrame;

/* The loop that is recorded; a side trace has none. */
typedef struct TluaLoop {
  const Instruction *head;    /* its first instruction */
  const Instruction *last;    /* its last one, the jump back that is farthest down */
  int is_only;                /* whether that is the only jump back to the head */
} TluaLoop;

/* Instructions that are lowered already; see tlua_rec_choice.c. */
typedef struct TluaPassed {
  const Instruction *first;   /* from here to 'join' */
  const Instruction *join;    /* NULL: none are */
} TluaPassed;

/* The outermost frame of a recording: the loop's, or, after a return in a side trace, one below. */
typedef struct TluaBottom {
  CallInfo *ci;
  Proto *owner;               /* the function of the tree's loop, with which the trace lives and dies */
  int below;                  /* so many calls before the frame that the trace is entered in, at its start */
  int has_returned;           /* whether the trace itself has returned to this frame */
  tl_value record;            /* the frame's record; 0: not looked for yet */
  tl_value caller;            /* its caller's, which is guarded */
} TluaBottom;

/* What calls by tlua_rec_host.c have left in a recording. */
typedef struct TluaHasCalled {
  int count;                  /* how many there were */
  int is_open;                /* whether the next instruction takes values up to a top that is not guarded */
  int is_step;                /* whether it is a generic loop's test, which the interpreter does not show */
  int has_returned;           /* whether a unit has returned what was not looked at */
} TluaHasCalled;

/*
** What is known of the recording; begin_trace of tlua_rec.c sets all of it. So many fields: what each part of
** the recorder knows lives and dies with it.
*/
typedef struct TluaTrace {
  lua_State *thread;          /* NULL: no recording */
  CallInfo *ci;               /* the frame of the instruction at hand */
  TluaBottom bottom;
  TluaFrame frames[TLUA_FRAMES];
  int depth;                  /* calls that are open */
  int is_side;                /* whether it begins after an exit or at an entry: then there is no loop */
  const Instruction *entry;   /* the entry that it begins at */
  int is_function;            /* whether that is a function's first instruction */
  int is_unit;                /* whether it belongs to a unit; see tlua_rec_unit.c */
  int is_side_of_unit;        /* whether it is a side trace of one */
  const Instruction *returned; /* where it has last returned to, if code may go on there */
  int returns;                /* returns from the outermost frame so far */
  TluaLoop loop;
  TluaPassed choice;
  uint32_t steps;             /* instructions so far */
  uint32_t edges;             /* jumps back to other loops so far */
  int is_long;                /* the loop that begins now has many iterations */
  int is_first_passed;        /* a side trace: the first iteration of a loop with code is part of it */
  int is_calling;             /* whether the next instruction is the first of a called function */
  int is_calling_fresh;       /* whether C lies between it and its caller in the interpreter */
  int is_calling_protected;   /* whether the record of 'pcall' does */
  int is_started;             /* whether an instruction was lowered */
  const Instruction *next;    /* where the lowered instruction goes on */
  TluaHasCalled called;
  TluaMetatables metatables;
  TluaMades made;
} TluaTrace;

/* A recording that waits for a call to come back. */
typedef struct TluaWaiting TluaWaiting;

/* Of calls from compiled code; see tlua_rec_host.c. */
typedef struct TluaHost {
  LClosure *nested;           /* a test aid, see tlua_rec_nested.c; NULL: none */
  int has_left;               /* whether the last one could not let the code go on */
  CallInfo *bottom;           /* then: the first frame of the trace */
  StkId base;                 /* and what the exit's frames count from now */
  int is_inside;              /* and whether the program goes on in the called function */
  unsigned made;              /* calls so far */
  tl_calls *calls;            /* the library's list of those that are open */
  TluaWaiting *waiting;       /* the latest first */
} TluaHost;

/* A value seen by an instruction: what it is in the trace, and what it is now. */
typedef struct Operand {
  tl_value value;             /* 0 when the tag is the whole value */
  tl_tag tag;
  int tt;                     /* tag byte */
  const TValue *now;
} Operand;

/* Values that an instruction sees at most, of those that lie nowhere as such. */
#define TLUA_MOST_SEEN 16

/*
** The instruction that is lowered; begin_instruction of tlua_rec.c sets all of it. So many fields: each is
** known as long as the instruction is at hand.
*/
typedef struct TluaInstruction {
  const Instruction *pc;
  Proto *p;
  TValue *k;
  StkId base;
  lu_byte row[64];            /* live registers, where they are not the instruction's own */
  int chain;                  /* tables that it was led to by '__index' and '__newindex' */
  int is_foreign;             /* whether it calls a C function that cannot be part of the trace, or ... */
  int is_outermost;           /* ... returns to where the recording cannot go on */
  int is_for_now;             /* whether it is given up since it will soon be done in another way */
  int waits;                  /* whether it calls one, and the recording goes on when that comes back */
  int ends_unit;              /* whether a unit returns this: */
  Operand result;
  TValue seen[TLUA_MOST_SEEN]; /* values that lie nowhere as such: elements of arrays of 5.5 */
  int seen_count;
  const char *reason;         /* why to give up; NULL: go on */
  char reason_text[64];       /* holds a reason that is not constant */
} TluaInstruction;

/* How many steps of 'next' remember where they are. */
#define TLUA_REMEMBERED 64

/*
** Three lifetimes: the first members live as long as the state, then the recording, then the instruction.
** So many fields: each of the first is what one file keeps from one recording to the next.
*/
typedef struct TluaRecorder {
  tl_vm *vm;                  /* NULL until it is needed */
  int has_failed;             /* whether it could not be made */
  const tl_advice *advice;    /* how far recordings should go */
  TluaSchema schema;
  int is_exact;               /* whether thresholds are, so that each entry of a function counts */
  const char *cache;          /* the directory with hints of earlier runs; NULL: there is none */
  int is_described;           /* whether the library knows the schema: from the first recording on */
  Proto *left;                /* the function of the loop in whose tree the last exit was; NULL: unknown */
  int returned;               /* from so many of its frames that exit has returned */
  TluaNative native;          /* the stack of the running thread of the system */
  tl_limit *limit;            /* what the library and the host tell one another of units */
  uint32_t unit_depth;        /* slots that units may call one another up to; 0: there are none */
  int room_wanted;            /* slots of the stack that code which makes frames has wanted so far */
  CallInfo *unit;             /* if a unit was left: the frame of its own that is outermost */
  TluaHeld held;
  TluaSpare *spares;          /* memory held for exits */
  TluaSite *sites;            /* where traces make closures; 0 is none */
  uint32_t site_count, site_room;
  TluaCalls *calls;
  TluaPlaces places;          /* functions that it has met */
  int is_exiting;             /* whether tl_exit is at work: only then is that memory given out */
  uint32_t steps[TLUA_REMEMBERED];  /* where steps of 'next' were last; see tlua_rec_iter.c */
  const Instruction *put_off; /* the loop that was last given up because a long array grew just then */
  TluaHost host;
  TluaTrace trace;
  TluaInstruction at;
} TluaRecorder;

#define running_frame(rec) (&(rec)->trace.frames[(rec)->trace.depth])

/*
** Where the registers of the frame are now that the trace is entered in: all others are counted from there.
*/
#define tlua_rec_origin(rec) ((rec)->trace.bottom.ci->func.p + 1 - (rec)->trace.frames[0].base)

/*
** Lowers the instruction 'i', which is the one at rec->at.pc: sets rec->trace.next, where the interpreter
** goes on, if that is not the instruction after it, or rec->at.reason. The rows of tlua_rec_ops.c say who
** lowers what.
*/
typedef void TluaLower (TluaRecorder *rec, Instruction i);

/* From here on the files stand in an order in which each uses only those before it. */

/* --- tlua_rec_resume.c --- */

void tlua_rec_give_up (TluaRecorder *rec, const char *reason);
/*
** From here on too the interpreter goes on with the instruction at hand: it must be able to do it again as a
** whole.
*/
void tlua_rec_resume_here (TluaRecorder *rec);
/*
** The interpreter goes on at that instruction; gives up if this leads back, but not to the recorded loop's
** head.
*/
void tlua_rec_go_to (TluaRecorder *rec, const Instruction *target);
/* The first instruction of the body of the loop that ends with that instruction. */
const Instruction *tlua_rec_body_of (const Instruction *loop);
/* Whether that is the head of the loop that is recorded, in its own frame. */
int tlua_rec_is_own_loop (const TluaRecorder *rec, const Instruction *head);
/*
** Whether another loop may begin in the recording; gives up if it has code of its own, which a side trace
** will lead to.
*/
int tlua_rec_may_begin_loop (TluaRecorder *rec, const Instruction *head);
/* Whether this is a side trace that may go on in the code of the loop with that head. */
int tlua_rec_can_link (const TluaRecorder *rec, const Instruction *head);
int tlua_rec_comes_to (TluaRecorder *rec, const Instruction *pc);
/* The key of an entry; loops may begin at the same instruction. */
#define tlua_entry_key(pc) ((const char *)(pc) + 1)
/*
** Whether the recording ends at the instruction at hand, since it is an entry whose code goes on: of a
** function that calls itself, or where one has returned to.
*/
int tlua_rec_ends_at_entry (const TluaRecorder *rec);
/* Whether the running function is not one that calls itself. */
int tlua_rec_may_unroll (const TluaRecorder *rec);
/* The program jumps back to the head of another loop. */
void tlua_rec_pass_edge (TluaRecorder *rec, const Instruction *head);

/* --- tlua_rec_operand.c --- */

int tlua_describe_tags (tl_vm *vm, TluaSchema *schema);
/* The type under which a payload with this tag byte is kept. */
tl_type tlua_payload (int tt);
/* The value with its tag, but without what it is in the trace; tag 0: given up. */
Operand tlua_rec_operand (TluaRecorder *rec, const TValue *now);
Operand tlua_rec_register (TluaRecorder *rec, int r);
Operand tlua_rec_constant (TluaRecorder *rec, const TValue *value);
/* The constant or register that argument C names, by flag k. */
Operand tlua_rec_register_or_constant (TluaRecorder *rec, Instruction i);
void tlua_rec_write (TluaRecorder *rec, int r, int tt, tl_value value);
void tlua_rec_write_operand (TluaRecorder *rec, int r, Operand o);
Operand tlua_rec_nil (TluaRecorder *rec);
/* Whether a value with that tag byte counts as false. */
int tlua_rec_is_false (int tt);
/* The running closure. */
tl_value tlua_rec_closure (TluaRecorder *rec);
/* The address of the outermost frame's registers, and of its record. */
tl_value tlua_rec_bottom_base (TluaRecorder *rec);
tl_value tlua_rec_call_info (TluaRecorder *rec);
/* Whether both are numbers of any kind. */
#define are_numbers(a, b) (novariant((a).tt) == LUA_TNUMBER && novariant((b).tt) == LUA_TNUMBER)
/* The number as a double. */
tl_value tlua_rec_as_float (TluaRecorder *rec, Operand o);
/* The number as an integer, under a guard that it is one; gives up if it is not one now. */
tl_value tlua_rec_as_integer (TluaRecorder *rec, Operand o, lua_Integer *now);
/* Comes before a store into a table or an upvalue. Tells the collector of the value, if it wants to know. */
void tlua_rec_barrier (TluaRecorder *rec, tl_value owner, int is_upvalue, Operand value);
int tlua_describe_barriers (tl_vm *vm, TluaSchema *schema);

/* --- tlua_rec_number.c --- */

/* The operation of an arithmetic or bitwise instruction, named as its metamethod is; TM_N: it is another. */
TMS tlua_rec_operation_of (OpCode op);
/* Where its operands stand: in registers, or one of them with the constants or in the instruction itself. */
typedef enum TluaForm { TLUA_REGISTERS, TLUA_CONSTANT, TLUA_SMALL, TLUA_SMALL_FIRST } TluaForm;
TluaForm tlua_rec_form_of (OpCode op);
/* The tag byte of its result, for two numbers. */
int tlua_rec_result_type (TMS operation, Operand a, Operand b);
/* It, of two numbers; gives up where that is an error now. 'is_constant': the second is not in a register. */
tl_value tlua_rec_operation (TluaRecorder *rec, TMS operation, Operand a, Operand b, int is_constant);
/*
** An operation that has a result for all numbers of these types: sums, differences, products; 'and', 'or'
** and exclusive 'or' of integers; shifts of integers by a constant, and floor division and remainder by one
** other than zero. Looks at values of constants only.
*/
tl_value tlua_rec_total_operation (TluaRecorder *rec, TMS operation, Operand a, Operand b);
/* '-' of a number with that tag byte, '~' of an integer. */
tl_value tlua_rec_unary_operation (TluaRecorder *rec, TMS operation, int tt, tl_value x);
/* The condition for 'a < b' or 'a <= b' of two numbers, exact for all. May record a guard. */
tl_value tlua_rec_number_order (TluaRecorder *rec, Operand a, Operand b, int or_equal);
/* The condition for equality without metamethods; 0 if the tags alone decide. */
tl_value tlua_rec_raw_equal (TluaRecorder *rec, Operand a, Operand b);

/* --- tlua_rec_made.c --- */

/* The site of closures of 'p' that share registers of the running frame; 0: no memory. */
uint32_t tlua_rec_find_site (TluaRecorder *rec, Proto *p);
const TluaSite *tlua_rec_site (const TluaRecorder *rec, uint32_t site);
void tlua_rec_free_sites (lua_State *L, TluaRecorder *rec);
/* The recording makes that closure, in the frame at this depth; NULL if the list is full. */
TluaMade *tlua_rec_add_made (TluaRecorder *rec, tl_value closure, uint32_t site, int depth);
/* The recording knows the closures too that the exit at which it begins has left behind. */
void tlua_rec_adopt_made (TluaRecorder *rec);
/* What is known of a closure that the recording makes; NULL once its registers are closed. */
const TluaMade *tlua_rec_made (const TluaRecorder *rec, tl_value closure);
/*
** The registers of the running frame from 'level' on are about to be closed, its slots from 'dead' on die:
** closures that share them are made if anything else, or a value of these, knows them. Returns whether there
** are such, or whether an upvalue is open that is none of the recording's closures.
*/
int tlua_rec_settle_made (TluaRecorder *rec, int level, int dead, const Operand *values, int count);

/* --- tlua_rec_upvalue.c --- */

TluaLower tlua_lower_get_upvalue, tlua_lower_set_upvalue;
/* Guards which closure that is; see tlua_fixed.c. Returns 0, without a guard, if it cannot be known. */
int tlua_rec_guard_identity (TluaRecorder *rec, tl_value closure, LClosure *now, tl_exit_kind kind);
/* The upvalue of the running closure. */
Operand tlua_rec_upvalue (TluaRecorder *rec, int n);
/* The object that the running closure has as that upvalue. */
tl_value tlua_rec_upvalue_object (TluaRecorder *rec, int n);

/* --- tlua_rec_choice.c --- */

/*
** The comparison at rec->at.pc may be one over a few instructions that only choose numbers: lowers all of
** it; returns 0 if not.
*/
int tlua_rec_choice (TluaRecorder *rec, int outcome, tl_value condition);
/* Whether it would: the condition has to be right then for all values of the operands' types. */
int tlua_rec_may_choose (TluaRecorder *rec);
/*
** Whether the interpreter is at an instruction that is lowered already; says what comes next then, or sets
** rec->at.reason.
*/
int tlua_rec_is_lowered (TluaRecorder *rec, const Instruction *pc);

/* --- tlua_rec_branch.c --- */

/*
** The test at rec->at.pc comes out as 'outcome' (0 or 1). 'condition' is the value that decides it, or 0 if
** the tags do.
*/
void tlua_rec_branch (TluaRecorder *rec, int outcome, tl_value condition);
/* The same, where code is to leave if it comes out otherwise. */
void tlua_rec_branch_by_guard (TluaRecorder *rec, int outcome, tl_value condition);

/* --- tlua_rec_metatable.c --- */

int tlua_describe_metatables (tl_vm *vm, TluaSchema *schema);
/* Guards that a reference to a metatable is null, or not, as it is now: 'now'. */
void tlua_rec_guard_metatable (TluaRecorder *rec, tl_value reference, const Table *now);
/* Where the hash part holds a key. */
uint32_t tlua_rec_node_index (Table *h, const TValue *slot);
/* Guards that the table, which is 'now' at present, has no value for a short string. */
void tlua_rec_guard_absent (TluaRecorder *rec, tl_value t, const Table *now, TString *name);
/* Whether the table has that metamethod now; 'event' is one of those with a mark for absence. */
int tlua_rec_has_metamethod (TluaRecorder *rec, Operand t, TMS event);
/* Guards that table 't' has no metamethod for the event; gives up and returns 0 if it has one now. */
int tlua_rec_guard_no_metamethod (TluaRecorder *rec, Operand t, TMS event);
/* The value's metamethod, or nil, under guards. Returns 0 if the recording is given up. */
int tlua_rec_metamethod (TluaRecorder *rec, Operand o, TMS event, Operand *method);

/* --- tlua_rec_frame.c --- */

/* Reads values that are to be moved to another frame; returns 0 if the recording is given up. */
int tlua_rec_read_values (TluaRecorder *rec, int first, int count, Operand *values);
/* Hands values on as results, of which so many are wanted. */
void tlua_rec_write_results (TluaRecorder *rec, int first, const Operand *values, int count, int wanted);
/* The Lua function in register 'a', or the '__call' of the table there, becomes part of the trace. */
void tlua_rec_call_function (TluaRecorder *rec, Operand function, int a, int arguments, int wanted);
/*
** The same in the place of the running function, in three steps: what is called, with its arguments (returns
** 0 if the recording is given up); the running frame is let go of, and its caller runs, whose frame the last
** step needs (the values are all that lives on, the function among them); the function becomes part of the
** trace, and that caller goes on where it would have.
*/
int tlua_rec_begin_tail_call (TluaRecorder *rec, Operand *function, int a, Operand *values, int *count);
TluaFrame tlua_rec_take_over (TluaRecorder *rec, int closes, const Operand *values, int count);
void tlua_rec_end_tail_call (TluaRecorder *rec, Operand function, const Operand *values, int count,
                             const TluaFrame *frame);
/*
** The same call, but of a unit: the frame is there for the state in which the callee begins. What closures
** may share with registers is put there if 'stores'. Returns 0 if the recording is given up.
*/
int tlua_rec_push_unit (TluaRecorder *rec, Operand function, int a, int count, int wanted, int stores);
/* The step of the generic loop at hand, whose registers begin at 'a', calls its Lua function. */
void tlua_rec_call_iterator (TluaRecorder *rec, int a, int wanted, const Operand *control);
/* The call instruction at hand, in register 'a', calls 'pcall' with a Lua function as its first argument. */
void tlua_rec_call_protected (TluaRecorder *rec, int a, int arguments);
/* Code may be entered only where the stack has room for a call of the function in C in that register. */
void tlua_rec_need_for_c (TluaRecorder *rec, int function, int arguments);
/* Calls a metamethod for the instruction at hand. */
void tlua_rec_call_metamethod (TluaRecorder *rec, Operand function, const Operand *arguments, int count,
                               TluaCaller caller, int target);
/* Back to the caller with these results. */
void tlua_rec_leave_frame (TluaRecorder *rec, const Operand *values, int count);
/* After the call of an iterator: the loop goes on with its results, or the recording is given up. */
void tlua_rec_iterated (TluaRecorder *rec, const Instruction *loop, Operand control);
/* The recording begins in the frames of an exit: tells the library of them. */
void tlua_rec_adopt_frames (TluaRecorder *rec, const tl_frame *frames, uint32_t count);

/* --- tlua_rec_foresee.c --- */

/* Tells the library, if it asks, what the counted loops around this instruction have to come. */
void tlua_rec_foresee (lua_State *L, TluaRecorder *rec, const CallInfo *ci, const Instruction *pc);

/* --- tlua_rec_pcall.c --- */

/* Whether 'function' is 'pcall', and its first argument, whose value is given, may be taken in. */
int tlua_rec_is_protecting (Operand function, const TValue *argument);
/* Whether the running function is called by 'pcall', directly or not: nothing may throw then. */
int tlua_rec_is_protected (const TluaRecorder *rec);
/* The recording is given up: what 'pcall' has called on its frames is not taken in again. */
void tlua_rec_refuse_protected (const TluaRecorder *rec);
/* The frame that has called this one, where 'pcall' may have a record between them. */
CallInfo *tlua_rec_caller_of (CallInfo *ci, int is_protected);
/* Fills in the record of 'pcall', which the instruction before the one where 'caller' goes on has called. */
void tlua_rec_make_pcall (CallInfo *ci, const CallInfo *caller, StkId top);
/* Runs the levels above what code was entered in to their ends, and takes them back. May throw and yield. */
void tlua_rec_finish_levels (lua_State *L, unsigned levels);

/* --- tlua_rec_exit.c --- */

/* Makes sure that so many frames above this one can be rebuilt; returns 0 if not. May collect. */
int tlua_rec_secure_frames (lua_State *L, CallInfo *ci, uint32_t frames);
/* Holds as many records of frames as an exit may need; returns 0 if not. Does not collect. */
int tlua_rec_hold_frames (lua_State *L, TluaRecorder *rec);
/* Gives them back: the state is closing. */
void tlua_rec_free_frames (lua_State *L, TluaRecorder *rec);
/*
** Makes the records of frames above 'bottom', which is the first of them, with registers counted from 'base';
** L->ci is the last one then, and the top is its words'. Neither fails nor collects.
*/
void tlua_rec_make_records (lua_State *L, TluaRecorder *rec, CallInfo *bottom, StkId base,
                            const tl_frame *frames, uint32_t count);
/* Rebuilds the interpreter's frames after an exit: L->ci is the one that goes on. Gives the outermost. */
CallInfo *tlua_rec_rebuild (lua_State *L, TluaRecorder *rec, const tl_exit_info *info);
/*
** After an exit: counts a level of C calls for each metamethod and iterator among the rebuilt frames above
** 'entry'. Returns how many.
*/
unsigned tlua_rec_enter_levels (lua_State *L, const CallInfo *entry);
/*
** Before a collection, after an exit of code that was entered in the frame 'entry': sets registers that
** nobody reads any more to nil, and the top to the first register above the last live one (but where an open
** instruction needs the one that it has).
*/
void tlua_rec_let_go (lua_State *L, CallInfo *entry);
/*
** The same before a call from compiled code, whose frames begin with 'bottom'; in the running one the called
** function is that register, which stays with all after it.
*/
void tlua_rec_let_go_in_call (lua_State *L, CallInfo *bottom, int function);

/* --- tlua_rec_meta.c --- */

/* The instruction after an arithmetic one that has failed. */
TluaLower tlua_lower_metamethod, tlua_lower_metamethod_constant, tlua_lower_metamethod_small;
/* The metamethod of a binary operation, called for the instruction at hand. */
void tlua_rec_binary_metamethod (TluaRecorder *rec, Operand a, Operand b, TMS event, TluaCaller caller,
                                 int target);
/*
** 't[key]' and 't[key] = value' where the trace knows that there is no such key, and there is a metamethod:
** calls it, or returns it if it is a table, which is to be asked instead (tag 0: it is not).
*/
Operand tlua_rec_ask_index (TluaRecorder *rec, int result, Operand t, Operand key);
Operand tlua_rec_ask_newindex (TluaRecorder *rec, Operand t, Operand key, Operand value);

/* --- tlua_rec_spare.c --- */

/*
** Memory for a part of a new object of that shape, from the state's allocator, or from what is held for the
** exit that is being made; NULL if there is none.
*/
void *tlua_rec_block (lua_State *L, const TluaShape *shape, int part);
/* Gives a block back to the allocator. */
void tlua_rec_free_block (lua_State *L, const TluaShape *shape, int part, void *block);
/* The library's demand for memory that exits may need; 'context' is the state's main thread. */
int tlua_rec_reserve (void *context, tl_layout layout, uint32_t items, uint32_t keys, uint32_t count);
/* Gives all of it back: the state is closing. */
void tlua_rec_free_spares (lua_State *L, TluaRecorder *rec);

/* --- tlua_rec_item.c, of each version --- */

/* The indexed part of tables, and what '#' makes of it. */
int tlua_describe_items (tl_vm *vm, TluaSchema *schema);
/* The element at an index of the array part, as it is now; NULL: the recording is given up. */
const TValue *tlua_rec_item_now (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now);
/* It, under a guard on its tag. The value is 0 where the tag is all. */
tl_value tlua_rec_load_item (TluaRecorder *rec, tl_value t, tl_value index, tl_tag tag);
/* Stores it, and tells the collector; without metamethods. */
void tlua_rec_store_item (TluaRecorder *rec, tl_value t, tl_value index, Operand value);
/* A new table with this room. */
tl_value tlua_rec_new_table (TluaRecorder *rec, uint32_t items, uint32_t keys);
/* Where an element's tag and value are. */
void tlua_rec_item_places (TluaRecorder *rec, tl_value t, tl_value index, tl_value places[2]);
/* '#t' without metamethods. */
tl_value tlua_rec_border (TluaRecorder *rec, tl_value t);
/* Whether a trace can insert a key that is absent: it has a node, or the table gets room for it. */
int tlua_rec_can_insert (TluaRecorder *rec, Operand t, const TString *key);

/* --- tlua_rec_alloc.c --- */

/* Describes the functions that make and fill tables, and the collector's account. */
int tlua_describe_alloc (tl_vm *vm, TluaSchema *schema, tl_func *insert, lua_State *main_thread);
TluaLower tlua_lower_new_table, tlua_lower_set_list;
/* Leaves when the collector has something to do. */
void tlua_rec_guard_no_debt (TluaRecorder *rec);

/* --- tlua_rec_key.c --- */

int tlua_describe_keys (tl_vm *vm, TluaSchema *schema);
/*
** 't[key]' where the key is neither a constant string nor an index of the array part. Its tag is 0 if the
** recording is given up; with TM_N no metamethod is asked for.
*/
Operand tlua_rec_find_entry (TluaRecorder *rec, Operand t, Operand key, TMS event);
/* These two return the table that is to be asked instead, as tlua_rec_ask_index does. */
Operand tlua_rec_get_entry (TluaRecorder *rec, int result, Operand t, Operand key);
Operand tlua_rec_set_entry (TluaRecorder *rec, Operand t, Operand key, Operand value);
/* 't[key] = value' by a call that may build the table anew; the trace knows that there is no '__newindex'. */
void tlua_rec_set_growing (TluaRecorder *rec, Operand t, Operand key, Operand value);

/* --- tlua_rec_table.c --- */

TluaLower tlua_lower_get_table, tlua_lower_set_table, tlua_lower_get_index, tlua_lower_set_index,
          tlua_lower_get_field, tlua_lower_set_field, tlua_lower_get_method, tlua_lower_length,
          tlua_lower_get_upvalue_field, tlua_lower_set_upvalue_field;
/* 't[key]' of a table, with any key. */
void tlua_rec_get_element (TluaRecorder *rec, int result, Operand t, Operand key);
/* 't[index]' where the array part has room for the index; its tag is 0 if the recording is given up. */
Operand tlua_rec_get_item (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now);
/* 't[index] = value' */
void tlua_rec_set_index (TluaRecorder *rec, Operand t, tl_value index, lua_Integer index_now, Operand value);
/* Whether the array part has room for the index. */
int tlua_rec_is_in_array (const Table *t, lua_Integer index);

/* --- tlua_rec_arith.c --- */

TluaLower tlua_lower_arith, tlua_lower_negate, tlua_lower_complement;

/* --- tlua_rec_string.c --- */

int tlua_describe_strings (tl_vm *vm, TluaSchema *schema);
TluaLower tlua_lower_concat;
/*
** The short string with these characters; NULL if there is none and no memory for one. Neither throws nor
** collects.
*/
TString *tlua_short_string (lua_State *L, const char *characters, size_t length);
/* The number as a (short) string. */
tl_value tlua_rec_number_string (TluaRecorder *rec, Operand number);

/* --- tlua_rec_share.c --- */

int tlua_describe_shared (tl_vm *vm, TluaSchema *schema, lua_State *main_thread);
/*
** A closure of 'p', which shares registers of the running frame; 0 if it cannot be made so, and then nothing
** was recorded.
*/
tl_value tlua_rec_make_shared (TluaRecorder *rec, Proto *p);

/* --- tlua_rec_closure.c --- */

int tlua_describe_closures (tl_vm *vm, TluaSchema *schema);
TluaLower tlua_lower_closure, tlua_lower_close;
/*
** Before the running function returns: guards that it has no variable to be closed, and, if so it is now,
** that none of its registers is an upvalue; returns whether some may be.
*/
int tlua_rec_guard_closes (TluaRecorder *rec);
/*
** Before the running function returns: its registers are no upvalues any more. The values live on.
*/
void tlua_rec_close_frame (TluaRecorder *rec, const Operand *values, int count);

/* --- tlua_rec_test.c --- */

TluaLower tlua_lower_compare, tlua_lower_compare_constant, tlua_lower_compare_small, tlua_lower_test,
          tlua_lower_test_set, tlua_lower_define;

/* --- tlua_rec_loop.c --- */

TluaLower tlua_lower_loop, tlua_lower_start_loop;
/* At the loop's head: its variable and its hidden index are one value. */
void tlua_rec_loop_variable (TluaRecorder *rec);

/* --- tlua_rec_return.c --- */

/* Describes the records of frames. */
int tlua_describe_frames (tl_vm *vm, TluaSchema *schema);
/*
** Before the outermost frame returns: guards that its caller is the one that it returns to now, and with
** 'closes' that it has nothing to close. Returns 0 if the recording is given up.
*/
int tlua_rec_guard_return (TluaRecorder *rec, int closes);
/* How many results its caller wants, or LUA_MULTRET. */
int tlua_rec_wanted_below (const TluaRecorder *rec);
/* The outermost frame returns, with these results. */
void tlua_rec_return_below (TluaRecorder *rec, const Operand *values, int count);
/*
** The outermost frame calls a function in its own place, after tlua_rec_guard_return: gives what its frame is
** to its caller.
*/
TluaFrame tlua_rec_give_way (TluaRecorder *rec, const Operand *values, int count);
/*
** Makes the frames in memory those of the trace, which ends at the resume point that was set last and goes on
** in the code of that location.
*/
void tlua_rec_make_frames (TluaRecorder *rec, const void *key);

/* The files of tlua_rec_lib.h and tlua_rec_cfunc.h stand here. */

/* --- tlua_rec_nested.c --- */

/* Makes the function; returns 0 if there is no memory. */
int tlua_rec_make_nested (lua_State *L, TluaRecorder *rec);
/* Calls it above the top, if it was made. The stack may move. */
void tlua_rec_run_nested (lua_State *L, TluaRecorder *rec);

/* --- tlua_rec_host.c --- */

int tlua_describe_host (tl_vm *vm, TluaSchema *schema);

/* A call by compiled code that has begun; its own place on the native stack is the call's. */
typedef struct TluaHosted {
  TluaRecorder *rec;
  const tl_call_site *site;
  CallInfo *bottom;
  StkId stack;
  StkId last;
  unsigned locals_set;
  uint64_t epoch;
  uint64_t limit;             /* of units, as it was before */
  l_uint32 levels;
} TluaHosted;

/*
** Makes the frames of the call site, the last of which runs. In some calls dead registers are cleared, so
** that nothing that they hold lives on: those of the running frame below 'kept', and all of the others.
*/
void tlua_rec_begin_call (lua_State *L, TluaHosted *call, StkId base, const tl_call_site *site, int kept);
/* What the function that compiled code has called answers. */
const void *tlua_rec_end_call (lua_State *L, TluaHosted *call);

/*
** Registers that a call may change, counted from the running frame. There is room for many. So the list is
** begun by tlua_rec_begin_changed: an initializer would clear all of the room.
*/
typedef struct TluaChanged {
  int32_t registers[TLUA_FRAMES * 64];
  uint32_t count;
  int is_full;                /* there were more: no call can be recorded */
} TluaChanged;

static inline void tlua_rec_begin_changed (TluaChanged *changed) {
  changed->count = 0;
  changed->is_full = 0;
}

void tlua_rec_add_changed (TluaChanged *changed, int r);
/* Whether a call may be recorded here. */
int tlua_rec_can_call (TluaRecorder *rec);
/*
** Records a call of one of our functions, which does what the instruction at hand does, at the resume point
** that was set last. The reason to give up, if there is one, is what the call is counted under. What closures
** may share with registers below 'kept' is changed too.
*/
void tlua_rec_host_call (TluaRecorder *rec, tl_func function, const tl_value *arguments, uint32_t count,
                         TluaChanged *changed, int kept);
/*
** The function in register 'a' is called with so many arguments, which lie after it. If it cannot be nothing
** is done; else sets rec->at.waits, and what the recording was to be given up for does not count.
*/
void tlua_rec_call_host (TluaRecorder *rec, int a, int arguments, int wanted);
/* Whether the Lua function is called by the trace, and does not become part of it. */
int tlua_rec_is_called (TluaRecorder *rec, Proto *p);
/* The instruction at hand waits for what it has called. */
void tlua_rec_wait (lua_State *L, TluaRecorder *rec);
/* Whether the recording that waits for this instruction goes on. */
int tlua_rec_wake (lua_State *L, TluaRecorder *rec, CallInfo *ci, const Instruction *pc);
/* Recordings wait no more that waited in the running frame or above it. None may be in progress. */
void tlua_rec_forget_unwound (lua_State *L, TluaRecorder *rec);
/* Nobody waits any more on a thread, or at all if it is NULL. */
void tlua_rec_forget_waiting (lua_State *L, TluaRecorder *rec, const lua_State *thread);
/* After the resume point of an instruction that takes values up to the top: guards where that is. */
void tlua_rec_guard_top (TluaRecorder *rec);
/* At the loop's head, before it is closed: sees what calls may have changed. */
void tlua_rec_see_again (TluaRecorder *rec);

/* Registers below 'kept' of all frames that closures may share. */
void tlua_rec_add_captured (TluaRecorder *rec, TluaChanged *changed, int kept);
/* A unit was called by the instruction at hand, which waits for it. */
void tlua_rec_unit_called (TluaRecorder *rec);

/* --- tlua_rec_unit.c --- */

/* What p->jit_unit says: from TLUA_NO_UNIT on the function is none, after so many attempts. */
enum { TLUA_NOT_ASKED, TLUA_UNIT_WANTED, TLUA_NO_UNIT = 4 };

/* Whether the closure's function could be a unit. */
int tlua_rec_may_be_unit (const LClosure *closure);
/* The recording has met a call of the function within itself: gives up if that could be a unit. */
int tlua_rec_becomes_unit (TluaRecorder *rec, LClosure *closure);
/*
** The function in register 'a' is called as a unit, if it is one for these arguments; returns 0 if not, and
** then nothing was recorded.
*/
int tlua_rec_call_unit (TluaRecorder *rec, Operand function, int a, int count, int wanted);
/* After the resume point that follows: what the unit has returned. */
void tlua_rec_take_result (TluaRecorder *rec);
/* At a unit's entry: leaves if no more units may be called, or if the program's hooks want their turn. */
void tlua_rec_guard_limit (TluaRecorder *rec);
/* The unit returns: sets rec->at.ends_unit, and what it returns. */
void tlua_rec_return_unit (TluaRecorder *rec, Instruction i);
/* The recording of a unit was given up. */
void tlua_rec_unit_failed (TluaRecorder *rec);
/* Whether the function that begins is to be a unit, and which unit it is for its parameters; 0: none. */
int tlua_rec_wants_unit (const CallInfo *ci);
uint32_t tlua_rec_unit_of (TluaRecorder *rec, const CallInfo *ci);
/* The recording of the running function as a unit begins; returns 0 if it cannot. */
int tlua_rec_begin_unit (TluaRecorder *rec, lua_State *L, CallInfo *ci);
/* Records the gateway: reads the parameters from registers, calls the unit, goes on at a return. */
void tlua_rec_gateway (TluaRecorder *rec, CallInfo *ci, uint32_t unit);

/* --- tlua_rec_depth.c --- */

/* There are units from now on. Returns 0 if they cannot be called. */
int tlua_rec_allow_units (lua_State *L, TluaRecorder *rec);
/* Before code is entered: how many records of frames are to be held for them. */
void tlua_rec_hold_for_units (TluaRecorder *rec);
/* Before code is entered in the frame 'ci': how deep units may call one another from there. */
void tlua_rec_set_limit (lua_State *L, TluaRecorder *rec, const CallInfo *ci);
/* After an exit of code that was entered in 'entry': if that was for want of depth, there will be more. */
void tlua_rec_allow_more (lua_State *L, TluaRecorder *rec, const tl_exit_info *info, ptrdiff_t entry);
/*
** Code was left by a guard that is no failure: maybe since the stack has no room for the frames that it
** makes, or since it has moved. Neither is to come again soon.
*/
void tlua_rec_interrupted (lua_State *L, TluaRecorder *rec);

/* --- tlua_rec_do.c --- */

int tlua_describe_do (tl_vm *vm, TluaSchema *schema);
/*
** The instruction at hand cannot be lowered, for rec->at.reason: it is done by a call, if there is one for
** it, and the reason does not count.
*/
void tlua_rec_do_by_call (TluaRecorder *rec);

/* --- tlua_rec_call.c --- */

TluaLower tlua_lower_call, tlua_lower_tail_call, tlua_lower_return, tlua_lower_varargs;

/* --- tlua_rec_iter.c --- */

int tlua_describe_iterators (tl_vm *vm, TluaSchema *schema);
TluaLower tlua_lower_start_iteration, tlua_lower_step, tlua_lower_called_step;

/* --- tlua_rec_ops.c --- */

/* Lowers the instruction at rec->at.pc. */
void tlua_rec_instruction (TluaRecorder *rec);

/* --- tlua_rec_note.c --- */

/* Tells debuggers and profilers of baseline code. */
void tlua_rec_note_code (tl_vm *vm, const Proto *p, const unsigned char *code, size_t size);

/* --- tlua_rec_meanings.c --- */

/* Explains the reasons of the recorder to the library. Returns 0 if it cannot. */
int tlua_rec_explain (tl_vm *vm);

/* --- tlua_describe.c --- */

/* Tells the library about Lua. Returns 0 if it refused something. */
int tlua_describe (tl_vm *vm, TluaSchema *schema, lua_State *main_thread);

#endif
