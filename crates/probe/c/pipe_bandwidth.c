/* Bytes through a pipe by write and read: copied in, copied out. */
#include "stream.h"

#include <unistd.h>

static ssize_t put(int pipe, char *buffer, size_t size)
{
    return write(pipe, buffer, size);
}

static ssize_t get(int pipe, char *buffer, size_t size)
{
    return read(pipe, buffer, size);
}

const struct probe probe_pipe_bandwidth = {
    STREAM_TRAITS,
    .name = "pipe_bandwidth",
    .exercises = "writes and reads of a pipe, both copies",
    .needs = "nothing",
    .portable = 1,
    .with = &(const struct stream){put, get, NULL},
};
