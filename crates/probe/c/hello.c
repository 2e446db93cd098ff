/* The first record: which machine this is and how good its clock is. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "worker.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef WORKER_VERSION
#define WORKER_VERSION "unknown"
#endif

#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#define LIBC_NAME "glibc"
#define LIBC_VERSION gnu_get_libc_version()
#elif defined(__linux__)
#define LIBC_NAME "musl"
#define LIBC_VERSION ""
#else
#define LIBC_NAME "system"
#define LIBC_VERSION ""
#endif

int allowed_cpus(int *cpus, int most)
{
    int count = 0;
#ifdef __linux__
    size_t bytes = CPU_ALLOC_SIZE(4096);
    cpu_set_t *set = CPU_ALLOC(4096);

    if (set && sched_getaffinity(0, bytes, set) == 0)
        for (int i = 0; i < 4096 && count < most; i++)
            if (CPU_ISSET_S((size_t)i, bytes, set))
                cpus[count++] = i;
    CPU_FREE(set);
#else
    (void)cpus, (void)most;
#endif
    return count;
}

static void cpu_list(void)
{
    static int cpus[4096];
    int count = allowed_cpus(cpus, 4096);

    printf("\tcpus=%s", count ? "" : "-");
    for (int i = 0; i < count; i++)
        printf("%s%d", i ? "," : "", cpus[i]);
}

void hello(void)
{
    struct utsname name;
    double hz = tsc_hz();

    if (uname(&name) != 0)
        name.sysname[0] = name.release[0] = name.machine[0] = 0;
    printf("hello\tprotocol=%d\tversion=%s\tos=%s\trelease=%s\tmachine=%s", PROTOCOL, WORKER_VERSION, name.sysname, name.release,
           name.machine);
    printf("\tlibc=%s %s\tclock=%s\tresolution_ns=%.0f\tclock_cost_ns=%.2f", LIBC_NAME, LIBC_VERSION, clock_label(), clock_resolution(),
           clock_cost());
    if (hz > 0)
        printf("\ttsc_hz=%.0f", hz);
    else
        printf("\ttsc_hz=-");
    cpu_list();
    printf("\tpid=%ld\n", (long)getpid());
}
