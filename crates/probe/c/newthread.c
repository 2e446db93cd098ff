/* No hand-over at all: every event gets a thread of its own. fresh: from the call to the thread's first act. burst: n detached threads
 * made in a row, timed up to the last one's making, not to its end. */
#include "handoff.h"

#include <stdatomic.h>
#include <string.h>

static pthread_attr_t attributes;
static uint64_t arrived;
static _Atomic uint64_t ran;

static void *body(void *event)
{
    arrived = now_ns();
    atomic_fetch_add(&ran, (uint64_t)(uintptr_t)event);
    return NULL;
}

static int setup(struct run *r)
{
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, is_variant(r, "burst") ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    if (strcmp(param_text(r, "stack"), "64K") == 0 && pthread_attr_setstacksize(&attributes, 65536) != 0)
        return unavailable(r, EINVAL, "a stack of 64 KiB");
    r->ops = is_variant(r, "burst") ? param_size(r, "n") : 1;
    return r->ops >= 1 && r->ops <= EVENTS_MOST ? 0 : unavailable(r, 0, "n is 1 to 4096");
}

static void burst(struct run *r)
{
    pthread_t thread;
    unsigned turns = 0;
    int error = 0;

    lap_begin(r);
    for (uint64_t i = 1; i <= r->ops && !error; i++)
        error = pthread_create(&thread, &attributes, body, (void *)(uintptr_t)i);
    lap_end(r);
    r->ns[2] = r->ns[0];
    r->ns[0] = r->ns[1] = -1;
    tally.sent = r->ops * (r->ops + 1) / 2;
    while (!error && atomic_load(&ran) != tally.sent)
        spin_politely(r, &turns);
    if (error)
        unavailable(r, error, "a thread");
}

static void fresh(struct run *r)
{
    pthread_t thread;
    uint64_t start, away;
    int error;

    receipt_begin(r);
    start = now_ns();
    error = pthread_create(&thread, &attributes, body, (void *)(uintptr_t)7);
    away = now_ns();
    if (!error)
        pthread_join(thread, NULL);
    r->ns[2] = (double)(now_ns() - start);
    receipt_end(r);
    r->ns[0] = (double)(arrived - start);
    r->ns[1] = (double)(away - start);
    tally.sent = 7;
    if (error)
        unavailable(r, error, "a thread");
}

static void measure(struct run *r)
{
    atomic_store(&ran, 0);
    if (is_variant(r, "burst"))
        burst(r);
    else
        fresh(r);
}

static int verify(struct run *r)
{
    return atomic_load(&ran) != tally.sent ? refute(r, "not every thread ran") : 0;
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
                                     HANDOFF_END},
    .setup = setup,
    .round = measure,
    .verify = verify,
};
