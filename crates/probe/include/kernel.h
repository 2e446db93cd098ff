/* For the probes of single calls. */
#ifndef WHYFASTER_KERNEL_H
#define WHYFASTER_KERNEL_H

#include "probe.h"

#include <errno.h>
#include <math.h>
#include <time.h>
#include <unistd.h>

/* One round: the expression, run->ops times. */
#define LOOP(r, expression)                                                                                                                  \
    do {                                                                                                                                     \
        uint64_t loop_ops = (r)->ops;                                                                                                        \
        lap_begin(r);                                                                                                                        \
        for (uint64_t loop_i = 0; loop_i < loop_ops; loop_i++)                                                                               \
            KEEP(expression);                                                                                                                \
        lap_end(r);                                                                                                                          \
    } while (0)

/* The raw system call. Only Linux promises that its numbers stay. */
#ifdef __linux__
#include <sys/syscall.h>
#define RAW(...) syscall(__VA_ARGS__)
#define RAW_MISSING NULL
#else
#define RAW(...) (-1L)
#define RAW_MISSING "only Linux has system calls with lasting numbers"
#endif

/* The setup of a call that needs nothing: refuses the variant raw where there is none. */
int call_setup(struct run *r);

/* The setup of a call that the vDSO may offer: r->state is its function. */
int vdso_setup(struct run *r, const char *name);

/* The address of a function in the vDSO, or NULL. */
void *vdso_symbol(const char *name);

/* c/clocks.c: 0, or -1 where this system lacks the clock. */
int clock_by_name(const char *name, clockid_t *id);

#if defined(__aarch64__)
#define VDSO_NAME(call) "__kernel_" call
#else
#define VDSO_NAME(call) "__vdso_" call
#endif

#define ALWAYS_ENTERS                                                                                                                        \
    {                                                                                                                                        \
        NULL, "syscalls", 1, 1                                                                                                               \
    }
#define RAW_ENTERS                                                                                                                           \
    {                                                                                                                                        \
        "raw", "syscalls", 1, 1                                                                                                              \
    }
#define VDSO_STAYS                                                                                                                           \
    {                                                                                                                                        \
        "vdso", "syscalls", 0, 0                                                                                                             \
    }
#define NEVER_SLEEPS                                                                                                                         \
    {                                                                                                                                        \
        NULL, "voluntary", 0, 0                                                                                                              \
    }

/* A call that any thread may make at any time: what all of them share of a description. */
#define CALL_TRAITS .group = "kernel", .unit = "one call", .source = __FILE__, .measures = "time", .batch = BATCH_AUTO, .disturbed = "inv mig"

/* Probes that only tests use; c/burn.c: spins that many cycles of the time stamp counter. */
void spin_cycles(uint64_t cycles);
#define SELFTEST \
    .group = "selftest", .unit = "one call", .source = __FILE__, .measures = "time", \
    .disturbed = "inv mig", .hidden = 1, .portable = 1
#endif
