/* One command of an engine hands out all tasks of a burst; its $1 is how many, $2 how long each is. */
#include "hand.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>

extern char **environ;

static int run_burst(const struct burst *b)
{
    char tasks[24], length[24];
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)hand.command, (char *)"sh", tasks, length, NULL};
    pid_t pid;

    if (!hand.command) {
        errno = EINVAL;
        return -1;
    }
    snprintf(tasks, sizeof tasks, "%" PRIu64, b->tasks);
    snprintf(length, sizeof length, "%" PRIu64, b->length_ns);
    errno = posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
    return errno ? -1 : hand_wait();
}

const struct mechanism hand_run = {.name = "run", .burst = run_burst};
