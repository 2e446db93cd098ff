/* Threads made: one, with its first act timed; or n detached ones in a row. */
#include "newthread.h"

struct newthreads newthreads;
static uint64_t started, arrived, looked;
static long delay;
static const struct run *run;

static void *body(void *event)
{
    arrived = now_ns();
    atomic_fetch_add(&newthreads.ran, (uint64_t)(uintptr_t)event);
    return NULL;
}

static void *fresh_body(void *event)
{
    body(event);
    delay = delay_at_end(run, started, &looked);
    return NULL;
}

void newthread_burst(struct run *r)
{
    pthread_t thread;
    unsigned turns = 0;
    int error = 0;

    lap_begin(r);
    for (uint64_t i = 1; i <= r->ops && !error; i++)
        error = pthread_create(&thread, &newthreads.attributes, body, (void *)(uintptr_t)i);
    lap_end(r);
    r->ns[2] = r->ns[0];
    r->ns[0] = r->ns[1] = -1;
    tally.sent = r->ops * (r->ops + 1) / 2;
    while (!error && atomic_load(&newthreads.ran) != tally.sent)
        spin_politely(r, &turns);
    if (error)
        unavailable(r, error, "a thread");
}

void newthread_fresh(struct run *r)
{
    pthread_t thread;
    uint64_t start, away;
    int error;

    run = r;
    receipt_begin(r);
    started = start = now_ns();
    error = pthread_create(&thread, &newthreads.attributes, fresh_body, (void *)(uintptr_t)7);
    away = now_ns();
    if (!error)
        pthread_join(thread, NULL);
    r->ns[2] = (double)(now_ns() - start - looked);
    r->looked = looked;
    receipt_end(r);
    r->delay = together(r->delay, at_most(delay, (uint64_t)r->ns[2]));
    r->ns[0] = (double)(arrived - start);
    r->ns[1] = (double)(away - start);
    tally.sent = 7;
    if (error)
        unavailable(r, error, "a thread");
}
