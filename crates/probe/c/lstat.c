/* lstat at the end of a path of 1, 4 or 8 components, a file or a symbolic link (which it does not follow). */
#include "kernel.h"
#include "scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#ifdef SYS_newfstatat
#define RAW_LSTAT(s) RAW(SYS_newfstatat, AT_FDCWD, path, s, AT_SYMLINK_NOFOLLOW)
#else
#define RAW_LSTAT(s) ((void)(s), -1L)
#endif

static char path[256];

static int setup(struct run *r)
{
    uint64_t depth = param_size(r, "depth");

#ifndef SYS_newfstatat
    if (is_variant(r, "raw"))
        return unavailable(r, ENOSYS, "this system has no system call newfstatat");
#endif
    if (depth < 1 || depth > 100)
        return unavailable(r, 0, "depth is 1 to 100");
    if (scratch_enter(r) != 0)
        return -1;
    for (path[0] = 0; depth > 1; depth--) {
        strcat(path, "d");
        if (mkdir(path, 0700) != 0)
            return unavailable(r, errno, "mkdir");
        strcat(path, "/");
    }
    strcat(path, "f");
    if (strcmp(param_text(r, "of"), "symlink") == 0)
        return symlink("four", path) == 0 ? 0 : unavailable(r, errno, "symlink");
    return scratch_file(r, path, "four", 4, 0600);
}

static void measure(struct run *r)
{
    struct stat s;

    if (is_variant(r, "raw"))
        LOOP(r, RAW_LSTAT(&s));
    else
        LOOP(r, lstat(path, &s));
}

static int verify(struct run *r)
{
    struct stat s = {0};

    if ((is_variant(r, "raw") ? RAW_LSTAT(&s) : lstat(path, &s)) != 0)
        return refute(r, "the call failed");
    if (s.st_size != 4 || !!S_ISLNK(s.st_mode) != (strcmp(param_text(r, "of"), "symlink") == 0))
        return refute(r, "it shows another file than was made");
    return 0;
}

const struct probe probe_lstat = {
    CALL_TRAITS,
    .name = "lstat",
    .exercises = "a path walk, one inode",
    .needs = "a directory to write to",
    .portable = 1,
    .variants = "libc raw",
    .params = (const struct param[]){{"depth", "1 4 8", "components of the path", NULL},
                                     {"of", "file symlink", "what stands at its end", NULL},
                                     END},
    .expect = (const struct expect[]){ALWAYS_ENTERS, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
    .teardown = scratch_teardown,
};
