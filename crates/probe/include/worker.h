/* What the parts of the worker say to each other. Probes need none of it. */
#ifndef WHYFASTER_WORKER_H
#define WHYFASTER_WORKER_H

#include "probe.h"

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

/* plan.c */
int parse_line(const char *text, struct line *line, const char **why);
int plan_add(struct plan *plan, const char *text, const char **why);
int plan_read(struct plan *plan, FILE *from); /* 0, or 2 after an `error` record */
int sweep_probe(struct plan *plan, const struct probe *probe, long batches); /* c/sweep.c */
int plan_own(struct plan *plan, int sweep, long batches);

/* launch.c */
void launch_all(const struct plan *plan, const char *self);

/* one.c, rounds.c */
int run_one(const struct line *line, uint64_t origin);
int prepare(struct run *r, const struct line *line);
void record_head(const char *kind, const struct line *line);
void record_unavailable(const struct line *line, int error, const char *why);

/* pins.c */
int allowed_cpus(const int **cpus); /* how many, or 0 where it cannot be told */

int measure_rounds(struct run *r, const struct line *line, uint64_t origin);

/* describe.c, hello.c */
void describe(int hidden);
void hello(void);


/* clock.c */
const char *clock_label(void);
double clock_resolution(void);
double clock_cost(void);

/* per system: c/linux, c/other */
int become_init(void);                  /* 1: nobody but this process runs on this kernel */
int plan_of_kernel(struct plan *plan); /* 0, or 2 after an `error` record */
void power_off(void);
void die_with_parent(int signal);
long steal_ticks(void); /* -1: cannot tell */
double count_syscalls(struct run *r, const struct line *line, const char **why); /* per operation; negative: not counted */
double tsc_hz(void);
const char *error_name(int error);
#endif
