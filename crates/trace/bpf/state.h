/* The maps, and what every program needs: the state of a task and of a CPU, and sending a record.
 *
 * Loading must be quick: it is most of the time that tracing a short command takes. Two things make the verifier slow.
 * - For each pointer that a program follows by itself (`task->files`), it searches the names of all types of the kernel, up to four times
 *   (btf_nested_type_is_trusted(), kernel/bpf/btf.c): one to four milliseconds, again for each way that leads there. BPF_CORE_READ() takes
 *   a helper, and no search. Where a call or a switch would pay for the helper each time, the pointer is followed.
 * - It follows the rest of a program for each value that it knows. A function that is neither inlined nor static is verified once, and its
 *   result is unknown.
 */
#pragma once

/* First the names that libbpf's headers use. */
#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

#include "records.h"

const volatile struct settings settings = {};
struct totals_of_tree tree = {};
struct record_shapes shapes = {};

/* Whose numbers whoever reads the records sees: a container may have its own. */
struct reader {
    u32 level; /* how many namespaces of numbers lie around its own */
    u64 numbers;
} reader = {};

/* Freed by the kernel with the task: no number is ever looked up, so none can be taken for another that had it before. */
struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct task_state);
} tasks SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct cpu_state);
} cpus SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 1 << 24);
} ring SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, struct group_key);
    __type(value, u32);
} groups SEC(".maps");

/* Which tasks outside of the tree were named already, by the time when they were made. Shared by all CPUs; whoever
 * loses a slot to another is named once more. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 4096);
    __type(key, u32);
    __type(value, u64);
} named SEC(".maps");

static __always_inline struct cpu_state *this_cpu(void)
{
    u32 zero = 0;
    return bpf_map_lookup_elem(&cpus, &zero);
}

/* The CPU that a task is on, or was on last. */
static __always_inline u32 cpu_of(struct task_struct *task)
{
    if (bpf_core_field_exists(task->thread_info.cpu))
        return task->thread_info.cpu;
    return ((struct task_struct___before_5_16 *)task)->cpu;
}

static __always_inline struct task_state *state_of(struct task_struct *task)
{
    return bpf_task_storage_get(&tasks, task, 0, 0);
}

static __always_inline struct task_state *active(struct task_struct *task)
{
    struct task_state *t = state_of(task);
    return t && t->mode == MODE_ACTIVE ? t : 0;
}

/* Whether it is for the caller to tell that this task is followed no more: its last switch and the end of the observation may
 * meet. */
static __always_inline bool claim(struct task_state *t, u32 mode)
{
    return __sync_val_compare_and_swap(&t->mode, MODE_ACTIVE, mode) == MODE_ACTIVE;
}

/* Whether it is for the caller to tell the beginning of this task: one that is taken up while it runs may end meanwhile. */
static __always_inline bool claim_beginning(struct task_state *t)
{
    return !__sync_val_compare_and_swap(&t->announced, 0, 1);
}

/* The first task of a process is gone. A thread that executed a program became the first one: see program_begins. */
static __always_inline void count_end(struct task_struct *task, struct task_state *t, bool ended, u32 number)
{
    if (ended && number == (u32)task->tgid) {
        t->counted = 1;
        __sync_fetch_and_add(&tree.exits, 1);
    }
    if (ended)
        tree.last_end = bpf_ktime_get_ns();
    __sync_fetch_and_add(&tree.entered, t->entered);
    __sync_fetch_and_add(&tree.returned, t->returned);
}

#define LOST(class)                                                                                                    \
    do {                                                                                                               \
        struct cpu_state *lost_on = this_cpu();                                                                        \
        if (lost_on)                                                                                                   \
            lost_on->lost.class ++;                                                                                    \
    } while (0)

/* A record for which there is no room: the next one says where. */
#define LOST_RECORD()                                                                                                  \
    do {                                                                                                               \
        LOST(ring);                                                                                                    \
        __sync_fetch_and_add(&tree.holes, 1);                                                                          \
    } while (0)

/* The reader polls. It is called only when the ring fills up before it comes, and once each time: a wake-up for every
 * record is an interrupt for every record, which was measured to double the run time of a process storm. */
static __always_inline u64 wake_flag(void)
{
    struct cpu_state *cpu = this_cpu();
    if (!cpu || (++cpu->sent & 63))
        return BPF_RB_NO_WAKEUP;
    if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) < settings.wake_at) {
        cpu->woken = 0;
        return BPF_RB_NO_WAKEUP;
    }
    if (cpu->woken)
        return BPF_RB_NO_WAKEUP;
    cpu->woken = 1;
    return BPF_RB_FORCE_WAKEUP;
}

