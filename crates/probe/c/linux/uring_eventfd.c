/* A queue under a mutex and an eventfd; the receiver's read of the eventfd goes through io_uring. */
#include "uring.h"

#include <sys/eventfd.h>
#include <unistd.h>

static struct queue queue;
static struct uring ring;
static int file = -1;

static int start(struct run *r)
{
    file = eventfd(0, EFD_CLOEXEC);
    return file < 0 ? unavailable(r, errno, "eventfd") : queue_open(&queue, r) || uring_open(&ring, r) ? -1 : 0;
}

static int give(uint64_t event)
{
    return queue_push(&queue, event) || eventfd_write(file, 1) ? -1 : 0;
}

static int take(uint64_t *events, int most)
{
    struct io_uring_sqe *entry = uring_entry(&ring);
    struct io_uring_cqe completion;
    eventfd_t count;
    unsigned fresh = 1;

    entry->opcode = IORING_OP_READ;
    entry->fd = file;
    entry->addr = (uint64_t)(uintptr_t)&count;
    entry->len = sizeof count;
    while (!uring_completion(&ring, &completion)) {
        if (uring_enter(&ring, fresh, 1) != 0 && errno != EINTR)
            return -1;
        fresh = 0;
    }
    if (completion.res != (int)sizeof count) {
        errno = completion.res < 0 ? -completion.res : EIO;
        return -1;
    }
    return queue_take(&queue, events, most);
}

static void stop(void)
{
    uring_close(&ring);
    close(file);
}

const struct probe probe_uring_eventfd = {
    PLAIN_HANDOFF,
    .name = "uring_eventfd",
    .exercises = "a mutex, a counter with a descriptor, read through io_uring",
    .needs = "Linux 5.6, io_uring permitted",
    .with = &(const struct handoff){start, give, take, stop},
};
