/* The waiter that a plan names. */
#include "waiter.h"

#include <string.h>

int waiter_open(struct run *r, const struct waiter **waiter)
{
    const char *name = param_text(r, "wait");

    *waiter = strcmp(name, "select") == 0 ? &wait_select : strcmp(name, "poll") == 0 ? &wait_poll : system_waiter;
    if (!*waiter)
        return unavailable(r, ENOSYS, "this system has no epoll");
    return (*waiter)->open(ends[0]) == 0 ? 0 : unavailable(r, errno, name);
}
