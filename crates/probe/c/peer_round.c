/* The life of the other side: round by round, with its receipts. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "peer.h"

#include <sched.h>
#include <time.h>

uint64_t thread_cpu_ns(void)
{
    struct timespec t = {0, 0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* In a counted run yields would be counted. */
void peer_look_again(const struct run *run)
{
    if (run->counting)
        relax();
    else
        sched_yield();
}

static void one_round(const struct run *run, struct shared *s, void (*body)(struct shared *))
{
    long vol = 0, inv = 0, vol_after = 0, inv_after = 0;
    uint64_t cpu = run->counting ? 0 : thread_cpu_ns();
    int told = run->counting ? -1 : thread_switches(&vol, &inv);

    body(s);
    if (told == 0)
        told = thread_switches(&vol_after, &inv_after);
    s->vol = told == 0 ? vol_after - vol : -1;
    s->inv = told == 0 ? inv_after - inv : -1;
    s->cpu_ns = run->counting ? 0 : thread_cpu_ns() - cpu;
}

void peer_live(const struct run *run, struct shared *s, void (*body)(struct shared *))
{
    s->task = this_task();
    atomic_store(&s->begun, 1);
    pin_to(run->cpu[1]);
    for (uint64_t next = 1;; next++) {
        while (atomic_load(&s->round) < next && !atomic_load(&s->stop))
            peer_look_again(run);
        if (atomic_load(&s->stop))
            return;
        one_round(run, s, body);
        atomic_store(&s->done, next);
    }
}
