/* A channel of two descriptors: events or single bytes through it. */
#include "handoff.h"

#include <string.h>
#include <unistd.h>

int ends[2] = {-1, -1};

int open_pipe(struct run *r)
{
    return pipe(ends) == 0 ? 0 : unavailable(r, errno, "pipe");
}

void close_ends(void)
{
    close(ends[1]);
    close(ends[0]);
}

/* Writes of at most PIPE_BUF bytes are whole (POSIX), so an event is never torn. */
int write_event(uint64_t event)
{
    return write(ends[1], &event, sizeof event) == (ssize_t)sizeof event ? 0 : -1;
}

int write_byte(void)
{
    return write(ends[1], "", 1) == 1 ? 0 : -1;
}

int read_events(uint64_t *events, int most)
{
    size_t room = (size_t)most * sizeof *events, have = 0;
    ssize_t n;

    do {
        n = read(ends[0], (char *)events + have, have % sizeof *events ? sizeof *events - have % sizeof *events : room);
        if (n <= 0)
            return -1;
        have += (size_t)n;
    } while (have % sizeof *events);
    return (int)(have / sizeof *events);
}

int drain_bytes(void)
{
    char bytes[1024];

    return read(ends[0], bytes, sizeof bytes) > 0 ? 0 : -1;
}
