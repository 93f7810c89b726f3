/*
** What lua.c, the stand-alone interpreter, gets for Tracelift.
**
** Problem: people replace 'lua' by 'tlua', and what they know of the command line is to hold. Lua's own lua.c
** does all of that, but knows neither a JIT nor how lines are edited without GNU's library.
**
** Design: lua.c is compiled as it is, but for the few insertions in build/command.rs, which call what is
** here. A line editor is given by the program around it, as two functions that no error of Lua's passes
** through.
**
** Invariant: without "-j" and TLUA_JIT nothing is printed that stock Lua would not print.
**
** Example: "-joff" -> tlua_front_option("off") while the options are looked at -> tlua_front_open.
*/

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lua.h"

#include "tlua_echo.h"
#include "tlua_front.h"
#include "tlua_settings.h"

/* --- settings --- */

/* Those of the state; its report's file is named in here. */
static TluaSettings settings;

int tlua_front_option (const char *word) {
  TluaSettings tried;
  tlua_settings_init(&tried);
  return tlua_settings_word(&tried, word);
}

static int refuse (const char *name, const char *where, const char *why) {
  fflush(stdout);
  fprintf(stderr, "%s: %s: %s\n", name, where, why);
  fflush(stderr);
  return 0;
}

/* A text of an option that begins with a hyphen would be refused: so each "-j..." is one of ours. */
int tlua_front_open (lua_State *L, char **argv, int count, int uses_environment, const char *name) {
  const char *words = uses_environment ? getenv("TLUA_JIT") : NULL;
  tlua_settings_init(&settings);
  if (words != NULL) {
    const char *why = tlua_settings_words(&settings, words);
    if (why != NULL)
      return refuse(name, "TLUA_JIT", why);
  }
  const char *cache = uses_environment ? getenv("TLUA_JIT_CACHE") : NULL;
  if (cache != NULL && *cache != '\0' && !tlua_settings_cache(&settings, cache))
    return refuse(name, "TLUA_JIT_CACHE", "too long");
  for (int i = 1; i < count; i++)
    if (strncmp(argv[i], "-j", 2) == 0 && !tlua_settings_word(&settings, argv[i] + 2))
      return refuse(name, argv[i], "too long");
  const char *why = tlua_settings_open(&settings, L);
  return why == NULL || refuse(name, "JIT", why);
}

/* --- lines --- */

static TluaLineEditor line_editor;
/* The line that the editor has given last, until it is freed. */
static char *edited_line = NULL;

void tlua_front_edit_lines (const TluaLineEditor *editor) {
  line_editor = *editor;
}

static int can_edit (void) {
  const char *terminal = getenv("TERM");
  return line_editor.read != NULL && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && terminal != NULL
      && *terminal != '\0' && strcmp(terminal, "dumb") != 0;
}

int tlua_front_read_line (char **line, int room, const char *prompt) {
  if (can_edit()) {
    fflush(stdout);
    edited_line = line_editor.read(prompt);
    *line = edited_line;
    return edited_line != NULL;
  }
  return tlua_read_echoed(*line, room, prompt);
}

void tlua_front_save_line (const char *line) {
  if (can_edit())
    line_editor.save(line);
}

void tlua_front_free_line (char *line) {
  if (line == edited_line) {
    free(line);
    edited_line = NULL;
  }
}
