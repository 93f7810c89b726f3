/*
** What the library was told of Lua, as numbers.
**
** Problem: a recording names cells of objects, functions and tags by the numbers that the library gave them
** when it was told of them, in tlua_describe.c and in the files of those functions.
**
** Design: a struct for each kind of object, or for each file that has functions of its own; TluaSchema has
** them all.
**
** Invariant: all numbers are there before the first recording, and none changes.
**
** Example: tl_load(vm, rec->schema.table.node_tag, place)
*/
#ifndef tlua_schema_h
#define tlua_schema_h

#include "ltm.h"

#include "tracelift.h"

/* So many upvalues has a closure over registers at most that traces make. */
#define TLUA_MOST_UPVALUES 8

/* What calls of C functions as they are need; see tlua_rec_cfunc.c. */
typedef struct TluaCallIds {
  tl_func function[5];        /* by what the call may do */
  tl_cell stack;              /* of the thread that they are made on */
  tl_cell value[4];           /* of a place on that stack, by tl_type */
  tl_cell tag;
} TluaCallIds;

/* What lowered library functions need besides; see tlua_rec_lib.c. */
enum { TLUA_SIN, TLUA_COS, TLUA_TAN, TLUA_ASIN, TLUA_ACOS, TLUA_EXP, TLUA_LOG, TLUA_LOG2, TLUA_LOG10,
       TLUA_ATAN2,
       TLUA_MATHS };
typedef struct TluaLibrary {
  /* of the global state: the metatables that all values of a type share */
  tl_cell type_metatable[LUA_NUMTYPES];
  tl_cell c_function;         /* of a C closure: what it calls */
  tl_cell character;          /* of an address in a string */
  tl_cell contents;           /* of a long string of 5.5: where its characters are */
  tl_func maths[TLUA_MATHS];  /* the C library's own */
  tl_func random_float;
  tl_func random_bits;
  tl_func random_between;
  tl_func sub;
  tl_func repeat;
  tl_func upper;
  tl_func lower;
  tl_func reverse;
  tl_func characters;
  TluaCallIds call;
} TluaLibrary;

/* Of tables. So many fields: a number for each cell of both parts, and for each function. */
typedef struct TluaTableIds {
  tl_layout layout;
  tl_field metatable;
  tl_cell flags;              /* the cache of absent metamethods */
  tl_cell array;              /* the address of the array part */
  tl_cell array_value[4];     /* of an element of the array part, by tl_type */
  tl_cell array_tag;
  tl_cell array_count;
  tl_cell node_value[4];      /* of an entry of the hash part, by tl_type */
  tl_cell node_tag;
  tl_cell node_key[4];        /* of an entry: its key, by tl_type */
  tl_cell node_key_tag;
  tl_func length;             /* function of tlua_describe.c */
  tl_func new_table;          /* functions of tlua_rec_alloc.c */
  tl_func reach_item;
  tl_func grow_list;
  tl_func new_list;           /* of tlua_rec_item.c for 5.5 */
} TluaTableIds;

/* Of threads, and of the state that they share. */
typedef struct TluaStateIds {
  tl_cell hookmask;           /* of a thread */
  tl_cell top;                /* of a thread */
  tl_func call_host;          /* function of tlua_rec_host.c */
  tl_func do_instruction;     /* function of tlua_rec_do.c */
  tl_cell call_info;          /* of a thread: the record of the running frame */
  tl_cell extra_arguments;    /* of that record */
  tl_cell argument_value[4];  /* of a variable argument, by tl_type */
  tl_cell argument_tag;
  tl_cell open_upvalues;      /* of a thread: the first of the list, which has the highest register */
  tl_cell to_be_closed;       /* of a thread: the last variable to be closed */
  tl_cell global;             /* of a thread: the global state */
  tl_cell debt;               /* of the global state: what the collector is behind */
  tl_cell string_metatable;   /* of the global state */
  tl_cell metatables[LUA_NUMTYPES];  /* of the global state, by type */
} TluaStateIds;

/* Of the records of frames. */
typedef struct TluaFrameIds {
  tl_cell function;
  tl_cell top;
  tl_cell previous;
  tl_cell next;
  tl_cell saved_pc;
  tl_cell trap;
  tl_cell call;               /* how it was called, in one number */
  tl_cell way_back;           /* where baseline code goes on when it returns */
  tl_cell stack_last;         /* of a thread */
  tl_cell room;               /* of the library's cell: slots that a loop's code needs */
} TluaFrameIds;

/* Of any object, and of functions. */
typedef struct TluaObjectIds {
  tl_cell marked;             /* of any object: the collector's bits */
  tl_cell function;           /* of a frame base: the running closure */
  tl_cell prototype;          /* of a closure */
  tl_cell identity;           /* of a closure: its number, see tlua_fixed.c */
  tl_func new_closure;        /* functions of tlua_rec_closure.c */
  tl_func close_upvalues;
  tl_layout closure;          /* closures that share registers: see tlua_rec_share.c */
  tl_field shared[TLUA_MOST_UPVALUES];
  tl_func keep;
  tl_func mend_table;         /* functions of tlua_rec_operand.c */
  tl_func mend_upvalue;
} TluaObjectIds;

typedef struct TluaUpvalueIds {
  tl_cell object;             /* of a closure's element: the upvalue */
  tl_cell place;              /* of an upvalue: where its value is */
  tl_cell value[4];           /* of that place, by tl_type */
  tl_cell tag;
} TluaUpvalueIds;

/* Functions of tlua_describe.c. */
typedef struct TluaNumberIds {
  tl_func power;
  tl_func int_below_float;
  tl_func int_to_float_order; /* int <= float */
  tl_func float_below_int;
  tl_func float_to_int_order; /* float <= int */
} TluaNumberIds;

typedef struct TluaStringIds {
  tl_cell short_length;       /* of a short string */
  tl_cell long_length;        /* of a long string */
  tl_func equal_long;         /* of two long strings; functions of tlua_describe.c */
  tl_func below;
  tl_func to_order;
  tl_func join[3];            /* of 2, 3, 4 strings; functions of tlua_rec_string.c */
  tl_func of_integer;
  tl_func of_float;
  tl_func integer_part;       /* the same, only for what is joined at once */
  tl_func float_part;
} TluaStringIds;

/* Functions of tlua_rec_key.c. */
typedef struct TluaKeyIds {
  tl_func find_integer;
  tl_func lacks_integer;
  tl_func find_float;
  tl_func lacks_float;
  tl_func find_object;
  tl_func find_string;
  tl_func find_long_string;
  tl_func find_boolean;
  tl_func place_integer;
  tl_func place_object;
  tl_func set[3][4];          /* by the types of key and value; those without payload count as integers */
} TluaKeyIds;

/* Functions of tlua_rec_iter.c. */
typedef struct TluaStepIds {
  tl_func first_item;
  tl_func next_item;
  tl_func first_node;
  tl_func node_after_integer;
  tl_func node_after_float;
  tl_func node_after_boolean;
  tl_func node_after_object;
  tl_func node_after_address;
} TluaStepIds;

/* Ids of what tlua_describe told the library. */
typedef struct TluaSchema {
  tl_tag tag_of[256];         /* by tag byte; 0: no value in a register has it */
  TluaTableIds table;
  TluaStateIds state;
  TluaFrameIds frame;
  TluaObjectIds object;
  TluaUpvalueIds upvalue;
  TluaNumberIds number;
  TluaStringIds string;
  TluaKeyIds key;
  TluaStepIds step;
  TluaLibrary library;
} TluaSchema;

#endif
