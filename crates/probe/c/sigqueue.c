/* The event rides on a queued signal; the receiver sleeps in sigwaitinfo. Part of POSIX's realtime signals, which macOS and OpenBSD lack. */
#include "handoff.h"

#include <signal.h>
#include <unistd.h>

#if defined(SIGRTMIN) && !defined(__APPLE__) && !defined(__OpenBSD__)
static pid_t self;
static sigset_t awaited;

static int start(struct run *r)
{
    self = getpid();
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGRTMIN);
    return pthread_sigmask(SIG_BLOCK, &awaited, NULL) == 0 ? 0 : unavailable(r, errno, "pthread_sigmask");
}

static int give(uint64_t event)
{
    union sigval value = {.sival_ptr = (void *)(uintptr_t)event};

    return sigqueue(self, SIGRTMIN, value);
}

static int take(uint64_t *events, int most)
{
    siginfo_t info;

    (void)most;
    if (sigwaitinfo(&awaited, &info) < 0)
        return -1;
    *events = (uint64_t)(uintptr_t)info.si_value.sival_ptr;
    return 1;
}
#else
static int start(struct run *r)
{
    return unavailable(r, ENOSYS, "this system has no queued signals");
}

static int give(uint64_t event)
{
    (void)event;
    return -1;
}

static int take(uint64_t *events, int most)
{
    (void)events, (void)most;
    return -1;
}
#endif

static void stop(void)
{
}

const struct probe probe_sigqueue = {
    PLAIN_HANDOFF,
    .name = "sigqueue",
    .exercises = "a queued signal with a value, a thread that waits for it",
    .needs = "threads, realtime signals",
    .portable = 1,
    .with = &(const struct handoff){start, give, take, stop},
};
