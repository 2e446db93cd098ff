/* What comes before the event of a one-way hand-over: the receiver is let through the gate and, where it shall sleep, given time to. */
#include "oneway.h"

#define COUNTED_SETTLE_NS 20000000u /* long enough to be preempted on one CPU; yields would be counted */

/* Politely, as on one CPU the receiver cannot fall asleep before it runs. */
static void pause_for(uint64_t ns, int politely)
{
    uint64_t end = now_ns() + ns;

    while (now_ns() < end)
        politely ? (void)sched_yield() : relax();
}

/* Up to the moment in which the event is to be sent. */
void oneway_lead_in(struct run *r)
{
    gate_open(++oneway.sequence);
    oneway_await(&oneway.ready, oneway.sequence);
    if (r->counting)
        *r->counting = 1;
    if (!is_variant(r, "asleep"))
        return;
    atomic_store(&oneway.go, oneway.sequence);
    pause_for(r->counting ? COUNTED_SETTLE_NS : oneway.settle, !r->counting);
    pause_for(param_size(r, "gap") * 1000, 0);
}

/* Both sides' receipts are the round's, and the waits of whoever else takes part. */
void oneway_receipt(struct run *r, struct side sender, long mates)
{
    r->vol = together(sender.vol, oneway.saw.vol);
    r->inv = together(sender.inv, oneway.saw.inv);
    r->delay = together(together(sender.delay, oneway.saw.delay), mates);
    r->mig = together(sender.moved, oneway.saw.moved);
    r->at = sender.cpu;
}
