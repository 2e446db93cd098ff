/* For tests only: liars that the receipts must refuse. */
#include "kernel.h"

/* The liars do some work, but not what they claim. */
static void lie(struct run *r)
{
    LOOP(r, (spin_cycles(500), 0));
}

static void lie_zero(struct run *r)
{
    LOOP(r, 0);
}

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
