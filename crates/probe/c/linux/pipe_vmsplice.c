/* Bytes into a pipe by vmsplice: the writer's pages themselves go in, the reader copies them out. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "stream.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

static ssize_t put(int pipe, char *buffer, size_t size)
{
    struct iovec piece = {buffer, size};

    return vmsplice(pipe, &piece, 1, 0);
}

static ssize_t get(int pipe, char *buffer, size_t size)
{
    return read(pipe, buffer, size);
}

const struct probe probe_pipe_vmsplice = {
    STREAM_TRAITS,
    .name = "pipe_vmsplice",
    .exercises = "pages lent to a pipe, one copy out of it",
    .needs = "Linux",
    .with = &(const struct stream){put, get, NULL},
};
