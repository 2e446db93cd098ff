/* Who runs where, who waits for a CPU, who woke whom? */

#include "state.h"

/* `wanted` is the state that the task wanted when it called the scheduler. A signal that came in between makes it run on, which
 * older kernels tell in its state `now` only. Neither inlined nor static: see state.h. */
__attribute__((noinline)) int left_state(u64 wanted, u64 now, u32 preempted)
{
    if (wanted & TASK_DEAD)
        return LEFT_DEAD;
    if (preempted || !wanted || !now)
        return LEFT_RUNNABLE;
    if (wanted & TASK_STOPPED_OR_TRACED)
        return LEFT_STOPPED;
    return wanted & TASK_INTERRUPTIBLE ? LEFT_SLEEPING : LEFT_UNINTERRUPTIBLE;
}

/* A task gets a CPU. */
static __always_inline void arrives(struct task_struct *task, struct task_state *t, u64 now)
{
    if (!t->based && t->mode == MODE_ACTIVE) {
        read_totals(&t->base, task);
        t->based = 1;
    }
    if (t->place == PLACE_RUNNABLE)
        t->runnable += now - t->since;
    else if (t->place == PLACE_BLOCKED)
        t->blocked += now - t->since;
    t->place = PLACE_RUNNING;
    t->healed = 0;
    t->since = now;
    t->run_in = task->se.sum_exec_runtime;
}

/* The turn on the CPU that ends now, by the clock and by the scheduler's account. The scheduler leaves out what the
 * hypervisor took (rq_clock_task(), CONFIG_PARAVIRT_TIME_ACCOUNTING). It counts switches too, so that one that was not
 * seen within the turn is not taken for that. */
static __always_inline void compare_turn(struct task_struct *task, struct task_state *t, u64 now)
{
    u64 unseen = task->nvcsw + task->nivcsw - t->switches - 1;
    u64 turn = now - t->since, ran = task->se.sum_exec_runtime - t->run_in;
    if (t->switches && unseen && unseen < 1 << 20) {
        struct cpu_state *cpu = this_cpu();
        if (cpu)
            cpu->lost.gaps += unseen;
        if (turn > ran)
            t->unseen += turn - ran;
    } else {
        /* Of either sign: stolen time is taken off when the kernel next reads its clock, perhaps in the next turn, and
         * what is stolen between that reading and the tracepoint shows in the one turn and is made up for in the other
         * (update_rq_clock_task(), kernel/sched/core.c). Only the sum over the turns is an amount. */
        t->stolen += turn - ran;
    }
}

/* A task of the tree begins to wait for a CPU: for a CPU quota? Whichever group it is in by now, for a command may have
 * moved to another one. */
static __always_inline bool throttled(struct task_struct *task)
{
    if (!bpf_core_field_exists(struct sched_entity, cfs_rq) || !bpf_core_field_exists(struct cfs_rq, throttle_count))
        return false;
    if (BPF_CORE_READ(task, se.cfs_rq, throttle_count) <= 0)
        return false;
    __sync_fetch_and_add(&tree.throttled, 1);
    return true;
}

/* A task leaves its CPU. */
static __always_inline void leaves(struct task_struct *task, struct task_state *t, u64 now, u8 left)
{
    if (!t->based && t->mode == MODE_ACTIVE) {
        /* Followed while it ran: of this turn on the CPU, only what came after that is ours. */
        u64 turn = task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime;
        u64 ours = now - t->since;
        read_totals(&t->base, task);
        t->base.run -= turn < ours ? turn : ours;
        t->based = 1;
    }
    if (t->place != PLACE_RUNNING)
        heal(task, t, now);
    else if (!t->healed)
        compare_turn(task, t, now);
    t->run_out = task->se.sum_exec_runtime;
    t->switches = task->nvcsw + task->nivcsw;
    t->place = left == LEFT_RUNNABLE ? PLACE_RUNNABLE : PLACE_BLOCKED;
    t->since = now;
    if (bpf_core_field_exists(task->sched_info.run_delay))
        t->delay_out = task->sched_info.run_delay;
}

/* How far back a record may lie. Less than SORTED_AFTER_NS, for which the reader keeps what came later: behind that it
 * would count as lost, and a turn on a CPU that nobody else wants has no end. */
#define MOST_BACK_NS 20000000

/* What came between the last switch of this CPU and this one was not seen: the task that leaves now was not the one
 * that came then. It is told to have the CPU from where the kernel's account says; who had it until then is not known. That
 * account goes from where the task was last seen to leave: `prev_sum_exec_runtime` is set anew within a turn, too, when a
 * running task changes its group or its priority, and every task does as it ends (sched_autogroup_exit_task()). */
