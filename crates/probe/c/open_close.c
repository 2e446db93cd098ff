/* open and close of an existing file: path walk, a file structure and a descriptor made and given back. */
#include "kernel.h"
#include "scratch.h"

#include <fcntl.h>

static int setup(struct run *r)
{
    return call_setup(r) || scratch_enter(r) || scratch_file(r, "file", "four", 4, 0600);
}

static int raw_pair(void)
{
#ifdef SYS_openat
    return (int)RAW(SYS_close, RAW(SYS_openat, AT_FDCWD, "file", O_RDONLY));
#else
    return -1;
#endif
}

static void measure(struct run *r)
{
    if (is_variant(r, "raw"))
        LOOP(r, raw_pair());
    else
        LOOP(r, close(open("file", O_RDONLY)));
}

static int verify(struct run *r)
{
    return (is_variant(r, "raw") ? raw_pair() : close(open("file", O_RDONLY))) != 0 ? refute(r, "the calls failed") : 0;
}

const struct probe probe_open_close = {
    CALL_TRAITS,
    .name = "open_close",
    .exercises = "a path walk, a file structure, a descriptor",
    .needs = "a directory to write to",
    .portable = 1,
    .variants = "libc raw",
    .expect = (const struct expect[]){{NULL, "syscalls", 2, 2}, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
    .teardown = scratch_teardown,
};
