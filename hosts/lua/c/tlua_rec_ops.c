/*
** The table that says who lowers which opcode, and the lowerings of moves and constants.
**
** Problem: Lua has more than 80 opcodes, which the files of the recorder share among them; none must be
** forgotten.
**
** Design: one row for each opcode names the function that lowers it, or says that nobody does. The rows are
** a macro, from which the table is made, and what proves at compile time that no row is missing.
**
** Invariant: rec->trace.next is the instruction that the interpreter shows next; any other one ends the
** recording. No other file of lowerings knows this one.
**
** Example, OP_MOVE: its row is LOWERED(MOVE, move); 'move' reads the one register and writes the other.
*/

#include "lprefix.h"

#include "tlua_rec.h"

/* --- moves and constants --- */

static void move (TluaRecorder *rec, Instruction i) {
  tlua_rec_write_operand(rec, GETARG_A(i), tlua_rec_register(rec, GETARG_B(i)));
}

static void load_integer (TluaRecorder *rec, Instruction i) {
  tlua_rec_write(rec, GETARG_A(i), LUA_VNUMINT, tl_const_int(rec->vm, GETARG_sBx(i)));
}

static void load_float (TluaRecorder *rec, Instruction i) {
  tlua_rec_write(rec, GETARG_A(i), LUA_VNUMFLT, tl_const_float(rec->vm, (double)GETARG_sBx(i)));
}

static void load_constant (TluaRecorder *rec, Instruction i) {
  tlua_rec_write_operand(rec, GETARG_A(i), tlua_rec_constant(rec, rec->at.k + GETARG_Bx(i)));
}

static void load_far_constant (TluaRecorder *rec, Instruction i) {
  tlua_rec_write_operand(rec, GETARG_A(i), tlua_rec_constant(rec, rec->at.k + GETARG_Ax(rec->at.pc[1])));
  rec->trace.next = rec->at.pc + 2;
}

static void load_false (TluaRecorder *rec, Instruction i) {
  tlua_rec_write(rec, GETARG_A(i), LUA_VFALSE, 0);
}

static void load_false_and_skip (TluaRecorder *rec, Instruction i) {
  load_false(rec, i);
  rec->trace.next = rec->at.pc + 2;
}

static void load_true (TluaRecorder *rec, Instruction i) {
  tlua_rec_write(rec, GETARG_A(i), LUA_VTRUE, 0);
}

static void load_nils (TluaRecorder *rec, Instruction i) {
  int a = GETARG_A(i);
  for (int r = a; r <= a + GETARG_B(i); r++)
    tlua_rec_write(rec, r, LUA_VNIL, 0);
}

static void negation (TluaRecorder *rec, Instruction i) {
  int is_false = tlua_rec_is_false(tlua_rec_register(rec, GETARG_B(i)).tt);
  tlua_rec_write(rec, GETARG_A(i), is_false ? LUA_VTRUE : LUA_VFALSE, 0);
}

static void jump (TluaRecorder *rec, Instruction i) {
  tlua_rec_go_to(rec, rec->at.pc + 1 + GETARG_sJ(i));
}

/* --- who lowers what --- */

