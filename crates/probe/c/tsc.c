/* How fast the time stamp counter counts; 0 where there is none. */
#include "worker.h"

#if defined(__x86_64__)
struct pair {
    uint64_t cycles, ns;
};

/* Both clocks at one moment: of many tries the one that nothing came between. */
static struct pair read_both(void)
{
    struct pair best = {0, 0};
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 50; i++) {
        uint64_t before = __builtin_ia32_rdtsc(), now = now_ns(), after = __builtin_ia32_rdtsc();
        if (after - before < least) {
            least = after - before;
            best = (struct pair){before + least / 2, now};
        }
    }
    return best;
}
#endif

/* Both clocks are read to some ten nanoseconds, so the rate is as good as the time is long. */
double tsc_rate(uint64_t over_ns)
{
#if defined(__x86_64__)
    struct pair start = read_both(), end;

    do
        end = read_both();
    while (end.ns - start.ns < over_ns);
    return (double)(end.cycles - start.cycles) / (double)(end.ns - start.ns) * 1e9;
#else
    (void)over_ns;
    return 0;
#endif
}

double tsc_hz(void)
{
    return tsc_rate(20000000);
}
