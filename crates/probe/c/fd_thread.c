/* A thread of its own for descriptors: it waits for them, reads the event, and hands it on through the queue and its condition, on which
 * the receiver sleeps. Two wake-ups an event. */
#include "waiter.h"

#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static struct queue queue;
static const struct waiter *waiter;
static pthread_t carrier;
static const struct run *run;
static _Atomic int begun;
static pid_t carrier_task;

static void *carry(void *nothing)
{
    uint64_t event;
    int n;

    (void)nothing;
    carrier_task = this_task();
    atomic_store(&begun, 1);
    pin_to(run->cpu[1]);
    while ((n = waiter->wait(NULL)) >= 0)
        if (n > 0 && (read_events(&event, 1) < 0 || queue_push_signal(&queue, event) != 0))
            break;
    return NULL;
}

static int start(struct run *r)
{
    int error;

    run = r;
    if (queue_open(&queue, r) || open_pipe(r) || waiter_open(r, &waiter))
        return -1;
    error = pthread_create(&carrier, NULL, carry, NULL);
    if (error)
        return unavailable(r, error, "a thread");
    while (!atomic_load(&begun))
        sched_yield();
    takes_part(r, carrier_task); /* its waits for a CPU are the event's */
    return 0;
}

static int take(uint64_t *events, int most)
{
    (void)most;
    return queue_wait_one(&queue, events);
}

/* The carrier ends when it reads the end of the pipe. */
static void stop(void)
{
    close(ends[1]);
    pthread_join(carrier, NULL);
    waiter->close();
    close(ends[0]);
}

const struct probe probe_fd_thread = {
    WAITING_TRAITS,
    .name = "fd_thread",
    .exercises = "a wait for descriptors in one thread, a mutex and a condition variable to another",
    .needs = "threads",
    .portable = 1,
    /* Awake or not, the receiver may find that the carrier has not brought the event yet, and sleep. */
    .expect = (const struct expect[]){{"asleep", "voluntary", 0.5, NAN}, END},
    .with = &(const struct handoff){start, write_event, take, stop},
};
