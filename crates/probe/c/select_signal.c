/* The receiver waits for descriptors; events stand in a queue, and a signal interrupts the wait. The signal is let in only while
 * the receiver sleeps, so none is lost between looking at the queue and falling asleep. */
#include "waiter.h"

static struct queue queue;
static const struct waiter *waiter;
static sigset_t let_in;

static void wake(int signal)
{
    (void)signal;
}

static int start(struct run *r)
{
    struct sigaction action = {.sa_handler = wake};
    sigset_t block;

    if (queue_open(&queue, r) || open_pipe(r) || waiter_open(r, &waiter))
        return -1;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    if (sigaction(SIGUSR1, &action, NULL) != 0 || pthread_sigmask(SIG_BLOCK, &block, &let_in) != 0)
        return unavailable(r, errno, "sigaction");
    sigdelset(&let_in, SIGUSR1);
#if defined(__APPLE__) || defined(__NetBSD__)
    if (waiter == &wait_poll)
        return unavailable(r, ENOSYS, "this system has no ppoll");
#endif
    return 0;
}

static int give(uint64_t event)
{
    if (queue_push(&queue, event) != 0)
        return -1;
    pthread_kill(handoff_receiver, SIGUSR1); /* fails only when the receiver has all and is gone */
    return 0;
}

static int take(uint64_t *events, int most)
{
    int n = queue_take(&queue, events, most);

    if (n == 0 && waiter->wait(&let_in) < 0)
        return -1;
    return n > 0 ? n : queue_take(&queue, events, most);
}

static void stop(void)
{
    waiter->close();
    close_ends();
}

const struct probe probe_select_signal = {
    WAITING_HANDOFF,
    .name = "select_signal",
    .exercises = "a mutex, a signal to a thread, a wait for descriptors interrupted",
    .needs = "threads",
    .portable = 1,
    .with = &(const struct handoff){start, give, take, stop},
};
