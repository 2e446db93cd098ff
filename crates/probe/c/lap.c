/* The timed part of a round, and its receipts: switches, CPU at the begin and the end, waits for a CPU. */
#include "delay.h"

#include <sys/resource.h>
#include <sys/time.h>

/* -1: cannot tell. */
static void switches(long *vol, long *inv)
{
    struct rusage usage;
    int told = getrusage(RUSAGE_SELF, &usage) == 0;

    *vol = told ? usage.ru_nvcsw : -1;
    *inv = told ? usage.ru_nivcsw : -1;
}

static void count_calls(const struct run *r, int on)
{
    if (r->counting)
        *r->counting = on;
}

/* The switches stand next to the timed part, as one that falls between would be counted. Asking warms the way into the kernel: where
 * that shall be cold, there are no receipts. */
static void read_begin(struct run *r)
{
    r->looked = 0;
    r->lap_cpu = r->lap_vol = r->lap_waits.own = -1;
    if (r->first || r->cold)
        return;
    r->lap_waits = waits_until_now(r);
    r->lap_cpu = this_cpu();
    switches(&r->lap_vol, &r->lap_inv);
}

static void read_end(struct run *r, uint64_t end)
{
    switches(&r->vol, &r->inv);
    r->vol = r->lap_vol < 0 || r->vol < 0 ? -1 : r->vol - r->lap_vol;
    r->inv = r->lap_vol < 0 || r->inv < 0 ? -1 : r->inv - r->lap_inv;
    r->at = this_cpu();
    r->delay = waits_within(r, &r->lap_waits, r->lap_start, end);
    r->mig = r->at < 0 || r->lap_cpu < 0 ? -1 : r->at != r->lap_cpu;
}

/* A first call may be one of the clock itself, so no other is before it. */
void receipt_begin(struct run *r)
{
    read_begin(r);
    r->lap_start = r->first ? 0 : now_ns();
    count_calls(r, 1);
}

void receipt_end(struct run *r)
{
    count_calls(r, 0);
    read_end(r, r->first ? 0 : now_ns());
}

/* Nothing but the clock stands between these and the loop: a clock that enters the kernel is not counted. A first call may be one of
 * the clock itself, so it is timed by the cycle counter, whose rate is measured when all is over. */
void lap_begin(struct run *r)
{
    read_begin(r);
    r->lap_start = r->first ? cycles() : now_ns();
    count_calls(r, 1);
}

void lap_end(struct run *r)
{
    uint64_t end;

    count_calls(r, 0);
    end = r->first ? cycles() : now_ns();
    read_end(r, end);
    r->ns[0] = (double)(end - r->lap_start);
    if (r->first)
        r->ns[0] *= 1e9 / cycles_hz();
}
