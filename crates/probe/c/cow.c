/* The parent's bill after a fork: its first write to a page that it now shares with a living child copies the page. */
#include "cow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP (1u << 20) /* one page of every MiB */

static long faults;
static int status; /* how the child ended: 0 when it was told to, behind the last write */

int cow_setup(struct run *r)
{
    if (shape_parent(r) != 0)
        return -1;
    r->ops = param_size(r, "rss") / STEP;
    return r->ops ? 0 : unavailable(r, 0, "rss is at least 1M");
}

static void write_pages(volatile char *memory, size_t length)
{
    for (size_t i = 0; i < length; i += STEP)
        memory[i]++;
}

static void timed(struct run *r)
{
    const struct toucher *toucher = r->probe->with;
    struct rusage before, after;
    size_t length;

    getrusage(RUSAGE_SELF, &before);
    lap_begin(r);
    toucher->touch(shape_memory(&length), r->ops * STEP);
    lap_end(r);
    getrusage(RUSAGE_SELF, &after);
    snprintf(r->extra, sizeof r->extra, "faults=%ld", faults = after.ru_minflt - before.ru_minflt);
}

void cow_round(struct run *r)
{
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
    timed(r);
    close(hold[0]);
    close(hold[1]);
    reap(pid, &status);
}

/* A kernel that copies huge pages whole takes one fault for the two writes to each. */
int cow_verify(struct run *r)
{
    long writes = (long)r->ops, huge = strcmp(param_text(r, "pages"), "huge") == 0;

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return refute(r, "the child did not live until the last write");
    return faults < (huge ? writes / 2 : writes) ? refute(r, "fewer faults than pages") : 0;
}

const struct probe probe_cow = {
    COW_TRAITS,
    .name = "cow",
    .group = "process",
    .exercises = "a page fault, a page copied, the child alive",
    .with = &(const struct toucher){write_pages},
};
