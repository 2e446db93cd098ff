/* Handing tasks to workers, for `study ladder`: what `--hand MECHANISM` and `--task` share. c/hand.c has the protocol. */
#ifndef WHYFASTER_HAND_H
#define WHYFASTER_HAND_H

#include <stdint.h>

#define HAND_CLIENT "--hand" /* hand tasks out, as lines on standard input say */
#define HAND_TASK "--task"   /* be a task */

/* So many tasks at once, each of so much CPU time. */
struct burst {
    uint64_t tasks, length_ns;
};

/* What a task writes of itself, in one piece, at the end of the file. */
struct stamped {
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    uint64_t cpu_ns;           /* what its worker spent on it */
};

/* A way to hand tasks out. */
struct mechanism {
    const char *name;
    int apart; /* the CPU time of its tasks is not among that of this process and its dead children */
    int (*open)(void);
    int (*burst)(const struct burst *b); /* until all are done; -1 with errno */
};

extern const struct mechanism hand_pool, hand_fork, hand_spawn, hand_pipe, hand_run;

/* What all need: the file of stamps, how many workers, and for `run` its command. */
struct hand {
    int stamps;
    int workers;
    const char *command;
};
extern struct hand hand;

/* A task: computes, and says when, and what its worker spent since `spent_ns`. -1 with errno. */
int task_do(uint64_t start_ns, uint64_t length_ns, int clock, uint64_t spent_ns);

uint64_t clock_ns(int clock);
/* CPU time of this process and of its dead children; and what the tasks of a burst say that they cost. */
uint64_t hand_spent_ns(void);
uint64_t hand_tasks_ns(void);

/* Waits for a child, which must have succeeded. */
int hand_wait(void);

int hand_main(int argc, char **argv);
int task_main(int argc, char **argv);
#endif
