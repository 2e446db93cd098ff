/* The samples of one line: kept while it runs, written at its end. */
#include "delay.h"
#include "samples.h"

#include <string.h>

void keep_sample(struct sample *s, const struct run *r)
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

/* Reads the steal clock every 10 ms, or at once where forced (which reads no other clock: a first call may be one); the samples since
 * the last reading share what it shows. */
size_t share_steal(struct sample *samples, size_t from, size_t to, int force)
{
    static long before = -1;
    static uint64_t read_at;
    uint64_t at = force ? 0 : now_ns();
    long now;

    if (!force && at - read_at < 10000000u)
        return from;
    now = steal_ticks();
    for (; from < to; from++)
        samples[from].steal = now < 0 || before < 0 ? -1 : now - before;
    before = now;
    read_at = at;
    return from;
}

static void field(const char *key, long value)
{
    if (value < 0)
        printf("\t%s=-", key);
    else
        printf("\t%s=%ld", key, value);
}

void record_sample(const struct line *line, const struct sample *s, size_t batch)
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
        field("delay", at_most(s->delay, (uint64_t)s->ns[i])); /* a longer wait was not in this part of the round */
        field("steal", s->steal);
        printf("\tstart_ns=%llu%s%s\n", (unsigned long long)s->start, s->extra[0] ? "\t" : "", s->extra);
    }
}
