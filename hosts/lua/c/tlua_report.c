/*
** The library's counts, told when a state is closed.
**
** Problem: a script may end the process by os.exit, with its state open or closed, and its counts are wanted
** then, too.
**
** Design: the state's end and the process's exit both tell; the first of these events makes the report.
**
** Invariant: one report for each state, after all that the script has written to standard output.
**
** Example: tlua_report_at_end(L, TLUA_REPORT_JSON, "counts.json"), and the script calls os.exit(3).
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"

#include "tlua.h"
#include "tlua_report.h"

#if defined(TLUA_HAVE_RECORDER)

/* The state that a report is wanted of, and how. */
static lua_State *reporting_state = NULL;
static uint32_t report_form = TLUA_REPORT_NONE;
static const char *report_path = NULL;

static void print_report (lua_State *L) {
  if (L == NULL || L != reporting_state)
    return;
  reporting_state = NULL;
  fflush(stdout);
  FILE *file = report_path == NULL ? stderr : fopen(report_path, "w");
  if (file == NULL) {
    fprintf(stderr, "the report cannot be written: ");
    perror(report_path);
    return;
  }
  int is_json = report_form == TLUA_REPORT_JSON;
  fprintf(file, "%s%s", is_json ? tlua_jit_stats_json(L) : tlua_jit_stats_text(L), is_json ? "\n" : "");
  if (file != stderr)
    fclose(file);
}

static void print_report_at_exit (void) {
  print_report(reporting_state);
}

void tlua_report_at_end (lua_State *L, uint32_t form, const char *path) {
  static int is_registered = 0;
  if (form == TLUA_REPORT_NONE)
    return;
  reporting_state = L;
  report_form = form;
  report_path = path;
  tlua_at_shutdown(L, print_report);
  if (!is_registered)
    is_registered = atexit(print_report_at_exit) == 0;
}

#else

void tlua_report_at_end (lua_State *L, uint32_t form, const char *path) {
  (void)L;
  (void)form;
  (void)path;
}

#endif