static __always_inline void mend(struct cpu_state *cpu, struct task_struct *prev, struct task_state *p, u32 prev_number, u64 now)
{
    cpu->lost.gaps++;
    if (!settings.scheduling)
        return;
    u64 from = prev->se.prev_sum_exec_runtime;
    barrier_var(from); /* see heal() */
    if (p && p->switches)
        from = p->run_out;
    u64 turn = prev->pid ? prev->se.sum_exec_runtime - from : 0;
    u64 since = now - cpu->switched_at;
    u64 back = turn < since ? turn : since;
    u64 at = now - (back < MOST_BACK_NS ? back : MOST_BACK_NS);
    send_small(RECORD_SWITCH, at, prev_number, prev_number, LEFT_RUNNABLE);
}

static __always_inline void send_end(u64 now, struct task_struct *task, struct task_state *t, u32 number)
{
    struct end_record *r = RESERVE(sizeof(*r));
    if (!r)
        return;
    fill(&r->head, RECORD_END, now, number, 0, 0);
    r->process = task->tgid;
    r->alive = 0;
    r->exit_code = task->exit_code;
    r->unused = 0;
    totals_since(&r->totals, task, t, task->se.sum_exec_runtime);
    submit(r);
}

/* The last switch, not sched_process_exit: that comes before the memory is given back, which is up to a third of the
 * time of a short process. */
static __always_inline void ends(struct task_struct *task, struct task_state *t, u64 now)
{
    u32 number = number_of(task, t);
    if (!claim(t, MODE_GONE))
        return;
    count_unfinished(task, t, now, DIED);
    if (t->exiting)
        t->call_run += now - t->began - t->blocked - t->runnable;
    count_end(task, t, true, number);
    if (claim_beginning(t)) /* taken up while it ran, and gone before that was told */
        send_fork(now, task, 0, 0);
    else
        __sync_fetch_and_add(&tree.alive, -1ull);
    send_end(now, task, t, number);
}

/* Tells the name of a task outside of the tree, once. */
static __always_inline void introduce(u64 now, struct task_struct *task, struct task_state *t)
{
    u32 slot = task->pid & 4095;
    u64 *known = bpf_map_lookup_elem(&named, &slot);
    u64 identity = task->start_time ^ ((u64)task->pid << 40);
    if (!known || *known == identity)
        return;
    *known = identity;
    send_name(now, task, task->pid, kind_of(task, t));
}

static __always_inline void notice_mask(struct task_struct *task, struct task_state *t, u64 now)
{
    u64 mask = mask_of(task);
    if (t->mask == mask)
        return;
    t->mask = mask;
    send_allowed(now, task, number_of(task, t));
}

