/* Which system calls does the tree make: how often, how long, with which errors? */

#include "cells.h"
#include "files.h"
#include "forks.h"
#include "ours.h"

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 8192);
    __type(key, struct error_key);
    __type(value, u64);
} errors SEC(".maps");

struct call_and_path {
    struct call_record call;
    char path[PATH_BYTES];
};

/* Where a record with a path is put together. A CPU leaves the program that fills it before another one can begin to:
 * the tracepoints of calls run with preemption disabled, and no interrupt makes a call. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct call_and_path);
} call_scratch SEC(".maps");

struct failed_and_path {
    struct failed_record failed;
    char path[PATH_BYTES];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct failed_and_path);
} failed_scratch SEC(".maps");

static __always_inline u32 log2_of(u64 v)
{
    u32 bits = 0;
    if (v >> 32) { bits += 32; v >>= 32; }
    if (v >> 16) { bits += 16; v >>= 16; }
    if (v >> 8) { bits += 8; v >>= 8; }
    if (v >> 4) { bits += 4; v >>= 4; }
    if (v >> 2) { bits += 2; v >>= 2; }
    return bits + (v >> 1);
}

static __always_inline void count_error(u32 group, u32 call, u64 error)
{
    struct error_key key = { .group = group, .call = call, .error = error };
    u64 one = 1;
    u64 *count = bpf_map_lookup_elem(&errors, &key);
    if (!count && bpf_map_update_elem(&errors, &key, &one, BPF_NOEXIST)) {
        count = bpf_map_lookup_elem(&errors, &key);
        if (!count)
            LOST(map);
    } else if (!count) {
        return;
    }
    if (count)
        __sync_fetch_and_add(count, 1);
}

/* Its first exec: from here on it belongs to the tree. */
static __always_inline void begin(struct task_struct *task, struct task_state *t, u64 now)
{
    t->mode = MODE_ACTIVE;
    t->forked = FORKED;
    t->task = task->pid;
    read_totals(&t->base, task);
    t->base.run = run_so_far(task, t, now);
    t->based = 1;
    t->announced = 1;
    t->own_code = 1;
    t->place = PLACE_RUNNING;
    t->healed = 0;
    t->run_in = t->base.run;
    t->since = now;
    t->mask = mask_of(task);
    __sync_fetch_and_add(&tree.alive, 1);
    if (!send_fork(now, task, 0, 0))
        keep_first_fork(now, task);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(call_begins, struct pt_regs *regs, long number)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct task_state *t = state_of(task);
    if (!t || t->mode == MODE_TOOL || t->mode == MODE_SKIPPED || number < 0)
        return 0;
    bool compat = IS_COMPAT(task);
    u64 now = settings.call_times || t->mode == MODE_HELD ? bpf_ktime_get_ns() : 0;
    if (t->mode == MODE_HELD) {
        if (compat || ((u32)number != settings.execve && (u32)number != settings.execveat))
            return 0;
        begin(task, t, now);
    }
    if (t->mode == MODE_ACTIVE && !ours(task, t))
        return 0;
    if (settings.call_times && t->place != PLACE_RUNNING)
        heal(task, t, now);
    t->call = (u32)number | (compat ? COMPAT : 0);
    t->in_call = 1;
    t->began = now;
    t->blocked = 0;
    t->runnable = 0;
    /* A call that was found has ended unseen, between the look at it and its note. */
    if (t->found)
        t->found = 0;
    else
        t->entered++;
    if (settings.each_call || t->starting) {
        ARGUMENTS(t->args, regs, compat);
    } else {
        /* The descriptor, the path of an exec that fails, and what a futex is asked for. */
        t->args[0] = FIRST_ARGUMENT(regs, compat);
        t->args[1] = SECOND_ARGUMENT(regs, compat);
    }
    if (t->starting && may_end_startup(startup_class(t)))
        startup_before(now);
    if (t->forked == FORKED && goes_on(task, t))
        lives_on();
    t->file = FILE_NONE;
    t->file_number = 0;
    u64 at = number & (SYSCALLS - 1);
    barrier_var(at); /* see goes_on() */
    if (!compat && (u32)number < SYSCALLS) {
        if (settings.transfer[at])
            note_file(task, t, t->args[0]);
        else if (settings.renumbers[at])
            forget_files(t);
    } else if (compat) {
        /* Which calls of the other table do so is not looked up: no 32-bit program is fast enough to mind. */
        forget_files(t);
    }
    return 0;
}

