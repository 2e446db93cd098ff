/* A directory of the probe's own, removed with all in it. */
#ifndef WHYFASTER_SCRATCH_H
#define WHYFASTER_SCRATCH_H

#include "probe.h"

/* c/scratch_place.c: makes a directory, and writes its absolute path. 0, or -1 with errno. */
int scratch_place(char *path, size_t room);
/* Makes it. 0, or unavailable(). */
int scratch_make(struct run *r);
/* Makes it, and makes it the working directory. */
int scratch_enter(struct run *r);
/* Its absolute path. */
const char *scratch_path(void);
/* Makes file `name` in it with `bytes` bytes, mode as given. */
int scratch_file(struct run *r, const char *name, const void *bytes, size_t length, mode_t mode);
void scratch_leave(void);
/* A forked child takes it over from its parent. */
void scratch_inherit(void);
/* The teardown of a probe that needs no more. */
void scratch_teardown(struct run *r);
#endif
