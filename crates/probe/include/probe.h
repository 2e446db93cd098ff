/* The contract between a probe and the worker (c/main.c), and so with everything that reads the worker's records.
 *
 * A probe is one mechanism in one file. It describes itself in a `struct probe` and has four phases:
 *   setup     prepares; never timed; says `unavailable` where the system refuses
 *   round     does run->ops operations between lap_begin() and lap_end(); called many times
 *   verify    proves that the operations did what they claim
 *   teardown  gives all back
 * PROTOCOL.md says what is written for each. */
#ifndef WHYFASTER_PROBE_H
#define WHYFASTER_PROBE_H

#include "waits.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PROBE_MEASURES 4
struct run;
/* A parameter: the first of the blank-separated values is the default. */
struct param {
    const char *key, *values, *about;
    const char *only; /* the variant that it is for; NULL: all */
};

/* What an honest operation shows, per operation. NAN: not stated. variant NULL: all variants. */
struct expect {
    const char *variant, *receipt;
    double least, most;
};

#define END {0} /* of parameters, of expectations */
enum batch {
    BATCH_AUTO, /* many operations a round: 10 to 50 us */
    BATCH_ONE,  /* one operation a round */
    BATCH_PARAM /* the probe's setup sets run->ops */
};

struct probe {
    const char *name, *group;
    const char *unit;      /* what one operation is */
    const char *exercises; /* what of the system it takes through */
    const char *needs;     /* what must be there, or "nothing" */
    const char *source;    /* __FILE__ */
    int portable;          /* POSIX: 1. One system only: 0 */
    int hidden;            /* for tests only */
    const char *variants;  /* blank-separated, the first is the default */
    const char *measures;  /* blank-separated, at most PROBE_MEASURES */
    enum batch batch;
    int pairs;                   /* rounds of N and 2N although batch is not auto */
    int matrix;                  /* its price is one of every pair of CPUs */
    const char *disturbed;       /* receipts that spoil a sample: "inv mig delay", "inv", ""; PROTOCOL.md */
    const void *with;            /* the mechanism, where probes share a harness */
    const struct param *params;  /* ends with a NULL key; may be NULL */
    const struct expect *expect; /* ends with a NULL receipt; may be NULL */
    int (*setup)(struct run *);  /* 0, or unavailable(...) */
    void (*round)(struct run *);
    int (*verify)(struct run *); /* 0, or refute(...) */
    void (*teardown)(struct run *);
};

/* One run of a probe, and the result of its last round. */
struct run {
    const struct probe *probe;
    char variant[32];
    uint64_t ops;
    int cpu[2];   /* pins of the two sides, -1 free */
    int cpu_same; /* both sides share a CPU by plan */
    void *state;  /* the probe's own */

    /* of the last round */
    double ns[PROBE_MEASURES];
    long vol, inv, mig, at, delay; /* -1: cannot tell */
    char extra[96];         /* further columns, "key=value\tkey=value" */

    /* the worker's */
    uint64_t lap_start;
    long lap_vol, lap_inv, lap_cpu;
    struct waits lap_waits;
    uint64_t looked; /* nanoseconds of the timed part that reading others' waits took; taken off */
    pid_t mates[MATES]; /* tasks that take part in every round beside the calling thread */
    int first, cold; /* the first call of a process, or one with cold caches: nothing else is called before it that can be spared */
    const char *why;
    int error;
    volatile int *counting; /* 1 inside of the timed part, in a run whose system calls are counted */
    char values[8][64]; /* of the parameters, in their order */
};

/* ---- what a probe may call (c/lap.c, c/cpu.c, c/clock.c, c/params.c) ---- */

uint64_t now_ns(void);
/* The CPU's own counter, read without the clock's code; where there is none that programs may read, the clock (c/cycles.c). */
uint64_t cycles(void);
double cycles_hz(void);
int cycles_are_the_clock(void);
/* Starts and ends the timed part: clock, switches, CPU. lap_end sets ns[0], vol, inv, mig, at. */
void lap_begin(struct run *r);
void lap_end(struct run *r);
/* The same receipts without the clock, for probes that take several times. */
void receipt_begin(struct run *r);
void receipt_end(struct run *r);
/* Switches of the calling thread; 0 where they can be told. */
int thread_switches(long *vol, long *inv);
long this_cpu(void);
int pin_to(int cpu); /* the calling thread; cpu -1: does nothing */
/* "free", "same", "other", "A", "A,B": sets run->cpu. 0, or unavailable(). */
int choose_pins(struct run *r, const char *text);
int take_pin(struct run *r); /* the calling thread takes the first side's. 0, or unavailable() where either side's cannot be taken */
void relax(void);    /* a hint for spinning loops */
const char *param_text(const struct run *r, const char *key);
uint64_t param_size(const struct run *r, const char *key);
int is_variant(const struct run *r, const char *variant);

/* `return unavailable(r, errno, "pipe")`; error 0: no errno belongs to it. `return refute(r, "why")`. */
int unavailable(struct run *r, int error, const char *why);
int refute(struct run *r, const char *why);

/* Keeps the compiler from dropping or merging what a loop computes. */
#define KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")
#endif
