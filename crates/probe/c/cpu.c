/* The calling thread and its CPU: where it is, where it may be, how often it was switched. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "probe.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>

int thread_switches(long *vol, long *inv)
{
#ifdef RUSAGE_THREAD
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return -1;
    *vol = usage.ru_nvcsw;
    *inv = usage.ru_nivcsw;
    return 0;
#else
    (void)vol, (void)inv;
    return -1;
#endif
}

long this_cpu(void)
{
#ifdef __linux__
    return sched_getcpu();
#else
    return -1;
#endif
}

int pin_to(int cpu)
{
#ifdef __linux__
    cpu_set_t *set;
    int failed;

    if (cpu < 0)
        return 0;
    if (!(set = CPU_ALLOC(cpu + 1)))
        return -1;
    CPU_ZERO_S(CPU_ALLOC_SIZE(cpu + 1), set);
    CPU_SET_S(cpu, CPU_ALLOC_SIZE(cpu + 1), set);
    failed = sched_setaffinity(0, CPU_ALLOC_SIZE(cpu + 1), set);
    CPU_FREE(set);
    return failed;
#else
    return cpu < 0 ? 0 : -1;
#endif
}

void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}
