/* getpid: the shortest way into the kernel and back. glibc 2.3.4 to 2.24 answered it from a cache: hence the count of real calls. */
#include "kernel.h"

static void measure(struct run *r)
{
    if (is_variant(r, "raw"))
        LOOP(r, RAW(SYS_getpid));
    else
        LOOP(r, getpid());
}

/* The library's function cannot fail and so tells no error; the raw call does, where the call is forbidden. */
static int verify(struct run *r)
{
    if (!RAW_MISSING && RAW(SYS_getpid) < 0)
        return refute(r, "the kernel refused the call");
    if (getpid() <= 0)
        return refute(r, "getpid gave no process id");
    return !RAW_MISSING && RAW(SYS_getpid) != getpid() ? refute(r, "the library and the kernel do not agree") : 0;
}

const struct probe probe_getpid = {
    CALL_TRAITS,
    .name = "getpid",
    .exercises = "entry to the kernel and back",
    .needs = "nothing",
    .portable = 1,
    .variants = "libc raw",
    .expect = (const struct expect[]){RAW_ENTERS, NEVER_SLEEPS, END},
    .setup = call_setup,
    .round = measure,
    .verify = verify,
};
