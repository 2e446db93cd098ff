/* As the first process of a bare kernel: makes the file systems that the probes need, finds the plan, powers off. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "worker.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>

/* A container's first process finds /proc mounted; a kernel's does not. */
int become_init(void)
{
    int console;

    if (access("/proc/self/stat", F_OK) == 0)
        return 0;
    mkdir("/proc", 0555);
    mkdir("/dev", 0755);
    mkdir("/tmp", 01777);
    if (mount("proc", "/proc", "proc", 0, NULL) != 0)
        return 0;
    mount("devtmpfs", "/dev", "devtmpfs", 0, NULL); /* may be mounted already */
    mount("tmpfs", "/tmp", "tmpfs", 0, NULL);
    /* Without a console in its first file system the kernel starts this process without open files. */
    if (fcntl(1, F_GETFD) < 0 && (console = open("/dev/console", O_RDWR)) >= 0) {
        dup2(console, 0);
        dup2(console, 1);
        dup2(console, 2);
        if (console > 2)
            close(console);
    }
    bare_options();
    return 1;
}

int plan_of_kernel(struct plan *plan)
{
    char text[4096] = "";
    FILE *file = fopen("/plan", "r");

    if (file)
        return plan_read(plan, file);
    if ((file = fopen("/proc/cmdline", "r"))) {
        if (!fgets(text, sizeof text, file))
            text[0] = 0;
        fclose(file);
    }
    return plan_own(plan, has_word(text, "probes=sweep"), 20) == 0 ? 0 : 2;
}

void power_off(void)
{
    fflush(stdout);
    output_leaves();
    sync();
    reboot(RB_POWER_OFF);
    for (;;) /* a first process that ends makes its kernel panic */
        pause();
}

void die_with_parent(int signal)
{
    prctl(PR_SET_PDEATHSIG, signal);
}
