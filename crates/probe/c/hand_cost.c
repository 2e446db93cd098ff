/* CPU time: what a client and its children spent, and what its tasks did. */
#include "hand.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

uint64_t clock_ns(int clock)
{
    struct timespec now;

    clock_gettime((clockid_t)clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t of_time(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

uint64_t hand_spent_ns(void)
{
    struct rusage children;

    getrusage(RUSAGE_CHILDREN, &children);
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) + of_time(children.ru_utime) + of_time(children.ru_stime);
}

uint64_t hand_tasks_ns(void)
{
    struct stamped stamp;
    uint64_t sum = 0;

    for (off_t at = 0; pread(hand.stamps, &stamp, sizeof stamp, at) == (ssize_t)sizeof stamp; at += (off_t)sizeof stamp)
        sum += stamp.cpu_ns;
    return sum;
}
