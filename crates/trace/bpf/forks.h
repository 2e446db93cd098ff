/* A task as it is told when it is made, and the beginning of the first one, which must not be lost with the rest. When a child is
 * known to be more than the way to an exec. */
#pragma once

#include "state.h"

struct fork_and_mask {
    struct fork_record fork;
    u64 mask[128]; /* 8192 CPUs, the most that Linux can be built for on x86 */
};

/* The first program that a tree executes: without its beginning there is nothing to add times to. Where the ring has no
 * room for it, on a machine that switches a lot, it is left here for the reader. */
struct beginning {
    struct fork_and_mask fork;
    struct exec_record exec; /* without its path */
    u32 fork_lost;
    u32 exec_lost;
};

struct beginning first = {};

/* Behind the record there is room for the mask. */
static __always_inline void fill_fork(struct fork_record *r, u64 now, struct task_struct *task, u32 number, u32 parent)
{
    u32 words = settings.mask_words;
    fill(&r->head, RECORD_FORK, now, number, parent, 0);
    r->spent = 0;
    r->process = task->tgid;
    r->words = words;
    r->pipes.input = r->pipes.output = 0;
    copy_name(r->name, task);
    bpf_probe_read_kernel(r + 1, words * 8, &task->cpus_mask);
}

/* `spender` is the state of the parent, which runs. Whether there was room. */
static __always_inline bool send_fork(u64 now, struct task_struct *child, u32 parent, struct task_state *spender)
{
    struct fork_record *r = RESERVE(sizeof(*r) + settings.mask_words * 8);
    if (!r)
        return false;
    fill_fork(r, now, child, child->pid, parent);
    if (spender && settings.call_times) {
        r->head.flags |= FLAG_SPENT;
        r->spent = time_in_calls(spender, now);
    }
    submit(r);
    return true;
}

/* That records are missing is for the next one in the ring to say: these two are among them. The reader sees the flag
 * behind what it speaks of: an atomic operation that returns a value is a barrier. */
static __always_inline void keep_first_fork(u64 now, struct task_struct *task)
{
    u64 told = tree.told;
    fill_fork(&first.fork.fork, now, task, task->pid, 0);
    first.fork.fork.head.flags = 0;
    tree.told = told;
    __sync_val_compare_and_swap(&first.fork_lost, 0, 1);
}

static __always_inline void keep_first_exec(struct exec_record *exec)
{
    first.exec = *exec;
    first.exec.head.flags = 0;
    first.exec.path_bytes = 0;
    __sync_val_compare_and_swap(&first.exec_lost, 0, 1);
}

/* So much CPU time between two calls of a start-up, or on the way to an exec, is work of the program's own (relocating a large program
 * takes less, and so does closing all descriptors). */
#define OWN_WORK_NS 20000000
/* The same of a child that has ended, and never executed a program. */
#define OWN_WORK_AT_END_NS 1000000

static __always_inline u64 has_run(struct task_struct *task, struct task_state *t)
{
    return run_so_far(task, t, bpf_ktime_get_ns()) - t->base.run;
}

/* A call begins that no child makes on its way to an exec: it moves data of its standard input or output, and a here-document goes
 * to another descriptor. Or it has computed for long. */
static __always_inline bool goes_on(struct task_struct *task, struct task_state *t)
{
    u32 number = t->call & ~COMPAT;
    u64 at = number & (SYSCALLS - 1);
    barrier_var(at); /* Or it is bounded in one register and used in another, which 6.1 refuses. */
    bool data = !(t->call & COMPAT) && number < SYSCALLS && settings.transfer[at];
    return (data && (u32)t->args[0] <= 1) || has_run(task, t) > OWN_WORK_NS;
}

/* The running task, a child, is a program of its own from here on. Neither inlined nor static, so that the verifier looks at it once. */
__attribute__((noinline)) int lives_on(void)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct task_state *t = state_of(task);
    if (!t)
        return 0;
    t->forked = LIVES_ON;
    t->group = 0;
    u64 now = bpf_ktime_get_ns();
    struct lives_on_record *r = RESERVE(sizeof(*r));
    if (!r)
        return 0;
    fill(&r->head, RECORD_LIVES_ON, now, number_of(task, t), 0, 0);
    totals_since(&r->so_far, task, t, run_so_far(task, t, now));
    submit(r);
    return 0;
}
