/* A directory of the probe's own. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[1024];
static pid_t owner;

const char *scratch_path(void)
{
    return path;
}

int scratch_make(struct run *r)
{
    if (scratch_place(path, sizeof path) != 0)
        return unavailable(r, errno, "no directory to write to: set TMPDIR");
    owner = getpid();
    return 0;
}

int scratch_enter(struct run *r)
{
    if (scratch_make(r) != 0)
        return -1;
    return chdir(path) == 0 ? 0 : unavailable(r, errno, "the directory made for the probe");
}

static int drop(const char *name, const struct stat *status, int type, struct FTW *walk)
{
    (void)status, (void)type, (void)walk;
    remove(name);
    return 0;
}

/* A child that a probe forked must not remove what its parent still uses. */
void scratch_leave(void)
{
    if (!path[0] || owner != getpid())
        return;
    if (chdir("/") == 0)
        nftw(path, drop, 16, FTW_DEPTH | FTW_PHYS);
    path[0] = 0;
}

void scratch_teardown(struct run *r)
{
    (void)r;
    scratch_leave();
}

void scratch_inherit(void)
{
    owner = getpid();
}
