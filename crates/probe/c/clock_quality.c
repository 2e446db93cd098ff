/* How fine the clock is, and what one reading of it costs. */
#include "worker.h"

/* The smallest step seen between neighbouring readings, not what clock_getres claims. */
double clock_resolution(void)
{
    uint64_t least = UINT64_MAX;
    int rounded = 0;

    for (int i = 0; i < 200; i++) {
        uint64_t start = now_ns(), end;
        do
            end = now_ns();
        while (end == start);
        if (end - start < least)
            least = end - start;
    }
    /* A reading takes longer than the clock's step where the step is fine: then the step shows as the smallest difference of unequal
     * differences. Readings are whole nanoseconds, which alone makes it 1: steps of 41.67 ns show as 41 and 42. So 1 is believed only
     * where 2 was seen, too. */
    for (int i = 0; i < 2000 && least > 1; i++) {
        uint64_t a = now_ns(), b = now_ns(), c = now_ns();
        uint64_t first = b - a, second = c - b;
        uint64_t step = first > second ? first - second : second - first;
        rounded |= step == 1;
        if (step > 1 && step < least)
            least = step;
    }
    return least == 2 && rounded ? 1 : (double)least;
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
