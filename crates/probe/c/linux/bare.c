/* What the command line of a bare kernel may ask of the worker. The kernel hands words KEY=VALUE that it does not know to its first
 * process as environment (Documentation/admin-guide/kernel-parameters.rst):
 *   WORKER_OUT=/dev/ttyS1   the records go there, so that no message of the kernel cuts one in two
 *   WORKER_SETTLE=20        seconds of the guest to wait before anything is measured, while the kernel does what it put off at boot */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "worker.h"

#include <fcntl.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static void records_to(const char *path)
{
    int file = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    struct termios line;

    if (file < 0)
        return;
    if (tcgetattr(file, &line) == 0) {
        cfmakeraw(&line);
        cfsetospeed(&line, B115200);
        tcsetattr(file, TCSANOW, &line);
    }
    dup2(file, 1);
    close(file);
}

void bare_options(void)
{
    const char *out = getenv("WORKER_OUT"), *settle = getenv("WORKER_SETTLE");
    unsigned left = settle ? (unsigned)strtoul(settle, NULL, 10) : 0;

    if (out)
        records_to(out);
    while (left > 0)
        left = sleep(left);
}

/* A serial line sends long after write() returned; its interrupts must not fall into the next measurement. */
void output_leaves(void)
{
    if (isatty(1))
        tcdrain(1);
}
