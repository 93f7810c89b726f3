/*
** What the recorder's reasons mean to whoever has written the program.
**
** Problem: "opcode TAILCALL" says nothing to somebody whose loop is slow.
**
** Design: one table, from a reason, or the beginning of several, to a sentence; the library shows both. What
** is not in it names a call or an operation as the program has it ("call of print").
**
** Invariant: a test finds each reason of the table in the recorder's files.
**
** Example: "recursion" -> "a function calls itself there".
*/

#include "lprefix.h"

#include "tlua_rec.h"

static const tl_meaning meanings[] = {
  { "loop ended", "it ended while it was recorded: it has few iterations each time that it is entered" },
  { "loop left", "it was left while it was recorded: by 'break', 'return' or 'goto'" },
  { "inner loop", "a loop within it that has no code of its own ran for too many iterations" },
  { "loop in a called function", "a function that it calls has a loop which is not compiled" },
  { "long way to a compiled loop", "the way to the next compiled loop was too long" },
  { "error or yield", "an error was raised, or a coroutine yielded" },
  { "debug hook", "a debug hook was set" },
  { "finalizer", "a finalizer ('__gc') ran while it was recorded" },
  { "thread ended", "the coroutine ended while it was recorded" },
  { "recursion", "a function calls itself there" },
  { "calls nest too deep", "calls lie deeper in one another than can be compiled" },
  { "return to C", "it returns to a function written in C, as 'table.sort' or 'string.gsub'" },
  { "metamethod in C", "a metamethod there is written in C" },
  { "opcode TAILCALL", "it ends by 'return f(...)' of a function that cannot be recorded" },
  { "code for another closure", "another closure of the same function runs there each time" },
  { "loop with a variable to be closed", "it has a variable that must be closed ('<close>')" },
  { "variable to be closed", "it has a variable that must be closed ('<close>')" },
  { "out of memory", "there was no memory" },
};

int tlua_rec_explain (tl_vm *vm) {
  return tl_set_meanings(vm, meanings, sizeof(meanings) / sizeof(meanings[0])) == TL_OK;
}
