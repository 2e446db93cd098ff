/* The little of io_uring that the probes need. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "uring.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ENTRIES 64
#define COMPLETIONS 8192 /* a burst's events may all be there at once */

/* Rings may share one mapping (IORING_FEAT_SINGLE_MMAP, Linux 5.4); mapping each by its offset works either way. */
static char *map(const struct uring *u, size_t length, long offset)
{
    return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, u->file, offset);
}

int uring_open(struct uring *u, struct run *r)
{
    struct io_uring_params p;
    char *sq, *cq;

    memset(&p, 0, sizeof p);
    p.flags = IORING_SETUP_CQSIZE;
    p.cq_entries = COMPLETIONS;
    u->file = (int)syscall(SYS_io_uring_setup, ENTRIES, &p);
    if (u->file < 0)
        return unavailable(r, errno, "io_uring_setup");
    sq = map(u, p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    cq = map(u, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    u->sqes = (struct io_uring_sqe *)map(u, p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
    if (sq == MAP_FAILED || cq == MAP_FAILED || (void *)u->sqes == MAP_FAILED)
        return unavailable(r, errno, "the rings of io_uring");
    u->sq_tail = (unsigned *)(sq + p.sq_off.tail);
    u->sq_mask = (unsigned *)(sq + p.sq_off.ring_mask);
    u->sq_array = (unsigned *)(sq + p.sq_off.array);
    u->cq_head = (unsigned *)(cq + p.cq_off.head);
    u->cq_tail = (unsigned *)(cq + p.cq_off.tail);
    u->cq_mask = (unsigned *)(cq + p.cq_off.ring_mask);
    u->cqes = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
    return 0;
}

struct io_uring_sqe *uring_entry(struct uring *u)
{
    unsigned tail = *u->sq_tail, at = tail & *u->sq_mask;

    memset(&u->sqes[at], 0, sizeof u->sqes[at]);
    u->sq_array[at] = at;
    __atomic_store_n(u->sq_tail, tail + 1, __ATOMIC_RELEASE);
    return &u->sqes[at];
}

int uring_enter(struct uring *u, unsigned count, unsigned least)
{
    return syscall(SYS_io_uring_enter, u->file, count, least, least ? IORING_ENTER_GETEVENTS : 0, NULL, 0) < 0 ? -1 : 0;
}

int uring_completion(struct uring *u, struct io_uring_cqe *completion)
{
    unsigned head = *u->cq_head;

    if (head == __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE))
        return 0;
    *completion = u->cqes[head & *u->cq_mask];
    __atomic_store_n(u->cq_head, head + 1, __ATOMIC_RELEASE);
    return 1;
}

void uring_close(struct uring *u)
{
    close(u->file);
}
