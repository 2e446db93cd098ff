/* The names of the clocks that clock_gettime reads, and which of them this system has. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "kernel.h"

#include <string.h>

static const struct {
    const char *name;
    clockid_t id;
} clocks[] = {
    {"monotonic", CLOCK_MONOTONIC},
    {"realtime", CLOCK_REALTIME},
#ifdef CLOCK_PROCESS_CPUTIME_ID
    {"process_cputime", CLOCK_PROCESS_CPUTIME_ID},
#endif
#ifdef CLOCK_THREAD_CPUTIME_ID
    {"thread_cputime", CLOCK_THREAD_CPUTIME_ID},
#endif
#ifdef CLOCK_MONOTONIC_RAW
    {"monotonic_raw", CLOCK_MONOTONIC_RAW},
#endif
#ifdef CLOCK_BOOTTIME
    {"boottime", CLOCK_BOOTTIME},
#endif
#ifdef __linux__
    {"realtime_coarse", CLOCK_REALTIME_COARSE},
    {"monotonic_coarse", CLOCK_MONOTONIC_COARSE},
    {"tai", CLOCK_TAI},
#endif
};

int clock_by_name(const char *name, clockid_t *id)
{
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        if (strcmp(clocks[i].name, name) == 0) {
            *id = clocks[i].id;
            return 0;
        }
    return -1;
}
