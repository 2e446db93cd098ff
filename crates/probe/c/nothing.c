/* Nothing: what the loop costs, and what the clock adds to a single operation (`cold`). */
#include "kernel.h"

static int setup(struct run *r)
{
    return r->first ? unavailable(r, 0, "the first of nothing is a few steps of the clock, too few to tell its time") : 0;
}

static void measure(struct run *r)
{
    LOOP(r, 0);
}

const struct probe probe_nothing = {
    CALL_TRAITS,
    .name = "nothing",
    .exercises = "the loop and the clock of the other probes",
    .needs = "nothing",
    .portable = 1,
    .variants = "loop",
    .expect = (const struct expect[]){{NULL, "syscalls", 0, 0}, NEVER_SLEEPS, END},
    .setup = setup,
    .round = measure,
};
