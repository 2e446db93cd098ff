/* sched_yield: entry, and a pass through the scheduler that finds nobody else. Where it finds somebody the switch is an
 * involuntary one, and the sample is left out. */
#include "kernel.h"

#include <sched.h>

static void measure(struct run *r)
{
    if (is_variant(r, "raw"))
        LOOP(r, RAW(SYS_sched_yield));
    else
        LOOP(r, sched_yield());
}

static int verify(struct run *r)
{
    return sched_yield() != 0 ? refute(r, "sched_yield failed") : 0;
}

const struct probe probe_sched_yield = {
    CALL_TRAITS,
    .name = "sched_yield",
    .exercises = "entry to the kernel, one pass through the scheduler",
    .needs = "nothing",
    .portable = 1,
    .variants = "libc raw",
    .expect = (const struct expect[]){ALWAYS_ENTERS, END},
    .setup = call_setup,
    .round = measure,
    .verify = verify,
};
