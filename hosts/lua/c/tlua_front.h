/*
** What lua.c, the stand-alone interpreter, gets for Tracelift: see tlua_front.c. It is included before all
** else there.
**
** Example: 'lua_readline' of lua.c becomes a call of 'tlua_front_read_line'.
*/
#ifndef tlua_front_h
#define tlua_front_h

struct lua_State;

/* An option "-j...": 'word' is what follows "-j". Returns 0 if it is none. */
int tlua_front_option (const char *word);

/*
** Switches the JIT on, as the environment and then the options of argv[1] to argv[count - 1] want it. Returns
** 0 after a message if that cannot be.
*/
int tlua_front_open (struct lua_State *L, char **argv, int count, int uses_environment, const char *name);

/* Whoever reads lines from a terminal. 'read' returns a line from malloc, or NULL at the end. */
typedef struct TluaLineEditor {
  char *(*read) (const char *prompt);
  void (*save) (const char *line);
} TluaLineEditor;

/* Has lines read by this one, where standard input and output are a terminal that can do more than print. */
void tlua_front_edit_lines (const TluaLineEditor *editor);

/* '*line' has room for 'room' characters, and may be set to another line. Returns 0 at the end. */
int tlua_front_read_line (char **line, int room, const char *prompt);
void tlua_front_save_line (const char *line);
void tlua_front_free_line (char *line);

/* The whole of lua.c. */
int tlua_main (int argc, char **argv);

#if defined(TLUA_FRONT)
#define main tlua_main
/* before its declaration, which has the name in parentheses and stays as it is */
#define luaL_newstate() tlua_newstate()
struct lua_State *tlua_newstate (void);
#define lua_initreadline(L) ((void)L)
#define lua_readline(L, b, prompt) ((void)L, tlua_front_read_line(&(b), LUA_MAXINPUT, prompt))
#define lua_saveline(L, line) ((void)L, tlua_front_save_line(line))
#define lua_freeline(L, b) ((void)L, tlua_front_free_line(b))
#endif

#endif
