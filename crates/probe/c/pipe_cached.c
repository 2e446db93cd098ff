/* The event itself goes through a pipe; the receiver reads as many as are there. */
#include "handoff.h"

const struct probe probe_pipe_cached = {
    PLAIN_HANDOFF,
    .name = "pipe_cached",
    .exercises = "a pipe, many events a read",
    .needs = "threads",
    .portable = 1,
    .with = &(const struct handoff){open_pipe, write_event, read_events, close_ends},
};
