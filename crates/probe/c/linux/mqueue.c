/* The event goes through a POSIX message queue, which few systems but Linux have in their C library. */
#include "handoff.h"

#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <unistd.h>

static mqd_t queue = (mqd_t)-1;

static int start(struct run *r)
{
    struct mq_attr attributes = {.mq_maxmsg = 10, .mq_msgsize = sizeof(uint64_t)};
    char name[48];

    snprintf(name, sizeof name, "/whyfaster-%ld", (long)getpid());
    queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
    if (queue == (mqd_t)-1)
        return unavailable(r, errno, "mq_open");
    mq_unlink(name);
    return 0;
}

static int give(uint64_t event)
{
    return mq_send(queue, (const char *)&event, sizeof event, 0);
}

static int take(uint64_t *events, int most)
{
    (void)most;
    return mq_receive(queue, (char *)events, sizeof *events, NULL) == (ssize_t)sizeof *events ? 1 : -1;
}

static void stop(void)
{
    mq_close(queue);
}

const struct probe probe_mqueue = {
    PLAIN_HANDOFF,
    .name = "mqueue",
    .exercises = "a queue of messages in the kernel, ten deep",
    .needs = "Linux with POSIX message queues",
    .with = &(const struct handoff){start, give, take, stop},
};
