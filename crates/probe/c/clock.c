/* The clock of all measurements, its resolution and what one reading costs. */
#include "worker.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* macOS steps CLOCK_MONOTONIC in microseconds; its raw clock steps in the counter's own ticks. */
#ifdef __APPLE__
#define CLOCK CLOCK_UPTIME_RAW
#define LABEL "CLOCK_UPTIME_RAW"
#else
#define CLOCK CLOCK_MONOTONIC
#define LABEL "CLOCK_MONOTONIC"
#endif

#if defined(__x86_64__)
static int counts;

/* WORKER_CLOCK=tsc: this machine is emulated and counts instructions. Its time stamp counter is that count, an instruction a step; the
 * kernel's clock is made from it by a rate that was measured, so it is not exact. */
__attribute__((constructor)) static void choose_clock(void)
{
    const char *wanted = getenv("WORKER_CLOCK");

    counts = wanted && strcmp(wanted, "tsc") == 0;
}
#else
enum { counts = 0 };
#define __builtin_ia32_rdtsc() 0
#endif

uint64_t now_ns(void)
{
    struct timespec t;

    if (counts)
        return __builtin_ia32_rdtsc();
    clock_gettime(CLOCK, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

const char *clock_label(void)
{
    return counts ? "TSC, a step an instruction" : LABEL;
}

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
