/* The receiver waits for descriptors, one of them a pipe; events stand in a queue, and a byte in the pipe says so. */
#include "waiter.h"

static struct queue queue;
static const struct waiter *waiter;

static int start(struct run *r)
{
    return queue_open(&queue, r) || open_pipe(r) || waiter_open(r, &waiter) ? -1 : 0;
}

static int give(uint64_t event)
{
    return queue_push(&queue, event) || write_byte() ? -1 : 0;
}

static int take(uint64_t *events, int most)
{
    int ready = waiter->wait(NULL);

    if (ready <= 0)
        return ready;
    return drain_bytes() ? -1 : queue_take(&queue, events, most);
}

static void stop(void)
{
    waiter->close();
    close_ends();
}

const struct probe probe_select_pipe_wake = {
    WAITING_HANDOFF,
    .name = "select_pipe_wake",
    .exercises = "a mutex, a wait for descriptors, a pipe of single bytes",
    .needs = "threads",
    .portable = 1,
    .with = &(const struct handoff){start, give, take, stop},
};
