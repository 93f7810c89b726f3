/*
** What the library's view is told of a program: see tlua_view.c.
**
** Example: if (tl_has_view(vm)) tlua_view_loaded(vm, chunk);
*/
#ifndef tlua_view_h
#define tlua_view_h

#include "tracelift.h"

#include "lobject.h"

/* A chunk was loaded: the library is told of all its functions. */
void tlua_view_loaded (tl_vm *vm, const Proto *chunk);

#endif
