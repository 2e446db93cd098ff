/* Memory that nobody has written to yet, of 4 KiB pages or huge ones. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "fresh.h"

#include <sys/mman.h>
#include <sys/resource.h>

char *fresh(struct run *r, size_t length, char **start)
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
int second_faults(struct run *r)
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
