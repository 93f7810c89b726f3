/*
** A program that embeds Lua, as people write them: it knows nothing of a JIT.
**
** Problem: with another library in Lua's place nothing may change but the time. Design: parts that print
** what they find; the same source is linked with stock Lua and with both of our libraries. Loops are long
** enough to be compiled. Invariant: no address, time or amount of memory is printed.
**
** Example: cc program.c $(pkg-config --cflags --libs tlua5.4) -lpthread
*/

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"

#include "lauxlib.h"
#include "lualib.h"

static lua_State *new_state (void) {
  lua_State *L = luaL_newstate();
  if (L == NULL)
    exit(1);
  luaL_openlibs(L);
  return L;
}

/* Runs a text; prints its results, or its error. */
static void run (lua_State *L, const char *what, const char *text) {
  int top = lua_gettop(L);
  int status = luaL_loadstring(L, text);
  if (status == LUA_OK)
    status = lua_pcall(L, 0, LUA_MULTRET, 0);
  printf("%s (%d):", what, status);
  for (int i = top + 1; i <= lua_gettop(L); i++)
    printf(" %s", luaL_tolstring(L, i, NULL)), lua_pop(L, 1);
  printf("\n");
  lua_settop(L, top);
}

/* --- calls both ways --- */

static int add (lua_State *L) {
  lua_pushinteger(L, luaL_checkinteger(L, 1) + luaL_optinteger(L, 2, 1));
  return 1;
}

static void calls (void) {
  lua_State *L = new_state();
  lua_register(L, "add", add);
  run(L, "calls", "local s = 0 for i = 1, 20000 do s = add(s, i % 3) end return s");
  run(L, "an error", "for i = 1, 5000 do add(i == 4000 and {} or i) end");
  run(L, "f", "function f(a, b) local s = a for i = 1, b do s = s + i % a end return s, 'two' end");
  lua_Integer sum = 0;
  for (int i = 1; i <= 2000; i++) {
    lua_getglobal(L, "f");
    lua_pushinteger(L, i % 7 + 1);
    lua_pushinteger(L, i % 50);
    lua_call(L, 2, 2);
    sum += lua_tointeger(L, -2) + (lua_Integer)lua_rawlen(L, -1);
    lua_pop(L, 2);
  }
  printf("called: %lld, top %d\n", (long long)sum, lua_gettop(L));
  lua_close(L);
}

/* --- coroutines --- */

static int finish_yield (lua_State *L, int status, lua_KContext context) {
  lua_pushinteger(L, (lua_Integer)context + status);
  return lua_gettop(L);
}

static int yield_twice (lua_State *L) {
  return lua_yieldk(L, lua_gettop(L), 40, finish_yield);
}

static void coroutines (void) {
  lua_State *L = new_state();
  lua_register(L, "pause", yield_twice);
  run(L, "body", "function body(n) local s = 0 for i = 1, n do s = s + (pause(i, i * 2)) end return "
                 "'end', s end");
  lua_Integer sum = 0;
  int resumes = 0, status = LUA_YIELD;
  for (int round = 0; round < 20; round++) {
    lua_State *thread = lua_newthread(L);
    int results, n = 1;
    lua_getglobal(thread, "body");
    lua_pushinteger(thread, 200);
    while ((status = lua_resume(thread, L, n, &results)) == LUA_YIELD) {
      sum += lua_tointeger(thread, -1);
      lua_pop(thread, results);
      lua_pushinteger(thread, ++resumes % 5);
      n = 1;
    }
    printf("%s %lld; ", lua_tostring(thread, -2), (long long)lua_tointeger(thread, -1));
    if (lua_closethread(thread, L) != LUA_OK)
      printf("not closed; ");
    lua_pop(L, 1);
  }
  printf("%d %d %lld\n", status, resumes, (long long)sum);
  run(L, "wrapped", "local s = 0 for v in coroutine.wrap(function() for i = 1, 3000 do "
                    "coroutine.yield(i) end end) do "
                    "s = s + v end return s");
  run(L, "failing", "return coroutine.resume(coroutine.create(function() for i = 1, 3000 do if i == "
                    "2500 then "
                    "error('at ' .. i) end end end))");
  lua_close(L);
}

