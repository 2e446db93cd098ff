/* Memory that nobody has written to yet, of 4 KiB pages or huge ones. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "fresh.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

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

long second_faults(volatile char *memory, size_t length)
{
    size_t last = HUGE_PAGE - (size_t)sysconf(_SC_PAGESIZE);
    struct rusage before, after;

    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < length; i += HUGE_PAGE)
        memory[i + last] = 1;
    getrusage(RUSAGE_SELF, &after);
    return after.ru_minflt - before.ru_minflt;
}
