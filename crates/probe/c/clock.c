/* The clock of all measurements. */
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
