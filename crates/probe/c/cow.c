/* The parent's bill after a fork: its first write to a page that it now shares with a living child copies the page. */
#include "process.h"

#include <errno.h>
#include <unistd.h>

#define STEP (1u << 20) /* one page of every MiB */

static int setup(struct run *r)
{
    size_t length;

    if (shape_parent(r) != 0)
        return -1;
    shape_memory(&length);
    r->ops = length / STEP;
    return r->ops ? 0 : unavailable(r, 0, "rss is at least 1M");
}

static void touch(volatile char *memory, size_t length)
{
    for (size_t i = 0; i < length; i += STEP)
        memory[i]++;
}

static void measure(struct run *r)
{
    size_t length;
    volatile char *memory = shape_memory(&length);
    int hold[2];
    char byte;
    pid_t pid;

    if (pipe(hold) != 0 || (pid = fork()) < 0) {
        unavailable(r, errno, "the child that shares the pages");
        return;
    }
    if (pid == 0) {
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
    lap_begin(r);
    touch(memory, r->ops * STEP);
    lap_end(r);
    close(hold[0]);
    close(hold[1]);
    reap(pid, NULL);
}

/* One more round, as a byte that every round adds to comes round to what it was. */
static int verify(struct run *r)
{
    size_t length;
    volatile char *memory = shape_memory(&length);
    char before = memory[0];

    measure(r);
    return memory[0] == before ? refute(r, "the pages were not written") : 0;
}

const struct probe probe_cow = {
    .name = "cow",
    .group = "process",
    .unit = "one first write to a page after fork",
    .exercises = "a page fault, a page copied, the child alive",
    .needs = "memory",
    .source = __FILE__,
    .portable = 1,
    .variants = "parent",
    .measures = "time",
    .batch = BATCH_PARAM,
    .disturbed = "inv delay",
    .params = (const struct param[]){{"rss", "64M 256M 1G", "memory that the parent has touched", NULL},
                                     {"pages", "4k huge", "of what pages that memory is", NULL},
                                     NO_MORE},
    .setup = setup,
    .round = measure,
    .verify = verify,
};