/* Threads of a process share its cells. */
static __always_inline void add(u64 *counter, u64 n)
{
    if (settings.by_process)
        __sync_fetch_and_add(counter, n);
    else
        *counter += n;
}

static __always_inline void raise(u64 *most, u64 n)
{
    if (!settings.by_process) {
        if (n > *most)
            *most = n;
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        u64 seen = *(volatile u64 *)most;
        if (n <= seen || __sync_val_compare_and_swap(most, seen, n) == seen)
            return;
    }
}

/* How long a call lasts by now. Who is told to be alive at the end goes on, and may begin another call between the look at
 * the clock and at the call: that one has lasted nothing. */
static __always_inline u64 lasts(struct task_state *t, u64 now)
{
    u64 began = t->began;
    return now > began ? now - began : 0;
}

/* What of it was on a CPU. */
static __always_inline u64 ran_within(struct task_state *t, u64 now)
{
    u64 all = lasts(t, now), not_running = t->blocked + t->runnable;
    return all > not_running ? all - not_running : 0;
}

/* How a call was over. */
enum ending { RETURNED, DIED, GOING_ON };

static __always_inline void count(struct task_struct *task, struct task_state *t, u64 now, long result,
                                  enum ending ending)
{
    if (ending == RETURNED && settings.call_times && !t->file_number && has_path(t->file))
        may_give_number(lasts(t, now));
    u32 call = CALL_AND_FILE(t->call, t->file, t->file_number);
    long error = result < 0 && result >= -4095 ? -result : 0;
    struct cell *cell = cell_of(group_of(task, t), call);
    if (cell) {
        add(&cell->entered, 1);
        if (t->found)
            add(&cell->begun_before, 1);
        if (ending != RETURNED)
            add(&cell->not_returned, 1);
        if (ending == GOING_ON)
            add(&cell->going_on, 1);
        if (ending != DIED && settings.call_times) {
            u64 total = lasts(t, now);
            add(&cell->total, total);
            add(&cell->blocked, t->blocked);
            add(&cell->runnable, t->runnable);
            raise(&cell->max, total);
            if (error)
                add(&cell->failed, total);
            if (ending == RETURNED) {
                u64 bucket = log2_of(total);
                if (bucket >= BUCKETS)
                    bucket = BUCKETS - 1;
                barrier_var(bucket); /* see goes_on() */
                if (bucket < BUCKETS)
                    add(&cell->histogram[bucket], 1);
            }
        }
        /* Only of a call in the table is the kind of file known. */
        if (t->file != FILE_NONE && result > 0) {
            /* Here, so that it stays in a register: the verifier loses the bounds of an index on the stack. */
            u64 at = t->call & (SYSCALLS - 1);
            barrier_var(at); /* see goes_on() */
            if (settings.transfer[at] == TRANSFERS_BYTES)
                add(&cell->bytes, result);
        }
    }
    if (error)
        count_error(group_of(task, t), call, error);
    t->found = 0;
}

/* Reads a path of the caller; its length without the zero, 0 when it could not be read. Read after the call, when the
 * kernel itself has just read it: a page that is not in memory cannot be fetched from here. */
static __always_inline u64 read_path(char *to, u64 from)
{
    long n = bpf_probe_read_user_str(to, PATH_BYTES, (void *)from);
    if (n <= 1) {
        if (n < 0)
            LOST(string);
        return 0;
    }
    return n - 1;
}

