/* clock_gettime, each clock. The vDSO answers some in user space and passes the others on to the kernel. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "kernel.h"

typedef int clock_call(clockid_t, struct timespec *);

static clockid_t id;

/* A first call must not find the clock read already, be it to see whether it is there: then verify finds that out. */
static int setup(struct run *r)
{
    struct timespec t;

    if (clock_by_name(param_text(r, "clock"), &id) != 0)
        return unavailable(r, 0, "this system does not have this clock");
    if (r->first && cycles_are_the_clock())
        return unavailable(r, 0, "no call of the clock is the first: it times itself, as no cycle counter can be read here");
    if (!r->first && clock_gettime(id, &t) != 0)
        return unavailable(r, errno, "clock_gettime");
    return vdso_setup(r, VDSO_NAME("clock_gettime"));
}

static int call(struct run *r, struct timespec *t)
{
    clock_call *vdso = (clock_call *)r->state;

    return is_variant(r, "vdso") ? vdso(id, t) : is_variant(r, "raw") ? (int)RAW(SYS_clock_gettime, id, t) : clock_gettime(id, t);
}

static void measure(struct run *r)
{
    clock_call *vdso = (clock_call *)r->state;
    struct timespec t;

    if (is_variant(r, "vdso"))
        LOOP(r, vdso(id, &t));
    else if (is_variant(r, "raw"))
        LOOP(r, RAW(SYS_clock_gettime, id, &t));
    else
        LOOP(r, clock_gettime(id, &t));
}

static int verify(struct run *r)
{
    struct timespec a, t, b;
    int failed;

    clock_gettime(id, &a);
    failed = call(r, &t);
    clock_gettime(id, &b);
    if (failed)
        return refute(r, "the call failed");
    return t.tv_sec < a.tv_sec || t.tv_sec > b.tv_sec ? refute(r, "it does not lie between two readings of the library's") : 0;
}

const struct probe probe_clock_gettime = {
    CALL_TRAITS,
    .name = "clock_gettime",
    .exercises = "one clock; in user space where the vDSO can read it",
    .needs = "nothing",
    .portable = 1,
    .variants = "libc raw vdso",
    .params = (const struct param[]){{"clock",
                                      "monotonic realtime monotonic_raw boottime realtime_coarse monotonic_coarse tai process_cputime "
                                      "thread_cputime",
                                      "which clock", NULL},
                                     END},
    .expect = (const struct expect[]){RAW_ENTERS, VDSO_STAYS, NEVER_SLEEPS, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
};
