/* What the counted process and the one that counts share: c/linux/count.c, c/linux/count_follow.c. */
#ifndef WHYFASTER_COUNT_H
#define WHYFASTER_COUNT_H

#include <sys/types.h>

struct counted {
    volatile int counting, done;
    volatile int first_round; /* takes the place of `counting` in a round that is not counted */
    volatile double ops;
};

/* Lets all run from stop to stop until the first process has ended; returns the stops inside of the round. */
long count_follow(pid_t first, const struct counted *page);
#endif
