/*
** Lines for the prompt that come from no terminal.
**
** Problem: the interpreters that people have are built with GNU readline, which shows the lines that it reads
** where no terminal does: after 'lua -i < script' the output holds prompts and lines as a reader would have
** seen them, and Lua's own test suite wants it so. Without readline, lua.c shows prompts alone.
**
** Design: the line is written as it was read. Where the input is a terminal, that has shown the line. The
** oracle 'lua' reads its lines by this as well.
**
** Example: 'printf "x = 1\nx\n" | tlua -i' prints "> x = 1", "> x", "1" and "> ".
*/
#ifndef tlua_echo_h
#define tlua_echo_h

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads a line of less than 'room' characters. Returns 0 at the end. */
static inline int tlua_read_echoed (char *line, int room, const char *prompt) {
  fputs(prompt, stdout);
  fflush(stdout);
  if (fgets(line, room, stdin) == NULL)
    return 0;
  if (!isatty(STDIN_FILENO)) {
    size_t length = strlen(line);
    fputs(line, stdout);
    if (length == 0 || line[length - 1] != '\n')
      fputc('\n', stdout);
    fflush(stdout);
  }
  return 1;
}

#if defined(TLUA_ECHO)
#define lua_initreadline(L) ((void)L)
#define lua_readline(L, b, prompt) ((void)L, tlua_read_echoed(b, LUA_MAXINPUT, prompt))
#define lua_saveline(L, line) ((void)L, (void)line)
#define lua_freeline(L, b) ((void)L, (void)b)
#endif

#endif
