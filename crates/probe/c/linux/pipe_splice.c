/* Bytes through a pipe by splice: from a file in memory into the pipe, and out of it to /dev/null; nothing is copied. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "stream.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static int source = -1, drain = -1;

static int start(struct run *r)
{
    source = memfd_create("whyfaster-splice", MFD_CLOEXEC);
    drain = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (source < 0 || drain < 0 || ftruncate(source, (off_t)param_size(r, "write")) != 0)
        return unavailable(r, errno, "a file in memory and /dev/null");
    /* A page that nothing was written to is the zero page of the file's holes: fill it as a file of data is. */
    for (uint64_t at = 0; at < param_size(r, "write"); at += 512)
        if (pwrite(source, "x", 1, (off_t)at) != 1)
            return unavailable(r, errno, "filling a file in memory");
    return 0;
}

static ssize_t put(int pipe, char *buffer, size_t size)
{
    loff_t from = 0;

    (void)buffer;
    return splice(source, &from, pipe, NULL, size, 0);
}

static ssize_t get(int pipe, char *buffer, size_t size)
{
    (void)buffer;
    return splice(pipe, NULL, drain, NULL, size, 0);
}

const struct probe probe_pipe_splice = {
    STREAM_TRAITS,
    .name = "pipe_splice",
    .exercises = "pages of a file lent to a pipe and dropped, no copy",
    .needs = "Linux",
    .with = &(const struct stream){put, get, start},
};
