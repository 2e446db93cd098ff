/* A ring of events in memory, and a word to sleep on that says whether the receiver sleeps: c/linux/doorbell.c. */
#ifndef WHYFASTER_DOORBELL_H
#define WHYFASTER_DOORBELL_H

#include "handoff.h"

#include <stdatomic.h>

/* 1: the receiver sleeps, or is about to. A sender that finds 1 makes it 0 and wakes; one that finds 0 need not enter the kernel. */
extern _Atomic uint32_t doorbell;

int ring_open(struct run *r);
int ring_give(uint64_t event);                  /* puts it in; wakes by futex where the receiver sleeps */
int ring_take(uint64_t *events, int most);      /* what is there; does not sleep */
/* Announces sleep and looks again: how many events there were after all. 0: sleep while the doorbell is 1. */
int ring_before_sleep(uint64_t *events, int most);
#endif
