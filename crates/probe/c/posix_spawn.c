/* posix_spawn: the library's way to a new program; glibc does it by clone(CLONE_VM | CLONE_VFORK). */
#include "process.h"

#include <errno.h>
#include <spawn.h>

extern char **environ;

static pid_t start(struct job *job)
{
    pid_t pid;
    int error = posix_spawnp(&pid, job->path, NULL, NULL, job->argv, environ);

    if (error == 0)
        return pid;
    errno = error;
    return -1;
}

const struct probe probe_posix_spawn = {
    SPAWN_TRAITS,
    .name = "posix_spawn",
    .exercises = "a new program by way of the C library",
    .needs = "a directory to write to that allows programs",
    .portable = 1,
    .variants = "static dynamic",
    .params = (const struct param[]){PATH_PARAMS, SHAPE_PARAMS, END},
    .expect = (const struct expect[]){CALLS_OF_A_PROGRAM(NULL), END},
    .with = &(const struct starter){start, 0},
};
