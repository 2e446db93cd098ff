/* Parts of the worker on what a test plants in the place of the system: clocks of a known step, /proc/stat, /sys. tests/planted.rs compiles
 * it with `open`, `pread` and `fopen` named planted_..., and says what must come out. */
#include "worker.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static double step, elapsed;
static const char *line;

/* A reading takes 20 to 32 ns, and the clock tells whole nanoseconds. */
uint64_t now_ns(void)
{
    static uint32_t random = 1;

    random = random * 1103515245u + 12345u;
    elapsed += 20 + (random >> 16) % 13;
    return (uint64_t)(floor(elapsed / step) * step);
}

int allowed_cpus(const int **cpus)
{
    static const int allowed[] = {1, 12};

    *cpus = allowed;
    return 2;
}

int open(const char *path, int flags, ...)
{
    (void)path, (void)flags;
    return 0;
}

ssize_t pread(int file, void *text, size_t room, off_t at)
{
    static const char stat[] = "cpu  1 1 1 1 1 1 1 999 1 1\n"
                               "cpu0 1 1 1 1 1 1 1 400 1 1\n"
                               "cpu1 1 1 1 1 1 1 1 30 1 1\n"
                               "cpu12 1 1 1 1 1 1 1 5 1 1\n"
                               "intr 1 12\n";

    (void)file, (void)room, (void)at;
    memcpy(text, stat, sizeof stat - 1);
    return sizeof stat - 1;
}

FILE *fopen(const char *path, const char *mode)
{
    (void)path;
    return line ? fmemopen((void *)line, strlen(line), mode) : NULL;
}

static int shared(const char *list, int other)
{
    line = list;
    return share_core(0, other);
}

static size_t cache(const char *size)
{
    line = size;
    return last_cache();
}

int main(void)
{
    static const double steps[] = {1, 10, 1e9 / 24e6, 1000};

    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        step = steps[i];
        printf("resolution %.0f\n", clock_resolution());
    }
    printf("steal %ld\n", steal_ticks());
    printf("siblings %d %d %d %d %d\n", shared("0-1\n", 1), shared("0-1\n", 2), shared("0,32\n", 1), shared("0,32\n", 32), shared(NULL, 1));
    printf("cache %zu %zu\n", cache("32768K\n"), cache(NULL));
    return 0;
}
