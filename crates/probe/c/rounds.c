/* The rounds of one line: sizes the batch, warms up, runs, keeps the samples, writes them at the end. */
#include "samples.h"

#include <errno.h>
#include <stdlib.h>

/* `cold` and `first` are single operations by definition. */
static void first_rounds(struct run *r, const struct line *line)
{
    if (line->temp != WARM && r->probe->batch != BATCH_PARAM)
        r->ops = 1;
    else if (line->ops == 0 && r->probe->batch == BATCH_AUTO)
        r->ops = size_batch(r);
    if (line->temp != FIRST)
        for (int i = 0; i < 2 && !r->why; i++)
            r->probe->round(r);
}

/* A first call may be one of the clock, so the clock is read behind it. */
static void timed_round(struct run *r, const struct line *line, struct sample *sample, uint64_t origin)
{
    uint64_t start = 0;

    if (line->temp == COLD && walk_caches() != 0) {
        unavailable(r, ENOMEM, "memory to walk through, so that the caches are cold");
        return;
    }
    if (line->temp != FIRST)
        start = now_ns();
    r->probe->round(r);
    keep_sample(sample, r);
    sample->start = (line->temp == FIRST ? now_ns() : start) - origin;
}

/* Whether the line wants one more: all batches, or as many as its time allows, but at least one, and both halves of a pair. */
static int goes_on(const struct line *line, size_t used, size_t total, uint64_t end)
{
    size_t whole = line->pairs ? 2 : 1;

    return used < total && (used < whole || used % whole || end == UINT64_MAX || now_ns() < end);
}

static struct sample *samples;
static size_t used;

int measure_rounds(struct run *r, const struct line *line, uint64_t origin)
{
    size_t total = (size_t)(line->temp == FIRST ? 1 : line->batches) * (line->pairs ? 2 : 1), shared = 0;
    uint64_t ops, end = UINT64_MAX;

    samples = calloc(total, sizeof *samples);
    if (!samples)
        return unavailable(r, 0, "no memory for the samples");
    r->why = NULL;
    first_rounds(r, line);
    ops = r->ops;
    if (line->budget_ms && line->temp != FIRST)
        end = now_ns() + (uint64_t)line->budget_ms * 1000000u;
    if (line->temp != FIRST) /* it enters the kernel */
        share_steal(samples, 0, 0, 1);
    while (!r->why && goes_on(line, used, total, end)) {
        r->ops = line->pairs && used % 2 ? ops * 2 : ops;
        timed_round(r, line, &samples[used], origin);
        if (r->why)
            break;
        used++;
        if (line->temp != FIRST)
            shared = share_steal(samples, shared, used, 0);
    }
    share_steal(samples, shared, used, 1);
    r->ops = ops;
    return r->why ? -1 : 0;
}

void record_samples(const struct line *line)
{
    for (size_t i = 0; i < used; i++)
        record_sample(line, &samples[i], i);
    free(samples);
}
