/* stat of a file: path walk, then the inode's data copied out. */
#include "kernel.h"
#include "scratch.h"

#include <fcntl.h>
#include <sys/stat.h>

#ifdef SYS_newfstatat
#define RAW_STAT(s) RAW(SYS_newfstatat, AT_FDCWD, "file", s, 0)
#else
#define RAW_STAT(s) ((void)(s), -1L)
#endif

static int setup(struct run *r)
{
#ifndef SYS_newfstatat
    if (is_variant(r, "raw"))
        return unavailable(r, ENOSYS, "this system has no system call newfstatat");
#endif
    return scratch_enter(r) || scratch_file(r, "file", "four", 4, 0600);
}

static void measure(struct run *r)
{
    struct stat s;

    if (is_variant(r, "raw"))
        LOOP(r, RAW_STAT(&s));
    else
        LOOP(r, stat("file", &s));
}

static int verify(struct run *r)
{
    struct stat s = {0};

    if ((is_variant(r, "raw") ? RAW_STAT(&s) : stat("file", &s)) != 0)
        return refute(r, "the call failed");
    return s.st_size != 4 ? refute(r, "it shows another size than was written") : 0;
}

const struct probe probe_stat = {
    CALL_TRAITS,
    .name = "stat",
    .exercises = "a path of one component, one inode",
    .needs = "a directory to write to",
    .portable = 1,
    .variants = "libc raw",
    .expect = (const struct expect[]){ALWAYS_ENTERS, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
    .teardown = scratch_teardown,
};
