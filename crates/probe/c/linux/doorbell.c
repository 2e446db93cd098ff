/* A ring of events in memory with a futex to sleep on. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "doorbell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic uint32_t doorbell;
static _Atomic uint64_t ring[EVENTS_MOST];
static _Atomic uint64_t head, tail;

int ring_open(struct run *r)
{
    (void)r;
    return 0;
}

int ring_give(uint64_t event)
{
    uint64_t at = atomic_load(&tail);

    if (at - atomic_load(&head) == EVENTS_MOST) {
        errno = EAGAIN;
        return -1;
    }
    atomic_store(&ring[at % EVENTS_MOST], event);
    atomic_store(&tail, at + 1);
    if (atomic_exchange(&doorbell, 0) == 1)
        syscall(SYS_futex, &doorbell, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return 0;
}

int ring_take(uint64_t *events, int most)
{
    uint64_t at = atomic_load(&head);
    int n = 0;

    for (; n < most && at < atomic_load(&tail); at++)
        events[n++] = atomic_load(&ring[at % EVENTS_MOST]);
    atomic_store(&head, at);
    return n;
}

int ring_before_sleep(uint64_t *events, int most)
{
    int n;

    atomic_store(&doorbell, 1);
    n = ring_take(events, most);
    if (n > 0)
        atomic_store(&doorbell, 0);
    return n;
}
