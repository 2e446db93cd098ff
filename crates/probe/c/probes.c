/* All probes, in the order of --list. A new probe is one file and one line here (or in linux/probes.c). */
#include "worker.h"

#include <string.h>

#define PORTABLE(X)                                                                                                                          \
    X(getpid) X(getppid) X(umask) X(gettimeofday) X(time) X(clock_gettime) X(stat) X(lstat) X(fstat) X(open_close) X(read) X(write)          \
    X(sched_yield) X(nothing)                                                                                                                \
    X(fork) X(vfork) X(posix_spawn) X(execve) X(fork_execve) X(vfork_execve) X(cow)                                                         \
    X(cond) X(pipe_cond) X(pipe) X(pipe_cached) X(newthread) X(select_signal) X(select_pipe_wake) X(select_pipe_event)                       \
    X(fd_thread) X(sigqueue) X(semaphore) X(socketpair) X(spin)                                                                             \
    X(pipe_latency) X(pipe_bandwidth) X(switch) X(wakeup) X(cacheline) X(fault) X(mutex) X(compute)                                                    \
    X(burn) X(getpid_k) X(lie_switch) X(lie_syscall) X(lie_zero)                                                           \
    X(lie_children) X(lie_child) X(lie_vfork) X(lie_cow) X(two_instructions)

#define DECLARE(name) extern const struct probe probe_##name;
#define REFER(name) &probe_##name,

PORTABLE(DECLARE)
const struct probe *const portable_probes[] = {PORTABLE(REFER) NULL};

/* Numbers run through both lists. */
const struct probe *probe_at(size_t index)
{
    size_t i = 0;

    for (; portable_probes[i]; i++)
        if (i == index)
            return portable_probes[i];
    for (size_t j = 0; system_probes[j]; i++, j++)
        if (i == index)
            return system_probes[j];
    return NULL;
}

const struct probe *find_probe(const char *name)
{
    const struct probe *probe;

    for (size_t i = 0; (probe = probe_at(i)); i++)
        if (strcmp(probe->name, name) == 0)
            return probe;
    return NULL;
}
