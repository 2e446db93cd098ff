/* A cache line from one CPU to another and back: both sides spin on one word, each waits for its turn. An operation is one way. */
#include "peer.h"

static struct shared *page;
static uint64_t sent; /* the other side counts what it answered */

/* Polite enough for a machine where one of them was sent off its CPU. */
static void await(struct shared *s, uint32_t turn)
{
    while (atomic_load_explicit(&s->word, memory_order_acquire) != turn)
        relax();
}

static void answer(struct shared *s)
{
    uint64_t answered = 0;

    for (; answered < s->ops; answered++) {
        await(s, 1);
        atomic_store_explicit(&s->word, 0, memory_order_release);
    }
    s->moved += answered;
}

static int setup(struct run *r)
{
    if (r->cpu[0] < 0 && choose_pins(r, "other") != 0)
        return -1;
    if (r->cpu_same)
        return unavailable(r, 0, "this price needs two CPUs");
    return take_pin(r) != 0 ? -1 : peer_start(r, &page, 0, answer);
}

static void measure(struct run *r)
{
    uint64_t trips = (r->ops + 1) / 2;

    r->ops = trips * 2;
    sent += trips;
    peer_begin(r, page, trips);
    lap_begin(r);
    for (uint64_t i = 0; i < trips; i++) {
        atomic_store_explicit(&page->word, 1, memory_order_release);
        await(page, 0);
    }
    lap_end(r);
    peer_end(r, page);
}

static int verify(struct run *r)
{
    return page->moved != sent ? refute(r, "the other side answered another number of times") : 0;
}

static void teardown(struct run *r)
{
    (void)r;
    peer_stop(page);
}

const struct probe probe_cacheline = {
    .name = "cacheline",
    .group = "cpu",
    .unit = "one way of a cache line",
    .exercises = "the caches' protocol between two CPUs; name the pair with cpu=A,B",
    .needs = "two CPUs to pin to",
    .source = __FILE__,
    .portable = 1,
    .variants = "threads",
    .measures = "time",
    .batch = BATCH_AUTO,
    .matrix = 1,
    .disturbed = "inv mig delay",
    .expect = (const struct expect[]){{NULL, "syscalls", 0, 0}, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
    .teardown = teardown,
};
