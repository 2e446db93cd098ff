/* Names of the errors that a system refuses a probe with. */
#include "worker.h"

#include <errno.h>

#define NAME(code)                                                                                                                           \
    case code:                                                                                                                               \
        return #code

const char *error_name(int error)
{
    static char number[16];

    switch (error) {
        NAME(EPERM);
        NAME(ENOENT);
        NAME(EINTR);
        NAME(EIO);
        NAME(E2BIG);
        NAME(ENOEXEC);
        NAME(EBADF);
        NAME(ECHILD);
        NAME(EAGAIN);
        NAME(ENOMEM);
        NAME(EACCES);
        NAME(EFAULT);
        NAME(EBUSY);
        NAME(EEXIST);
        NAME(ENODEV);
        NAME(EINVAL);
        NAME(ENFILE);
        NAME(EMFILE);
        NAME(ENOSPC);
        NAME(EROFS);
        NAME(EPIPE);
        NAME(ENOSYS);
        NAME(ENOTSUP);
    default:
        snprintf(number, sizeof number, "%d", error);
        return number;
    }
}
