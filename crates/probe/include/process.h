/* What the process probes share: a way to start a child, three times for it, and the parent's shape. */
#ifndef WHYFASTER_PROCESS_H
#define WHYFASTER_PROCESS_H

#include "delay.h"
#include "probe.h"

#include <math.h>

/* What a child does: writes its time and ends, or becomes the target, which does the same. */
struct job {
    volatile uint64_t *stamp; /* shared by parent and child */
    int becomes_target;
    char *path;    /* of the target; without a slash it is searched for in PATH */
    char *argv[3]; /* of the target */
    int stamps;    /* where the target's time is read from */
    int tells;          /* for verify: the child says who it is instead */
    volatile pid_t told; /* the same, in memory that is not shared on purpose */
};

/* What the children of this process are to do. */
extern struct job spawned;

/* The process id, in the parent; -1 with errno. */
typedef pid_t start_child(struct job *job);

struct starter {
    start_child *start;
    int borrows; /* the child runs in the parent's memory until it ends or becomes the target */
};

/* The child's whole life; safe behind vfork too. */
void child_life(struct job *job);

/* Waits for the end of a child, whatever signals come. */
void reap(pid_t pid, int *status);

/* A pipe from the target, which writes to its descriptor 3, to spawned.stamps. */
int open_stamps(struct run *r);
/* c/execve_chain.c: a child that becomes the target, told TARGET_CHAIN or TARGET_TOLD, which replaces itself until `ops` programs ran. */
pid_t chain_start(char *path, const char *how, uint64_t ops);
int chain_is_whole(struct run *r, char *path); /* for verify */
int spawn_setup(struct run *r);
void spawn_round(struct run *r);
int spawn_verify(struct run *r);
void spawn_teardown(struct run *r);

/* c/target_file.c, c/target_path.c: makes the target of the run's variant and the PATH that finds it. */
int target_make(struct run *r, char **path);
int target_path(struct run *r);
extern const char *self_path;

/* c/shape.c, c/shape_memory.c: memory, mappings and descriptors of the parent, by its parameters. */
int shape_parent(struct run *r);
int shape_touch(struct run *r);
volatile char *shape_memory(size_t *length);

#define SHAPE_PARAMS                                                                                                                         \
    {"rss", "0 64M 256M 1G", "memory that the parent has touched", NULL}, {"pages", "4k huge", "of what pages that memory is", NULL},                             \
        {"maps", "0 1000 10000", "further mappings of the parent", NULL}, {"fds", "0 100 1000", "further open files of the parent", NULL}
#define PATH_PARAMS                                                                                                                          \
    {"path", "absolute search", "how the target is named", NULL}, {"misses", "0 1 8 32", "directories of PATH that lack it; more than 0 means search", NULL}
#define SPAWN_PHASES                                                                                                                         \
    .unit = "one child", .source = __FILE__, .measures = "parent child reaped", .batch = BATCH_ONE, .disturbed = "delay",                         \
    .setup = spawn_setup, .round = spawn_round, .verify = spawn_verify, .teardown = spawn_teardown
#define SPAWN_TRAITS .group = "process", SPAWN_PHASES
/* A child costs a call that makes it, its end and the wait for it. A program costs its execve and the write of its time, too. */
#define CALLS_OF_A_CHILD(variant, most) {variant, "syscalls", 3, most}
#define CALLS_OF_A_PROGRAM(variant) {variant, "syscalls", 5, NAN}
#endif
