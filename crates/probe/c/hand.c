/*
 * The client of the mechanisms that need no program of others: `--hand MECHANISM [COMMAND]`.
 *
 * It says "ready". For each line "TASKS NANOSECONDS" it hands over so many tasks at once, waits for their end, and says "done T0 CPU":
 * when it began to hand over (CLOCK_MONOTONIC) and the CPU nanoseconds that it and its helpers spent, the tasks' own left out. The
 * environment has LADDER_STAMPS, where tasks write; LADDER_WORKERS; and LADDER_APART where tasks run below somebody else.
 */
#include "hand.h"
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct hand hand = {.stamps = -1, .workers = 1};

static const struct mechanism *const mechanisms[] = {&hand_pool, &hand_fork, &hand_spawn, &hand_pipe, &hand_run};

static uint64_t of_time(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

/* CPU time of this process and of its dead children. */
static uint64_t spent_ns(void)
{
    struct rusage children;

    getrusage(RUSAGE_CHILDREN, &children);
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + of_time(children.ru_utime) + of_time(children.ru_stime);
}

/* What the tasks of a burst say that they cost. */
static uint64_t of_tasks(void)
{
    struct stamped stamp;
    uint64_t sum = 0;

    for (off_t at = 0; pread(hand.stamps, &stamp, sizeof stamp, at) == (ssize_t)sizeof stamp; at += (off_t)sizeof stamp)
        sum += stamp.cpu_ns;
    return sum;
}

static int serve(const struct mechanism *how, int apart)
{
    struct burst b;

    puts("ready");
    fflush(stdout);
    while (scanf("%" SCNu64 " %" SCNu64, &b.tasks, &b.length_ns) == 2) {
        uint64_t before = spent_ns(), began = now_ns(), spent, others;

        errno = 0;
        if (how->burst(&b) != 0) {
            printf("failed %s\n", strerror(errno));
            return 1;
        }
        spent = spent_ns() - before;
        others = apart ? 0 : of_tasks();
        /* Both are sums of clocks that the kernel rounds. */
        printf("done %" PRIu64 " %" PRIu64 "\n", began, spent > others ? spent - others : 0);
        fflush(stdout);
    }
    return 0;
}

int hand_main(int argc, char **argv)
{
    const char *stamps = getenv("LADDER_STAMPS"), *workers = getenv("LADDER_WORKERS");

    hand.workers = workers ? atoi(workers) : 1;
    hand.stamps = stamps ? open(stamps, O_RDWR | O_APPEND | O_CLOEXEC) : -1;
    hand.command = argc > 3 ? argv[3] : NULL;
    for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++) {
        if (argc < 3 || strcmp(argv[2], mechanisms[i]->name) != 0)
            continue;
        if (hand.stamps < 0 || hand.workers < 1 || (mechanisms[i]->open && mechanisms[i]->open() != 0)) {
            printf("failed %s\n", strerror(errno ? errno : EINVAL));
            return 1;
        }
        return serve(mechanisms[i], mechanisms[i]->apart || getenv("LADDER_APART") != NULL);
    }
    puts("failed there is no such mechanism");
    return 2;
}
