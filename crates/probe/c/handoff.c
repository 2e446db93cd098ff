/* The phases that all hand-overs to a thread share. asleep, awake: one event a round (handoff_oneway.c); burst, flow: many
 * (handoff_many.c). */
#include "handoff.h"

#include <sched.h>
#include <string.h>

pthread_t handoff_receiver;
struct tally tally;

/* Whoever spins must let the other run where both have one CPU. Where they have two, a yield would only be in the way, and a
 * scheduler that put both on one sees that one of them wants to move. */
void spin_politely(const struct run *r, unsigned *turns)
{
    if (++*turns % (r->cpu_same ? 8 : 16384) == 0)
        sched_yield();
    else
        relax();
}

static int is_oneway(const struct run *r)
{
    return is_variant(r, "asleep") || is_variant(r, "awake");
}

static uint64_t events_of(const struct run *r)
{
    return is_oneway(r) ? 1 : is_variant(r, "burst") ? param_size(r, "n") : 1000;
}

int handoff_setup(struct run *r)
{
    const struct handoff *how = r->probe->with;

    /* Two that run at once need two CPUs; a scheduler left free takes a while to see it. */
    if (is_variant(r, "awake") && r->cpu[0] < 0 && !r->cpu_same && choose_pins(r, "other") == 0 && take_pin(r) != 0)
        return -1;
    if (is_variant(r, "awake") && r->cpu_same)
        return unavailable(r, 0, "on one CPU the receiver cannot run while the sender does");
    r->ops = events_of(r);
    if (r->ops < 1 || r->ops > EVENTS_MOST || (is_variant(r, "flow") && (param_size(r, "depth") < 1 || param_size(r, "depth") > 64)))
        return unavailable(r, 0, "n is 1 to 4096, depth is 1 to 64");
    if (how->open(r) != 0)
        return -1;
    return is_oneway(r) ? oneway_start(r) : 0;
}

void handoff_round(struct run *r)
{
    tally.sent = tally.received = 0;
    tally.error = 0;
    r->ns[0] = r->ns[1] = r->ns[2] = -1;
    if (is_oneway(r))
        oneway_round(r);
    else
        many_round(r);
    if (tally.error)
        unavailable(r, tally.error, "an event could not be handed over");
}

int handoff_verify(struct run *r)
{
    return tally.sent == 0 || tally.sent != tally.received ? refute(r, "the events that came are not those that were sent") : 0;
}

void handoff_teardown(struct run *r)
{
    const struct handoff *how = r->probe->with;

    if (tally.error) /* a receiver that waits for ever ends with the process */
        return;
    if (is_oneway(r))
        oneway_stop();
    how->close();
}
