/* A ring in shared memory; the receiver never sleeps, it looks until the event is there. */
#include "handoff.h"

#include <stdatomic.h>

static _Atomic uint64_t ring[EVENTS_MOST]; /* 0: empty */
static unsigned head, tail;
static const struct run *run;

static int start(struct run *r)
{
    run = r;
    return is_variant(r, "asleep") ? unavailable(r, 0, "a receiver that spins never sleeps") : 0;
}

static int give(uint64_t event)
{
    unsigned turns = 0;

    while (atomic_load_explicit(&ring[tail % EVENTS_MOST], memory_order_relaxed) != 0)
        spin_politely(run, &turns);
    atomic_store_explicit(&ring[tail++ % EVENTS_MOST], event, memory_order_release);
    return 0;
}

static int take(uint64_t *events, int most)
{
    unsigned turns = 0;

    (void)most;
    while ((*events = atomic_load_explicit(&ring[head % EVENTS_MOST], memory_order_acquire)) == 0)
        spin_politely(run, &turns);
    atomic_store_explicit(&ring[head++ % EVENTS_MOST], 0, memory_order_relaxed);
    return 1;
}

static void stop(void)
{
}

const struct probe probe_spin = {
    PLAIN_HANDOFF,
    .name = "spin",
    .exercises = "a cache line between two CPUs; no system call unless both share one",
    .needs = "threads",
    .portable = 1,
    .with = &(const struct handoff){start, give, take, stop},
};