static __always_inline bool is_or_will_be_followed(struct task_state *t)
{
    return t->mode == MODE_ACTIVE || t->mode == MODE_HELD;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(cpu_switches, bool preempted, struct task_struct *prev, struct task_struct *next)
{
    struct cpu_state *cpu = this_cpu();
    if (!cpu)
        return 0;
    u64 state = settings.state_argument ? (u32)ctx[3] : prev->__state;
    u64 now = bpf_ktime_get_ns();
    struct task_state *p = prev->pid ? state_of(prev) : 0;
    struct task_state *n = next->pid ? state_of(next) : 0;
    u32 out = number_of(prev, p), in = number_of(next, n);
    u8 left = left_state(state, prev->__state, preempted), told = left;
    bool of_tree = p && p->mode == MODE_ACTIVE;
    if (cpu->known && cpu->next != out)
        mend(cpu, prev, p, out, now);
    bool first = !cpu->known;
    cpu->known = 1;
    cpu->next = in;
    cpu->switched_at = now;
    /* Nobody switches within an interrupt. */
    cpu->softirq = cpu->hardirq = cpu->timer = 0;
    if (p && is_or_will_be_followed(p))
        leaves(prev, p, now, left);
    if (settings.scheduling) {
        if (first && prev->pid && !of_tree)
            introduce(now, prev, p);
        if (next->pid && !(n && n->mode == MODE_ACTIVE))
            introduce(now, next, n);
        if (of_tree)
            notice_mask(prev, p, now);
        if (of_tree && left == LEFT_RUNNABLE && throttled(prev))
            told = LEFT_THROTTLED;
        if (of_tree && left != LEFT_RUNNABLE && left != LEFT_DEAD && !ours(prev, p))
            of_tree = false;
        if (of_tree && left != LEFT_RUNNABLE && left != LEFT_DEAD)
            send_blocked(ctx, prev, p, now, in, left);
        else if (of_tree && settings.call_times)
            send_spent(RECORD_SWITCH, now, out, in, told, time_in_calls(p, now));
        else
            send_small(RECORD_SWITCH, now, out, in, told);
    }
    if (of_tree && left == LEFT_DEAD)
        ends(prev, p, now);
    if (n && is_or_will_be_followed(n))
        arrives(next, n, now);
    return 0;
}

/* Run once on each CPU when the observation begins, so that it is known who runs there. */
SEC("raw_tp/sched_switch")
int who_runs_here(void *ctx)
{
    struct cpu_state *cpu = this_cpu();
    struct task_struct *task = bpf_get_current_task_btf();
    if (!cpu || !settings.scheduling)
        return 0;
    u64 now = bpf_ktime_get_ns();
    if (task->pid)
        introduce(now, task, state_of(task));
    cpu->known = 1;
    cpu->next = task->pid;
    cpu->switched_at = now;
    send_small(RECORD_SWITCH, now, task->pid, task->pid, LEFT_RUNNABLE);
    return 0;
}

static __always_inline void now_runnable(struct task_state *t, u64 now)
{
    if (t->place != PLACE_BLOCKED)
        return;
    t->blocked += now - t->since;
    t->place = PLACE_RUNNABLE;
    t->since = now;
}

/* A packet to this machine itself is delivered before the call that sent it goes on (loopback_xmit() queues it, and the soft
 * interrupt runs when __dev_queue_xmit() lets it): so a task of the tree that is within a call on a socket sent it, or gave
 * room to who had to wait (an acknowledgement). A packet from outside that comes just then looks the same. */
static __always_inline bool sends(void)
{
    struct task_state *t = active(bpf_get_current_task_btf());
    return t && t->in_call && t->file == FILE_SOCKET;
}

static __always_inline u8 this_context(void)
{
    struct cpu_state *cpu = this_cpu();
    if (!cpu)
        return CONTEXT_TASK;
    if (cpu->timer)
        return CONTEXT_TIMER;
    if (cpu->hardirq)
        return CONTEXT_HARDIRQ;
    switch (cpu->softirq) { /* include/linux/interrupt.h, plus one */
    case 0:
        break;
    case 2:
        return CONTEXT_SOFTIRQ_TIMER;
    case 3:
    case 4:
        return sends() ? CONTEXT_SENT : CONTEXT_SOFTIRQ_NET;
    case 5:
        return CONTEXT_SOFTIRQ_BLOCK;
    default:
        return CONTEXT_SOFTIRQ_OTHER;
    }
    /* The idle task wakes nobody by itself: an interrupt without a tracepoint of its own did. */
    return (u32)bpf_get_current_pid_tgid() ? CONTEXT_TASK : CONTEXT_HARDIRQ;
}

static __always_inline void send_wake(struct task_struct *task, struct task_state *t, u64 now)
{
    if (!settings.scheduling)
        return;
    u8 context = this_context();
    if ((context == CONTEXT_TASK || context == CONTEXT_SENT) && settings.call_times) {
        struct task_struct *waker = bpf_get_current_task_btf();
        struct task_state *w = active(waker);
        if (w) {
            if (w->place != PLACE_RUNNING)
                heal(waker, w, now);
            send_spent(RECORD_WAKE, now, number_of(task, t), number_of(waker, w), context, time_in_calls(w, now));
            return;
        }
    }
    send_small(RECORD_WAKE, now, number_of(task, t), (u32)bpf_get_current_pid_tgid(), context);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(task_wakes, struct task_struct *task)
{
    u64 now = bpf_ktime_get_ns();
    struct task_state *t = state_of(task);
    if (t)
        now_runnable(t, now);
    send_wake(task, t, now);
    return 0;
}

static __always_inline void send_queued(struct task_struct *task, struct task_state *t, u64 now)
{
    if (!settings.scheduling)
        return;
    if (t && t->mode == MODE_ACTIVE)
        throttled(task);
    send_small(RECORD_QUEUED, now, number_of(task, t), cpu_of(task), 0);
}

/* Comes after the CPU was chosen; and after sched_waking when that came before the task had gone to sleep. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(task_queued, struct task_struct *task)
{
    u64 now = bpf_ktime_get_ns();
    struct task_state *t = state_of(task);
    if (t)
        now_runnable(t, now);
    send_queued(task, t, now);
    return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(new_task_queued, struct task_struct *task)
{
    u64 now = bpf_ktime_get_ns();
    struct task_state *t = state_of(task);
    if (t)
        now_runnable(t, now);
    send_wake(task, t, now);
    send_queued(task, t, now);
    return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(task_migrates, struct task_struct *task, int to)
{
    send_small(RECORD_MIGRATE, bpf_ktime_get_ns(), number_of(task, state_of(task)), cpu_of(task) << 16 | (to & 0xffff), 0);
    return 0;
}
