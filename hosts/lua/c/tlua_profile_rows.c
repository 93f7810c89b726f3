/*
** The rows of a profile: places of the program with their counts.
**
** Problem: samples come in any order, and of thousands of places a few matter.
**
** Design: rows in an array, found by the hash of their name, and sorted when they are printed.
**
** Invariant: what was added is in a row, or counted as forgotten.
**
** Example: "  45.2   44.8    0.0    0.3    0.1    0.0    0.0  sum.lua:3".
*/

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tlua_profile_rows.h"

#define LEAST_PLACES 256

static size_t hash_of (const char *name) {
  size_t hash = 14695981039346656037u;
  for (; *name != '\0'; name++)
    hash = (hash ^ (unsigned char)*name) * 1099511628211u;
  return hash;
}

/* Where a name's number is, or is to be. */
static int *find (const TluaRows *rows, const char *name) {
  size_t place = hash_of(name) % rows->place_count;
  while (rows->places[place] != 0 && strcmp(rows->rows[rows->places[place] - 1].name, name) != 0)
    place = (place + 1) % rows->place_count;
  return &rows->places[place];
}

/* Room for one more row; returns 0 on lack of memory. */
static int grow (TluaRows *rows) {
  if (rows->count < rows->room)
    return 1;
  size_t room = rows->room == 0 ? LEAST_PLACES / 2 : 2 * rows->room;
  TluaRow *all = (TluaRow *)realloc(rows->rows, room * sizeof(TluaRow));
  if (all == NULL)
    return 0;
  rows->rows = all;
  int *places = (int *)calloc(2 * room, sizeof(int));
  if (places == NULL)
    return 0;
  free(rows->places);
  rows->places = places;
  rows->place_count = 2 * room;
  rows->room = room;
  for (size_t n = 0; n < rows->count; n++)
    *find(rows, rows->rows[n].name) = (int)n + 1;
  return 1;
}

void tlua_rows_add (TluaRows *rows, const char *name, uint32_t state, uint64_t count) {
  if (!grow(rows)) {
    rows->forgotten += count;
    return;
  }
  char cut[TLUA_ROW_NAME];
  snprintf(cut, sizeof(cut), "%s", name);
  int *place = find(rows, cut);
  if (*place == 0) {
    TluaRow *row = &rows->rows[rows->count++];
    memset(row, 0, sizeof(TluaRow));
    memcpy(row->name, cut, sizeof(cut));
    *place = (int)rows->count;
  }
  TluaRow *row = &rows->rows[*place - 1];
  row->all += count;
  row->in[state] += count;
}

/* The larger comes first; of equal ones that whose name does. */
static int compare (const void *left, const void *right) {
  const TluaRow *a = (const TluaRow *)left, *b = (const TluaRow *)right;
  if (a->all != b->all)
    return a->all < b->all ? 1 : -1;
  return strcmp(a->name, b->name);
}

void tlua_rows_print (TluaRows *rows, FILE *file, const char *what, uint64_t all, uint64_t least) {
  fprintf(file, "\n   all%%  trace   base interp      C     gc   comp  %s\n", what);
  if (rows->count > 0)
    qsort(rows->rows, rows->count, sizeof(TluaRow), compare);
  uint64_t left_out = 0;
  for (size_t n = 0; n < rows->count; n++) {
    const TluaRow *row = &rows->rows[n];
    if (row->all * 100 < least * all) {
      left_out += row->all;
      continue;
    }
    fprintf(file, "%7.1f", 100.0 * (double)row->all / (double)all);
    for (int state = 0; state < TLUA_STATES; state++)
      fprintf(file, "%7.1f", 100.0 * (double)row->in[state] / (double)all);
    fprintf(file, "  %s\n", row->name);
  }
  if (left_out > 0)
    fprintf(file, "%7.1f  in rows of less than %" PRIu64 " %%\n", 100.0 * (double)left_out / (double)all,
            least);
}

void tlua_rows_free (TluaRows *rows) {
  free(rows->rows);
  free(rows->places);
  memset(rows, 0, sizeof(TluaRows));
}
