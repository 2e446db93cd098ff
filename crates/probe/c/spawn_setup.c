/* The setup that the process probes share, and what a child does with its life. */
#include "process.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct job spawned;

void reap(pid_t pid, int *status)
{
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
}

void child_life(struct job *j)
{
    if (j->tells)
        j->told = getpid();
    if (j->becomes_target)
        execvp(j->path, j->argv);
    else
        *j->stamp = j->tells ? (uint64_t)getpid() : now_ns();
    _exit(j->becomes_target ? 127 : 0);
}

/* The reading end stands out of the way of the target's. */
int open_stamps(struct run *r)
{
    int ends[2], writing;

    if (pipe(ends) != 0)
        return unavailable(r, errno, "pipe");
    spawned.stamps = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    writing = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[0]);
    close(ends[1]);
    if (spawned.stamps < 0 || writing < 0 || dup2(writing, STAMP_FD) != STAMP_FD)
        return unavailable(r, errno, "descriptors of a pipe");
    close(writing);
    return 0;
}

int spawn_setup(struct run *r)
{
    void *page = mmap(NULL, sizeof *spawned.stamp, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);

    if (page == MAP_FAILED)
        return unavailable(r, errno, "a shared page");
    spawned.stamp = page;
    spawned.becomes_target = !is_variant(r, "exit");
    if (spawned.becomes_target) {
        if (target_make(r, &spawned.path) != 0 || open_stamps(r) != 0)
            return -1;
        spawned.argv[0] = spawned.path;
        spawned.argv[1] = (char *)TARGET_STAMP;
    }
    return shape_parent(r);
}
