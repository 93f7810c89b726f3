/*
** What the library's view is told of a program: functions, their lines and loops.
**
** Problem: the page that "-jview=" writes shows lines of the program, but the library knows addresses of
** instructions; and at the end of the program many functions are gone.
**
** Design: when a chunk is loaded the library is told of each function in it: where its instructions lie, of
** which line each is, which of them are loops, and a name. Lua keeps no names of functions: the name is that
** of the variable or field that the new closure is stored in, as the instructions after OP_CLOSURE say.
**
** Invariant: nothing of Lua's is changed, nothing is allocated in the state, and no error is raised. Where
** there is no memory the page lacks the function.
**
** Example: 'local M = {}; function M.sum (t) ... end' is told of as "M.sum".
*/

#include "lprefix.h"

#include <stdlib.h>
#include <string.h>

#include "tlua_view.h"

#include "ldebug.h"
#include "lfunc.h"
#include "lopcodes.h"

/* Room for a name; what is longer is cut. */
#define NAME_ROOM 120

/* --- loops --- */

/* Where an instruction jumps back to, as an index, or -1. */
static int jumps_back_to (const Proto *p, int pc) {
  Instruction i = p->code[pc];
  switch (GET_OPCODE(i)) {
    case OP_JMP: return GETARG_sJ(i) < 0 ? pc + 1 + GETARG_sJ(i) : -1;
    case OP_FORLOOP: case OP_TFORLOOP: return pc + 1 - GETARG_Bx(i);
    default: return -1;
  }
}

/* Writes pairs of the first and the last instruction of each loop. Returns how many pairs. */
static uint32_t find_loops (const Proto *p, uint32_t *loops) {
  uint32_t count = 0;
  for (int pc = 0; pc < p->sizecode; pc++) {
    int head = jumps_back_to(p, pc);
    if (head < 0)
      continue;
    uint32_t n = count;
    while (n > 0 && loops[2 * (n - 1)] != (uint32_t)head)
      n--;
    if (n == 0)
      n = ++count;
    loops[2 * (n - 1)] = (uint32_t)head;
    loops[2 * (n - 1) + 1] = (uint32_t)pc;
  }
  return count;
}

static int count_jumps_back (const Proto *p) {
  int count = 0;
  for (int pc = 0; pc < p->sizecode; pc++)
    count += jumps_back_to(p, pc) >= 0;
  return count;
}

/* --- names --- */

static void append (char *name, const char *text) {
  size_t used = strlen(name), length = strlen(text);
  if (length > NAME_ROOM - 1 - used)
    length = NAME_ROOM - 1 - used;
  memcpy(name + used, text, length);
  name[used + length] = '\0';
}

static void append_constant (char *name, const Proto *p, int k) {
  append(name, ttisstring(&p->k[k]) ? getstr(tsvalue(&p->k[k])) : "?");
}

/* What the value in register 'r' is called that the instruction before 'pc' has made; "" if it is not. */
static void name_of_closure (const Proto *p, int pc, int r, char *name) {
  name[0] = '\0';
  const char *local = luaF_getlocalname(p, r + 1, pc);
  if (local != NULL) {
    append(name, local);
    return;
  }
  if (pc >= p->sizecode)
    return;
  Instruction i = p->code[pc];
  switch (GET_OPCODE(i)) {
    case OP_SETTABUP:
      if (!TESTARG_k(i) && GETARG_C(i) == r)
        append_constant(name, p, GETARG_B(i));
      break;
    case OP_SETFIELD:
      if (!TESTARG_k(i) && GETARG_C(i) == r) {
        const char *table = luaF_getlocalname(p, GETARG_A(i) + 1, pc);
        if (table != NULL) {
          append(name, table);
          append(name, ".");
        }
        append_constant(name, p, GETARG_B(i));
      }
      break;
    case OP_SETUPVAL:
      if (GETARG_A(i) == r && p->upvalues[GETARG_B(i)].name != NULL)
        append(name, getstr(p->upvalues[GETARG_B(i)].name));
      break;
    case OP_MOVE:
      if (GETARG_B(i) == r && (local = luaF_getlocalname(p, GETARG_A(i) + 1, pc)) != NULL)
        append(name, local);
      break;
    default:
      break;
  }
}

/* --- telling --- */

static void tell (tl_vm *vm, const Proto *p, const char *name) {
  size_t count = (size_t)p->sizecode, jumps = (size_t)count_jumps_back(p);
  uint32_t *room = (uint32_t *)malloc((count + 2 * jumps) * sizeof(uint32_t));
  if (room == NULL)
    return;
  for (size_t pc = 0; pc < count; pc++) {
    int line = luaG_getfuncline(p, (int)pc);
    room[pc] = line < 0 ? 0 : (uint32_t)line;
  }
  tl_view_info info = {
    .code = p->code, .lines = room, .count = (uint32_t)count, .stride = sizeof(Instruction),
    .loops = room + count, .nloops = find_loops(p, room + count), .name = name,
    .source = p->source != NULL ? getstr(p->source) : "=?",
    .source_length = p->source != NULL ? tsslen(p->source) : 2, .first_line = (uint32_t)p->linedefined,
  };
  tl_view_function(vm, &info);
  free(room);
}

static void tell_all (tl_vm *vm, const Proto *p, const char *own_name) {
  tell(vm, p, own_name);
  for (int pc = 0; pc < p->sizecode; pc++) {
    if (GET_OPCODE(p->code[pc]) == OP_CLOSURE) {
      char name[NAME_ROOM];
      name_of_closure(p, pc + 1, GETARG_A(p->code[pc]), name);
      tell_all(vm, p->p[GETARG_Bx(p->code[pc])], name);
    }
  }
}

void tlua_view_loaded (tl_vm *vm, const Proto *chunk) {
  tell_all(vm, chunk, "");
}