/*
** One row for each opcode, in the order of lopcodes.h: who lowers it. Rows that are LEFT are for
** instructions that end a recording, under their name: TBC may run Lua code when its block ends, and the
** interpreter shows the other two only where a recording is not.
*/
#define OPCODES(LOWERED, LEFT) \
  LOWERED(MOVE, move) \
  LOWERED(LOADI, load_integer) \
  LOWERED(LOADF, load_float) \
  LOWERED(LOADK, load_constant) \
  LOWERED(LOADKX, load_far_constant) \
  LOWERED(LOADFALSE, load_false) \
  LOWERED(LFALSESKIP, load_false_and_skip) \
  LOWERED(LOADTRUE, load_true) \
  LOWERED(LOADNIL, load_nils) \
  LOWERED(GETUPVAL, tlua_lower_get_upvalue) \
  LOWERED(SETUPVAL, tlua_lower_set_upvalue) \
  LOWERED(GETTABUP, tlua_lower_get_upvalue_field) \
  LOWERED(GETTABLE, tlua_lower_get_table) \
  LOWERED(GETI, tlua_lower_get_index) \
  LOWERED(GETFIELD, tlua_lower_get_field) \
  LOWERED(SETTABUP, tlua_lower_set_upvalue_field) \
  LOWERED(SETTABLE, tlua_lower_set_table) \
  LOWERED(SETI, tlua_lower_set_index) \
  LOWERED(SETFIELD, tlua_lower_set_field) \
  LOWERED(NEWTABLE, tlua_lower_new_table) \
  LOWERED(SELF, tlua_lower_get_method) \
  LOWERED(ADDI, tlua_lower_arith) \
  LOWERED(ADDK, tlua_lower_arith) \
  LOWERED(SUBK, tlua_lower_arith) \
  LOWERED(MULK, tlua_lower_arith) \
  LOWERED(MODK, tlua_lower_arith) \
  LOWERED(POWK, tlua_lower_arith) \
  LOWERED(DIVK, tlua_lower_arith) \
  LOWERED(IDIVK, tlua_lower_arith) \
  LOWERED(BANDK, tlua_lower_arith) \
  LOWERED(BORK, tlua_lower_arith) \
  LOWERED(BXORK, tlua_lower_arith) \
  TLUA_SHIFT_OPCODES(LOWERED) \
  LOWERED(ADD, tlua_lower_arith) \
  LOWERED(SUB, tlua_lower_arith) \
  LOWERED(MUL, tlua_lower_arith) \
  LOWERED(MOD, tlua_lower_arith) \
  LOWERED(POW, tlua_lower_arith) \
  LOWERED(DIV, tlua_lower_arith) \
  LOWERED(IDIV, tlua_lower_arith) \
  LOWERED(BAND, tlua_lower_arith) \
  LOWERED(BOR, tlua_lower_arith) \
  LOWERED(BXOR, tlua_lower_arith) \
  LOWERED(SHL, tlua_lower_arith) \
  LOWERED(SHR, tlua_lower_arith) \
  LOWERED(MMBIN, tlua_lower_metamethod) \
  LOWERED(MMBINI, tlua_lower_metamethod_small) \
  LOWERED(MMBINK, tlua_lower_metamethod_constant) \
  LOWERED(UNM, tlua_lower_negate) \
  LOWERED(BNOT, tlua_lower_complement) \
  LOWERED(NOT, negation) \
  LOWERED(LEN, tlua_lower_length) \
  LOWERED(CONCAT, tlua_lower_concat) \
  LOWERED(CLOSE, tlua_lower_close) \
  LEFT(TBC) \
  LOWERED(JMP, jump) \
  LOWERED(EQ, tlua_lower_compare) \
  LOWERED(LT, tlua_lower_compare) \
  LOWERED(LE, tlua_lower_compare) \
  LOWERED(EQK, tlua_lower_compare_constant) \
  LOWERED(EQI, tlua_lower_compare_small) \
  LOWERED(LTI, tlua_lower_compare_small) \
  LOWERED(LEI, tlua_lower_compare_small) \
  LOWERED(GTI, tlua_lower_compare_small) \
  LOWERED(GEI, tlua_lower_compare_small) \
  LOWERED(TEST, tlua_lower_test) \
  LOWERED(TESTSET, tlua_lower_test_set) \
  LOWERED(CALL, tlua_lower_call) \
  LOWERED(TAILCALL, tlua_lower_tail_call) \
  LOWERED(RETURN, tlua_lower_return) \
  LOWERED(RETURN0, tlua_lower_return) \
  LOWERED(RETURN1, tlua_lower_return) \
  LOWERED(FORLOOP, tlua_lower_loop) \
  LOWERED(FORPREP, tlua_lower_start_loop) \
  LOWERED(TFORPREP, tlua_lower_start_iteration) \
  LOWERED(TFORCALL, tlua_lower_step) \
  LOWERED(TFORLOOP, tlua_lower_called_step) \
  LOWERED(SETLIST, tlua_lower_set_list) \
  LOWERED(CLOSURE, tlua_lower_closure) \
  LOWERED(VARARG, tlua_lower_varargs) \
  TLUA_OPCODES_OF_55(LOWERED, LEFT) \
  LEFT(VARARGPREP) \
  LEFT(EXTRAARG)

/* A row that is missing, or in the wrong place, does not compile. */
#define LOWERED_PLACE(op, function) PLACE_##op,
#define LEFT_PLACE(op) PLACE_##op,
enum { OPCODES(LOWERED_PLACE, LEFT_PLACE) PLACES };

#define IS_IN_PLACE(op) \
  _Static_assert((int)PLACE_##op == (int)OP_##op, "the row of OP_" #op " is not in the order of lopcodes.h");
#define LOWERED_IN_PLACE(op, function) IS_IN_PLACE(op)
OPCODES(LOWERED_IN_PLACE, IS_IN_PLACE)
_Static_assert((int)PLACES == NUM_OPCODES, "an opcode has no row");

typedef struct OpcodeRow {
  TluaLower *lower;           /* NULL: nobody */
  const char *reason;         /* why the recording is given up then */
} OpcodeRow;

#define LOWERED_ROW(op, function) { function, NULL },
#define LEFT_ROW(op) { NULL, "opcode " #op },
static const OpcodeRow rows[NUM_OPCODES] = { OPCODES(LOWERED_ROW, LEFT_ROW) };

void tlua_rec_instruction (TluaRecorder *rec) {
  Instruction i = *rec->at.pc;
  const OpcodeRow *row = &rows[GET_OPCODE(i)];
  rec->trace.next = rec->at.pc + 1;
  if (row->lower != NULL)
    row->lower(rec, i);
  else
    tlua_rec_give_up(rec, row->reason);
}
