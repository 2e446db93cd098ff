/* The timed part of a round, and its receipts: switches, CPU at the begin and the end. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "probe.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>

static int switches(int who, long *vol, long *inv)
{
    struct rusage usage;

    if (getrusage(who, &usage) != 0)
        return -1;
    *vol = usage.ru_nvcsw;
    *inv = usage.ru_nivcsw;
    return 0;
}

int thread_switches(long *vol, long *inv)
{
#ifdef RUSAGE_THREAD
    return switches(RUSAGE_THREAD, vol, inv);
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

static void count_calls(const struct run *r, int on)
{
    if (r->counting)
        *r->counting = on;
}

static void read_begin(struct run *r)
{
    r->lap_delay = run_delay(r);
    r->lap_cpu = this_cpu();
    if (switches(RUSAGE_SELF, &r->lap_vol, &r->lap_inv) != 0)
        r->lap_vol = -1;
}

static void read_end(struct run *r)
{
    if (r->lap_vol < 0 || switches(RUSAGE_SELF, &r->vol, &r->inv) != 0) {
        r->vol = r->inv = -1;
    } else {
        r->vol -= r->lap_vol;
        r->inv -= r->lap_inv;
    }
    r->at = this_cpu();
    r->delay = run_delay(r);
    r->delay = r->delay < 0 || r->lap_delay < 0 ? -1 : r->delay - r->lap_delay;
    r->mig = r->at < 0 || r->lap_cpu < 0 ? -1 : r->at != r->lap_cpu;
}

void receipt_begin(struct run *r)
{
    read_begin(r);
    count_calls(r, 1);
}

void receipt_end(struct run *r)
{
    count_calls(r, 0);
    read_end(r);
}

/* Nothing but the clock stands between these and the loop: a clock that enters the kernel is not counted. */
void lap_begin(struct run *r)
{
    read_begin(r);
    r->lap_start = now_ns();
    count_calls(r, 1);
}

void lap_end(struct run *r)
{
    count_calls(r, 0);
    r->ns[0] = (double)(now_ns() - r->lap_start);
    read_end(r);
}
