/* The other side of a pipe or a ping-pong, a thread or a process, with receipts of its own: c/peer.c, c/peer_round.c. */
#ifndef WHYFASTER_PEER_H
#define WHYFASTER_PEER_H

#include "delay.h"
#include "probe.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>

/* Both sides see it, be they threads or processes. */
struct shared {
    _Atomic uint64_t round, done; /* the peer runs round N when round is N, and says so */
    _Atomic uint32_t stop, word;
    _Atomic int begun;            /* the peer's task has a number */
    pid_t task;
    uint64_t ops;
    _Atomic uint64_t moved;       /* whatever the peer counts */
    long vol, inv;                /* the peer's switches in the round */
    uint64_t cpu_ns;              /* and its CPU time */
};

/* Starts the peer on run->cpu[1]; it calls `round` for every peer_round(). 0, or unavailable(). */
int peer_start(struct run *r, struct shared **shared, int as_process, void (*round)(struct shared *));
/* Lets the peer begin a round, and adds its receipts at the end to r->vol and r->inv. */
void peer_begin(const struct run *r, struct shared *s, uint64_t ops);
void peer_end(struct run *r, struct shared *s);
void peer_stop(struct shared *s);
/* c/peer_round.c: what the other side does. */
void peer_look_again(const struct run *run);
void peer_live(const struct run *run, struct shared *s, void (*body)(struct shared *));
/* CPU time of the calling thread. */
uint64_t thread_cpu_ns(void);
#endif
