/* Handing an event to another thread: one interface for all mechanisms, one harness, one set of measures. */
#ifndef WHYFASTER_HANDOFF_H
#define WHYFASTER_HANDOFF_H

#include "delay.h"
#include "probe.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>

/* An event is eight bytes, as large as a pointer. A process measures one mechanism, so its state is the file's own. */
struct handoff {
    int (*open)(struct run *r);                    /* 0, or unavailable() */
    int (*send)(uint64_t event);                   /* 0, or -1 with errno */
    int (*receive)(uint64_t *events, int most);    /* sleeps; how many came (0: woken for nothing), or -1 with errno */
    void (*close)(void);
};

#define EVENTS_MOST 4096 /* as many as a burst may have */

/* The thread that receives, for mechanisms that must address it. */
extern pthread_t handoff_receiver;

int handoff_setup(struct run *r);
void handoff_round(struct run *r);
int handoff_verify(struct run *r);
void handoff_teardown(struct run *r);

/* c/handoff_oneway.c, see oneway.h */
int oneway_start(struct run *r);
void oneway_round(struct run *r);
void oneway_stop(void);
/* c/handoff_many.c */
void many_round(struct run *r);

/* What went in and came out in the last round. */
struct tally {
    uint64_t sent, received;
    int error;
};
extern struct tally tally;
void spin_politely(const struct run *r, unsigned *turns);

/* c/side.c: receipts of one thread; -1: cannot tell. */
struct side {
    long vol, inv, delay, cpu, moved;
};
struct side look(const struct run *r);
struct side since(const struct run *r, struct side before);
long difference(long after, long before); /* -1 where either cannot be told */

/* c/queue.c: a queue with a mutex, which the harness of several mechanisms shares. */
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    uint64_t items[EVENTS_MOST];
    size_t head, count;
};
int queue_open(struct queue *q, struct run *r);
int queue_push(struct queue *q, uint64_t event);           /* locks */
int queue_push_signal(struct queue *q, uint64_t event);    /* and signals the condition, inside of the lock */
int queue_wait_one(struct queue *q, uint64_t *event);      /* sleeps on the condition */
int queue_take(struct queue *q, uint64_t *events, int most); /* all that is there; does not sleep */

/* c/ends.c: two descriptors that stay open until close_ends. */
extern int ends[2];
int open_pipe(struct run *r);
void close_ends(void);
int write_event(uint64_t event);
int write_byte(void);
/* Reads until whole events are there; keeps a rest for the next call. */
int read_events(uint64_t *events, int most);
int drain_bytes(void);

#define HANDOFF_PARAMS                                                                                                                       \
    {"gap", "0 10 100 1000", "microseconds that the receiver sleeps before the event", "asleep"},                                             \
        {"n", "10 100 1000", "events of a burst", "burst"}, {"depth", "1 8 64", "events in flight", "flow"}
#define SLEEPS_WHEN_ASLEEP                                                                                                                   \
    {"asleep", "voluntary", 0.5, NAN}, {"awake", "voluntary", 0, 0.5}, END
#define HANDOFF_TRAITS                                                                                                                       \
    .group = "thread", .unit = "one event", .source = __FILE__, .variants = "asleep awake burst flow", .measures = "latency sender total",   \
    .batch = BATCH_PARAM, .disturbed = "delay_apart", .setup = handoff_setup, .round = handoff_round, .verify = handoff_verify,                         \
    .teardown = handoff_teardown
#define PLAIN_HANDOFF                                                                                                                        \
    HANDOFF_TRAITS, .params = (const struct param[]){HANDOFF_PARAMS, END}, .expect = (const struct expect[]){SLEEPS_WHEN_ASLEEP}
#endif
