/* The proof of the process probes: one more child, which nobody times, tells who it is. */
#include "process.h"
#include "target.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

/* The number that the child told of itself; 0: none. */
static uint64_t told(int status)
{
    uint64_t who = 0;

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return 0;
    if (!spawned.becomes_target)
        return *spawned.stamp;
    return read(spawned.stamps, &who, sizeof who) == (ssize_t)sizeof who ? who : 0;
}

static int one_is_left(void)
{
    return waitpid(-1, NULL, WNOHANG) >= 0;
}

static int more_was_told(void)
{
    struct pollfd stamps = {spawned.stamps, POLLIN, 0};

    return spawned.becomes_target && poll(&stamps, 1, 0) != 0;
}

int spawn_verify(struct run *r)
{
    const struct starter *starter = r->probe->with;
    int status = 0;
    pid_t pid;

    spawned.tells = 1;
    spawned.told = 0;
    *spawned.stamp = 0;
    spawned.argv[1] = (char *)TARGET_WHO;
    pid = starter->start(&spawned);
    spawned.tells = 0; /* a counted run is a fork of this one */
    if (pid <= 0)
        return refute(r, "no child was made");
    reap(pid, &status);
    errno = 0;
    if (told(status) != (uint64_t)pid)
        return refute(r, "the child that ran is not the one that was made");
    if (one_is_left())
        return refute(r, "an operation makes more children than one");
    if (more_was_told())
        return refute(r, "an operation starts more programs than one");
    errno = starter->borrows && spawned.told != pid ? ENOSYS : 0; /* an emulator may make a copy instead */
    return errno ? refute(r, "the child does not run in the parent's memory here") : 0;
}
