/* The event rides on a queued signal; the receiver reads it from a signalfd. */
#include "handoff.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static pid_t self;
static int file = -1;

static int start(struct run *r)
{
    sigset_t awaited;

    self = getpid();
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGRTMIN);
    if (pthread_sigmask(SIG_BLOCK, &awaited, NULL) != 0 || (file = signalfd(-1, &awaited, SFD_CLOEXEC)) < 0)
        return unavailable(r, errno, "signalfd");
    return 0;
}

static int give(uint64_t event)
{
    union sigval value = {.sival_ptr = (void *)(uintptr_t)event};

    return sigqueue(self, SIGRTMIN, value);
}

static int take(uint64_t *events, int most)
{
    struct signalfd_siginfo info;

    (void)most;
    if (read(file, &info, sizeof info) != (ssize_t)sizeof info)
        return -1;
    *events = info.ssi_ptr;
    return 1;
}

static void stop(void)
{
    close(file);
}

const struct probe probe_signalfd = {
    PLAIN_HANDOFF,
    .name = "signalfd",
    .exercises = "a queued signal with a value, read from a descriptor",
    .needs = "Linux",
    .with = &(const struct handoff){start, give, take, stop},
};
