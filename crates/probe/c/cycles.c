/* The cycle counter that a program may read by one instruction, and how fast it counts: x86-64's time stamp counter, and on arm64 the
 * generic timer's virtual count, which Linux lets programs read (its vDSO does so itself). */
#include "worker.h"

uint64_t cycles(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__) && defined(__linux__)
    uint64_t count;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count) : : "memory");
    return count;
#else
    return now_ns();
#endif
}

double cycles_hz(void)
{
#if defined(__x86_64__)
    static double hz;

    return hz > 0 ? hz : (hz = tsc_rate(2000000));
#elif defined(__aarch64__) && defined(__linux__)
    uint64_t hz;

    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return (double)hz;
#else
    return 1e9;
#endif
}

int cycles_are_the_clock(void)
{
#if defined(__x86_64__) || (defined(__aarch64__) && defined(__linux__))
    return 0;
#else
    return 1;
#endif
}
