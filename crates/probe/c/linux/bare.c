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
#include <sys/klog.h>
#include <termios.h>
#include <unistd.h>

#define CONSOLE_LEVEL 8 /* syslog(2) */

/* Some kernels have one serial port only: then the console stays. */
static void records_to(const char *path)
{
    int file = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    struct termios line;

    if (file >= 0) {
        dup2(file, 1);
        close(file);
    }
    if (tcgetattr(1, &line) == 0) {
        cfmakeraw(&line);
        cfsetospeed(&line, B115200);
        tcsetattr(1, TCSANOW, &line);
    }
}

void bare_options(void)
{
    const char *out = getenv("WORKER_OUT"), *settle = getenv("WORKER_SETTLE");
    unsigned left = settle ? (unsigned)strtoul(settle, NULL, 10) : 0;

    if (out)
        records_to(out);
    klogctl(CONSOLE_LEVEL, NULL, 1); /* from here on the kernel's messages are in the way, but for its last one */
    while (left > 0)
        left = sleep(left);
}

/* A serial line sends long after write() returned; its interrupts must not fall into the next measurement. */
void output_leaves(void)
{
    if (isatty(1))
        tcdrain(1);
}