static __always_inline void fill(struct record *r, enum record_kind kind, u64 at, u32 task, u32 other, u8 detail)
{
    r->at = at;
    r->kind = kind;
    r->task = task;
    r->other = other;
    r->cpu = bpf_get_smp_processor_id();
    r->detail = detail;
    r->flags = 0;
    /* Whoever loses this race says it twice. */
    u64 holes = tree.holes;
    if (holes != tree.told) {
        tree.told = holes;
        r->flags = FLAG_HOLE;
    }
}

#define RESERVE(size)                                                                                                  \
    ({                                                                                                                 \
        void *reserved = bpf_ringbuf_reserve(&ring, (size), 0);                                                        \
        if (!reserved)                                                                                                 \
            LOST_RECORD();                                                                                             \
        reserved;                                                                                                      \
    })

static __always_inline void submit(void *record)
{
    bpf_ringbuf_submit(record, wake_flag());
}

static __always_inline void send_small(enum record_kind kind, u64 at, u32 task, u32 other, u8 detail)
{
    struct record *r = RESERVE(sizeof(*r));
    if (!r)
        return;
    fill(r, kind, at, task, other, detail);
    submit(r);
}

static __always_inline void send_spent(enum record_kind kind, u64 at, u32 task, u32 other, u8 detail, u64 spent)
{
    struct spent_record *r = RESERVE(sizeof(*r));
    if (!r)
        return;
    fill(&r->head, kind, at, task, other, detail);
    r->head.flags |= FLAG_SPENT;
    r->spent = spent;
    submit(r);
}

/* Copies a record of a size that is known only now. Whether there was room. */
static __always_inline bool send_copy(void *record, u64 size)
{
    if (!bpf_ringbuf_output(&ring, record, size, wake_flag()))
        return true;
    LOST_RECORD();
    return false;
}

/* The kernel leaves old bytes behind the zero, and a key must not. */
static __always_inline void copy_name(char *to, struct task_struct *task)
{
    __builtin_memset(to, 0, NAME_BYTES);
    bpf_probe_read_kernel_str(to, NAME_BYTES, task->comm);
}

static __always_inline void send_name(u64 now, struct task_struct *task, u32 number, u8 kind)
{
    struct name_record *r = RESERVE(sizeof(*r));
    if (!r)
        return;
    fill(&r->head, RECORD_NAME, now, number, 0, kind);
    r->process = task->tgid;
    r->unused = 0;
    copy_name(r->name, task);
    submit(r);
}

static __always_inline struct upid number_at(struct task_struct *task, u32 level)
{
    struct pid *pid = 0;
    struct upid number = {};
    bpf_core_read(&pid, sizeof(pid), &task->thread_pid);
    if (pid && BPF_CORE_READ(pid, level) >= level)
        bpf_probe_read_kernel(&number, sizeof(number), (char *)&pid->numbers + level * sizeof(number));
    return number;
}

/* The number under which the reader finds a task in /proc; 0: nowhere. */
static __always_inline u32 number_here(struct task_struct *task)
{
    if (!reader.level)
        return BPF_CORE_READ(task, pid);
    struct upid number = number_at(task, reader.level);
    return (u64)number.ns == reader.numbers ? number.nr : 0;
}

/* The running task is the reader. */
static __always_inline void note_reader(void)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct pid *pid = 0;
    bpf_core_read(&pid, sizeof(pid), &task->thread_pid);
    reader.level = BPF_CORE_READ(pid, level);
    reader.numbers = (u64)number_at(task, reader.level).ns;
}

