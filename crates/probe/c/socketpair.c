/* The event itself goes through a pair of local stream sockets. */
#include "handoff.h"

#include <sys/socket.h>

static int start(struct run *r)
{
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 ? 0 : unavailable(r, errno, "socketpair");
}

static int take(uint64_t *events, int most)
{
    (void)most;
    return read_events(events, 1);
}

const struct probe probe_socketpair = {
    PLAIN_HANDOFF,
    .name = "socketpair",
    .exercises = "a local socket, one event a read",
    .needs = "threads",
    .portable = 1,
    .with = &(const struct handoff){start, write_event, take, close_ends},
};
