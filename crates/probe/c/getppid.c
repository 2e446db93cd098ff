/* getppid: as short as getpid, and no library ever cached it. */
#include "kernel.h"

static void measure(struct run *r)
{
    if (is_variant(r, "raw"))
        LOOP(r, RAW(SYS_getppid));
    else
        LOOP(r, getppid());
}

/* The library's function cannot fail and so tells no error; the raw call does, where the call is forbidden. */
static int verify(struct run *r)
{
    if (!RAW_MISSING && RAW(SYS_getppid) < 0)
        return refute(r, "the kernel refused the call");
    if (getppid() < 0)
        return refute(r, "getppid gave no process id");
    return !RAW_MISSING && RAW(SYS_getppid) != getppid() ? refute(r, "the library and the kernel do not agree") : 0;
}

const struct probe probe_getppid = {
    CALL_TRAITS,
    .name = "getppid",
    .exercises = "entry to the kernel, a look at the parent under RCU",
    .needs = "nothing",
    .portable = 1,
    .variants = "libc raw",
    .expect = (const struct expect[]){RAW_ENTERS, NEVER_SLEEPS, END},
    .setup = call_setup,
    .round = measure,
    .verify = verify,
};
