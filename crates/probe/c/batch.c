/* How many operations a round has, and what stands before it: caches walked, where the plan says `cold`. */
#include "worker.h"

#include <stdlib.h>

#define TARGET_NS 16000.0 /* a round of N; one of 2N stays below 50 us */
#define WALK_LEAST (64u << 20)
#define WALK_MOST (256u << 20) /* a guest may see caches that it has a part of only */

/* Evicts what the caches hold of the kernel's and the probe's lines. -1: there is no memory for that. */
int walk_caches(void)
{
    static volatile unsigned char *memory;
    static size_t length;
    unsigned sum = 0;

    if (!memory) {
        length = last_cache() > WALK_LEAST / 2 ? 2 * last_cache() : WALK_LEAST;
        length = length > WALK_MOST ? WALK_MOST : length;
        if (!(memory = malloc(length)))
            return -1;
        for (size_t i = 0; i < length; i += 64)
            memory[i] = (unsigned char)i;
    }
    for (size_t i = 0; i < length; i += 64)
        sum += memory[i];
    KEEP(sum);
    return 0;
}

/* How many operations last TARGET_NS: the quickest of three rounds tells, as disturbed ones only take longer. */
uint64_t size_batch(struct run *r)
{
    double least = 0, target = TARGET_NS, steps = 200 * clock_resolution();

    if (target < steps)
        target = steps;
    for (r->ops = 1; r->ops < 1u << 24 && !r->why; r->ops *= 2) {
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
