/* vfork: the child borrows the parent's memory, and the parent stands still until it ends or becomes another program. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "process.h"

#include <unistd.h>

#ifdef __APPLE__
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif

static pid_t start(struct job *job)
{
    pid_t pid = vfork();

    if (pid == 0)
        child_life(job);
    return pid;
}

const struct probe probe_vfork = {
    SPAWN_TRAITS,
    .name = "vfork",
    .exercises = "a new process in borrowed memory",
    .needs = "nothing",
    .portable = 1,
    .variants = "exit",
    .params = (const struct param[]){SHAPE_PARAMS, END},
    .expect = (const struct expect[]){CALLS_OF_A_CHILD(NULL, 3), END},
    .with = &(const struct starter){start, 1},
};

const struct probe probe_vfork_execve = {
    SPAWN_TRAITS,
    .name = "vfork+execve",
    .exercises = "a new process in borrowed memory, then a new program",
    .needs = "a directory to write to that allows programs",
    .portable = 1,
    .variants = "static dynamic",
    .params = (const struct param[]){PATH_PARAMS, SHAPE_PARAMS, END},
    .expect = (const struct expect[]){CALLS_OF_A_PROGRAM(NULL), END},
    .with = &(const struct starter){start, 1},
};
