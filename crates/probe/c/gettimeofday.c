/* gettimeofday: answered in user space where the vDSO can read the clock source. */
#include "kernel.h"

#include <sys/time.h>
#include <time.h>

typedef int gettimeofday_call(struct timeval *, void *);

static int setup(struct run *r)
{
    return vdso_setup(r, VDSO_NAME("gettimeofday"));
}

static void measure(struct run *r)
{
    gettimeofday_call *vdso = (gettimeofday_call *)r->state;
    struct timeval t;

    if (is_variant(r, "vdso"))
        LOOP(r, vdso(&t, NULL));
    else if (is_variant(r, "raw"))
        LOOP(r, RAW(SYS_gettimeofday, &t, NULL));
    else
        LOOP(r, gettimeofday(&t, NULL));
}

static int verify(struct run *r)
{
    gettimeofday_call *vdso = (gettimeofday_call *)r->state;
    struct timeval t = {0, 0};
    time_t before = time(NULL);

    if ((is_variant(r, "vdso") ? vdso(&t, NULL) : is_variant(r, "raw") ? (int)RAW(SYS_gettimeofday, &t, NULL) : gettimeofday(&t, NULL)) != 0)
        return refute(r, "the call failed");
    return t.tv_sec < before - 1 || t.tv_sec > time(NULL) + 1 ? refute(r, "it does not lie between two readings of time()") : 0;
}

const struct probe probe_gettimeofday = {
    CALL_TRAITS,
    .name = "gettimeofday",
    .exercises = "the wall clock; in user space where the vDSO can read the clock source",
    .needs = "nothing",
    .portable = 1,
    .variants = "libc raw vdso",
    .expect = (const struct expect[]){RAW_ENTERS, VDSO_STAYS, NEVER_SLEEPS, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
};
