/* For tests only: a planted number of system calls. */
#include "kernel.h"

static void getpid_k(struct run *r)
{
    uint64_t k = param_size(r, "k"), ops = r->ops;

    lap_begin(r);
    for (uint64_t i = 0; i < ops; i++)
        for (uint64_t j = 0; j < k; j++)
            KEEP(getpid());
    lap_end(r);
}

const struct probe probe_getpid_k = {
    SELFTEST,
    .name = "getpid_k",
    .exercises = "k calls of getpid",
    .needs = "nothing",
    .variants = "libc",
    .batch = BATCH_AUTO,
    .params = (const struct param[]){{"k", "1 2 4 8", "calls an operation", NULL}, END},
    .expect = (const struct expect[]){NEVER_SLEEPS, END},
    .round = getpid_k,
};
