/* IORING_OP_MSG_RING (Linux 5.18): the sender's ring puts a completion into the receiver's; the event is its user data. */
#include "uring.h"

#define MSG_RING 40            /* IORING_OP_MSG_RING, which older headers do not name */
#define SKIP_SUCCESS (1u << 6) /* IOSQE_CQE_SKIP_SUCCESS: the sender needs no completion of its own */

static struct uring sender, receiver;

static int start(struct run *r)
{
    return uring_open(&sender, r) || uring_open(&receiver, r) ? -1 : 0;
}

static int give(uint64_t event)
{
    struct io_uring_sqe *entry = uring_entry(&sender);
    struct io_uring_cqe failure;

    entry->opcode = MSG_RING;
    entry->fd = receiver.file;
    entry->off = event;
    entry->flags = SKIP_SUCCESS;
    if (uring_enter(&sender, 1, 0) != 0)
        return -1;
    if (!uring_completion(&sender, &failure))
        return 0;
    errno = -failure.res;
    return -1;
}

static int take(uint64_t *events, int most)
{
    struct io_uring_cqe completion;
    int n = 0;

    while (n < most && uring_completion(&receiver, &completion))
        events[n++] = completion.user_data;
    return n > 0 ? n : uring_enter(&receiver, 0, 1);
}

static void stop(void)
{
    uring_close(&sender);
    uring_close(&receiver);
}

const struct probe probe_uring_msg = {
    PLAIN_HANDOFF,
    .name = "uring_msg",
    .exercises = "a completion posted from ring to ring",
    .needs = "Linux 5.18, io_uring permitted",
    .with = &(const struct handoff){start, give, take, stop},
};
