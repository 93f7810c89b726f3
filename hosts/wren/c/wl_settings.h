/* wl_settings.h: what the command line says of the JIT.
*/
#ifndef wl_settings_h
#define wl_settings_h

#include "wren.h"

/* A word without its "-j"; returns NULL, or what is wrong with it. Before the virtual machine is made. */
const char *wl_set(const char *word);
/* Prints the reports that were asked for, to standard error. */
void wl_report(WrenVM *vm);

#endif
