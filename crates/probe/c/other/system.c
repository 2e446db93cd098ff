/* What Linux offers and this system does not, or not in a way that the worker knows. */
#include "delay.h"
#include "kernel.h"
#include "pingpong.h"
#include "stream.h"
#include "waiter.h"
#include "worker.h"

int become_init(void)
{
    return 0;
}

int plan_of_kernel(struct plan *plan)
{
    (void)plan;
    return 2;
}

void power_off(void)
{
}

void output_leaves(void)
{
}

void die_with_parent(int signal)
{
    (void)signal;
}

long run_delay(const struct run *r)
{
    (void)r;
    return -1;
}

long run_delay_of(const struct run *r, pid_t task)
{
    (void)task;
    return run_delay(r);
}

pid_t this_task(void)
{
    return 0;
}

int await_end(pid_t child)
{
    (void)child;
    return -1;
}

long steal_ticks(void)
{
    return -1;
}

double count_syscalls(struct run *r, const struct line *line, const char **why)
{
    (void)r, (void)line;
    *why = "counting is known for Linux only";
    return -1;
}

int linked_statically(void)
{
    return -1;
}

int share_core(int cpu, int other)
{
    (void)cpu, (void)other;
    return 0;
}

size_t last_cache(void)
{
    return 0;
}

void *vdso_symbol(const char *name)
{
    (void)name;
    return NULL;
}

int word_wait(_Atomic uint32_t *word, uint32_t value)
{
    (void)word, (void)value;
    errno = ENOSYS;
    return -1;
}

int word_wake(_Atomic uint32_t *word)
{
    return word_wait(word, 0);
}

int set_pipe_size(int pipe, int bytes)
{
    (void)pipe, (void)bytes;
    errno = ENOSYS;
    return -1;
}

const struct waiter *const system_waiter = NULL;

const struct probe *const system_probes[] = {NULL};
