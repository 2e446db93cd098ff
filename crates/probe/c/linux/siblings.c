/* Whether two CPUs are threads of one core: cpuN/topology/thread_siblings_list (Documentation/ABI/stable/sysfs-devices-system-cpu). */
#include "worker.h"

#include <stdlib.h>

/* A list such as "0,32" or "0-3". Where it cannot be read, they are not known to be. */
int share_core(int cpu, int other)
{
    char path[96], text[256] = "", *at = text;
    int found = 0;
    FILE *file;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    if (!(file = fopen(path, "r")))
        return 0;
    if (!fgets(text, sizeof text, file))
        text[0] = 0;
    fclose(file);
    while (*at >= '0' && *at <= '9') {
        long first = strtol(at, &at, 10), last = *at == '-' ? strtol(at + 1, &at, 10) : first;
        found |= first <= other && other <= last;
        at += *at == ',';
    }
    return found;
}
