/* One line of the plan, in a process of its own: setup, rounds, verify, teardown, records. */
#include "scratch.h"
#include "worker.h"

#include <errno.h>

static struct run prepared;

static void record_begin(const struct run *r, const struct line *line)
{
    record_head("begin", line);
    if (r->cpu[0] < 0)
        printf("\tcpus=free\n");
    else
        printf("\tcpus=%d,%d\n", r->cpu[0], r->cpu[1]);
}

/* The system calls of one operation, in a traced process that nobody times. */
static void record_receipt(struct run *r, const struct line *line)
{
    const char *why = "not asked for";
    double calls = line->count ? count_syscalls(r, line, &why) : -1;

    record_head("receipt", line);
    if (calls < 0)
        printf("\tsyscalls=-\twhy=%s\n", why);
    else
        printf("\tsyscalls=%.4f\twhy=\n", calls);
}

/* A system that forbids a call (seccomp) or lacks it says so only when it is made: then there is no price, rather than a wrong one. */
static int is_refused(int error)
{
    return error == ENOSYS || error == EPERM;
}

static int record_price(struct run *r, const struct line *line)
{
    int failed;

    r->why = "";
    errno = 0;
    failed = line->probe->verify && line->probe->verify(r) != 0;
    if (failed && is_refused(errno)) {
        record_unavailable(line, errno, r->why);
        return ENDED_UNAVAILABLE;
    }
    record_samples(line);
    record_head("verify", line);
    printf("\tok=%d\twhy=%s\n", !failed, failed ? r->why : "");
    return failed ? ENDED_FAILED : ENDED_OK;
}

int run_one(const struct line *line, uint64_t origin)
{
    struct run *r = &prepared;
    int ended = ENDED_UNAVAILABLE;

    if (prepare(r, line, NULL) != 0) {
        record_unavailable(line, r->error, r->why);
        scratch_leave(); /* what it wrote must not be in the next line's way */
        return fflush(stdout) == 0 ? ENDED_UNAVAILABLE : ENDED_BROKEN;
    }
    record_begin(r, line);
    if (measure_rounds(r, line, origin) != 0)
        record_unavailable(line, r->error, r->why);
    else
        ended = record_price(r, line);
    if (line->probe->teardown)
        line->probe->teardown(r);
    if (ended != ENDED_UNAVAILABLE)
        record_receipt(r, line);
    return fflush(stdout) == 0 ? ended : ENDED_BROKEN;
}
