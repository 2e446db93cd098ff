/* A thread for every event: c/newthread.c, c/newthread_rounds.c. */
#ifndef WHYFASTER_NEWTHREAD_H
#define WHYFASTER_NEWTHREAD_H

#include "handoff.h"

#include <stdatomic.h>

struct newthreads {
    pthread_attr_t attributes;
    _Atomic uint64_t ran; /* the sum of the events whose threads ran */
};
extern struct newthreads newthreads;

void newthread_burst(struct run *r);
void newthread_fresh(struct run *r);
#endif
