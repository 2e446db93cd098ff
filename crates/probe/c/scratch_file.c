/* A file in the probe's own directory. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int scratch_file(struct run *r, const char *name, const void *bytes, size_t length, mode_t mode)
{
    const char *from = bytes;
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

    if (file < 0)
        return unavailable(r, errno, "a file in the probe's directory");
    while (length > 0) {
        ssize_t n = write(file, from, length);
        if (n <= 0) {
            close(file);
            return unavailable(r, errno, "writing a file in the probe's directory");
        }
        from += n;
        length -= (size_t)n;
    }
    return close(file);
}
