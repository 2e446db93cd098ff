/* The two sides of a one-way hand-over: c/handoff_oneway.c sends, c/handoff_receive.c receives, c/handoff_gate.c is between
 * rounds, c/handoff_settle.c comes before the event. */
#ifndef WHYFASTER_ONEWAY_H
#define WHYFASTER_ONEWAY_H

#include "handoff.h"

#include <sched.h>
#include <stdatomic.h>

#define GATE_END UINT32_MAX /* the command to come to an end */

struct oneway {
    struct run *run;
    unsigned sequence; /* of rounds */
    uint64_t settle;   /* nanoseconds that a receiver gets to fall asleep */
    atomic_uint command, ready, go, sent, came, done; /* each holds the number of its round */
    /* The receiver's side of a round; the sender reads it after `done`. */
    uint64_t arrived, got;
    struct side saw;
};
extern struct oneway oneway;

void gate_open(unsigned command);
void gate_sleep(unsigned until);
void oneway_await(atomic_uint *flag, unsigned value);
void oneway_let_read(atomic_uint *other); /* its clock, before this side reads its receipts */
void *oneway_receiver(void *handoff);
void oneway_lead_in(struct run *r); /* up to the moment in which the event is to be sent */
void oneway_receipt(struct run *r, struct side sender, long mates);
#endif
