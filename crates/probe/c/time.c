/* time: the wall clock in whole seconds; a plain load where the vDSO has it. */
#include "kernel.h"

#include <sys/time.h>
#include <time.h>

#ifdef SYS_time
#define RAW_TIME() RAW(SYS_time, NULL)
#else
#define RAW_TIME() (-1L)
#endif

typedef time_t time_call(time_t *);

static int setup(struct run *r)
{
#ifndef SYS_time
    if (is_variant(r, "raw"))
        return unavailable(r, ENOSYS, "this architecture has no system call of this name");
#endif
    return vdso_setup(r, VDSO_NAME("time"));
}

static void measure(struct run *r)
{
    time_call *vdso = (time_call *)r->state;

    if (is_variant(r, "vdso"))
        LOOP(r, vdso(NULL));
    else if (is_variant(r, "raw"))
        LOOP(r, RAW_TIME());
    else
        LOOP(r, time(NULL));
}

static int verify(struct run *r)
{
    time_call *vdso = (time_call *)r->state;
    struct timeval before, after;
    time_t t;

    gettimeofday(&before, NULL);
    t = is_variant(r, "vdso") ? vdso(NULL) : is_variant(r, "raw") ? (time_t)RAW_TIME() : time(NULL);
    gettimeofday(&after, NULL);
    return t < before.tv_sec - 1 || t > after.tv_sec + 1 ? refute(r, "it does not lie between two readings of gettimeofday()") : 0;
}

const struct probe probe_time = {
    CALL_TRAITS,
    .name = "time",
    .exercises = "the wall clock in seconds; a plain load where the vDSO has it",
    .needs = "nothing",
    .portable = 1,
    .variants = "libc raw vdso",
    .expect = (const struct expect[]){RAW_ENTERS, VDSO_STAYS, NEVER_SLEEPS, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
};
