/* Bytes through a pipe as fast as they go: c/stream.c, c/stream_setup.c. */
#ifndef WHYFASTER_STREAM_H
#define WHYFASTER_STREAM_H

#include "peer.h"

struct stream {
    ssize_t (*put)(int pipe, char *buffer, size_t size);  /* the writer's call; may take less than size */
    ssize_t (*get)(int pipe, char *buffer, size_t size);  /* the reader's */
    int (*open)(struct run *r);                            /* may be NULL */
};

/* The stream that this process measures. */
struct stream_state {
    const struct stream *how;
    struct shared *page;
    int ends[2], all_read[2];
    char *buffer;
    size_t size; /* of a write */
    int reader_apart; /* in a process of its own */
    int failed, lost; /* lost: in some round the reader did not get what was written */
};
extern struct stream_state stream;

int stream_setup(struct run *r);
void stream_round(struct run *r);
int stream_verify(struct run *r);
void stream_teardown(struct run *r);
/* c/linux/pipe_size.c, c/other: bytes that the pipe holds from now on, which may be more; -1 with errno. */
int set_pipe_size(int pipe, int bytes);

#define STREAM_TRAITS                                                                                                                        \
    .group = "pipe", .unit = "one write", .source = __FILE__, .variants = "threads processes", .measures = "time writer_cpu reader_cpu",     \
    .batch = BATCH_PARAM, .disturbed = "delay_apart",                                                                                                   \
    .params = (const struct param[]){{"write", "64K 512 4K 16K 256K 1M", "bytes of a write", NULL},                                                \
                                     {"pipe", "default 4K 64K 1M", "bytes that the pipe holds", NULL},                                             \
                                     END},                                                                                    \
    .expect = (const struct expect[]){{NULL, "syscalls", 2, NAN}, END}, /* one that writes, one that reads */                        \
    .setup = stream_setup, .round = stream_round, .verify = stream_verify, .teardown = stream_teardown
#endif
