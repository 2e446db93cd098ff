/* The parent's shape: how much memory it has touched, in how many mappings, how many files it holds open. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Neighbours with equal rights would be merged into one mapping. */
static int add_mappings(struct run *r)
{
    uint64_t count = param_size(r, "maps");

    for (uint64_t i = 0; i < count; i++)
        if (mmap(NULL, 1, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0) == MAP_FAILED)
            return unavailable(r, errno, "mappings of the parent");
    return 0;
}

/* Each opened by itself: copies of one descriptor are one open file, whose count of references a fork would find in its cache. */
static int open_files(struct run *r)
{
    uint64_t count = param_size(r, "fds");
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && (uint64_t)limit.rlim_cur < count + 64 && limit.rlim_max > limit.rlim_cur) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    for (uint64_t i = 0; i < count; i++)
        if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
            return unavailable(r, errno, "open files of the parent");
    return 0;
}

int shape_parent(struct run *r)
{
    return shape_touch(r) || add_mappings(r) || open_files(r) ? -1 : 0;
}
