/* Worker processes that read tasks from a pipe which all of them share, and say in another one that a task is done. */
#include "hand.h"
#include "probe.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int to_workers[2], from_workers[2];

static int whole(ssize_t moved, size_t wanted)
{
    if (moved == (ssize_t)wanted)
        return 0;
    if (moved >= 0)
        errno = EPIPE;
    return -1;
}

static void work(void)
{
    uint64_t spent = clock_ns(CLOCK_PROCESS_CPUTIME_ID), length;

    close(to_workers[1]);
    close(from_workers[0]);
    while (read(to_workers[0], &length, sizeof length) == (ssize_t)sizeof length) {
        char failed = (char)(task_do(now_ns(), length, CLOCK_PROCESS_CPUTIME_ID, spent) != 0);

        spent = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        if (write(from_workers[1], &failed, 1) != 1)
            break;
    }
    _exit(0);
}

static int pipe_open_workers(void)
{
    if (pipe(to_workers) != 0 || pipe(from_workers) != 0)
        return -1;
    for (int i = 0; i < hand.workers; i++) {
        pid_t pid = fork();

        if (pid == 0)
            work();
        if (pid < 0)
            return -1;
    }
    close(to_workers[0]);
    close(from_workers[1]);
    return 0;
}

/* No more tasks are under way than both pipes hold, or each side would wait for the other. */
#define UNDER_WAY 4096

static int pipe_burst(const struct burst *b)
{
    uint64_t sent = 0, done = 0;
    char failed[512];
    ssize_t got;

    while (done < b->tasks) {
        if (sent < b->tasks && sent - done < UNDER_WAY) {
            if (whole(write(to_workers[1], &b->length_ns, sizeof b->length_ns), sizeof b->length_ns) != 0)
                return -1;
            sent++;
            continue;
        }
        got = read(from_workers[0], failed, sizeof failed);
        if (got <= 0)
            return whole(got, 1);
        if (memchr(failed, 1, (size_t)got))
            return errno = EIO, -1;
        done += (uint64_t)got;
    }
    return 0;
}

const struct mechanism hand_pipe = {.name = "pipe", .apart = 1, .open = pipe_open_workers, .burst = pipe_burst};
