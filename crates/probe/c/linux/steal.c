/* Time that the hypervisor gave to others: the eighth number of /proc/stat's CPU lines (proc(5)), in ticks, of the CPUs that may be used. */
#include "worker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST (512u << 10) /* 4096 lines of at most 128 bytes */

/* Of the CPU whose line this is; 0 where it may not be used. */
static long of_cpu(const char *line, const int *cpus, int count)
{
    char *at;
    long cpu = strtol(line + 3, &at, 10);

    for (int i = 0; i < count; i++)
        if (cpus[i] == cpu) {
            for (int field = 1; field < 8; field++)
                strtoull(at, &at, 10);
            return (long)strtoull(at, NULL, 10);
        }
    return 0;
}

/* The first line is of all CPUs, and the lines of each follow it. */
long steal_ticks(void)
{
    static char text[MOST];
    static int file = -2;
    const int *cpus;
    int count = allowed_cpus(&cpus);
    ssize_t length;
    long sum = 0;

    if (file == -2)
        file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    length = file < 0 || count == 0 ? -1 : pread(file, text, sizeof text - 1, 0);
    if (length < 5 || strncmp(text, "cpu ", 4) != 0)
        return -1;
    text[length] = 0;
    for (char *line = strchr(text, '\n'); line && strncmp(line + 1, "cpu", 3) == 0; line = strchr(line + 1, '\n'))
        sum += of_cpu(line + 1, cpus, count);
    return sum;
}
