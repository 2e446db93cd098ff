/* One round's result, as it is kept until the line's end: c/samples.c. */
#ifndef WHYFASTER_SAMPLES_H
#define WHYFASTER_SAMPLES_H

#include "worker.h"

struct sample {
    uint64_t ops, start;
    double ns[PROBE_MEASURES];
    long vol, inv, mig, at, delay, steal;
    char extra[96];
};

void keep_sample(struct sample *s, const struct run *r);
/* Gives samples from..to what the steal clock shows since the last reading; returns from where the next reading counts. */
size_t share_steal(struct sample *samples, size_t from, size_t to, int force);
void record_sample(const struct line *line, const struct sample *s, size_t batch);
#endif
