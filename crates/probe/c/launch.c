/* Runs every line of the plan in a fresh process, and ends it when it takes too long or when the worker is told to end. */
#include "scratch.h"
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t group, told, late;

static void on_signal(int signal)
{
    if (signal == SIGALRM)
        late = 1;
    else
        told = signal;
    if (group > 0)
        kill(-(pid_t)group, SIGKILL);
}

static void listen_to_signals(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGALRM};
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

/* In the child. A fresh image where the system can start the worker again, else a fork of this one. */
static void child(const struct line *line, const char *self, uint64_t origin)
{
    char since[32];
    char *arguments[] = {(char *)self, (char *)"--one", since, (char *)line->text, NULL};

    setpgid(0, 0);
    die_with_parent(SIGKILL);
    snprintf(since, sizeof since, "%llu", (unsigned long long)origin);
    if (self)
        execv(self, arguments);
    for (int i = 1; i < 32; i++)
        signal(i, SIG_DFL);
    _exit(run_one(line, origin));
}

/* Why a line came to no end of its own; NULL if it did. */
static const char *broken(int status)
{
    static char why[64];

    if (late)
        return "it took longer than its limit";
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status) == ENDED_BROKEN ? "its records could not be written" : NULL;
    snprintf(why, sizeof why, "killed by signal %d", WTERMSIG(status));
    return why;
}

static int launch(const struct line *line, const char *self, uint64_t origin)
{
    int status = 0;
    pid_t pid;

    fflush(stdout);
    late = 0;
    pid = fork();
    if (pid == 0)
        child(line, self, origin);
    if (pid < 0) {
        record_unavailable(line, errno, "fork of its process");
        return ENDED_UNAVAILABLE;
    }
    setpgid(pid, pid);
    group = (sig_atomic_t)pid;
    alarm((unsigned)line->limit_s);
    if (told)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    alarm(0);
    group = 0;
    kill(-pid, SIGKILL); /* what the line may have left behind */
    if (told) {
        scratch_leave();
        exit(128 + (int)told);
    }
    if (broken(status)) {
        record_unavailable(line, 0, broken(status));
        return ENDED_UNAVAILABLE;
    }
    return WEXITSTATUS(status);
}

void launch_all(const struct plan *plan, const char *self)
{
    size_t lines = 0, refused = 0, failed = 0;
    uint64_t origin = now_ns();
    struct run unused;

    if (scratch_make(&unused) == 0) /* what a killed line leaves behind goes with it */
        setenv("TMPDIR", scratch_path(), 1);
    listen_to_signals();
    die_with_parent(SIGTERM); /* so that its directory goes too */
    hello();
    for (; lines < plan->used; lines++) {
        const struct line *line = &plan->lines[lines];
        int ended = launch(line, self, origin);
        for (long again = 1; line->temp == FIRST && ended == ENDED_OK && again < line->batches; again++)
            ended = launch(line, self, origin);
        refused += ended == ENDED_UNAVAILABLE;
        failed += ended == ENDED_FAILED;
    }
    scratch_leave();
    printf("done\tlines=%zu\tunavailable=%zu\tfailed=%zu\n", lines, refused, failed);
}
