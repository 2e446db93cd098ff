/* One event, one way: from just before the send to just after the receive, by one clock, and how long the sender was away.
 *
 * asleep: the receiver goes to wait, the sender gives it time to fall asleep and `gap` more, and sends. Its receipt must show the
 * sleep; where it does not, the time is doubled. awake: the receiver runs and asks for the event as soon as it has been sent. */
#include "handoff.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define SETTLE_NS 5000u
#define SETTLE_MOST 2000000u
#define COUNTED_SETTLE_NS 20000000u /* long enough to be preempted on one CPU; yields would be counted */

static struct run *run;
static unsigned sequence;
static uint64_t settle;

/* Between rounds the receiver sleeps here, so that it is in nobody's way. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static atomic_uint command, ready, go, done;

/* The receiver's side of a round; the sender reads it after `done`. */
static uint64_t arrived, got;
static struct side receiver_saw;

/* In a counted run yields would be counted; an awake receiver that yields would not be running. */
static void await(atomic_uint *flag, unsigned value)
{
    while (atomic_load(flag) != value)
        if (!run->counting && is_variant(run, "asleep"))
            sched_yield();
        else
            relax();
}

static void open_gate(unsigned value)
{
    pthread_mutex_lock(&gate);
    atomic_store(&command, value);
    pthread_cond_signal(&opened);
    pthread_mutex_unlock(&gate);
}

static void sleep_at_gate(unsigned until)
{
    while (run->counting && atomic_load(&command) < until)
        relax();
    pthread_mutex_lock(&gate);
    while (atomic_load(&command) < until)
        pthread_cond_wait(&opened, &gate);
    pthread_mutex_unlock(&gate);
}

static void pause_for(uint64_t ns, int politely)
{
    uint64_t end = now_ns() + ns;

    while (now_ns() < end)
        if (politely)
            sched_yield(); /* on one CPU the receiver cannot fall asleep before it runs */
        else
            relax();
}

static void receive_one(const struct handoff *how, unsigned now)
{
    struct side before = look(run);
    uint64_t event = 0;
    int n;

    atomic_store(&ready, now);
    await(&go, now);
    if (is_variant(run, "asleep"))
        before = look(run); /* waiting for `go` is no part of it */
    do
        n = how->receive(&event, 1);
    while (n == 0 || (n < 0 && errno == EINTR));
    arrived = now_ns();
    receiver_saw = since(run, before);
    got = event;
    tally.error = n < 0 ? errno : 0;
    atomic_store(&done, now);
}

static void *receiver(void *how)
{
    pin_to(run->cpu[1]);
    for (unsigned now = 1;; now++) {
        sleep_at_gate(now);
        if (atomic_load(&command) == UINT32_MAX)
            return NULL;
        receive_one(how, now);
    }
}

int oneway_start(struct run *r)
{
    int error;

    run = r;
    settle = SETTLE_NS;
    sequence = 0;
    atomic_store(&command, 0); /* a counted run is a fork of one that came to its end */
    error = pthread_create(&handoff_receiver, NULL, receiver, (void *)r->probe->with);
    return error ? unavailable(r, error, "a thread") : 0;
}

void oneway_stop(void)
{
    open_gate(UINT32_MAX);
    pthread_join(handoff_receiver, NULL);
}

static void count_calls(struct run *r, int on)
{
    if (r->counting)
        *r->counting = on;
}

static void send_one(struct run *r)
{
    const struct handoff *how = r->probe->with;
    int asleep = is_variant(r, "asleep");
    struct side before, saw;
    uint64_t start, away;

    open_gate(++sequence);
    await(&ready, sequence);
    count_calls(r, 1);
    if (asleep) {
        atomic_store(&go, sequence);
        pause_for(r->counting ? COUNTED_SETTLE_NS : settle, !r->counting);
        pause_for(param_size(r, "gap") * 1000, 0);
    }
    before = look(run);
    start = now_ns();
    if (how->send(start) != 0)
        tally.error = errno;
    away = now_ns();
    atomic_store(&go, sequence);
    saw = since(run, before);
    await(&done, sequence);
    count_calls(r, 0);
    tally.sent = start;
    tally.received = got;
    r->ns[0] = (double)(arrived - start);
    r->ns[1] = (double)(away - start);
    r->vol = together(saw.vol, receiver_saw.vol);
    r->inv = together(saw.inv, receiver_saw.inv);
    r->delay = together(saw.delay, receiver_saw.delay);
    r->mig = together(saw.moved, receiver_saw.moved);
    r->at = saw.cpu;
    snprintf(r->extra, sizeof r->extra, "on=%ld,%ld\tsettle_ns=%llu", saw.cpu, receiver_saw.cpu,
             (unsigned long long)(asleep ? settle : 0));
}

/* A receiver that had not fallen asleep yet is no answer to what waking costs. */
void oneway_round(struct run *r)
{
    for (;;) {
        send_one(r);
        if (tally.error || !is_variant(r, "asleep") || receiver_saw.vol != 0 || settle >= SETTLE_MOST)
            return;
        settle *= 2;
    }
}
