/* 1024 small functions, some 100 KiB of code. */
#include "compute.h"

#define STEPS 1024u

/* Functions that differ in their constants, each with a branch that depends on data. */
#define STEP(n)                                                                                                                              \
    static __attribute__((noinline)) uint64_t step_##n(uint64_t x)                                                                           \
    {                                                                                                                                        \
        x = (x ^ compute_words[(x ^ 0x##n##u) % CACHED]) * (0x9e3779b97f4a7c15u + 2 * 0x##n##u);                                             \
        if (x & 0x10000)                                                                                                                     \
            x += compute_words[(x >> 20) % CACHED] ^ 0x##n##1u;                                                                              \
        else                                                                                                                                 \
            x ^= (x >> 29) + compute_words[0x##n##u % CACHED];                                                                               \
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

uint64_t through_code(uint64_t x)
{
    for (unsigned i = 0; i < STEPS; i++)
        x = steps[i * 389 % STEPS](x);
    return x;
}
