/* What ends a line before its time: its limit, or a signal that tells the worker to end. */
#include "worker.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t told, late;

static void on_signal(int signal)
{
    if (signal == SIGALRM)
        late = 1;
    else
        told = signal;
    if (*line_group > 0)
        kill(-(pid_t)*line_group, SIGKILL);
}

void listen_to_signals(void)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGALRM};
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

void line_begins(pid_t pid, long limit_s)
{
    late = 0;
    *line_group = (sig_atomic_t)pid;
    alarm((unsigned)limit_s);
    if (told)
        kill(-pid, SIGKILL);
}

int line_ends(pid_t pid, int *was_late)
{
    alarm(0);
    *line_group = 0;
    kill(-pid, SIGKILL); /* what the line may have left behind */
    *was_late = late;
    return (int)told;
}
