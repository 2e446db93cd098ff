/* Plain user code, without the kernel: by it two lists tell whether the CPU itself was slower for one of them. */
#include "compute.h"

#include <math.h>

uint64_t compute_words[CACHED];
static uint64_t sum = 1;

static int setup(struct run *r)
{
    (void)r;
    for (uint64_t i = 0, x = 1; i < CACHED; i++)
        compute_words[i] = x = x * 0x5851f42d4c957f2du + 0x14057b7ef767814fu; /* Knuth's generator */
    return 0;
}

/* Four chains that do not wait for each other: they need the CPU's units, and a neighbour on the same core takes these. */
static uint64_t pass(uint64_t seed)
{
    uint64_t a = seed, b = seed + 1, c = seed + 2, d = seed + 3;

    for (unsigned i = 0; i < CACHED; i += 4) {
        a = (a ^ compute_words[i]) * 0x9e3779b97f4a7c15u;
        b = (b ^ compute_words[i + 1]) * 0xbf58476d1ce4e5b9u;
        c = (c ^ compute_words[i + 2]) * 0x94d049bb133111ebu;
        d = (d ^ compute_words[i + 3]) * 0xd6e8feb86659fd93u;
    }
    return a ^ b ^ c ^ d;
}

static void measure(struct run *r)
{
    int code = is_variant(r, "code");

    lap_begin(r);
    for (uint64_t i = 0; i < r->ops; i++)
        sum = code ? through_code(sum) : pass(sum);
    KEEP(sum);
    lap_end(r);
}

const struct probe probe_compute = {
    .name = "compute",
    .group = "cpu",
    .unit = "one pass over 16 KiB, or one round of 1024 functions",
    .exercises = "user code alone: arithmetic in the first-level cache, or branches through 100 KiB of code",
    .needs = "nothing",
    .source = __FILE__,
    .portable = 1,
    .variants = "cache code",
    .measures = "time",
    .batch = BATCH_AUTO,
    .disturbed = "inv mig",
    .expect = (const struct expect[]){{NULL, "syscalls", 0, 0}, {NULL, "voluntary", 0, 0}, END},
    .setup = setup,
    .round = measure,
};
