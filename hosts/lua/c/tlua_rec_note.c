/*
** Baseline code is described to debuggers and profilers.
**
** Problem: they want a name, and where in the code the stack is as which instruction found it.
**
** Design: stencils leave the frame pointer alone: it is that of who runs the code (run, in
** tlua_baseline_run.c), who aligns the stack before his call. Only where a stencil calls C it is pushed and
** set anew, by one sequence of instructions (CALL_C in stencils/tlua_stencil.h), which stands nowhere else,
** and is looked for.
**
** Invariant: at the return address of each such call the description is right.
**
** Example: the function at line 3 of sum.lua is "baseline sum.lua:3".
*/

#include "lprefix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tlua_rec.h"

#include "ldebug.h"

/* push %rbp; mov %rsp, %rbp; and $-16, %rsp; and the end: mov %rbp, %rsp; pop %rbp. */
static const unsigned char call_begins[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xf0 };
static const unsigned char call_ends[] = { 0x48, 0x89, 0xec, 0x5d };
/* Where the frame pointer is set. */
#define FRAMED 4

/* The first place of these bytes from 'from' on; 'size' if there is none. */
static size_t find (const unsigned char *code, size_t size, size_t from, const unsigned char *what,
                    size_t length) {
  for (size_t at = from; at + length <= size; at++)
    if (memcmp(code + at, what, length) == 0)
      return at;
  return size;
}

/* Fills in the spans, or only counts them. */
static uint32_t find_calls (const unsigned char *code, size_t size, tl_code_span *spans) {
  uint32_t count = 0;
  for (size_t at = 0; (at = find(code, size, at, call_begins, sizeof(call_begins))) < size;) {
    size_t end = find(code, size, at, call_ends, sizeof(call_ends));
    if (end == size)
      break;
    end += sizeof(call_ends);
    if (spans != NULL)
      spans[count] = (tl_code_span){ (uint32_t)(at + FRAMED), (uint32_t)end };
    count++;
    at = end;
  }
  return count;
}

void tlua_rec_note_code (tl_vm *vm, const Proto *p, const unsigned char *code, size_t size) {
  char source[LUA_IDSIZE], name[LUA_IDSIZE + 40];
  if (p->source != NULL)
    luaO_chunkid(source, getstr(p->source), tsslen(p->source));
  else
    strcpy(source, "?");
  snprintf(name, sizeof(name), "baseline %s:%d", source, p->linedefined);
  uint32_t count = find_calls(code, size, NULL);
  tl_code_span *spans = (tl_code_span *)malloc((count + 1) * sizeof(tl_code_span));
  if (spans == NULL)
    return;  /* a tool shows less */
  find_calls(code, size, spans);
  tl_host_code_note(vm, p->jit_code_id, name, spans, count);
  free(spans);
}
