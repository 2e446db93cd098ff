/* Waits for a CPU: c/delays.c, c/linux/delay.c. */
#ifndef WHYFASTER_DELAY_H
#define WHYFASTER_DELAY_H

#include "probe.h"

/* Nanoseconds that a task was runnable without a CPU, since it began; -1: cannot tell. The calling thread; any other. */
long run_delay(const struct run *r);
long run_delay_of(const struct run *r, pid_t task);
pid_t this_task(void);
int await_end(pid_t child); /* without reaping it; -1 where the system cannot */
/* c/delays.c. A task that lives as long as the run; the delay of all of those; that of a thread that is about to end, or of a child
 * when it has ended and is not reaped yet, and how many nanoseconds it took to read it. */
void takes_part(struct run *r, pid_t task);
struct waits waits_until_now(const struct run *r);
/* What all of them waited since `before`, as far as it must have been between start and end. */
long waits_within(const struct run *r, const struct waits *before, uint64_t start, uint64_t end);
/* The same of the mates alone, each no more than `most`. */
long delay_of_mates(const struct run *r, const struct waits *before, uint64_t most);
long at_most(long delay, uint64_t most);
long delay_at_end(const struct run *r, uint64_t begun, uint64_t *took); /* 0: since `begun` it cannot have waited for long */
long delay_of_child(const struct run *r, pid_t child, uint64_t *took);
long together(long one, long other); /* the sum; -1 where either cannot be told */
#endif
