/* fork: the child gets a copy of the parent's page tables. */
#include "process.h"

#include <unistd.h>

static pid_t start(struct job *job)
{
    pid_t pid = fork();

    if (pid == 0)
        child_life(job);
    return pid;
}

const struct probe probe_fork = {
    SPAWN_TRAITS,
    .name = "fork",
    .exercises = "a new process, page tables copied",
    .needs = "nothing",
    .portable = 1,
    .variants = "exit",
    .params = (const struct param[]){SHAPE_PARAMS, END},
    .expect = (const struct expect[]){CALLS_OF_A_CHILD(NULL, NAN), END},
    .with = &(const struct starter){start, 0},
};

const struct probe probe_fork_execve = {
    SPAWN_TRAITS,
    .name = "fork+execve",
    .exercises = "a new process, page tables copied, then dropped for a new program",
    .needs = "a directory to write to that allows programs",
    .portable = 1,
    .variants = "static dynamic",
    .params = (const struct param[]){PATH_PARAMS, SHAPE_PARAMS, END},
    .expect = (const struct expect[]){CALLS_OF_A_PROGRAM(NULL), END},
    .with = &(const struct starter){start, 0},
};
