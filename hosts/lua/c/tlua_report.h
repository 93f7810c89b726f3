/*
** The library's counts, told when a state is closed: see tlua_report.c.
**
** Example: tlua_report_at_end(L, TLUA_REPORT_VIEW, "view.html");
*/
#ifndef tlua_report_h
#define tlua_report_h

#include <stdint.h>

#include "lua.h"

/* All counts as text, the same as JSON, what of them helps whoever has written the program, and a page. */
enum TluaReport { TLUA_REPORT_NONE = 0, TLUA_REPORT_TEXT = 1, TLUA_REPORT_JSON = 2, TLUA_REPORT_SUMMARY = 3,
                  TLUA_REPORT_VIEW = 4, TLUA_REPORTS };

/*
** Has the counts written to a file when the state is closed or the process exits, whichever comes first; to
** standard error if 'path' is NULL. 'path' is kept. Each form can be asked for, once; the view has a path.
** Does nothing for TLUA_REPORT_NONE, and without the recorder.
*/
void tlua_report_at_end (lua_State *L, uint32_t form, const char *path);

#endif
