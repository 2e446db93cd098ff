/* The pipe, the buffers and the reader of a stream. */
#include "stream.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUND_BYTES (4u << 20)

struct stream_state stream;
static char *sink;

static void read_all(struct shared *s)
{
    static int apart = -1; /* a process of its own must not hold the writing end: it would never see the end of the stream */
    uint64_t left = s->ops * stream.size;

    if (apart < 0 && (apart = stream.reader_apart))
        close(stream.ends[1]);
    while (left > 0) {
        ssize_t n = stream.how->get(stream.ends[0], sink, left < stream.size ? left : stream.size);
        if (n <= 0)
            break;
        left -= (uint64_t)n;
        s->moved += (uint64_t)n;
    }
    if (write(stream.all_read[1], "", 1) != 1)
        s->moved = 0;
}

static int size_pipe(struct run *r)
{
    const char *wanted = param_text(r, "pipe");
    int size = (int)param_size(r, "pipe"), given;

    if (pipe(stream.ends) != 0 || pipe(stream.all_read) != 0)
        return unavailable(r, errno, "pipe");
    if (strcmp(wanted, "default") == 0)
        return 0;
    if ((given = set_pipe_size(stream.ends[1], size)) < 0)
        return unavailable(r, errno, "another size of a pipe");
    return given != size ? unavailable(r, 0, "the system gave the pipe another size than the one asked for") : 0;
}

int stream_setup(struct run *r)
{
    stream.how = r->probe->with;
    stream.size = param_size(r, "write");
    if (stream.size < 1 || stream.size > ROUND_BYTES)
        return unavailable(r, 0, "write is 1 to 4M");
    r->ops = ROUND_BYTES / stream.size;
    if (r->ops > 2048)
        r->ops = 2048;
    stream.buffer = mmap(NULL, stream.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    sink = mmap(NULL, stream.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (stream.buffer == MAP_FAILED || sink == MAP_FAILED)
        return unavailable(r, errno, "two buffers");
    memset(stream.buffer, 1, stream.size);
    memset(sink, 2, stream.size);
    if (size_pipe(r) != 0 || (stream.how->open && stream.how->open(r) != 0))
        return -1;
    stream.reader_apart = is_variant(r, "processes");
    return peer_start(r, &stream.page, stream.reader_apart, read_all);
}
