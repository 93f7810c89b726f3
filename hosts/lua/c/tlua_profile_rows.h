/*
** The rows of a profile: see tlua_profile_rows.c.
**
** Example: tlua_rows_add(&rows, "a.lua:3", TLUA_IN_TRACE, 12); tlua_rows_print(&rows, file, "line", 1000, 1);
*/
#ifndef tlua_profile_rows_h
#define tlua_profile_rows_h

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tlua_sample.h"

#define TLUA_ROW_NAME 128

/* A place of the program, and how often it was found in each state. */
typedef struct TluaRow {
  char name[TLUA_ROW_NAME];
  uint64_t all, in[TLUA_STATES];
} TluaRow;

typedef struct TluaRows {
  TluaRow *rows;
  size_t count, room;
  int *places;   /* by hash: one more than a row's number, or 0 */
  size_t place_count;
  uint64_t forgotten;  /* for want of memory */
} TluaRows;

void tlua_rows_add (TluaRows *rows, const char *name, uint32_t state, uint64_t count);
/* Those of at least so many percent, the largest first. */
void tlua_rows_print (TluaRows *rows, FILE *file, const char *what, uint64_t all, uint64_t least);
void tlua_rows_free (TluaRows *rows);

#endif
