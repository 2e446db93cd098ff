/* The PATH in which the file that the process probes start is found, after some misses. */
#include "process.h"
#include "scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* PATH: `misses` empty directories, then the scratch directory. */
int target_path(struct run *r)
{
    uint64_t misses = param_size(r, "misses");
    static char path[65536];
    char name[24];
    size_t used = 0;

    if (misses > 60)
        return unavailable(r, 0, "misses is 0 to 60");
    for (uint64_t i = 0; i < misses; i++) {
        snprintf(name, sizeof name, "empty%u", (unsigned)i);
        if (mkdir(name, 0700) != 0)
            return unavailable(r, errno, "mkdir");
        used += (size_t)snprintf(path + used, sizeof path - used, "%s/%s:", scratch_path(), name);
    }
    snprintf(path + used, sizeof path - used, "%s", scratch_path());
    return setenv("PATH", path, 1) == 0 ? 0 : unavailable(r, errno, "setenv");
}
