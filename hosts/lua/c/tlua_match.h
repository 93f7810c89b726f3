/*
** What 'tlua_match.c' and 'tlua_number_text.c' do for the string library, and ask of it; and what baseline
** and compiled code do in its place.
*/
#ifndef tlua_match_h
#define tlua_match_h

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lua.h"

struct luaL_Buffer;

#include "lobject.h"

typedef struct TluaPattern TluaPattern;

/* As the library has it: 'len' is a length, or CAP_POSITION. */
typedef struct TluaCapture {
  const char *init;
  ptrdiff_t len;
} TluaCapture;
#define TLUA_POSITION (-2)
/* Captures of a search that is made without the library. */
#define TLUA_MOST_FOUND 12

/*
** The pattern, without the '^' at its start, as it is kept for this text; NULL if it is left to the library.
** It stays there as long as the state. 'subject' is how long the subject is.
*/
const TluaPattern *tlua_pattern (lua_State *L, const char *p, size_t length, size_t subject);
/* The same if it is there already. */
const TluaPattern *tlua_known_pattern (lua_State *L, const char *p, size_t length);
/* Its captures. */
int tlua_pattern_captures (const TluaPattern *pattern);
/* Whether it is a text without special characters. */
int tlua_pattern_is_text (const TluaPattern *pattern);

/* As 'match': where the match ends that begins at 's' in a subject; NULL if there is none. */
const char *tlua_match (const TluaPattern *pattern, const char *start, const char *end, const char *s,
                        TluaCapture *captures, unsigned char *level);
/*
** The place of a pointer that differs from locale to locale, for this thread; NULL is there if that cannot be
** known.
*/
const void *const *tlua_locale (void);
/* The pattern, if it still means the same: other code has run since, which may have set another locale. */
const TluaPattern *tlua_still (const TluaPattern *pattern);
/* The first place from 's' on where the pattern may match; it may say an earlier one. */
const char *tlua_match_start (const TluaPattern *pattern, const char *s, const char *end);
/* Where a text begins in another one; NULL if it does not. */
const char *tlua_find_text (const char *s, size_t length, const char *text, size_t text_length);

/* In the library: whether a character is in an item that is a class or a set. */
int tlua_item_has (int c, const char *item, const char *item_end);

/* As luaL_addlstring, without a call where the buffer has room. */
void tlua_add_text (struct luaL_Buffer *b, const char *text, size_t length);
/*
** In 'gsub' with a table: adds what the table has for the first capture, or the match. Returns 1 and 0 then,
** and -1 if it is left to the library.
*/
int tlua_replace (lua_State *L, struct luaL_Buffer *b, const TluaCapture *key, const char *match,
                  size_t length);

/* Writes an integer as "%lld" does; returns how many characters. */
int tlua_print_integer (char *text, lua_Integer n);
/*
** Reads a usual decimal numeral, an integer or a float; its size with the ending zero, or 0 if luaO_str2num
** has to read the text.
*/
size_t tlua_read_number (const char *text, lua_Integer *integer, lua_Number *number, int *is_float);
/* The same for floats as 'tostring' writes them, as "%.*g" and "%.*f": returns 0 if it has to be asked. */
int tlua_print_float (char *text, lua_Number n);
int tlua_print_general (char *text, lua_Number n, int places);
int tlua_print_fixed (char *text, lua_Number n, int places);

/* --- for baseline and compiled code --- */

/* As memcpy, of a few characters, which are less work than a call. */
static inline void tlua_copy_text (char *to, const char *from, size_t length) {
  if (length >= 4 && length <= 8) {  /* both halves, which may overlap */
    uint32_t first, last;
    memcpy(&first, from, 4);
    memcpy(&last, from + length - 4, 4);
    memcpy(to, &first, 4);
    memcpy(to + length - 4, &last, 4);
  }
  else if (length > 8 && length <= 16) {
    uint64_t first, last;
    memcpy(&first, from, 8);
    memcpy(&last, from + length - 8, 8);
    memcpy(to, &first, 8);
    memcpy(to + length - 8, &last, 8);
  }
  else if (length < 4) {
    for (size_t n = 0; n < length; n++)
      to[n] = from[n];
  }
  else
    memcpy(to, from, length);
}

/* Characters that are written at most without the library. */
#define TLUA_TEXT_ROOM 512
/*
** Writes what the function of this name makes of its arguments: how many characters, or -1, if that is for
** the library to do. Makes no object.
*/
typedef ptrdiff_t TluaWriteText (lua_State *L, const TValue *arguments, ptrdiff_t count, char *to);
TluaWriteText tlua_write_format, tlua_write_reverse, tlua_write_lower, tlua_write_upper, tlua_write_rep;
/* What 'string.find' or 'string.match' has found: nothing where 'from' is NULL. */
typedef struct TluaFound {
  const char *from, *to;
  unsigned char count;    /* captures */
  TluaCapture captures[TLUA_MOST_FOUND];
} TluaFound;
/* Searches with these arguments; 0: that is for the library to do. Makes no object. */
int tlua_search (lua_State *L, const TValue *arguments, ptrdiff_t count, int find, TluaFound *found);

#endif
