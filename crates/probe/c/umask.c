/* umask: changes a word of the process, with its lock. */
#include "kernel.h"

#include <sys/stat.h>

#define MASK 022

static void measure(struct run *r)
{
    if (is_variant(r, "raw"))
        LOOP(r, RAW(SYS_umask, MASK));
    else
        LOOP(r, umask(MASK));
}

static int verify(struct run *r)
{
    if (!RAW_MISSING && RAW(SYS_umask, 027) < 0)
        return refute(r, "the kernel refused the call"); /* which the library's function does not tell */
    umask(027);
    if (umask(MASK) != 027)
        return refute(r, "the mask that was set did not come back");
    return 0;
}

const struct probe probe_umask = {
    CALL_TRAITS,
    .name = "umask",
    .exercises = "entry to the kernel, a locked word of the process",
    .needs = "nothing",
    .portable = 1,
    .variants = "libc raw",
    .expect = (const struct expect[]){RAW_ENTERS, NEVER_SLEEPS, END},
    .setup = call_setup,
    .round = measure,
    .verify = verify,
};
