/* Where in its code is a task, when the clock ticks or when it blocks? */

#include "ours.h"

struct stack_and_frames {
    struct stack_record stack;
    u64 frames[2 * STACK_FRAMES + 2];
};

/* Two on each CPU: the clock's interrupt may come while a blocking task's stack is being taken. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 2);
    __type(key, u32);
    __type(value, struct stack_and_frames);
} stack_scratch SEC(".maps");

static __always_inline void send_stack(void *ctx, struct task_struct *task, struct task_state *t, u64 now, u32 blocking)
{
    struct stack_and_frames *s = bpf_map_lookup_elem(&stack_scratch, &blocking);
    if (!s)
        return;
    bool whole = blocking && settings.blocking_stacks == STACKS_OF_ALL;
    long kernel = bpf_get_stack(ctx, s->frames, (whole ? STACK_FRAMES : settings.kernel_frames) * 8, 0);
    if (kernel < 0)
        kernel = 0;
    u64 offset = (u64)kernel & 0x3ff; /* up to 1016 bytes */
    u32 most = (whole ? STACK_FRAMES : settings.user_frames) * 8;
    long user = bpf_get_stack(ctx, (char *)s->frames + offset, most, BPF_F_USER_STACK);
    if (user < 0)
        user = 0;
    if (!kernel && !user) {
        LOST(stack);
        return;
    }
    fill(&s->stack.head, RECORD_STACK, now, number_of(task, t), 0, blocking);
    s->stack.process = task->tgid;
    s->stack.kernel_frames = kernel / 8;
    s->stack.user_frames = user / 8;
    s->stack.group = t->group;
    s->stack.in_call = t->in_call || t->exiting || (task->flags & PF_EXITING);
    s->stack.starting = t->starting;
    s->stack.run = t->starting ? run_so_far(task, t, now) - t->exec_run : 0;
    send_copy(s, sizeof(s->stack) + offset + ((u64)user & 0x3ff));
}

/* As often as the clock would, at most: who waits for a lock a million times a second is asked a thousand times. */
#define LOCK_STACKS_APART_NS 1000000

static __always_inline void send_lock_stack(void *ctx, struct task_struct *task, struct task_state *t, u64 now)
{
    struct cpu_state *cpu = this_cpu();
    if (!cpu || now - cpu->lock_stack < LOCK_STACKS_APART_NS)
        return;
    cpu->lock_stack = now;
    send_stack(ctx, task, t, now, 1);
    cpu->sampling += bpf_ktime_get_ns() - now;
}

SEC("perf_event")
int clock_ticks(void *ctx)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct task_state *t = active(task);
    /* Within an interrupt nothing else is done about one that is not. */
    if (!t || (!still_ours(task, t) && not_ours(task)))
        return 0;
    u64 now = bpf_ktime_get_ns();
    send_stack(ctx, task, t, now, 0);
    struct cpu_state *cpu = this_cpu();
    if (cpu) {
        cpu->samples++;
        cpu->sampling += bpf_ktime_get_ns() - now;
    }
    return 0;
}
