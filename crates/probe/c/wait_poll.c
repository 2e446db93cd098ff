/* poll; with a signal mask ppoll, which not every Unix has. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "waiter.h"

#include <poll.h>

static struct pollfd watched;

static int start(int file)
{
    watched.fd = file;
    watched.events = POLLIN;
    return 0;
}

static int poll_masked(const sigset_t *during)
{
#if defined(__APPLE__) || defined(__NetBSD__)
    (void)during; /* no ppoll, or by another name */
    errno = ENOSYS;
    return -1;
#else
    return ppoll(&watched, 1, NULL, during);
#endif
}

static int wait_for(const sigset_t *during)
{
    int n = during ? poll_masked(during) : poll(&watched, 1, -1);

    return n < 0 && errno == EINTR ? 0 : n;
}

static void stop(void)
{
}

const struct waiter wait_poll = {"poll", start, wait_for, stop};
