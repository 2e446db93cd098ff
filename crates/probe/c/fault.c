/* A minor page fault: the first write to a page of fresh memory, 4 KiB or huge. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "fresh.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

static long faults;

static size_t page_size(const struct run *r)
{
    return is_variant(r, "huge") ? HUGE_PAGE : SMALL_PAGE;
}

static int setup(struct run *r)
{
    r->ops = is_variant(r, "huge") ? 8 : 256;
    if (!is_variant(r, "huge"))
        return NO_SMALL_PAGES ? unavailable(r, 0, NO_SMALL_PAGES) : 0;
#ifdef MADV_HUGEPAGE
    return 0;
#else
    return unavailable(r, ENOSYS, "this system lets no program ask for huge pages");
#endif
}

static void measure(struct run *r)
{
    size_t step = page_size(r), length = r->ops * step;
    char *start, *memory = fresh(r, length, &start);
    struct rusage before, after;

    if (!memory) {
        unavailable(r, errno, "memory, or huge pages");
        return;
    }
    getrusage(RUSAGE_SELF, &before);
    lap_begin(r);
    for (size_t i = 0; i < length; i += step)
        ((volatile char *)memory)[i] = 1;
    lap_end(r);
    getrusage(RUSAGE_SELF, &after);
    if (is_variant(r, "huge") && second_faults(memory, length) != 0)
        unavailable(r, 0, "the kernel gave small pages in the place of huge ones");
    munmap(start, length + HUGE_PAGE);
    faults = after.ru_minflt - before.ru_minflt;
    snprintf(r->extra, sizeof r->extra, "faults=%ld", faults);
}

static int verify(struct run *r)
{
    return faults < (long)r->ops ? refute(r, "fewer faults than pages") : 0;
}

const struct probe probe_fault = {
    .name = "fault",
    .group = "cpu",
    .unit = "one first write to a page",
    .exercises = "a page fault, a page cleared and mapped",
    .needs = "memory",
    .source = __FILE__,
    .portable = 1,
    .variants = "4k huge",
    .measures = "time",
    .batch = BATCH_PARAM,
    .disturbed = "inv mig",
    .expect = (const struct expect[]){{NULL, "voluntary", 0, 0}, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
};
