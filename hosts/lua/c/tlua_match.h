/*
** What 'tlua_match.c' and 'tlua_number_text.c' do for the string library, and ask of it.
*/
#ifndef tlua_match_h
#define tlua_match_h

#include <stddef.h>

#include "lua.h"

/* How many characters from 's' on are in a pattern's item; it may say less. */
ptrdiff_t tlua_match_span (lua_State *L, const char *s, const char *end, const char *item,
                           const char *item_end);
/* The first place from 's' on where the pattern may match; it may say an earlier one. */
const char *tlua_match_start (lua_State *L, const char *s, const char *end, const char *p,
                              const char *p_end);
/*
** The same for what follows 'item' and a '-', as long as all characters before that place are in the item.
*/
const char *tlua_match_rest (lua_State *L, const char *s, const char *end, const char *item,
                             const char *item_end, const char *p_end);

/* In the library: whether a character is in an item that is a class or a set. */
int tlua_item_has (int c, const char *item, const char *item_end);

/* Writes an integer as "%lld" does; returns how many characters. */
int tlua_print_integer (char *text, lua_Integer n);
/* Writes a float that is a whole number as 'tostring' does; returns 0 if it is none, or too large. */
int tlua_print_whole (char *text, lua_Number n);

#endif
