/* A queue under a mutex; the receiver sleeps on a POSIX semaphore that counts the events. */
#include "handoff.h"

#include <semaphore.h>

#ifdef __APPLE__ /* declares sem_init and refuses it */
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif

static struct queue queue;
static sem_t filled;

static int start(struct run *r)
{
    if (sem_init(&filled, 0, 0) != 0)
        return unavailable(r, errno, "sem_init");
    return queue_open(&queue, r);
}

static int give(uint64_t event)
{
    return queue_push(&queue, event) || sem_post(&filled) ? -1 : 0;
}

static int take(uint64_t *events, int most)
{
    (void)most;
    return sem_wait(&filled) ? -1 : queue_take(&queue, events, 1);
}

static void stop(void)
{
    sem_destroy(&filled);
}

const struct probe probe_semaphore = {
    PLAIN_HANDOFF,
    .name = "semaphore",
    .exercises = "a mutex, a semaphore, one event a time",
    .needs = "threads",
    .portable = 1,
    .with = &(const struct handoff){start, give, take, stop},
};
