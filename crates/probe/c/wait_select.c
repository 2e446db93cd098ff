/* select; with a signal mask pselect. */
#include "waiter.h"

#include <sys/select.h>

static int watched;

static int start(int file)
{
    watched = file;
    errno = EBADF;
    return file < FD_SETSIZE ? 0 : -1;
}

static int wait_for(const sigset_t *during)
{
    fd_set set;
    int n;

    FD_ZERO(&set);
    FD_SET(watched, &set);
    n = during ? pselect(watched + 1, &set, NULL, NULL, NULL, during) : select(watched + 1, &set, NULL, NULL, NULL);
    return n < 0 && errno == EINTR ? 0 : n;
}

static void stop(void)
{
}

const struct waiter wait_select = {"select", start, wait_for, stop};
