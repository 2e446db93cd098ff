/* The rounds that the process probes share: one child each, and when the call returned, the child ran, and it was reaped. */
#include "process.h"
#include "scratch.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_STARTED "the target could not be started or failed (a directory without exec, no loader, no emulation)"

/* posix_spawn hands on what execve said to its child; no call that makes a process fails like this (fork(2), clone(2)). */
static int execve_failed(int error)
{
    return error == EACCES || error == ENOENT || error == ENOEXEC;
}

static int stamp_of_target(struct run *r, int status)
{
    uint64_t stamp;

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return unavailable(r, 0, NOT_STARTED);
    if (!spawned.becomes_target)
        return 0;
    if (read(spawned.stamps, &stamp, sizeof stamp) != (ssize_t)sizeof stamp)
        return unavailable(r, 0, "the target did not write its time");
    *spawned.stamp = stamp;
    return 0;
}

void spawn_round(struct run *r)
{
    const struct starter *starter = r->probe->with;
    uint64_t start, parent, reaped;
    int status = 0;
    long delay = -1;
    pid_t pid;

    *spawned.stamp = 0;
    receipt_begin(r);
    start = now_ns();
    pid = starter->start(&spawned);
    parent = now_ns();
    if (pid > 0) {
        delay = delay_of_child(r, pid, &r->looked);
        reap(pid, &status);
    }
    reaped = now_ns() - r->looked;
    receipt_end(r);
    r->delay = together(r->delay, at_most(delay, reaped - start));
    if (pid <= 0) {
        unavailable(r, errno, execve_failed(errno) ? NOT_STARTED : "the system made no process");
        return;
    }
    if (stamp_of_target(r, status) != 0)
        return;
    if (*spawned.stamp < start || *spawned.stamp > reaped)
        unavailable(r, 0, "the child's time does not lie between the call and its end");
    r->ns[0] = (double)(parent - start);
    r->ns[1] = (double)(*spawned.stamp - start);
    r->ns[2] = (double)(reaped - start);
}

void spawn_teardown(struct run *r)
{
    (void)r;
    scratch_leave();
}
