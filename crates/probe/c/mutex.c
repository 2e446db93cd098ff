/* A mutex, which on Linux is a futex: locked and unlocked where nobody else wants it, and where another CPU always does. */
#include "rival.h"

#include <math.h>

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define ALONE __libc_single_threaded
#endif
#endif
#ifndef ALONE
#define ALONE 0 /* a C library that does not tell */
#endif

static uint64_t guarded, expected;

static int setup(struct run *r)
{
    return is_variant(r, "uncontended") ? rival_asleep(r) : rival_start(r);
}

static void measure(struct run *r)
{
    int contended = is_variant(r, "contended");

    expected += r->ops;
    if (contended)
        rival_begins(r);
    lap_begin(r);
    for (uint64_t i = 0; i < r->ops; i++) {
        pthread_mutex_lock(&contested);
        guarded++;
        KEEP(guarded);
        pthread_mutex_unlock(&contested);
    }
    lap_end(r);
    if (contended)
        rival_ends(r);
}

static int verify(struct run *r)
{
    if (ALONE)
        return refute(r, "a process of one thread locks without an atomic operation");
    return guarded != expected ? refute(r, "the guarded counter shows another number of operations") : 0;
}

static void teardown(struct run *r)
{
    if (is_variant(r, "contended"))
        rival_stop();
}

const struct probe probe_mutex = {
    .name = "mutex",
    .group = "cpu",
    .unit = "one lock and unlock",
    .exercises = "an atomic word; where contended, sleeping and waking too",
    .needs = "two CPUs to pin to (contended)",
    .source = __FILE__,
    .portable = 1,
    .variants = "uncontended contended",
    .measures = "time",
    .batch = BATCH_AUTO,
    .disturbed = "mig delay",
    .expect = (const struct expect[]){{"uncontended", "syscalls", 0, 0}, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
    .teardown = teardown,
};
