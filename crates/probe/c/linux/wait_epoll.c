/* epoll; with a signal mask epoll_pwait. */
#include "waiter.h"

#include <sys/epoll.h>
#include <unistd.h>

static int set = -1;

static int start(int file)
{
    struct epoll_event event = {.events = EPOLLIN};

    set = epoll_create1(EPOLL_CLOEXEC);
    return set < 0 ? -1 : epoll_ctl(set, EPOLL_CTL_ADD, file, &event);
}

static int wait_for(const sigset_t *during)
{
    struct epoll_event event;
    int n = during ? epoll_pwait(set, &event, 1, -1, during) : epoll_wait(set, &event, 1, -1);

    return n < 0 && errno == EINTR ? 0 : n;
}

static void stop(void)
{
    close(set);
}

static const struct waiter wait_epoll = {"epoll", start, wait_for, stop};
const struct waiter *const system_waiter = &wait_epoll;
