/* Bytes through a pipe: a writer and a reader, 4 MiB a round, all of them counted at the other end. */
#include "stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROUND_BYTES (4u << 20)

static struct shared *page;
static const struct stream *how;
static int ends[2] = {-1, -1}, all_read[2];
static char *buffer, *sink;
static size_t size;
static int failed;

static void read_all(struct shared *s)
{
    uint64_t left = s->ops * size;

    while (left > 0) {
        ssize_t n = how->get(ends[0], sink, left < size ? left : size);
        if (n <= 0)
            break;
        left -= (uint64_t)n;
        s->moved += (uint64_t)n;
    }
    if (write(all_read[1], "", 1) != 1)
        s->moved = 0;
}

static int size_pipe(struct run *r)
{
    const char *wanted = param_text(r, "pipe");

    if (pipe(ends) != 0 || pipe(all_read) != 0)
        return unavailable(r, errno, "pipe");
    if (strcmp(wanted, "default") == 0)
        return 0;
    return set_pipe_size(ends[1], (int)param_size(r, "pipe")) < 0 ? unavailable(r, errno, "another size of a pipe") : 0;
}

int stream_setup(struct run *r)
{
    how = r->probe->with;
    size = param_size(r, "write");
    if (size < 1 || size > ROUND_BYTES)
        return unavailable(r, 0, "write is 1 to 4M");
    r->ops = ROUND_BYTES / size;
    if (r->ops > 2048)
        r->ops = 2048;
    buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    sink = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (buffer == MAP_FAILED || sink == MAP_FAILED)
        return unavailable(r, errno, "two buffers");
    memset(buffer, 1, size);
    memset(sink, 2, size);
    if (size_pipe(r) != 0 || (how->open && how->open(r) != 0))
        return -1;
    return peer_start(r, &page, is_variant(r, "processes"), read_all);
}

static void write_all(uint64_t ops)
{
    for (uint64_t i = 0; i < ops; i++)
        for (size_t done = 0; done < size;) {
            ssize_t n = how->put(ends[1], buffer + done, size - done);
            if (n <= 0) {
                failed = errno ? errno : EIO;
                return;
            }
            done += (size_t)n;
        }
}

void stream_round(struct run *r)
{
    uint64_t cpu;
    char byte;

    page->moved = 0;
    peer_begin(r, page, r->ops);
    cpu = thread_cpu_ns();
    lap_begin(r);
    write_all(r->ops);
    if (failed || read(all_read[0], &byte, 1) != 1) {
        unavailable(r, failed, "writing to the pipe");
        close(ends[1]);
        return;
    }
    lap_end(r);
    r->ns[1] = (double)(thread_cpu_ns() - cpu);
    peer_end(r, page);
    r->ns[2] = (double)page->cpu_ns;
    snprintf(r->extra, sizeof r->extra, "bytes=%llu", (unsigned long long)page->moved);
}

int stream_verify(struct run *r)
{
    return page->moved != r->ops * size ? refute(r, "the reader did not get what was written") : 0;
}

void stream_teardown(struct run *r)
{
    (void)r;
    peer_stop(page);
}
