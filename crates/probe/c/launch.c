/* Runs one line of the plan in a fresh process. */
#include "scratch.h"
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child. A fresh image where the system can start the worker again, else a fork of this one, in which no call is the first. */
static void child(const struct line *line, const char *self, uint64_t origin)
{
    char since[32];
    char *arguments[] = {(char *)self, (char *)"--one", since, (char *)line->text, NULL};

    setpgid(0, 0);
    die_with_parent(SIGKILL);
    snprintf(since, sizeof since, "%llu", (unsigned long long)origin);
    if (self)
        execv(self, arguments);
    guard_forget();
    for (int i = 1; i < 32; i++)
        signal(i, SIG_DFL);
    if (line->temp != FIRST)
        _exit(run_one(line, origin));
    record_unavailable(line, errno, "the worker cannot start itself again (no /proc), so no call is the first");
    _exit(fflush(stdout) == 0 ? ENDED_UNAVAILABLE : ENDED_BROKEN);
}

/* Why a line came to no end of its own; NULL if it did. */
static const char *broken(int status, int late)
{
    static char why[64];

    if (late)
        return "it took longer than its limit";
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status) == ENDED_BROKEN ? "its records could not be written" : NULL;
    snprintf(why, sizeof why, "killed by signal %d", WTERMSIG(status));
    return why;
}

int launch(const struct line *line, const char *self, uint64_t origin)
{
    int status = 0, late, told;
    pid_t pid;

    fflush(stdout);
    output_leaves();
    pid = fork();
    if (pid == 0)
        child(line, self, origin);
    if (pid < 0) {
        record_unavailable(line, errno, "fork of its process");
        return ENDED_UNAVAILABLE;
    }
    setpgid(pid, pid);
    line_begins(pid, line->limit_s);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if ((told = line_ends(pid, &late)) != 0) {
        scratch_leave();
        guard_end();
        exit(128 + told);
    }
    if (broken(status, late)) {
        record_unavailable(line, 0, broken(status, late));
        return ENDED_UNAVAILABLE;
    }
    return WEXITSTATUS(status);
}
