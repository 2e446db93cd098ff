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
#include <unistd.h>

struct hand hand = {.stamps = -1, .workers = 1};

static const struct mechanism *const mechanisms[] = {&hand_pool, &hand_fork, &hand_spawn, &hand_pipe, &hand_run};

static int serve(const struct mechanism *how, int apart)
{
    struct burst b;

    puts("ready");
    fflush(stdout);
    while (scanf("%" SCNu64 " %" SCNu64, &b.tasks, &b.length_ns) == 2) {
        uint64_t before = hand_spent_ns(), began = now_ns(), spent, others;

        errno = 0;
        if (how->burst(&b) != 0) {
            printf("failed %s\n", strerror(errno));
            return 1;
        }
        spent = hand_spent_ns() - before;
        others = apart ? 0 : hand_tasks_ns();
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
