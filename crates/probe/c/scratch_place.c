/* Where the probe's own directory is made. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "scratch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* As far as the system tells (statvfs(3)). */
static int allows_programs(const char *directory)
{
#ifdef ST_NOEXEC
    struct statvfs of;

    return statvfs(directory, &of) != 0 || !(of.f_flag & ST_NOEXEC);
#else
    return *directory != 0;
#endif
}

/* By an absolute path, as it is removed from elsewhere. */
static int made(char *path, size_t room, const char *parent, int for_programs)
{
    char absolute[PATH_MAX];

    if (!parent || !*parent || !realpath(parent, absolute) || (for_programs && !allows_programs(absolute)))
        return 0;
    return snprintf(path, room, "%s/whyfaster-XXXXXX", absolute) < (int)room && mkdtemp(path) != NULL;
}

/* In the first place that may be written to and allows programs; where none does both, in the first that may be written to. */
int scratch_place(char *path, size_t room)
{
    const char *const places[] = {getenv("TMPDIR"), "/tmp", "/dev/shm", "."};

    for (int for_programs = 1; for_programs >= 0; for_programs--)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            if (made(path, room, places[i], for_programs))
                return 0;
    return -1;
}
