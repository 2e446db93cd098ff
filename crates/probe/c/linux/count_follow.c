/* Follows a traced process, and all that it makes, from system call to system call. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "count.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define STOP_OF_CALL (SIGTRAP | 0x80)

long count_follow(pid_t first, const struct counted *page)
{
    long stops = 0;
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        int signal = 0;
        if (pid <= 0)
            continue;
        if (!WIFSTOPPED(status)) {
            if (pid == first)
                break;
            stops += page->counting; /* it never comes back from its last call */
            continue;
        }
        if (WSTOPSIG(status) == STOP_OF_CALL)
            stops += page->counting;
        else if (status >> 16 == 0 && WSTOPSIG(status) != SIGSTOP && WSTOPSIG(status) != SIGTRAP)
            signal = WSTOPSIG(status);
        ptrace(PTRACE_SYSCALL, pid, 0, signal);
    }
    return stops;
}
