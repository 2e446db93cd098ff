/* The phases that the process probes share: one child a round, and when it returned, ran and was reaped. */
#include "process.h"
#include "scratch.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STAMP_FD 3

static struct job job;

void child_life(struct job *j)
{
    if (j->becomes_target)
        execvp(j->path, j->argv);
    else
        *j->stamp = now_ns();
    _exit(j->becomes_target ? 127 : 0);
}

/* The target writes its time to descriptor 3; the reading end stands out of the way. */
static int open_stamps(struct run *r)
{
    int ends[2], writing;

    if (pipe(ends) != 0)
        return unavailable(r, errno, "pipe");
    job.stamps = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    writing = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[0]);
    close(ends[1]);
    if (job.stamps < 0 || writing < 0 || dup2(writing, STAMP_FD) != STAMP_FD)
        return unavailable(r, errno, "descriptors of a pipe");
    close(writing);
    return 0;
}

int spawn_setup(struct run *r)
{
    void *page = mmap(NULL, sizeof *job.stamp, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);

    if (page == MAP_FAILED)
        return unavailable(r, errno, "a shared page");
    job.stamp = page;
    job.becomes_target = !is_variant(r, "exit");
    if (job.becomes_target) {
        if (target_make(r, &job.path) != 0 || open_stamps(r) != 0)
            return -1;
        job.argv[0] = job.path;
        job.argv[1] = (char *)TARGET_STAMP;
    }
    return shape_parent(r);
}

static int stamp_of_target(struct run *r, int status)
{
    uint64_t stamp;

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return unavailable(r, 0, "the target could not be started or failed (a directory without exec, no loader, no emulation)");
    if (!job.becomes_target)
        return 0;
    if (read(job.stamps, &stamp, sizeof stamp) != (ssize_t)sizeof stamp)
        return unavailable(r, 0, "the target did not write its time");
    *job.stamp = stamp;
    return 0;
}

void spawn_round(struct run *r)
{
    const struct starter *starter = r->probe->with;
    uint64_t start, parent, reaped;
    int status = 0;
    pid_t pid;

    *job.stamp = 0;
    receipt_begin(r);
    start = now_ns();
    pid = starter->start(&job);
    parent = now_ns();
    if (pid > 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
    reaped = now_ns();
    receipt_end(r);
    if (pid <= 0) {
        unavailable(r, errno, "the system made no process");
        return;
    }
    if (stamp_of_target(r, status) != 0)
        return;
    if (*job.stamp < start || *job.stamp > reaped)
        unavailable(r, 0, "the child's time does not lie between the call and its end");
    r->ns[0] = (double)(parent - start);
    r->ns[1] = (double)(*job.stamp - start);
    r->ns[2] = (double)(reaped - start);
}

int spawn_verify(struct run *r)
{
    if (r->ns[2] < r->ns[0] || r->ns[2] < r->ns[1])
        return refute(r, "a child was reaped before it ran");
    return 0;
}

void spawn_teardown(struct run *r)
{
    (void)r;
    scratch_leave();
}
