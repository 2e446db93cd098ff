/* How long a task was runnable without a CPU: the second number of its schedstat (Documentation/scheduler/sched-stats.rst). A process
 * that has ended still has one until it is reaped. */
#include "delay.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Its two first numbers: nanoseconds that it ran, nanoseconds that it waited. */
static int read_schedstat(const char *path, long *ran, long *waited)
{
    char text[96], *at = text;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);

    if (file >= 0)
        close(file);
    if (length <= 0)
        return -1;
    text[length] = 0;
    *ran = (long)strtoull(text, &at, 10);
    *waited = (long)strtoull(at, NULL, 10);
    return 0;
}

static _Atomic int kept; /* by this kernel; what it says of a young thread may still be 0 */

long run_delay(const struct run *r)
{
    long ran, waited;

    /* A counted run is not timed, and a first call wants no other before it. */
    if (r->first || r->counting || read_schedstat("/proc/thread-self/schedstat", &ran, &waited) != 0)
        return -1;
    if (ran > 0)
        kept = 1;
    return kept ? waited : -1;
}

/* A /proc of another namespace has other numbers for the same tasks. */
static int proc_is_ours(void)
{
    static int ours = -1;
    char name[24];
    ssize_t length;

    if (ours < 0) {
        length = readlink("/proc/self", name, sizeof name - 1);
        name[length < 0 ? 0 : length] = 0;
        ours = length > 0 && atol(name) == (long)getpid();
    }
    return ours;
}

long run_delay_of(const struct run *r, pid_t task)
{
    long ran, waited;
    char path[48];

    if (r->first || r->counting || (!kept && run_delay(r) < 0))
        return -1;
    snprintf(path, sizeof path, "/proc/%ld/schedstat", (long)task);
    return !proc_is_ours() || read_schedstat(path, &ran, &waited) != 0 ? -1 : waited;
}

int await_end(pid_t child)
{
    siginfo_t unused;

    return waitid(P_PID, (id_t)child, &unused, WEXITED | WNOWAIT);
}

pid_t this_task(void)
{
    return (pid_t)syscall(SYS_gettid);
}
