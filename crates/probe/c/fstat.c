/* fstat of an open file: no path, only the inode's data copied out. */
#include "kernel.h"
#include "scratch.h"

#include <fcntl.h>
#include <sys/stat.h>

static int file = -1;

static int setup(struct run *r)
{
    if (call_setup(r) || scratch_enter(r) || scratch_file(r, "file", "four", 4, 0600))
        return -1;
    file = open("file", O_RDONLY | O_CLOEXEC);
    return file < 0 ? unavailable(r, errno, "open") : 0;
}

static void measure(struct run *r)
{
    struct stat s;

    if (is_variant(r, "raw"))
        LOOP(r, RAW(SYS_fstat, file, &s));
    else
        LOOP(r, fstat(file, &s));
}

static int verify(struct run *r)
{
    struct stat s = {0};

    if ((is_variant(r, "raw") ? RAW(SYS_fstat, file, &s) : fstat(file, &s)) != 0)
        return refute(r, "the call failed");
    return s.st_size != 4 ? refute(r, "it shows another size than was written") : 0;
}

static void teardown(struct run *r)
{
    (void)r;
    close(file);
    scratch_leave();
}

const struct probe probe_fstat = {
    CALL_TRAITS,
    .name = "fstat",
    .exercises = "a descriptor, one inode",
    .needs = "a directory to write to",
    .portable = 1,
    .variants = "libc raw",
    .expect = (const struct expect[]){ALWAYS_ENTERS, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
    .teardown = teardown,
};
