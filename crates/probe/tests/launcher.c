/* Starts a program under a restriction, for tests: launcher [RESTRICTION]... -- PROGRAM [ARGUMENT]...
 *
 * deny=NUMBER:ERRNO   that system call fails with that error (ERRNO 0: it kills)
 * limit=RESOURCE:N    setrlimit, both limits
 * cpu=N               only this CPU
 * user=N              as this user
 * hide=DIRECTORY      an empty file system over it, in a mount namespace of its own
 * small=DIRECTORY     the same, with room for 64 KiB
 * noexec=DIRECTORY    the same, and no program there may be run
 * temporary=DIRECTORY what TMPDIR says
 *
 * Exit status 77: the restriction could not be set up here. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define CANNOT 77

static struct sock_filter filter[256] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
static unsigned short length = 1;

static void deny(long number, long error)
{
    filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1);
    filter[length++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, error ? SECCOMP_RET_ERRNO | (unsigned)error : SECCOMP_RET_KILL_PROCESS);
}

/* Filters are inherited by all that the program starts. */
static int install(void)
{
    struct sock_fprog program = {length, filter};

    if (length == 1)
        return 0;
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    program.len = length;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0 ? -1 : 0;
}

static int cover(const char *directory, unsigned long flags, const char *options)
{
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return -1;
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return -1;
    return mount("tmpfs", directory, "tmpfs", flags, options);
}

static int pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(0, sizeof set, &set);
}

static int restrict_by(char *text)
{
    char *value = strchr(text, '='), *second;
    long first;

    if (!value)
        return -1;
    *value++ = 0;
    if (strcmp(text, "hide") == 0)
        return cover(value, 0, NULL);
    if (strcmp(text, "small") == 0)
        return cover(value, 0, "size=64k");
    if (strcmp(text, "noexec") == 0)
        return cover(value, MS_NOEXEC, NULL);
    if (strcmp(text, "temporary") == 0)
        return setenv("TMPDIR", value, 1);
    first = strtol(value, &second, 10);
    if (strcmp(text, "cpu") == 0)
        return pin((int)first);
    if (strcmp(text, "user") == 0)
        return setuid((uid_t)first);
    if (*second++ != ':')
        return -1;
    if (strcmp(text, "deny") == 0) {
        deny(first, strtol(second, NULL, 10));
        return 0;
    }
    return setrlimit((int)first, &(struct rlimit){strtoul(second, NULL, 10), strtoul(second, NULL, 10)});
}

int main(int argc, char **argv)
{
    int at = 1;

    for (; at < argc && strcmp(argv[at], "--") != 0; at++)
        if (restrict_by(argv[at]) != 0) {
            perror(argv[at]);
            return CANNOT;
        }
    if (at + 1 >= argc || install() != 0)
        return CANNOT;
    execv(argv[at + 1], &argv[at + 1]);
    perror(argv[at + 1]);
    return 1;
}
