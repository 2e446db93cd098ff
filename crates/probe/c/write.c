/* write of 1 byte, /dev/null: the way through the file layer to a device that does nothing. */
#include "kernel.h"

#include <fcntl.h>

static int file = -1;

static int setup(struct run *r)
{
    if (call_setup(r) != 0)
        return -1;
    file = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return file < 0 ? unavailable(r, errno, "/dev/null") : 0;
}

static void measure(struct run *r)
{
    char byte = 1;

    if (is_variant(r, "raw"))
        LOOP(r, RAW(SYS_write, file, &byte, 1));
    else
        LOOP(r, write(file, &byte, 1));
}

static int verify(struct run *r)
{
    char byte = 1;

    return (is_variant(r, "raw") ? RAW(SYS_write, file, &byte, 1) : write(file, &byte, 1)) != 1 ? refute(r, "the byte did not pass") : 0;
}

static void teardown(struct run *r)
{
    (void)r;
    close(file);
}

const struct probe probe_write = {
    CALL_TRAITS,
    .name = "write",
    .exercises = "a descriptor, the file layer, one byte copied",
    .needs = "/dev/null",
    .portable = 1,
    .variants = "libc raw",
    .expect = (const struct expect[]){ALWAYS_ENTERS, NEVER_SLEEPS, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
    .teardown = teardown,
};
