/* clock_gettime, each clock. The vDSO answers some in user space and passes the others on to the kernel. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "kernel.h"

#include <string.h>
#include <time.h>

typedef int clock_call(clockid_t, struct timespec *);

static const struct {
    const char *name;
    clockid_t id;
} clocks[] = {
    {"monotonic", CLOCK_MONOTONIC},
    {"realtime", CLOCK_REALTIME},
#ifdef CLOCK_PROCESS_CPUTIME_ID
    {"process_cputime", CLOCK_PROCESS_CPUTIME_ID},
#endif
#ifdef CLOCK_THREAD_CPUTIME_ID
    {"thread_cputime", CLOCK_THREAD_CPUTIME_ID},
#endif
#ifdef CLOCK_MONOTONIC_RAW
    {"monotonic_raw", CLOCK_MONOTONIC_RAW},
#endif
#ifdef CLOCK_BOOTTIME
    {"boottime", CLOCK_BOOTTIME},
#endif
#ifdef __linux__
    {"realtime_coarse", CLOCK_REALTIME_COARSE},
    {"monotonic_coarse", CLOCK_MONOTONIC_COARSE},
    {"tai", CLOCK_TAI},
#endif
};

/* Index into clocks; -1: this system lacks it. */
static int chosen(const struct run *r)
{
    for (int i = 0; i < (int)(sizeof clocks / sizeof *clocks); i++)
        if (strcmp(clocks[i].name, param_text(r, "clock")) == 0)
            return i;
    return -1;
}

static int setup(struct run *r)
{
    struct timespec t;

    if (chosen(r) < 0)
        return unavailable(r, 0, "this system does not have this clock");
    if (clock_gettime(clocks[chosen(r)].id, &t) != 0)
        return unavailable(r, errno, "clock_gettime");
    return vdso_setup(r, VDSO_NAME("clock_gettime"));
}

static void measure(struct run *r)
{
    clock_call *vdso = (clock_call *)r->state;
    clockid_t id = clocks[chosen(r)].id;
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
    clock_call *vdso = (clock_call *)r->state;
    clockid_t id = clocks[chosen(r)].id;
    struct timespec a, t, b;
    int failed;

    clock_gettime(id, &a);
    failed = is_variant(r, "vdso") ? vdso(id, &t) : is_variant(r, "raw") ? (int)RAW(SYS_clock_gettime, id, &t) : clock_gettime(id, &t);
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
                                     {NULL, NULL, NULL, NULL}},
    .expect = (const struct expect[]){RAW_ENTERS, NEVER_SLEEPS, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
};
