/* Who of the tree is there: when a running tree is taken up, and when the observation ends? */

#include "files.h"
#include "forks.h"
#include "ours.h"

struct found_and_mask {
    struct found_record found;
    struct fork_and_mask fork;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct found_and_mask);
} fork_scratch SEC(".maps");

/* Taken up while it sleeps in a call, whose beginning nobody saw: from then on that is a call like any other. Who runs may
 * be anywhere, and its registers tell nothing. One that was on a CPU since has come back to its sleep later. */
static __always_inline void find_call(struct task_struct *task, struct task_state *t, u64 from)
{
    if (t->in_call || t->entered || !(task->__state & (TASK_INTERRUPTIBLE | TASK_UNINTERRUPTIBLE)) ||
        !bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
        return;
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
    s32 number = NUMBER_OF_CALL(regs);
    if (number < 0)
        return;
    bool compat = IS_COMPAT(task);
    t->call = (u32)number | (compat ? COMPAT : 0);
    t->file = FILE_NONE;
    t->file_number = 0;
    if (!compat && (u32)number < SYSCALLS && settings.transfer[(u32)number])
        note_file(task, t, FIRST_ARGUMENT(regs, compat));
    ARGUMENTS(t->args, regs, compat);
    t->began = from;
    t->blocked = 0;
    t->runnable = 0;
    t->place = PLACE_BLOCKED;
    t->since = from;
    t->found = 1;
    t->entered++;
    t->in_call = 1;
}

/* Threads begin with the mode of the first task of their process, which is all that a reader can name before Linux 6.9
 * (pidfd_open(2), PIDFD_THREAD). Tells the numbers of those that are followed from here on. */
SEC("iter/task")
int threads_join(struct bpf_iter__task *ctx)
{
    struct task_struct *task = ctx->task;
    note_reader();
    if (!task || task->pid == task->tgid || state_of(task))
        return 0;
    struct task_state *first = state_of(task->group_leader);
    u32 mode = first ? first->mode : 0;
    if (mode != MODE_ACTIVE && mode != MODE_TOOL)
        return 0;
    struct task_state *t = bpf_task_storage_get(&tasks, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!t) {
        if (mode == MODE_ACTIVE)
            LOST(storage);
        return 0;
    }
    t->since = bpf_ktime_get_ns();
    t->shares = 1;
    u32 number = task->pid;
    if (!__sync_val_compare_and_swap(&t->mode, 0, mode) && mode == MODE_ACTIVE)
        bpf_seq_write(ctx->meta->seq, &number, sizeof(number));
    return 0;
}

/* Taken up while it runs: told like a new task, without a parent. */
SEC("iter/task")
int who_was_taken_up(struct bpf_iter__task *ctx)
{
    struct seq_file *seq = ctx->meta->seq;
    struct task_struct *task = ctx->task;
    u32 zero = 0;
    if (!task)
        return 0;
    struct task_state *t = active(task);
    struct found_and_mask *s = bpf_map_lookup_elem(&fork_scratch, &zero);
    if (!t || !s)
        return 0;
    if (!still_ours(task, t)) {
        u32 why = not_ours(task);
        if (why) {
            if (claim(t, MODE_SKIPPED))
                send_skipped(task, t, number_of(task, t), bpf_ktime_get_ns(), why, !claim_beginning(t));
            return 0;
        }
        t->vetted = (u64)task->real_cred;
    }
    if (!claim_beginning(t))
        return 0;
    t->mask = mask_of(task);
    u64 from = tree.taken_up;
    find_call(task, t, t->since > from ? t->since : from);
    __sync_fetch_and_add(&tree.alive, 1);
    s->found.above = BPF_CORE_READ(task, real_parent, tgid);
    s->found.process_here = number_here(BPF_CORE_READ(task, group_leader));
    s->found.task_here = number_here(task);
    s->found.unused = 0;
    fill_fork(&s->fork.fork, from, task, number_of(task, t), 0);
    look_up_pipes(&s->fork.fork.pipes, task);
    bpf_seq_write(seq, s, sizeof(s->found) + sizeof(s->fork.fork) + settings.mask_words * 8);
    return 0;
}

SEC("iter/task")
int who_is_alive(struct bpf_iter__task *ctx)
{
    struct seq_file *seq = ctx->meta->seq;
    struct task_struct *task = ctx->task;
    if (!task)
        return 0;
    struct task_state *t = active(task);
    if (!t)
        return 0;
    struct task_state *first = task->pid == task->tgid ? 0 : state_of(task->group_leader);
    u32 number = number_of(task, t);
    if (!claim(t, MODE_GONE))
        return 0;
    u64 now = bpf_ktime_get_ns();
    struct end_record r = {};
    if (!t->based) {
        read_totals(&t->base, task);
        t->based = 1;
    }
    if (t->place == PLACE_BLOCKED)
        t->blocked += now - t->since;
    else if (t->place == PLACE_RUNNABLE)
        t->runnable += now - t->since;
    if (t->starting)
        end_startup(task, t, now);
    count_unfinished(task, t, now, GOING_ON);
    count_end(task, t, false, number);
    /* The first task of its process is gone, but not the process. */
    if (first && first->counted) {
        first->counted = 0;
        __sync_fetch_and_add(&tree.exits, -1ull);
    }
    fill(&r.head, RECORD_END, now, number, 0, 0);
    r.head.cpu = cpu_of(task);
    r.process = task->tgid;
    r.alive = 1;
    totals_since(&r.totals, task, t, run_so_far(task, t, now));
    bpf_seq_write(seq, &r, sizeof(r));
    return 0;
}
