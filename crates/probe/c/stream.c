/* Bytes through a pipe: a writer and a reader, 4 MiB a round (but no more than 2048 writes), all of them counted at the other end. */
#include "stream.h"

#include <stdio.h>
#include <unistd.h>

static void write_all(uint64_t ops)
{
    for (uint64_t i = 0; i < ops; i++)
        for (size_t done = 0; done < stream.size;) {
            ssize_t n = stream.how->put(stream.ends[1], stream.buffer + done, stream.size - done);
            if (n <= 0) {
                stream.failed = errno ? errno : EIO;
                return;
            }
            done += (size_t)n;
        }
}

void stream_round(struct run *r)
{
    uint64_t cpu;
    char byte;

    stream.page->moved = 0;
    peer_begin(r, stream.page, r->ops);
    lap_begin(r);
    cpu = r->counting ? 0 : thread_cpu_ns(); /* inside, as the receipts are no cost of the writer */
    write_all(r->ops);
    if (stream.failed || read(stream.all_read[0], &byte, 1) != 1) {
        unavailable(r, stream.failed, "writing to the pipe");
        close(stream.ends[1]);
        return;
    }
    cpu = r->counting ? 0 : thread_cpu_ns() - cpu;
    lap_end(r);
    r->ns[1] = (double)cpu;
    peer_end(r, stream.page);
    r->ns[2] = (double)stream.page->cpu_ns;
    stream.lost |= stream.page->moved != r->ops * stream.size;
    snprintf(r->extra, sizeof r->extra, "bytes=%llu", (unsigned long long)stream.page->moved);
}

int stream_verify(struct run *r)
{
    return stream.lost ? refute(r, "the reader did not get what was written") : 0;
}

void stream_teardown(struct run *r)
{
    (void)r;
    peer_stop(stream.page);
}
