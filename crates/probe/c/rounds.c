/* The rounds of one line: sizes the batch, runs, keeps the samples, writes them at the end. */
#include "worker.h"

#include <stdlib.h>
#include <string.h>

#define TARGET_NS 16000.0 /* a round of N; one of 2N stays below 50 us */
#define WALK_BYTES (64u << 20)

struct sample {
    uint64_t ops, start;
    double ns[PROBE_MEASURES];
    long vol, inv, mig, at, delay, steal;
    char extra[96];
};

/* Evicts what the caches hold of the kernel's and the probe's lines. */
static void walk_caches(void)
{
    static volatile unsigned char *memory;
    unsigned sum = 0;

    if (!memory) {
        if (!(memory = malloc(WALK_BYTES)))
            return;
        for (size_t i = 0; i < WALK_BYTES; i += 64)
            memory[i] = (unsigned char)i;
    }
    for (size_t i = 0; i < WALK_BYTES; i += 64)
        sum += memory[i];
    KEEP(sum);
}

/* How many operations last TARGET_NS: the quickest of three rounds tells, as disturbed ones only take longer. */
static uint64_t size_batch(struct run *r)
{
    double least = 0, target = TARGET_NS, steps = 100 * clock_resolution();

    if (target < steps)
        target = steps;
    for (r->ops = 1; r->ops < 1u << 24; r->ops *= 2) {
        for (int i = 0; i < 3; i++) {
            r->probe->round(r);
            if (i == 0 || r->ns[0] < least)
                least = r->ns[0];
        }
        if (least >= target / 2)
            break;
    }
    least = (double)r->ops * target / (least > 0 ? least : 1);
    return least < 1 ? 1 : (uint64_t)least;
}

static void keep(struct sample *s, const struct run *r)
{
    s->ops = r->ops;
    memcpy(s->ns, r->ns, sizeof s->ns);
    s->vol = r->vol;
    s->inv = r->inv;
    s->mig = r->mig;
    s->at = r->at;
    s->delay = r->delay;
    s->steal = -1;
    memcpy(s->extra, r->extra, sizeof s->extra);
}

/* Reads the steal clock every 10 ms; the samples since the last reading share what it shows. */
static size_t share_steal(struct sample *samples, size_t from, size_t to, int force)
{
    static long before = -1;
    static uint64_t read_at;
    long now;

    if (!force && now_ns() - read_at < 10000000u)
        return from;
    now = steal_ticks();
    for (; from < to; from++)
        samples[from].steal = now < 0 || before < 0 ? -1 : now - before;
    before = now;
    read_at = now_ns();
    return from;
}

static void field(const char *key, long value)
{
    if (value < 0)
        printf("\t%s=-", key);
    else
        printf("\t%s=%ld", key, value);
}

static void record_sample(const struct line *line, const struct sample *s, size_t batch)
{
    const char *measures = line->probe->measures;
    char measure[32];

    for (int i = 0; (measures = next_word(measures, measure, sizeof measure)); i++) {
        if (s->ns[i] < 0)
            continue;
        record_head("sample", line);
        printf("\tmeasure=%s\tbatch=%zu\tops=%llu\tns=%.0f", measure, batch, (unsigned long long)s->ops, s->ns[i]);
        field("vol", s->vol);
        field("inv", s->inv);
        field("mig", s->mig);
        field("at", s->at);
        field("delay", s->delay);
        field("steal", s->steal);
        printf("\tstart_ns=%llu%s%s\n", (unsigned long long)s->start, s->extra[0] ? "\t" : "", s->extra);
    }
}

/* Sizes the batch and warms up; `cold` and `first` are single operations by definition. */
static void first_rounds(struct run *r, const struct line *line)
{
    if (line->temp != WARM && r->probe->batch != BATCH_PARAM)
        r->ops = 1;
    else if (line->ops == 0 && r->probe->batch == BATCH_AUTO)
        r->ops = size_batch(r);
    if (line->temp != FIRST)
        for (int i = 0; i < 2; i++)
            r->probe->round(r);
}

int measure_rounds(struct run *r, const struct line *line, uint64_t origin)
{
    size_t total = (size_t)(line->temp == FIRST ? 1 : line->batches) * (line->pairs ? 2 : 1), used = 0, shared = 0;
    struct sample *samples = calloc(total, sizeof *samples);
    uint64_t ops, end;

    if (!samples)
        return unavailable(r, 0, "no memory for the samples");
    r->why = NULL;
    first_rounds(r, line);
    ops = r->ops;
    end = line->budget_ms ? now_ns() + (uint64_t)line->budget_ms * 1000000u : UINT64_MAX;
    share_steal(samples, 0, 0, 1);
    while (!r->why && used < total && (used < (line->pairs ? 2 : 1) || used % (line->pairs ? 2 : 1) || now_ns() < end)) {
        r->ops = line->pairs && used % 2 ? ops * 2 : ops;
        if (line->temp == COLD)
            walk_caches();
        samples[used].start = now_ns() - origin;
        r->probe->round(r);
        if (r->why)
            break;
        keep(&samples[used++], r);
        shared = share_steal(samples, shared, used, 0);
    }
    share_steal(samples, shared, used, 1);
    r->ops = ops;
    for (size_t i = 0; i < used; i++)
        record_sample(line, &samples[i], i);
    free(samples);
    return r->why ? -1 : 0;
}