/* A number that hardly any other mask of CPUs has. The verifier follows the loop, so that it knows each place in the mask. */
static __always_inline u64 mask_of(struct task_struct *task)
{
    const unsigned long *words = task->cpus_mask.bits;
    u64 hash = 0;
    for (u32 i = 0; i < settings.mask_words; i++) {
        hash = (hash + words[i]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    return hash;
}

static __always_inline u8 kind_of(struct task_struct *task, struct task_state *t)
{
    if (t && t->mode == MODE_ACTIVE)
        return KIND_TREE;
    if (t && t->mode == MODE_TOOL)
        return KIND_TOOL;
    return task->flags & PF_KTHREAD ? KIND_KERNEL : KIND_OTHER;
}

static __always_inline void read_totals(struct totals *to, struct task_struct *task)
{
    to->run = task->se.sum_exec_runtime;
    to->delay = bpf_core_field_exists(task->sched_info.run_delay) ? task->sched_info.run_delay : 0;
    to->faults = task->min_flt + task->maj_flt;
    to->voluntary = task->nvcsw;
    to->involuntary = task->nivcsw;
    to->migrations = task->se.nr_migrations;
    to->stolen = 0;
    to->unseen = 0;
}

/* What the kernel counted since the task came into the tree. A running task's own account is brought up to date by
 * the kernel at ticks and switches only; `run` is what it will say. */
static __always_inline void totals_since(struct totals *to, struct task_struct *task, struct task_state *t, u64 run)
{
    read_totals(to, task);
    to->run = run - t->base.run;
    to->delay -= t->base.delay;
    to->faults -= t->base.faults;
    to->voluntary -= t->base.voluntary;
    to->involuntary -= t->base.involuntary;
    to->migrations -= t->base.migrations;
    to->stolen = t->stolen;
    to->unseen = t->unseen;
    to->call_run = t->call_run;
    to->entered = t->entered;
    to->returned = t->returned;
}

/* Its run time up to now, by the scheduler's account. */
static __always_inline u64 run_so_far(struct task_struct *task, struct task_state *t, u64 now)
{
    return t->place == PLACE_RUNNING ? t->run_in + (now - t->since) : task->se.sum_exec_runtime;
}

/* Its time on CPUs up to now, as the stream of switches shows it: by the clock, with what the hypervisor took. Times within calls go by the
 * clock too, and a sum of such parts is at most the whole. */
static __always_inline u64 on_cpu_so_far(struct task_struct *task, struct task_state *t, u64 now)
{
    return run_so_far(task, t, now) + t->stolen;
}

/* The number under which a followed task is known: that of its making, until its exec is seen. */
static __always_inline u32 number_of(struct task_struct *task, struct task_state *t)
{
    if (!t || t->mode != MODE_ACTIVE)
        return task->pid;
    if (!t->task)
        t->task = task->pid;
    return t->task;
}

/* The number of the command (or process) that its calls are counted under. */
static __always_inline u32 group_of(struct task_struct *task, struct task_state *t)
{
    if (t->group)
        return t->group;
    struct group_key key = {};
    copy_name(key.name, BPF_CORE_READ(task, group_leader));
    key.process = settings.by_process ? task->tgid : 0;
    key.forked = t->forked;
    u32 *known = bpf_map_lookup_elem(&groups, &key);
    if (!known) {
        u32 new = __sync_fetch_and_add(&tree.groups, 1) + 1;
        bpf_map_update_elem(&groups, &key, &new, BPF_NOEXIST);
        known = bpf_map_lookup_elem(&groups, &key);
    }
    if (!known) {
        LOST(map);
        return 0;
    }
    return t->group = *known;
}

/* The tracepoint of a switch is not always seen (a switch away from some tasks of another pid namespace was not, on
 * 6.18). A task that makes a call runs, whatever was seen: the kernel's own account says how long it waited, and its run
 * time from where it was last seen to leave is that of this turn. */
static __always_inline void heal(struct task_struct *task, struct task_state *t, u64 now)
{
    if (t->place == PLACE_RUNNING)
        return;
    u64 off = now - t->since;
    bool waited = t->place == PLACE_RUNNABLE && bpf_core_field_exists(task->sched_info.run_delay);
    if (waited) {
        u64 delay = task->sched_info.run_delay - t->delay_out;
        if (delay < off)
            off = delay;
    }
    if (t->place == PLACE_BLOCKED)
        t->blocked += off;
    else if (t->place == PLACE_RUNNABLE)
        t->runnable += off;
    if (t->place != PLACE_UNKNOWN)
        LOST(gaps);
    u64 run = task->se.sum_exec_runtime;
    barrier_var(run); /* Or one instruction reads either of two kinds of memory, which the kernel refuses. */
    t->run_in = waited && t->switches ? t->run_out : run;
    t->since = waited ? t->since + off : now;
    t->healed = 1;
    t->place = PLACE_RUNNING;
}

/* CPU time that a running task has had within calls, with the one that it is in. */
static __always_inline u64 time_in_calls(struct task_state *t, u64 now)
{
    if (!t->in_call && !t->exiting)
        return t->call_run;
    return t->call_run + (now - t->began - t->blocked - t->runnable);
}
