/* A loop of exactly two instructions a turn: where a clock counts instructions, one operation must cost two of its steps. */
#include "kernel.h"

static void turn(struct run *r)
{
    uint64_t left = r->ops;

    lap_begin(r);
#if defined(__x86_64__)
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(left) : : "cc");
#elif defined(__aarch64__)
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(left) : : "cc");
#else
    while (left--)
        KEEP(left);
#endif
    lap_end(r);
}

const struct probe probe_two_instructions = {
    SELFTEST,
    .name = "two_instructions",
    .exercises = "a loop of two instructions",
    .needs = "nothing",
    .variants = "loop",
    .batch = BATCH_AUTO,
    .expect = (const struct expect[]){{NULL, "syscalls", 0, 0}, NEVER_SLEEPS, END},
    .round = turn,
};