static __always_inline void send_call(struct task_struct *task, struct task_state *t, u64 now, long result, bool returned)
{
    u32 zero = 0;
    struct call_and_path *s = bpf_map_lookup_elem(&call_scratch, &zero);
    if (!s)
        return;
    u32 number = t->call & ~COMPAT;
    fill(&s->call.head, RECORD_CALL, now, number_of(task, t), 0, 0);
    s->call.began = t->began;
    __builtin_memcpy(s->call.args, t->args, sizeof(t->args));
    s->call.result = result;
    s->call.returned = returned;
    s->call.runnable = t->runnable;
    s->call.run = ran_within(t, now);
    s->call.call = t->call;
    s->call.path_bytes = 0;
    u8 path = !(t->call & COMPAT) && number < SYSCALLS ? settings.path[number] : 0;
    /* After an exec the old program's memory is gone; the record of the exec has the path. */
    bool exec = number == settings.execve || number == settings.execveat;
    u64 n = 0;
    if (path && returned && !(exec && result >= 0))
        n = read_path(s->path, t->args[(path - 1) & 3]);
    s->call.path_bytes = n;
    send_copy(s, sizeof(s->call) + (n & (PATH_BYTES - 1)));
}

/* Which argument of an exec is the path, plus one; 0: it is no exec. */
static __always_inline u32 path_of_exec(u32 call)
{
    u32 number = call & ~COMPAT;
    if (!(call & COMPAT))
        return number == settings.execve ? 1 : number == settings.execveat ? 2 : 0;
    u64 at = number & (SYSCALLS - 1);
    barrier_var(at);
    u8 compat = number < SYSCALLS ? settings.compat[at] : COMPAT_ELSE;
    return compat == COMPAT_EXECVE ? 1 : compat == COMPAT_EXECVEAT ? 2 : 0;
}

static __always_inline void send_failed_exec(struct task_struct *task, struct task_state *t, u64 now, u32 error, u64 path)
{
    u32 zero = 0;
    struct failed_and_path *s = bpf_map_lookup_elem(&failed_scratch, &zero);
    if (!s)
        return;
    fill(&s->failed.head, RECORD_EXEC_FAILED, now, number_of(task, t), error, 0);
    u64 n = read_path(s->path, path);
    s->failed.path_bytes = n;
    send_copy(s, sizeof(s->failed) + (n & (PATH_BYTES - 1)));
}

#define SIGKILL_BIT (1ul << 8)
/* What a call returns that a signal interrupted, before the kernel decides whether to restart it (linux/errno.h). */
#define INTERRUPTED(result) ((result) <= -512 && (result) >= -516)

SEC("tp_btf/sys_exit")
int BPF_PROG(call_ends, struct pt_regs *regs, long result)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct task_state *t = active(task);
    /* Without a beginning: a child's way out of the fork that made it, or a call that began before it was followed. */
    if (!t || !t->in_call)
        return 0;
    u64 now = settings.call_times ? bpf_ktime_get_ns() : 0;
    if (settings.call_times && t->place != PLACE_RUNNING)
        heal(task, t, now);
    /* A deadly signal is pending: this way out does not lead back to the program (complete_signal() gives every
     * thread a SIGKILL, whichever signal it was). */
    if (INTERRUPTED(result) && (task->pending.signal.sig[0] & SIGKILL_BIT))
        return 0;
    long error = result < 0 && result >= -4095 ? -result : 0;
    u32 number = t->call & ~COMPAT;
    count(task, t, now, result, RETURNED);
    t->returned++;
    if (settings.call_times)
        t->call_run += ran_within(t, now);
    if (t->starting && startup_class(t) != STARTUP_NOTHING)
        startup_after(now, error != 0);
    if (settings.each_call)
        send_call(task, t, now, result, true);
    u32 path = error ? path_of_exec(t->call) : 0;
    if (path) {
        __sync_fetch_and_add(&tree.failed_execs, 1);
        send_failed_exec(task, t, now ? now : bpf_ktime_get_ns(), error, path == 1 ? t->args[0] : t->args[1]);
    }
    if (number == settings.setaffinity && !error && settings.scheduling)
        send_allowed(now ? now : bpf_ktime_get_ns(), task, number_of(task, t));
    t->in_call = 0;
    return 0;
}

/* The call that a task dies in, or is still in when the observation ends. */
static __always_inline void count_unfinished(struct task_struct *task, struct task_state *t, u64 now,
                                             enum ending ending)
{
    if (!t->in_call)
        return;
    count(task, t, now, 0, ending);
    if (settings.each_call)
        send_call(task, t, now, 0, false);
    if (settings.call_times)
        t->call_run += ran_within(t, now);
    t->in_call = 0;
}
