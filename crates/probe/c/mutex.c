/* A mutex, which on Linux is a futex: locked and unlocked where nobody else wants it, and where another CPU always does. */
#include "peer.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t guarded, expected;
static struct shared *page;

static void lock_often(uint64_t ops)
{
    for (uint64_t i = 0; i < ops; i++) {
        pthread_mutex_lock(&mutex);
        guarded++;
        KEEP(guarded);
        pthread_mutex_unlock(&mutex);
    }
}

/* Goes on as long as the measured side does, so that every one of its operations meets a rival. */
static void rival(struct shared *s)
{
    uint64_t before = atomic_load(&s->moved);

    while (atomic_load(&s->moved) == before) {
        pthread_mutex_lock(&mutex);
        atomic_store(&s->word, 1);
        pthread_mutex_unlock(&mutex);
    }
}

static int setup(struct run *r)
{
    if (is_variant(r, "uncontended"))
        return 0;
    if (r->cpu[0] < 0 && choose_pins(r, "other") != 0)
        return -1;
    if (r->cpu_same)
        return unavailable(r, 0, "this price needs two CPUs");
    if (pin_to(r->cpu[0]) != 0)
        return unavailable(r, errno, "the CPU refused this thread");
    return peer_start(r, &page, 0, rival);
}

static void measure(struct run *r)
{
    expected += r->ops;
    if (page) {
        atomic_store(&page->word, 0);
        peer_begin(r, page, 0);
        while (!atomic_load(&page->word))
            relax();
    }
    lap_begin(r);
    lock_often(r->ops);
    lap_end(r);
    if (page) {
        atomic_fetch_add(&page->moved, 1);
        peer_end(r, page);
    }
}

static int verify(struct run *r)
{
    return guarded != expected ? refute(r, "the guarded counter shows another number of operations") : 0;
}

static void teardown(struct run *r)
{
    (void)r;
    if (page)
        peer_stop(page);
    page = NULL;
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
    .disturbed = "mig",
    .expect = (const struct expect[]){{"uncontended", "syscalls", 0, 0}, {NULL, NULL, 0, 0}},
    .setup = setup,
    .round = measure,
    .verify = verify,
    .teardown = teardown,
};
