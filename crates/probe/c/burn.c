/* For tests only: a planted cost. */
#include "kernel.h"

void spin_cycles(uint64_t cycles)
{
#if defined(__x86_64__)
    uint64_t start = __builtin_ia32_rdtsc();

    while (__builtin_ia32_rdtsc() - start < cycles)
        ;
#else
    KEEP(cycles);
#endif
}

static int burn_setup(struct run *r)
{
#if defined(__x86_64__)
    (void)r;
    return 0;
#else
    return unavailable(r, 0, "this architecture has no time stamp counter that the worker reads");
#endif
}

static void burn(struct run *r)
{
    uint64_t cycles = param_size(r, "cycles");

    LOOP(r, (spin_cycles(cycles), 0));
}

const struct probe probe_burn = {
    SELFTEST,
    .name = "burn",
    .exercises = "a known number of time stamp counter cycles",
    .needs = "x86-64",
    .variants = "loop",
    .batch = BATCH_AUTO,
    .params = (const struct param[]){{"cycles", "1000 10000", "cycles an operation", NULL}, END},
    .expect = (const struct expect[]){{NULL, "syscalls", 0, 0}, NEVER_SLEEPS, END},
    .setup = burn_setup,
    .round = burn,
};