/* --- userdata --- */

static int box_get (lua_State *L) {
  lua_Integer *box = (lua_Integer *)luaL_checkudata(L, 1, "box");
  lua_pushinteger(L, ++*box);
  lua_getiuservalue(L, 1, 2);
  return 2;
}

static int boxes_gone = 0;

static int box_gone (lua_State *L) {
  boxes_gone += luaL_testudata(L, 1, "box") != NULL;
  return 0;
}

static int box_new (lua_State *L) {
  *(lua_Integer *)lua_newuserdatauv(L, sizeof(lua_Integer), 2) = luaL_checkinteger(L, 1);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, 2);
  luaL_setmetatable(L, "box");
  return 1;
}

static void userdata (void) {
  static const luaL_Reg methods[] = {
    { "get", box_get }, { "__gc", box_gone }, { "__close", box_gone }, { NULL, NULL },
  };
  lua_State *L = new_state();
  luaL_newmetatable(L, "box");
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -2, "__index");
  lua_register(L, "box", box_new);
  run(L, "boxes", "local s = 0 for i = 1, 5000 do local b = box(i) local a, c = b:get() s = s + a + "
                  "c end return s");
  run(L, "closed", "for i = 1, 1000 do local b <close> = box(i) end return box(1):get()");
  run(L, "wrong", "return box.get(io.stdout)");
  lua_close(L);
  printf("gone: %d\n", boxes_gone);
}

/* --- protected calls and panics --- */

static jmp_buf at_panic;

static int panic (lua_State *L) {
  printf("panic: %s\n", lua_tostring(L, -1));
  longjmp(at_panic, 1);
}

static int handler (lua_State *L) {
  lua_pushfstring(L, "handled %s", luaL_tolstring(L, 1, NULL));
  return 1;
}

static void protection (void) {
  lua_State *L = new_state();
  int failures = 0;
  run(L, "f", "function f(i) for k = 1, 30 do if i % 3 == 0 and k == 20 then error({ code = i }) end end "
              "return i end");
  lua_pushcfunction(L, handler);
  for (int i = 1; i <= 2000; i++) {
    lua_getglobal(L, "f");
    lua_pushinteger(L, i);
    if (lua_pcall(L, 1, 1, i % 2) != LUA_OK)
      failures += lua_type(L, -1) == (i % 2 ? LUA_TSTRING : LUA_TTABLE);
    lua_pop(L, 1);
  }
  printf("failures: %d, top %d\n", failures, lua_gettop(L));
  run(L, "deep", "local function f(n) return n == 0 and 0 or 1 + f(n - 1) end return f(15000), "
                 "pcall(f, 1 << 30)");
  lua_atpanic(L, panic);
  if (setjmp(at_panic) == 0) {
    luaL_loadstring(L, "for i = 1, 5000 do if i > 4000 then error('nobody catches') end end");
    lua_call(L, 0, 0);
  }
  lua_close(L);
}

/* --- hooks --- */

static int hooked = 0;

static void count_lines (lua_State *L, lua_Debug *activation) {
  lua_getinfo(L, "Sl", activation);
  hooked += activation->currentline;
}

static void stop (lua_State *L, lua_Debug *activation) {
  (void)activation;
  lua_sethook(L, NULL, 0, 0);
  luaL_error(L, "it took too long");
}

static void hooks (void) {
  lua_State *L = new_state();
  const char *loop = "local s = 0\nfor i = 1, 3000 do\n  s = s + i\nend\nreturn s";
  run(L, "without", loop);
  lua_sethook(L, count_lines, LUA_MASKLINE, 0);
  run(L, "with", loop);
  lua_sethook(L, NULL, 0, 0);
  run(L, "without", loop);
  printf("lines: %d\n", hooked);
  lua_sethook(L, stop, LUA_MASKCOUNT, 100000);
  run(L, "endless", "while true do end");
  run(L, "debug", "local n = 0 debug.sethook(function() n = n + 1 end, 'c') for i = 1, 500 do "
                  "math.abs(i) end "
                  "debug.sethook() return n");
  lua_close(L);
}

