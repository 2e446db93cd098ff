/* For tests only: planted costs, and liars that the receipts must refuse. */
#include "kernel.h"

static void spin(uint64_t cycles)
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

    LOOP(r, (spin(cycles), 0));
}

static void getpid_k(struct run *r)
{
    uint64_t k = param_size(r, "k"), ops = r->ops;

    lap_begin(r);
    for (uint64_t i = 0; i < ops; i++)
        for (uint64_t j = 0; j < k; j++)
            KEEP(getpid());
    lap_end(r);
}

/* The liars do some work, but not what they claim. */
static void lie(struct run *r)
{
    LOOP(r, (spin(500), 0));
}

static void lie_zero(struct run *r)
{
    LOOP(r, 0);
}

#define SELFTEST .group = "selftest", .unit = "one call", .source = __FILE__, .measures = "time", .disturbed = "inv mig", .hidden = 1, .portable = 1

const struct probe probe_burn = {
    SELFTEST,
    .name = "burn",
    .exercises = "a known number of time stamp counter cycles",
    .needs = "x86-64",
    .variants = "loop",
    .batch = BATCH_AUTO,
    .params = (const struct param[]){{"cycles", "1000 10000", "cycles an operation", NULL}, {NULL, NULL, NULL, NULL}},
    .expect = (const struct expect[]){{NULL, "syscalls", 0, 0}, NEVER_SLEEPS, END},
    .setup = burn_setup,
    .round = burn,
};

const struct probe probe_getpid_k = {
    SELFTEST,
    .name = "getpid_k",
    .exercises = "k calls of getpid",
    .needs = "nothing",
    .variants = "libc",
    .batch = BATCH_AUTO,
    .params = (const struct param[]){{"k", "1 2 4 8", "calls an operation", NULL}, {NULL, NULL, NULL, NULL}},
    .expect = (const struct expect[]){NEVER_SLEEPS, END},
    .round = getpid_k,
};

const struct probe probe_lie_switch = {
    SELFTEST,
    .name = "lie_switch",
    .exercises = "a context switch, it says",
    .needs = "nothing",
    .variants = "loop",
    .batch = BATCH_AUTO,
    .expect = (const struct expect[]){{NULL, "switches", 0.8, NAN}, END},
    .round = lie,
};

const struct probe probe_lie_syscall = {
    SELFTEST,
    .name = "lie_syscall",
    .exercises = "a system call, it says",
    .needs = "nothing",
    .variants = "loop",
    .batch = BATCH_AUTO,
    .expect = (const struct expect[]){ALWAYS_ENTERS, END},
    .round = lie,
};

const struct probe probe_lie_zero = {
    SELFTEST,
    .name = "lie_zero",
    .exercises = "an operation too short for the clock",
    .needs = "nothing",
    .variants = "loop",
    .batch = BATCH_ONE,
    .expect = (const struct expect[]){END},
    .round = lie_zero,
};
