/* A child for every task, at most as many at once as there are workers: fork alone, or fork and exec by posix_spawn. */
#include "hand.h"
#include "probe.h"
#include "process.h"

#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int hand_wait(void)
{
    int status;
    pid_t pid;

    do
        pid = waitpid(-1, &status, 0);
    while (pid < 0 && errno == EINTR);
    if (pid >= 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
        errno = ECHILD;
        return -1;
    }
    return pid < 0 ? -1 : 0;
}

static int children(const struct burst *b, int (*start)(const struct burst *b))
{
    uint64_t started = 0, ended = 0;

    while (ended < b->tasks) {
        int busy = started - ended >= (uint64_t)hand.workers || started == b->tasks;

        if (busy ? hand_wait() : start(b))
            return -1;
        *(busy ? &ended : &started) += 1;
    }
    return 0;
}

static int start_fork(const struct burst *b)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(task_do(now_ns(), b->length_ns, CLOCK_PROCESS_CPUTIME_ID, 0) == 0 ? 0 : 1);
    return pid < 0 ? -1 : 0;
}

static int start_spawn(const struct burst *b)
{
    char length[24];
    char *argv[] = {(char *)self_path, (char *)HAND_TASK, getenv("LADDER_STAMPS"), length, NULL};
    pid_t pid;

    snprintf(length, sizeof length, "%" PRIu64, b->length_ns);
    errno = posix_spawn(&pid, self_path, NULL, NULL, argv, environ);
    return errno ? -1 : 0;
}

static int fork_burst(const struct burst *b)
{
    return children(b, start_fork);
}

static int spawn_burst(const struct burst *b)
{
    return children(b, start_spawn);
}

const struct mechanism hand_fork = {.name = "fork", .burst = fork_burst};
const struct mechanism hand_spawn = {.name = "spawn", .burst = spawn_burst};
