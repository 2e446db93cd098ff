/* Readings of how long tasks waited for a CPU: c/delays_within.c. */
#ifndef WHYFASTER_WAITS_H
#define WHYFASTER_WAITS_H

#include <stdint.h>

#define MATES 2

/* Nanoseconds that the calling thread and the other tasks of a run had stood ready without a CPU, and when they were asked. */
struct waits {
    uint64_t asked;
    long own, mates[MATES]; /* -1: cannot tell */
};
#endif
