/* execve alone: a child replaces itself N times in a row; what starting and ending it costs is taken off by N against 2N. */
#include "process.h"
#include "scratch.h"
#include "target.h"

#include <errno.h>
#include <sys/wait.h>

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
    long delay = -1;
    int status = 0;
    pid_t pid;

    lap_begin(r);
    pid = chain_start(path, TARGET_CHAIN, r->ops);
    if (pid > 0) {
        delay = delay_of_child(r, pid, &r->looked);
        reap(pid, &status);
    }
    lap_end(r);
    r->ns[0] -= (double)r->looked;
    r->delay = together(r->delay, at_most(delay, (uint64_t)r->ns[0]));
    if (pid < 0)
        unavailable(r, errno, "the system made no process");
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        unavailable(r, 0, "the target could not replace itself (a directory without exec, no loader, no emulation)");
}

static int verify(struct run *r)
{
    return chain_is_whole(r, path);
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
    .disturbed = "delay",
    .params = (const struct param[]){{"chain", "4 16 64", "how often the child replaces itself", NULL}, PATH_PARAMS, END},
    .expect = (const struct expect[]){{NULL, "syscalls", 1, NAN}, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
    .teardown = scratch_teardown,
};
