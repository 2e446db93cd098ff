/* A ring in memory; the receiver waits for the futex through io_uring (IORING_OP_FUTEX_WAIT, Linux 6.7). */
#include "doorbell.h"
#include "uring.h"

#include <string.h>

#define FUTEX_WAIT_ENTRY 51         /* IORING_OP_FUTEX_WAIT */
#define FUTEX_U32_PRIVATE (2 | 128) /* FUTEX2_SIZE_U32 | FUTEX2_PRIVATE, as the sender's FUTEX_WAKE_PRIVATE */

#define ADDR3 48                    /* where struct io_uring_sqe has addr3, which older headers do not name */

static struct uring ring;

/* Sleeps while the doorbell is 1. 0, or -1 with errno. */
static int sleep_on_doorbell(void)
{
    struct io_uring_sqe *entry = uring_entry(&ring);
    struct io_uring_cqe completion;
    unsigned fresh = 1;

    entry->opcode = FUTEX_WAIT_ENTRY;
    entry->fd = FUTEX_U32_PRIVATE;
    entry->addr = (uint64_t)(uintptr_t)&doorbell;
    entry->off = 1; /* the value to sleep on */
    memcpy((char *)entry + ADDR3, &(uint64_t){UINT32_MAX}, 8); /* all wakers */
    while (!uring_completion(&ring, &completion)) {
        if (uring_enter(&ring, fresh, 1) != 0 && errno != EINTR)
            return -1;
        fresh = 0;
    }
    errno = completion.res < 0 ? -completion.res : 0;
    return errno == 0 || errno == EAGAIN ? 0 : -1;
}

static int start(struct run *r)
{
    if (uring_open(&ring, r) != 0)
        return -1;
    atomic_store(&doorbell, 0); /* not 1: this wait comes back at once, if the kernel knows it */
    return sleep_on_doorbell() == 0 ? 0 : unavailable(r, errno, "a futex wait in io_uring");
}

static int take(uint64_t *events, int most)
{
    int n = ring_take(events, most);

    if (n == 0)
        n = ring_before_sleep(events, most);
    if (n > 0)
        return n;
    return sleep_on_doorbell() != 0 ? -1 : ring_take(events, most);
}

static void stop(void)
{
    uring_close(&ring);
}

const struct probe probe_uring_futex = {
    PLAIN_HANDOFF,
    .name = "uring_futex",
    .exercises = "a ring in memory, a futex waited for through io_uring",
    .needs = "Linux 6.7, io_uring permitted",
    .with = &(const struct handoff){start, ring_give, take, stop},
};
