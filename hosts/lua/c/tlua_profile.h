/*
** The profiler of "-jp": see tlua_profile.c.
**
** Example: TluaProfileOptions options = { .interval = 1 }; tlua_profile_open(L, &options, NULL);
*/
#ifndef tlua_profile_h
#define tlua_profile_h

#include <stdint.h>

struct lua_State;
struct tl_vm;

#define TLUA_PROFILE_FILE_ROOM 4096

/* What is wanted of a profile. */
typedef struct TluaProfileOptions {
  int by_line, by_function;  /* neither: both */
  uint64_t interval;         /* milliseconds of processor time between samples */
  uint64_t least;            /* rows of fewer percent are left out */
  char file[TLUA_PROFILE_FILE_ROOM];  /* empty for standard error */
} TluaProfileOptions;

/*
** Samples the calling thread from now until the state is closed or the process ends, and tells then. 'vm' is
** NULL without a JIT. Returns NULL, or what is wrong. Of a process one state is sampled at a time: a second
** one is not.
*/
const char *tlua_profile_open (struct lua_State *L, const TluaProfileOptions *options, struct tl_vm *vm);

#endif
