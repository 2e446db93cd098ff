/* Plain user code, without the kernel: by it two lists tell whether the CPU itself was slower for one of them. */
#include "probe.h"

#include <math.h>

#define CACHED 2048u   /* words that stay in the first-level cache: 16 KiB */
#define STEPS 1024u    /* functions, some 100 KiB of code: beyond the first-level cache of instructions, as the kernel's paths are */

static uint64_t words[CACHED], sum = 1;

static int setup(struct run *r)
{
    uint64_t state = 88172645463325252u;

    (void)r;
    for (unsigned i = 0; i < CACHED; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        words[i] = state ^= state << 17;
    }
    return 0;
}

/* Four chains that do not wait for each other: they need the CPU's units, and a neighbour on the same core takes these. */
static uint64_t pass(uint64_t seed)
{
    uint64_t a = seed, b = seed + 1, c = seed + 2, d = seed + 3;

    for (unsigned i = 0; i < CACHED; i += 4) {
        a = (a ^ words[i]) * 0x9e3779b97f4a7c15u;
        b = (b ^ words[i + 1]) * 0xbf58476d1ce4e5b9u;
        c = (c ^ words[i + 2]) * 0x94d049bb133111ebu;
        d = (d ^ words[i + 3]) * 0xd6e8feb86659fd93u;
    }
    return a ^ b ^ c ^ d;
}

/* Functions that differ in their constants, each with a branch that depends on data. */
#define STEP(n)                                                                                                                              \
    static __attribute__((noinline)) uint64_t step_##n(uint64_t x)                                                                           \
    {                                                                                                                                        \
        x = (x ^ words[(x ^ 0x##n##u) % CACHED]) * (0x9e3779b97f4a7c15u + 2 * 0x##n##u);                                                     \
        if (x & 0x10000)                                                                                                                     \
            x += words[(x >> 20) % CACHED] ^ 0x##n##1u;                                                                                      \
        else                                                                                                                                 \
            x ^= (x >> 29) + words[0x##n##u % CACHED];                                                                                       \
        return x ^ (x >> 31);                                                                                                                \
    }
#define X16(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9) X(n##a) X(n##b) X(n##c) X(n##d) X(n##e) X(n##f)
#define X256(X, n)                                                                                                                           \
    X16(X, n##0) X16(X, n##1) X16(X, n##2) X16(X, n##3) X16(X, n##4) X16(X, n##5) X16(X, n##6) X16(X, n##7)                                  \
    X16(X, n##8) X16(X, n##9) X16(X, n##a) X16(X, n##b) X16(X, n##c) X16(X, n##d) X16(X, n##e) X16(X, n##f)
#define X1024(X) X256(X, 0) X256(X, 1) X256(X, 2) X256(X, 3)
X1024(STEP)

#define REFER(n) step_##n,
static uint64_t (*const steps[STEPS])(uint64_t) = {X1024(REFER)};

static uint64_t through_code(uint64_t x)
{
    for (unsigned i = 0; i < STEPS; i++)
        x = steps[i * 389 % STEPS](x);
    return x;
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
    .expect = (const struct expect[]){{NULL, "syscalls", 0, 0}, {NULL, "voluntary", 0, 0}, {NULL, NULL, 0, 0}},
    .setup = setup,
    .round = measure,
};
