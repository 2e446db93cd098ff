/* How fast the time stamp counter counts; only where there is one. */
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

double tsc_hz(void)
{
#if defined(__x86_64__)
    struct pair start = read_both(), end;

    do
        end = read_both();
    while (end.ns - start.ns < 20000000u);
    return (double)(end.cycles - start.cycles) / (double)(end.ns - start.ns) * 1e9;
#else
    return 0;
#endif
}
