/* The receiver waits for descriptors, one of them a pipe that carries the events themselves. */
#include "waiter.h"

static const struct waiter *waiter;

static int start(struct run *r)
{
    return open_pipe(r) || waiter_open(r, &waiter) ? -1 : 0;
}

static int take(uint64_t *events, int most)
{
    int ready = waiter->wait(NULL);

    (void)most;
    return ready <= 0 ? ready : read_events(events, 1);
}

static void stop(void)
{
    waiter->close();
    close_ends();
}

const struct probe probe_select_pipe_event = {
    WAITING_HANDOFF,
    .name = "select_pipe_event",
    .exercises = "a wait for descriptors, a pipe, one event a read",
    .needs = "threads",
    .portable = 1,
    .with = &(const struct handoff){start, write_event, take, stop},
};
