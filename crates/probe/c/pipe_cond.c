/* A queue under a mutex; a byte through a pipe wakes the receiver, which takes all that the queue holds. */
#include "handoff.h"

static struct queue queue;

static int start(struct run *r)
{
    return queue_open(&queue, r) || open_pipe(r) ? -1 : 0;
}

static int give(uint64_t event)
{
    return queue_push(&queue, event) || write_byte() ? -1 : 0;
}

static int take(uint64_t *events, int most)
{
    return drain_bytes() ? -1 : queue_take(&queue, events, most);
}

const struct probe probe_pipe_cond = {
    PLAIN_HANDOFF,
    .name = "pipe_cond",
    .exercises = "a mutex, a pipe of single bytes, the whole queue at a time",
    .needs = "threads",
    .portable = 1,
    .with = &(const struct handoff){start, give, take, close_ends},
};
