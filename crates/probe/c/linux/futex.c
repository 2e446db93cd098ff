/* A ring in memory and a futex: the sender enters the kernel only where the receiver sleeps. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static int take(uint64_t *events, int most)
{
    int n = ring_take(events, most);

    if (n == 0)
        n = ring_before_sleep(events, most);
    if (n > 0)
        return n;
    if (syscall(SYS_futex, &doorbell, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0) != 0 && errno != EAGAIN && errno != EINTR)
        return -1;
    return ring_take(events, most);
}

static void stop(void)
{
}

const struct probe probe_futex = {
    PLAIN_HANDOFF,
    .name = "futex",
    .exercises = "a ring in memory, a futex to sleep on",
    .needs = "Linux",
    .with = &(const struct handoff){ring_open, ring_give, take, stop},
};
