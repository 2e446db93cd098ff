/* Counts the system calls of a few operations: a second process does them under ptrace, and nobody times it.
 *
 * ptrace stops a traced thread at the begin and at the end of every system call; a page that both processes share says which of
 * these stops fall into the round. So no register is read, and the count is the same on every architecture and old kernel. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "count.h"
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLLOW (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL)

static void traced(struct run *r, const struct line *line, struct counted *page)
{
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
        _exit(1);
    raise(SIGSTOP);
    /* From the beginning: another side that is a process has its own copy of this, and what it yields between rounds would be counted. */
    if (prepare(r, line, &page->first_round) != 0)
        _exit(1);
    if (line->probe->batch == BATCH_AUTO)
        r->ops = 16;
    r->probe->round(r); /* what only a first round does is no part of the price */
    r->counting = &page->counting;
    r->probe->round(r);
    page->ops = (double)r->ops;
    page->done = r->why == NULL || r->why[0] == 0;
    if (line->probe->teardown)
        line->probe->teardown(r);
    _exit(0);
}

double count_syscalls(struct run *r, const struct line *line, const char **why)
{
    struct counted *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = 0;
    long stops;
    pid_t pid;

    *why = "ptrace is not permitted here";
    if (page == MAP_FAILED)
        return -1;
    fflush(stdout);
    if ((pid = fork()) == 0)
        traced(r, line, page);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        return -1;
    if (ptrace(PTRACE_SETOPTIONS, pid, 0, FOLLOW) != 0) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        return -1;
    }
    ptrace(PTRACE_SYSCALL, pid, 0, 0);
    stops = count_follow(pid, page);
    *why = "the counted run did not come to its end";
    return page->done ? (double)stops / 2 / page->ops : -1;
}
