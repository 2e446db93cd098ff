/* The CPUs that the worker may use. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "worker.h"

#include <sched.h>

#define CPUS_MOST 4096

/* Asked once, before this process pins itself and its children with it. */
int allowed_cpus(const int **cpus)
{
    static int found[CPUS_MOST];
    static int count = -1;
#ifdef __linux__
    size_t bytes = CPU_ALLOC_SIZE(CPUS_MOST);
    cpu_set_t *set;

    if (count < 0 && (set = CPU_ALLOC(CPUS_MOST))) {
        count = 0;
        if (sched_getaffinity(0, bytes, set) == 0)
            for (int i = 0; i < CPUS_MOST; i++)
                if (CPU_ISSET_S((size_t)i, bytes, set))
                    found[count++] = i;
        CPU_FREE(set);
    }
#endif
    *cpus = found;
    return count < 0 ? 0 : count;
}
