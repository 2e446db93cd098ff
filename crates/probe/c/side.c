/* What one thread saw of itself between two moments. */
#include "handoff.h"

/* What this thread has seen so far. In a counted run it asks nothing, as asking would be counted. */
struct side look(const struct run *r)
{
    struct side now = {-1, -1, run_delay(r), this_cpu(), 0};

    if (r->counting || thread_switches(&now.vol, &now.inv) != 0)
        now.vol = now.inv = -1;
    return now;
}

long difference(long after, long before)
{
    return after < 0 || before < 0 ? -1 : after - before;
}

struct side since(const struct run *r, struct side before)
{
    struct side now = look(r);

    return (struct side){difference(now.vol, before.vol), difference(now.inv, before.inv), difference(now.delay, before.delay), now.cpu,
                         now.cpu < 0 ? -1 : now.cpu != before.cpu};
}
