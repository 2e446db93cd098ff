/* The little of io_uring that the probes need, by raw system calls: c/linux/uring.c. */
#ifndef WHYFASTER_URING_H
#define WHYFASTER_URING_H

#include "handoff.h"

#include <linux/io_uring.h>

struct uring {
    int file;
    unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
    struct io_uring_sqe *sqes;
    struct io_uring_cqe *cqes;
};

int uring_open(struct uring *u, struct run *r);
/* A cleared entry to fill; the next submit hands it over. */
struct io_uring_sqe *uring_entry(struct uring *u);
/* Hands over `count` entries and sleeps until `least` completions are there. 0, or -1 with errno. */
int uring_enter(struct uring *u, unsigned count, unsigned least);
/* Takes a completion that is there: 1, or 0. */
int uring_completion(struct uring *u, struct io_uring_cqe *completion);
void uring_close(struct uring *u);
#endif
