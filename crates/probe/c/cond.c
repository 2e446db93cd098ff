/* A queue under a mutex; the receiver sleeps on a condition variable. */
#include "handoff.h"

static struct queue queue;

static int start(struct run *r)
{
    return queue_open(&queue, r);
}

static int give(uint64_t event)
{
    return queue_push_signal(&queue, event);
}

static int take(uint64_t *events, int most)
{
    (void)most; /* one at a time, as with any such queue */
    return queue_wait_one(&queue, events);
}

static void stop(void)
{
}

const struct probe probe_cond = {
    PLAIN_HANDOFF,
    .name = "cond",
    .exercises = "a mutex, a condition variable, one event a time",
    .needs = "threads",
    .portable = 1,
    .with = &(const struct handoff){start, give, take, stop},
};
