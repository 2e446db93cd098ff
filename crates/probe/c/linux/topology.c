/* What /sys/devices/system/cpu says of CPUs and caches (Documentation/ABI/stable/sysfs-devices-system-cpu). */
#include "worker.h"

#include <stdlib.h>

/* The first line of a CPU's file; empty where it cannot be read. */
static const char *line_of(int cpu, const char *name)
{
    static char text[256];
    char path[96];
    FILE *file;

    text[0] = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, name);
    if ((file = fopen(path, "r"))) {
        if (!fgets(text, sizeof text, file))
            text[0] = 0;
        fclose(file);
    }
    return text;
}

/* A list such as "0,32" or "0-3". */
int share_core(int cpu, int other)
{
    const char *list = line_of(cpu, "topology/thread_siblings_list");
    int found = 0;

    while (*list >= '0' && *list <= '9') {
        char *at;
        long first = strtol(list, &at, 10), last = *at == '-' ? strtol(at + 1, &at, 10) : first;
        found |= first <= other && other <= last;
        list = at + (*at == ',');
    }
    return found;
}

/* Such as "32768K". Not sysconf(): older glibc takes the caches of a whole AMD package for one. */
size_t last_cache(void)
{
    return (size_t)strtoul(line_of(0, "cache/index3/size"), NULL, 10) * 1024;
}
