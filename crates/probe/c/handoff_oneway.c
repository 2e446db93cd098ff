/* One event, one way: from just before the send to just after the receive, by one clock, and how long the sender was away.
 *
 * asleep: the receiver goes to wait, the sender gives it time to fall asleep and `gap` more, and sends. Its receipt must show the
 * sleep; where it does not, the time is doubled. awake: the receiver runs and asks for the event as soon as it has been sent. */
#include "oneway.h"

#include <stdio.h>

#define SETTLE_NS 5000u
#define SETTLE_MOST 2000000u

int oneway_start(struct run *r)
{
    int error;

    oneway.run = r;
    oneway.settle = SETTLE_NS;
    oneway.sequence = 0;
    atomic_store(&oneway.command, 0); /* a counted run is a fork of one that came to its end */
    error = pthread_create(&handoff_receiver, NULL, oneway_receiver, (void *)r->probe->with);
    return error ? unavailable(r, error, "a thread") : 0;
}

void oneway_stop(void)
{
    gate_open(GATE_END);
    pthread_join(handoff_receiver, NULL);
}

static void send_one(struct run *r)
{
    const struct handoff *how = r->probe->with;
    struct side before, saw;
    uint64_t start, away;
    struct waits earlier = waits_until_now(r);

    oneway_lead_in(r);
    before = look(r);
    start = now_ns();
    if (how->send(start) != 0)
        tally.error = errno ? errno : EIO;
    away = now_ns();
    atomic_store(&oneway.go, oneway.sequence);
    atomic_store(&oneway.sent, oneway.sequence);
    if (tally.error) /* the receiver would wait for ever */
        return;
    oneway_let_read(&oneway.came);
    saw = since(r, before);
    oneway_await(&oneway.done, oneway.sequence);
    if (r->counting)
        *r->counting = 0;
    tally.sent = start;
    tally.received = oneway.got;
    r->ns[0] = (double)(oneway.arrived - start);
    r->ns[1] = (double)(away - start);
    /* Each side was asked before its part of the hand-over and after it: what it waited outside of that is not the event's. */
    saw.delay = at_most(saw.delay, away - start);
    oneway.saw.delay = at_most(oneway.saw.delay, oneway.arrived - start);
    oneway_receipt(r, saw, delay_of_mates(r, &earlier, oneway.arrived - start));
    snprintf(r->extra, sizeof r->extra, "on=%ld,%ld\tsettle_ns=%llu", saw.cpu, oneway.saw.cpu,
             (unsigned long long)(is_variant(r, "asleep") ? oneway.settle : 0));
}

/* A receiver that had not fallen asleep yet is no answer to what waking costs. */
void oneway_round(struct run *r)
{
    for (;;) {
        send_one(r);
        if (tally.error || !is_variant(r, "asleep") || oneway.saw.vol != 0 || oneway.settle >= SETTLE_MOST)
            return;
        oneway.settle *= 2;
    }
}
