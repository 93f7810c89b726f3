/* wl_command.c: the command: Wren as its users call it, with a few words for the JIT.
**
** Problem: Wren is a library without a command of its own. Design: this file is the smallest one: it runs a
** file, finds imported modules beside it, and prints what System.print prints, errors to standard error. It
** is compiled twice, with WL_STOCK for the oracle. Invariant: both do the same, but for the words that begin
** with -j. Example: wrenlift -jthreshold=3 -jstats hosts/wren/bench/sieve.wren
*/
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wren.h"
#ifndef WL_STOCK
#include "wl_settings.h"
#endif

/* Exit codes, those of Wren's own command. */
#define EXIT_USAGE 64
#define EXIT_COMPILE 65
#define EXIT_RUNTIME 70
#define EXIT_INPUT 66

static const char *folder_end(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The whole file with a NUL behind it, or NULL. */
static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  size_t size = 0, room = 1 << 16, got = 0;
  char *text = file ? malloc(room + 1) : NULL;
  while (text && (got = fread(text + size, 1, room - size, file)) > 0) {
    size += got;
    if (size == room) {
      char *larger = realloc(text, (room *= 2) + 1);
      if (!larger) free(text);
      text = larger;
    }
  }
  if (text && ferror(file)) {
    free(text);
    text = NULL;
  }
  if (text) text[size] = '\0';
  if (file) fclose(file);
  return text;
}

static void write_text(WrenVM *vm, const char *text) {
  (void)vm;
  fputs(text, stdout);
}

static void write_error(WrenVM *vm, WrenErrorType type, const char *module, int line, const char *message) {
  (void)vm;
  fflush(stdout);
  switch (type) {
    case WREN_ERROR_COMPILE: fprintf(stderr, "[%s line %d] %s\n", module, line, message); break;
    case WREN_ERROR_RUNTIME: fprintf(stderr, "%s\n", message); break;
    case WREN_ERROR_STACK_TRACE: fprintf(stderr, "[%s line %d] in %s\n", module, line, message); break;
  }
}

static void loaded(WrenVM *vm, const char *name, struct WrenLoadModuleResult result) {
  (void)vm, (void)name;
  free((void *)result.source);
}

/* Modules lie beside the file that is run. */
static WrenLoadModuleResult load_module(WrenVM *vm, const char *name) {
  const char *script = wrenGetUserData(vm);
  WrenLoadModuleResult result = {.onComplete = loaded};
  int folder = (int)(folder_end(script) - script);
  if (strncmp(name, "./", 2) == 0) name += 2;
  size_t size = (size_t)folder + strlen(name) + sizeof ".wren";
  char *path = malloc(size);
  if (path) {
    snprintf(path, size, "%.*s%s.wren", folder, script, name);
    result.source = read_file(path);
    free(path);
  }
  return result;
}

static int usage(const char *name, const char *what) {
  fprintf(stderr, "%s: %s\n", name, what);
  return EXIT_USAGE;
}

static int run(const char *name, const char *script) {
  char *source = read_file(script);
  if (!source) {
    fprintf(stderr, "%s: %s: %s\n", name, script, strerror(errno));
    return EXIT_INPUT;
  }
  WrenConfiguration config;
  wrenInitConfiguration(&config);
  config.writeFn = write_text;
  config.errorFn = write_error;
  config.loadModuleFn = load_module;
  config.userData = (void *)script;
  WrenVM *vm = wrenNewVM(&config);
  WrenInterpretResult result = wrenInterpret(vm, "main", source);
  free(source);
  fflush(stdout);
#ifndef WL_STOCK
  wl_report(vm);
#endif
  wrenFreeVM(vm);
  switch (result) {
    case WREN_RESULT_SUCCESS: return ferror(stdout) ? EXIT_INPUT : 0;
    case WREN_RESULT_COMPILE_ERROR: return EXIT_COMPILE;
    default: return EXIT_RUNTIME;
  }
}

int wl_command(int argc, const char *const *argv) {
  const char *name = argc > 0 ? folder_end(argv[0]) : "wrenlift", *script = NULL;
  for (int n = 1; n < argc; n++) {
    const char *word = argv[n];
#ifndef WL_STOCK
    if (strncmp(word, "-j", 2) == 0) {
      const char *wrong = wl_set(word + 2);
      if (wrong) return usage(name, wrong);
      continue;
    }
#endif
    if (word[0] == '-' || script) return usage(name, "give one file to run, and words that begin with -j");
    script = word;
  }
  return script ? run(name, script) : usage(name, "give one file to run, and words that begin with -j");
}

#ifdef WL_STOCK
int main(int argc, char **argv) { return wl_command(argc, (const char *const *)argv); }
#endif
