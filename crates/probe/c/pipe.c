/* The event itself goes through a pipe; the receiver reads one at a time. */
#include "handoff.h"

static int take(uint64_t *events, int most)
{
    (void)most;
    return read_events(events, 1);
}

const struct probe probe_pipe = {
    PLAIN_HANDOFF,
    .name = "pipe",
    .exercises = "a pipe, one event a read",
    .needs = "threads",
    .portable = 1,
    .with = &(const struct handoff){open_pipe, write_event, take, close_ends},
};