/* --- warnings --- */

static char warned[256];

static void warn (void *user, const char *text, int goes_on) {
  (*(int *)user)++;
  strncat(warned, text, sizeof(warned) - strlen(warned) - 1);
  strncat(warned, goes_on ? "+" : ";", sizeof(warned) - strlen(warned) - 1);
}

static void warnings (void) {
  int pieces = 0;
  lua_State *L = new_state();
  lua_setwarnf(L, warn, &pieces);
  run(L, "warnings", "for i = 1, 3000 do if i % 1000 == 0 then warn('at ', i) end end "
                     "setmetatable({}, { __gc = function() error('in gc') end }) collectgarbage()");
  lua_warning(L, "from C", 0);
  printf("%d pieces: %s\n", pieces, warned);
  lua_close(L);
}

/* --- memory --- */

typedef struct Account {
  size_t used, most, limit;
} Account;

static void *allocate (void *user, void *block, size_t old_size, size_t size) {
  Account *account = (Account *)user;
  size_t before = block == NULL ? 0 : old_size;
  if (size == 0) {
    free(block);
    account->used -= before;
    return NULL;
  }
  if (size > before && account->used - before + size > account->limit)
    return NULL;
  void *result = realloc(block, size);
  if (result != NULL) {
    account->used += size - before;
    if (account->used > account->most)
      account->most = account->used;
  }
  return result;
}

static void memory (void) {
  Account account = { 0, 0, 8 << 20 };
  lua_State *L = lua_newstate(allocate, &account);
  luaL_openlibs(L);
  run(L, "lists", "local t = {} for i = 1, 20000 do t[i] = { i } end local s = 0 "
                  "for i, v in ipairs(t) do s = s + v[1] end return s");
  run(L, "too much", "local t = {} for i = 1, 1 << 30 do t[i] = { i } end");
  lua_gc(L, LUA_GCCOLLECT);
  run(L, "text", "local s = {} for i = 1, 3000 do s[#s + 1] = 'x' .. i end return #table.concat(s)");
  lua_gc(L, LUA_GCGEN, 0, 0);
  run(L, "generations", "local keep = {} for i = 1, 50000 do keep[i % 100 + 1] = { i } end return #keep");
  lua_gc(L, LUA_GCINC, 0, 0, 0);
  run(L, "steps", "local keep = {} for i = 1, 50000 do keep[i % 100 + 1] = { i } end return #keep");
  lua_close(L);
  printf("left: %zu, within the limit: %d\n", account.used, account.most <= account.limit);
}

/* --- threads of the system, a state each; and one state that several use in turn --- */

static const char *const work =
  "local s = 0 for i = 1, 200000 do s = s + i % 7 end local t = {} for i = 1, 20000 do t[i] = 'k' .. i end "
  "local n = 0 for i, v in ipairs(t) do n = n + #v end return s, n";

static void *in_thread (void *user) {
  lua_State *L = user != NULL ? (lua_State *)user : new_state();
  if (luaL_dostring(L, work) != LUA_OK)
    return NULL;
  void *result = (void *)(size_t)(lua_tointeger(L, -2) + lua_tointeger(L, -1));
  lua_settop(L, 0);
  if (user == NULL)
    lua_close(L);
  return result;
}

static void threads (void) {
  pthread_t all[4];
  void *result;
  for (int i = 0; i < 4; i++)
    pthread_create(&all[i], NULL, in_thread, NULL);
  for (int i = 0; i < 4; i++) {
    pthread_join(all[i], &result);
    printf("thread: %zu\n", (size_t)result);
  }
  lua_State *L = new_state();
  for (int i = 0; i < 4; i++) {
    pthread_create(&all[i], NULL, in_thread, L);
    pthread_join(all[i], &result);
    printf("in turn: %zu\n", (size_t)result);
  }
  lua_close(L);
}

int main (void) {
  calls();
  coroutines();
  userdata();
  protection();
  hooks();
  warnings();
  memory();
  threads();
  printf("done with %s\n", LUA_VERSION);
  return 0;
}
