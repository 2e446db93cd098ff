/* For tests only: liars that a probe's own proof must refuse. */
#include "cow.h"

#include <unistd.h>

static pid_t start_one(struct job *job)
{
    pid_t pid = fork();

    if (pid == 0)
        child_life(job);
    return pid;
}

static pid_t start_two(struct job *job)
{
    if (fork() == 0)
        _exit(0);
    return start_one(job);
}

/* The child that is named is not the one that does the work. */
static pid_t start_another(struct job *job)
{
    pid_t pid = fork();

    if (pid == 0) {
        reap(start_one(job), NULL);
        _exit(0);
    }
    return pid;
}

#define LIAR                                                                                                                                 \
    .group = "selftest", .hidden = 1, .needs = "nothing", .portable = 1, .variants = "exit",                                   \
        .params = (const struct param[]){SHAPE_PARAMS, END},                                                                              \
        .expect = (const struct expect[]){CALLS_OF_A_CHILD(NULL, NAN), END}

const struct probe probe_lie_children = {
    SPAWN_PHASES,
    LIAR,
    .name = "lie_children",
    .exercises = "one child, it says",
    .with = &(const struct starter){start_two, 0},
};

const struct probe probe_lie_child = {
    SPAWN_PHASES,
    LIAR,
    .name = "lie_child",
    .exercises = "the child that it names, it says",
    .with = &(const struct starter){start_another, 0},
};

const struct probe probe_lie_vfork = {
    SPAWN_PHASES,
    LIAR,
    .name = "lie_vfork",
    .exercises = "a child in borrowed memory, it says",
    .with = &(const struct starter){start_one, 1},
};

static void read_pages(volatile char *memory, size_t length)
{
    for (size_t i = 0; i < length; i += 4096)
        (void)memory[i];
}

const struct probe probe_lie_cow = {
    COW_TRAITS,
    .name = "lie_cow",
    .group = "selftest",
    .hidden = 1,
    .exercises = "pages copied, it says",
    .with = &(const struct toucher){read_pages},
};
