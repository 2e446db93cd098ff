/* The memory that the parent has touched, on pages of 4 KiB or huge ones. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "pages.h"
#include "process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static char *memory;
static size_t bytes;

volatile char *shape_memory(size_t *length)
{
    *length = bytes;
    return memory;
}

static int wants_huge(const struct run *r)
{
    return strcmp(param_text(r, "pages"), "huge") == 0;
}

static int advise(struct run *r)
{
#if defined(MADV_HUGEPAGE) && defined(MADV_NOHUGEPAGE)
    if (madvise(memory, bytes, wants_huge(r) ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0 && wants_huge(r))
        return unavailable(r, errno, "huge pages");
    return 0;
#else
    return wants_huge(r) ? unavailable(r, ENOSYS, "this system lets no program ask for huge pages") : 0;
#endif
}

/* Whether the kernel gave huge pages is its own decision (memory may be in pieces); so ask. A few may be lacking. */
static int got_huge(struct run *r)
{
#ifdef __linux__
    char text[256];
    unsigned long huge = 0, found;
    FILE *file;

    if (!wants_huge(r) || bytes == 0 || !(file = fopen("/proc/self/smaps_rollup", "r")))
        return 0;
    while (fgets(text, sizeof text, file))
        if (sscanf(text, "AnonHugePages: %lu", &found) == 1)
            huge = found;
    fclose(file);
    if (huge < bytes / 1024 / 20 * 19)
        return unavailable(r, 0, "the kernel gave fewer than 95% of the huge pages");
#else
    (void)r;
#endif
    return 0;
}

int shape_touch(struct run *r)
{
    char *start;

    bytes = param_size(r, "rss");
    if (bytes == 0)
        return wants_huge(r) ? unavailable(r, 0, "without touched memory (rss) there is none to stand on huge pages") : 0;
    if (!wants_huge(r) && NO_SMALL_PAGES)
        return unavailable(r, 0, NO_SMALL_PAGES);
    start = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (start == MAP_FAILED)
        return unavailable(r, errno, "memory for the parent");
    memory = start + (HUGE_PAGE - (uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
    if (advise(r) != 0)
        return -1;
    for (size_t i = 0; i < bytes; i += SMALL_PAGE)
        ((volatile char *)memory)[i] = 1;
    return got_huge(r);
}
