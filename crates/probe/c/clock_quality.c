/* How fine the clock is, and what one reading of it costs. */
#include "worker.h"

/* The smallest step seen between neighbouring readings, not what clock_getres claims. */
double clock_resolution(void)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 200; i++) {
        uint64_t start = now_ns(), end;
        do
            end = now_ns();
        while (end == start);
        if (end - start < least)
            least = end - start;
    }
    /* A reading takes longer than the clock's step where the step is fine: then the step shows as the
     * smallest difference of unequal differences. */
    for (int i = 0; i < 2000 && least > 1; i++) {
        uint64_t a = now_ns(), b = now_ns(), c = now_ns();
        uint64_t first = b - a, second = c - b;
        uint64_t step = first > second ? first - second : second - first;
        if (step && step < least)
            least = step;
    }
    return (double)least;
}

/* The cheapest of many runs of 64 readings: what preemption adds is no cost of the clock. */
double clock_cost(void)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 100; i++) {
        uint64_t start = now_ns(), end = start;
        for (int j = 0; j < 64; j++)
            end = now_ns();
        if (end - start < least)
            least = end - start;
    }
    return (double)least / 64.0;
}
