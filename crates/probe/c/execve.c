/* execve alone: a child replaces itself N times in a row; what starting and ending it costs is taken off by N against 2N. */
#include "process.h"
#include "scratch.h"
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __APPLE__
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif

static char *path;

static int setup(struct run *r)
{
    r->ops = param_size(r, "chain");
    if (r->ops < 1 || r->ops > 1000000)
        return unavailable(r, 0, "chain is 1 to 1000000");
    return target_make(r, &path);
}

static void measure(struct run *r)
{
    char left[24];
    char *argv[] = {path, (char *)TARGET_CHAIN, left, NULL};
    int status = 0;
    pid_t pid;

    snprintf(left, sizeof left, "%llu", (unsigned long long)r->ops - 1);
    lap_begin(r);
    pid = vfork();
    if (pid == 0) {
        execvp(path, argv);
        _exit(127);
    }
    if (pid > 0)
        reap(pid, &status);
    lap_end(r);
    if (pid < 0)
        unavailable(r, errno, "the system made no process");
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        unavailable(r, 0, "the target could not replace itself (a directory without exec, no loader, no emulation)");
}

/* A chain that did not run would take as long for 4N as for N. */
static int verify(struct run *r)
{
    double once;

    measure(r);
    once = r->ns[0];
    r->ops *= 4;
    measure(r);
    r->ops /= 4;
    return r->ns[0] < once ? refute(r, "four times the chain took less time than the chain") : 0;
}

const struct probe probe_execve = {
    .name = "execve",
    .group = "process",
    .unit = "one execve",
    .exercises = "an address space dropped, a program mapped, its start up to main",
    .needs = "a directory to write to that allows programs",
    .source = __FILE__,
    .portable = 1,
    .variants = "static dynamic",
    .measures = "time",
    .batch = BATCH_PARAM,
    .pairs = 1,
    .disturbed = "",
    .params = (const struct param[]){{"chain", "16 64", "how often the child replaces itself", NULL}, PATH_PARAMS, NO_MORE},
    .setup = setup,
    .round = measure,
    .verify = verify,
    .teardown = scratch_teardown,
};
