/*
** The library's counts and its view, told when a state is closed.
**
** Problem: a script may end the process by os.exit, with its state open or closed, and its counts are wanted
** then, too.
**
** Design: the state's end and the process's exit both tell; the first of these events makes the report.
**
** Invariant: one report of each form for each state, after all that the script has written to standard
** output.
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

/* The state that reports are wanted of, and which: by their forms. */
static lua_State *reporting_state = NULL;
static struct { int is_wanted; const char *path; } reports[TLUA_REPORTS];

static const char *text_of (lua_State *L, int form) {
  switch (form) {
    case TLUA_REPORT_JSON: return tlua_jit_stats_json(L);
    case TLUA_REPORT_SUMMARY: return tlua_jit_summary(L);
    default: return tlua_jit_stats_text(L);
  }
}

static void write_view (lua_State *L, const char *path) {
  const char *why = tlua_jit_view(L, path);
  if (why != NULL)
    fprintf(stderr, "the view cannot be written: %s\n", why);
}

static void print (lua_State *L, int form, const char *path) {
  if (form == TLUA_REPORT_VIEW) {
    write_view(L, path);
    return;
  }
  FILE *file = path == NULL ? stderr : fopen(path, "w");
  if (file == NULL) {
    fprintf(stderr, "the report cannot be written: ");
    perror(path);
    return;
  }
  fprintf(file, "%s%s", text_of(L, form), form == TLUA_REPORT_JSON ? "\n" : "");
  if (file != stderr)
    fclose(file);
}

static void print_report (lua_State *L) {
  if (L == NULL || L != reporting_state)
    return;
  reporting_state = NULL;
  fflush(stdout);
  for (int form = TLUA_REPORTS - 1; form > TLUA_REPORT_NONE; form--)  /* for the program's author first */
    if (reports[form].is_wanted)
      print(L, form, reports[form].path);
}

static void print_report_at_exit (void) {
  print_report(reporting_state);
}

void tlua_report_at_end (lua_State *L, uint32_t form, const char *path) {
  static int is_registered = 0;
  if (form == TLUA_REPORT_NONE || form >= TLUA_REPORTS)
    return;
  if (reporting_state != L)
    memset(reports, 0, sizeof(reports));
  reporting_state = L;
  reports[form].is_wanted = 1;
  reports[form].path = path;
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
