/* A queue under a mutex; an eventfd counts the events and wakes the receiver, which takes all that the queue holds. */
#include "handoff.h"

#include <sys/eventfd.h>
#include <unistd.h>

static struct queue queue;
static int file = -1;

static int start(struct run *r)
{
    file = eventfd(0, EFD_CLOEXEC);
    return file < 0 ? unavailable(r, errno, "eventfd") : queue_open(&queue, r);
}

static int give(uint64_t event)
{
    return queue_push(&queue, event) || eventfd_write(file, 1) ? -1 : 0;
}

static int take(uint64_t *events, int most)
{
    eventfd_t count;

    return eventfd_read(file, &count) ? -1 : queue_take(&queue, events, most);
}

static void stop(void)
{
    close(file);
}

const struct probe probe_eventfd = {
    PLAIN_HANDOFF,
    .name = "eventfd",
    .exercises = "a mutex, a counter with a descriptor",
    .needs = "Linux",
    .with = &(const struct handoff){start, give, take, stop},
};
