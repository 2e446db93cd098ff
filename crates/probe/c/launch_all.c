/* Runs every line of the plan, between `hello` and `done`. */
#include "scratch.h"
#include "worker.h"

#include <stdlib.h>

void launch_all(const struct plan *plan, const char *self)
{
    size_t lines = 0, refused = 0, failed = 0;
    uint64_t origin = now_ns();
    struct run unused;

    if (scratch_make(&unused) == 0) /* what a killed line leaves behind goes with it */
        setenv("TMPDIR", scratch_path(), 1);
    guard_begin();
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
    guard_end();
    printf("done\tlines=%zu\tunavailable=%zu\tfailed=%zu\n", lines, refused, failed);
}
