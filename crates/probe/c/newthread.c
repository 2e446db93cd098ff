/* No hand-over at all: every event gets a thread of its own. fresh: from the call to the thread's first act. burst: n detached threads
 * made in a row, timed up to the last one's making, not to its end. */
#include "newthread.h"

#include <string.h>

static int setup(struct run *r)
{
    if (r->cpu[0] != r->cpu[1])
        return unavailable(r, 0, "a new thread begins where its maker is pinned, so it has no price on another CPU");
    pthread_attr_init(&newthreads.attributes);
    pthread_attr_setdetachstate(&newthreads.attributes, is_variant(r, "burst") ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    if (strcmp(param_text(r, "stack"), "64K") == 0 && pthread_attr_setstacksize(&newthreads.attributes, 65536) != 0)
        return unavailable(r, EINVAL, "a stack of 64 KiB");
    r->ops = is_variant(r, "burst") ? param_size(r, "n") : 1;
    return r->ops >= 1 && r->ops <= EVENTS_MOST ? 0 : unavailable(r, 0, "n is 1 to 4096");
}

static void measure(struct run *r)
{
    atomic_store(&newthreads.ran, 0);
    if (is_variant(r, "burst"))
        newthread_burst(r);
    else
        newthread_fresh(r);
}

static int verify(struct run *r)
{
    return atomic_load(&newthreads.ran) != tally.sent ? refute(r, "not every thread ran") : 0;
}

const struct probe probe_newthread = {
    .name = "newthread",
    .group = "thread",
    .unit = "one thread",
    .exercises = "a thread made and started",
    .needs = "threads",
    .source = __FILE__,
    .portable = 1,
    .variants = "fresh burst",
    .measures = "latency sender total",
    .batch = BATCH_PARAM,
    .disturbed = "",
    .params = (const struct param[]){{"n", "10 100 1000", "threads of a burst", "burst"},
                                     {"stack", "default 64K", "of the new thread", NULL},
                                     END},
    /* fresh waits for the thread's end, burst does not. */
    .expect = (const struct expect[]){{"fresh", "syscalls", 2, NAN}, {"burst", "syscalls", 1, NAN}, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
};
