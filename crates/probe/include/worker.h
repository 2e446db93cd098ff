/* What the parts of the worker say to each other. Probes need none of it. */
#ifndef WHYFASTER_WORKER_H
#define WHYFASTER_WORKER_H

#include "probe.h"

#include <signal.h>
#include <stdio.h>

#define PROTOCOL 1
#define LINE_MOST 4096

enum temp { WARM, COLD, FIRST };

/* One line of the plan. */
struct line {
    char text[LINE_MOST];
    const struct probe *probe;
    char variant[32];
    long batches, ops; /* ops 0: auto */
    int pairs, count;
    enum temp temp;
    char cpu[32], tag[64];
    long budget_ms, limit_s;
    char values[8][64];
};

struct plan {
    struct line *lines;
    size_t used, room;
};

/* How one line ended: the exit status of the process that ran it. */
enum ended { ENDED_OK = 0, ENDED_UNAVAILABLE = 3, ENDED_FAILED = 4, ENDED_BROKEN = 5 };

extern const struct probe *const portable_probes[]; /* end with NULL */
extern const struct probe *const system_probes[];   /* of this system only; end with NULL */
const struct probe *find_probe(const char *name);
const struct probe *probe_at(size_t index); /* NULL behind the last */

/* words.c */
const char *next_word(const char *words, char *word, size_t room); /* NULL behind the last */
int has_word(const char *words, const char *word);
int copy_word(char *to, size_t room, const char *from); /* -1: no room, or empty */

/* plan.c, options.c, planned.c, sweep.c */
int parse_line(const char *text, struct line *line, const char **why);
int plan_option(struct line *line, const char *key, const char *value);
int plan_add(struct plan *plan, const char *text, const char **why);
int plan_read(struct plan *plan, FILE *from); /* 0, or 2 after an `error` record */
int plan_own(struct plan *plan, int sweep, long batches);

/* arguments.c: 0, or 2 after an `error` record */
int plan_of_arguments(struct plan *plan, int argc, char **argv);
int refuse_arguments(const char *why);

/* launch_all.c, launch.c */
void launch_all(const struct plan *plan, const char *self);
int launch(const struct line *line, const char *self, uint64_t origin);

/* stop.c, guard.c: the process group of the line that runs, 0 between lines */
extern volatile sig_atomic_t *line_group;
void listen_to_signals(void);
void line_begins(pid_t pid, long limit_s);
int line_ends(pid_t pid, int *was_late); /* the signal that told the worker to end, or 0 */
void guard_begin(void);
void guard_forget(void); /* in a child: it is not the worker */
void guard_end(void);

/* one.c, prepare.c, rounds.c, batch.c */
int run_one(const struct line *line, uint64_t origin);
int prepare(struct run *r, const struct line *line, volatile int *counting);
void record_head(const char *kind, const struct line *line);
void record_unavailable(const struct line *line, int error, const char *why);

/* pins.c */
int allowed_cpus(const int **cpus); /* how many, or 0 where it cannot be told */

int measure_rounds(struct run *r, const struct line *line, uint64_t origin);
void record_samples(const struct line *line);
uint64_t size_batch(struct run *r);
int walk_caches(void);

/* describe.c, hello.c */
void describe(int hidden);
void hello(void);

/* clock.c, clock_quality.c */
const char *clock_label(void);
double clock_resolution(void);
double clock_cost(void);

/* per system: c/linux, c/other */
void bare_options(void);                /* of a bare kernel's command line; Linux only */
void output_leaves(void);               /* waits until what was written has left a serial line */
int become_init(void);                  /* 1: nobody but this process runs on this kernel */
int plan_of_kernel(struct plan *plan); /* 0, or 2 after an `error` record */
void power_off(void);
void die_with_parent(int signal);
long steal_ticks(void); /* -1: cannot tell */
int share_core(int cpu, int other); /* 0 also where it cannot be told */
size_t last_cache(void); /* bytes of the third level; 0: none, or cannot tell */
double count_syscalls(struct run *r, const struct line *line, const char **why); /* per operation; negative: not counted */
int linked_statically(void);            /* 1 yes, 0 no, -1 cannot tell */
double tsc_hz(void);                     /* c/tsc.c: 0 where there is none */
double tsc_rate(uint64_t over_ns);
const char *error_name(int error);
#endif
