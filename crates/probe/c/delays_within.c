/* What the tasks that live as long as the run waited for a CPU inside of the timed part. They are read before it and after it, and a
 * task may wait between its reading and the timed part, too: that is no wait of the round. */
#include "delay.h"

static void read_mates(const struct run *r, struct waits *w)
{
    for (size_t i = 0; i < MATES; i++)
        w->mates[i] = r->mates[i] > 0 ? run_delay_of(r, r->mates[i]) : 0;
}

/* The calling thread is read last: its time from there to the round is the shortest. */
struct waits waits_until_now(const struct run *r)
{
    struct waits now = {r->first || r->counting ? 0 : now_ns(), -1, {0}};

    read_mates(r, &now);
    now.own = run_delay(r);
    return now;
}

/* What a task waited between two readings, without what it may have waited while it was outside of the timed part, and no more than
 * that part is long. */
static long within(long after, long before, uint64_t outside, uint64_t most)
{
    long delay = after < 0 || before < 0 ? -1 : after - before;

    if (delay >= 0)
        delay = (uint64_t)delay > outside ? delay - (long)outside : 0;
    return at_most(delay, most);
}

long waits_within(const struct run *r, const struct waits *before, uint64_t start, uint64_t end)
{
    struct waits now = {0, run_delay(r), {0}};
    uint64_t outside;
    long sum;

    if (now.own < 0)
        return -1;
    read_mates(r, &now);
    outside = start - before->asked + now_ns() - end + r->looked;
    sum = within(now.own, before->own, outside, end - start);
    for (size_t i = 0; i < MATES; i++)
        sum = together(sum, within(now.mates[i], before->mates[i], outside, end - start));
    return sum;
}

long delay_of_mates(const struct run *r, const struct waits *before, uint64_t most)
{
    struct waits now = {0};
    long sum = 0;

    read_mates(r, &now);
    for (size_t i = 0; i < MATES; i++)
        sum = together(sum, within(now.mates[i], before->mates[i], 0, most));
    return sum;
}
