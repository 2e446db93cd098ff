/* How fast the time stamp counter counts; only where there is one. */
#include "worker.h"

double tsc_hz(void)
{
#if defined(__x86_64__)
    uint64_t start = now_ns(), end, before = __builtin_ia32_rdtsc(), after;

    do {
        after = __builtin_ia32_rdtsc();
        end = now_ns();
    } while (end - start < 20000000u);
    return (double)(after - before) / (double)(end - start) * 1e9;
#else
    return 0;
#endif
}
