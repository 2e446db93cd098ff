/* read of 1 byte, /dev/zero: the way through the file layer to a device that does nothing. */
#include "kernel.h"

#include <fcntl.h>

static int file = -1;

static int setup(struct run *r)
{
    if (call_setup(r) != 0)
        return -1;
    file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    return file < 0 ? unavailable(r, errno, "/dev/zero") : 0;
}

static void measure(struct run *r)
{
    char byte = 1;

    if (is_variant(r, "raw"))
        LOOP(r, RAW(SYS_read, file, &byte, 1));
    else
        LOOP(r, read(file, &byte, 1));
}

static int verify(struct run *r)
{
    char byte = 1;

    return (is_variant(r, "raw") ? RAW(SYS_read, file, &byte, 1) : read(file, &byte, 1)) != 1 ? refute(r, "the byte did not pass") : 0;
}

static void teardown(struct run *r)
{
    (void)r;
    close(file);
}

const struct probe probe_read = {
    CALL_TRAITS,
    .name = "read",
    .exercises = "a descriptor, the file layer, one byte copied",
    .needs = "/dev/zero",
    .portable = 1,
    .variants = "libc raw",
    .expect = (const struct expect[]){ALWAYS_ENTERS, NEVER_SLEEPS, END},
    .setup = setup,
    .round = measure,
    .verify = verify,
    .teardown = teardown,
};
