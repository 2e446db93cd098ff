/* clone3 with CLONE_VM and CLONE_VFORK, what vfork is made of, with a stack of the child's own. No library function offers it: the
 * child comes back from the system call on an empty stack, so a few instructions must call its function at once. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "process.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>

static char stack[65536] __attribute__((aligned(16)));

/* struct clone_args of Linux 5.5, its first version (CLONE_ARGS_SIZE_VER0). */
static uint64_t arguments[8];

static long enter(void (*life)(struct job *), struct job *job)
{
    long result = -ENOSYS;
#if defined(__x86_64__)
    __asm__ volatile("syscall\n\ttest %%rax, %%rax\n\tjnz 1f\n\txor %%ebp, %%ebp\n\tmov %[job], %%rdi\n\tcall *%[life]\n\thlt\n1:"
                     : "=a"(result)
                     : "0"((long)SYS_clone3), "D"(arguments), "S"(sizeof arguments), [life] "r"(life), [job] "r"(job)
                     : "rcx", "r11", "memory", "cc");
#elif defined(__aarch64__)
    register long number __asm__("x8") = SYS_clone3;
    register long first __asm__("x0") = (long)arguments;
    register long second __asm__("x1") = sizeof arguments;
    register void (*function)(struct job *) __asm__("x20") = life;
    register struct job *data __asm__("x21") = job;
    __asm__ volatile("svc 0\n\tcbnz x0, 1f\n\tmov x0, x21\n\tblr x20\n1:"
                     : "+r"(first)
                     : "r"(number), "r"(second), "r"(function), "r"(data)
                     : "memory", "cc", "x30");
    result = first;
#else
    (void)life, (void)job;
#endif
    return result;
}

static pid_t start(struct job *job)
{
    long pid;

    arguments[0] = CLONE_VM | CLONE_VFORK;
    arguments[4] = SIGCHLD;
    arguments[5] = (uint64_t)(uintptr_t)stack;
    arguments[6] = sizeof stack;
    pid = enter(child_life, job);
    if (pid >= 0)
        return (pid_t)pid;
    errno = (int)-pid;
    return -1;
}

const struct probe probe_clone3 = {
    SPAWN_TRAITS,
    .name = "clone3",
    .exercises = "a new process in borrowed memory on a stack of its own",
    .needs = "Linux 5.3, x86-64 or arm64",
    .variants = "exit static dynamic",
    .params = (const struct param[]){PATH_PARAMS, SHAPE_PARAMS, END},
    .expect = (const struct expect[]){CALLS_OF_A_CHILD("exit", 3), CALLS_OF_A_PROGRAM("static"), CALLS_OF_A_PROGRAM("dynamic"), END},
    .with = &(const struct starter){start, 1},
};
