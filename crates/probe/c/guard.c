/* A process that sleeps until the worker is gone, however it went, and then ends what a line left behind and removes the worker's
 * directory: who is killed with SIGKILL can do neither. */
#include "scratch.h"
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t unshared;
volatile sig_atomic_t *line_group = &unshared;
static int alive = -1; /* only the worker has this end of the pipe */
static pid_t guard = -1;

static void watch(int end)
{
    char byte;
    int files = 0;

    setpgid(0, 0); /* out of the way of a signal to the worker's group */
    for (int signal_number = 1; signal_number < 16; signal_number++)
        signal(signal_number, SIG_IGN);
    close(alive);
    for (; files < 3; files++)
        if (files != end)
            close(files);
    while (read(end, &byte, 1) < 0 && errno == EINTR)
        ;
    if (*line_group > 0)
        kill(-(pid_t)*line_group, SIGKILL);
    scratch_inherit();
    scratch_leave();
    _exit(0);
}

/* Without it (no process more is allowed) all works but the clearing up after SIGKILL. */
void guard_begin(void)
{
    void *page = mmap(NULL, sizeof *line_group, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
    int ends[2];

    if (page == MAP_FAILED || pipe(ends) != 0)
        return;
    line_group = page;
    alive = ends[1];
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    if ((guard = fork()) == 0)
        watch(ends[0]);
    close(ends[0]);
}

void guard_forget(void)
{
    if (alive >= 0)
        close(alive);
}

void guard_end(void)
{
    guard_forget();
    while (guard > 0 && waitpid(guard, NULL, 0) < 0 && errno == EINTR)
        ;
}
