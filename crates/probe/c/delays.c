/* The waits for a CPU of all tasks that take part in a round. Each is read outside of the timed part, or its reading is taken off;
 * c/delays_within.c says what of them was in the timed part. */
#include "delay.h"

/* No slice that a scheduler gives to somebody else is shorter. */
#define WORTH_ASKING_NS 100000u

long together(long one, long other)
{
    return one < 0 || other < 0 ? -1 : one + other;
}

void takes_part(struct run *r, pid_t task)
{
    for (size_t i = 0; i < MATES; i++)
        if (r->mates[i] == 0) {
            r->mates[i] = task;
            return;
        }
}

long at_most(long delay, uint64_t most)
{
    return delay > 0 && (uint64_t)delay > most ? (long)most : delay;
}

/* Asking has a price that shows in the next round: a thread that was looked up in /proc ends later, and the next one is made more slowly. */
long delay_at_end(const struct run *r, uint64_t begun, uint64_t *took)
{
    uint64_t start;
    long delay;

    *took = 0;
    if (r->first || r->counting)
        return -1;
    start = now_ns();
    if (start - begun < WORTH_ASKING_NS)
        return 0;
    delay = run_delay(r);
    *took = now_ns() - start;
    return delay;
}

long delay_of_child(const struct run *r, pid_t child, uint64_t *took)
{
    uint64_t start;
    long delay;

    *took = 0;
    if (r->first || r->counting || await_end(child) != 0)
        return -1;
    start = now_ns();
    delay = run_delay_of(r, child);
    *took = now_ns() - start;
    return delay;
}
