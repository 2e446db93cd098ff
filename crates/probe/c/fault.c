/* A minor page fault: the first write to a page of fresh memory, 4 KiB or huge. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "probe.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define HUGE_PAGE (2u << 20)

static long faults;

static size_t page_size(const struct run *r)
{
    return is_variant(r, "huge") ? HUGE_PAGE : 4096;
}

static char *fresh(struct run *r, size_t length, char **start)
{
    char *memory;

    (void)r; /* where huge pages cannot be asked for */
    *start = mmap(NULL, length + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (*start == MAP_FAILED)
        return NULL;
    memory = *start + (HUGE_PAGE - (uintptr_t)*start % HUGE_PAGE) % HUGE_PAGE;
#ifdef MADV_HUGEPAGE
    if (madvise(memory, length, is_variant(r, "huge") ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0 && is_variant(r, "huge"))
        return NULL;
#endif
    return memory;
}

/* A huge page is proved by its second 4 KiB, which must be there without a fault of their own. */
static int second_faults(struct run *r)
{
    size_t length = HUGE_PAGE;
    char *start, *memory = fresh(r, length, &start);
    struct rusage before, after;

    if (!memory)
        return 1;
    ((volatile char *)memory)[0] = 1;
    getrusage(RUSAGE_SELF, &before);
    ((volatile char *)memory)[4096] = 1;
    getrusage(RUSAGE_SELF, &after);
    munmap(start, length + HUGE_PAGE);
    return after.ru_minflt != before.ru_minflt;
}

static int setup(struct run *r)
{
    r->ops = is_variant(r, "huge") ? 8 : 256;
#ifndef MADV_HUGEPAGE
    if (is_variant(r, "huge"))
        return unavailable(r, ENOSYS, "this system lets no program ask for huge pages");
#endif
    return is_variant(r, "huge") && second_faults(r) ? unavailable(r, 0, "the kernel gave no huge page") : 0;
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
    .expect = (const struct expect[]){{NULL, "voluntary", 0, 0}, {NULL, NULL, 0, 0}},
    .setup = setup,
    .round = measure,
    .verify = verify,
};
