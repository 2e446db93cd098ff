/* The first record: which machine this is and how good its clock is. */
#include "worker.h"

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

static void cpu_list(void)
{
    const int *cpus;
    int count = allowed_cpus(&cpus);

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
    printf("\tlibc=%s %s%s\tclock=%s\tresolution_ns=%.0f\tclock_cost_ns=%.2f", LIBC_NAME, LIBC_VERSION, linked_statically() == 0 ? ", linked dynamically" : "", clock_label(), clock_resolution(),
           clock_cost());
    if (hz > 0)
        printf("\ttsc_hz=%.0f", hz);
    else
        printf("\ttsc_hz=-");
    cpu_list();
    printf("\tpid=%ld\n", (long)getpid());
}
