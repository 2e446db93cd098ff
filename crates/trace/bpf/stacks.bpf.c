/* Where in its code is a task, when the clock ticks or when it blocks? */

#include "ours.h"

/* A page, the smallest that there is: memory up to its end is there or is not. */
#define PAGE 4096

struct stack_and_frames {
    struct stack_record stack;
    u64 frames[2 * STACK_FRAMES + 2];
    u8 room_for_memory[2 * PAGE];
};

/* Two on each CPU: the clock's interrupt may come while a blocking task's stack is being taken. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 2);
    __type(key, u32);
    __type(value, struct stack_and_frames);
} stack_scratch SEC(".maps");

/* What user code has on the top of its stack, and the registers that say what it is: most libraries are built without frame pointers,
 * and there whoever reads this finds the callers. Returns how many bytes there are. Left out where the reader is behind: it is the
 * largest part of a record, and what a function was called from is worth less than an event. */
static __always_inline u64 copy_memory(struct stack_record *r, u8 *to, struct task_struct *task)
{
    if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs) || (task->flags & PF_KTHREAD) ||
        bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= settings.wake_at / 2)
        return 0;
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
    r->at = INSTRUCTION(regs);
    r->top = STACK_TOP(regs);
    r->frame = FRAME(regs);
    r->link = LINK(regs);
    /* Behind the end of its page there may be nothing. */
    u64 behind = r->top & (PAGE - 1), first = PAGE - behind;
    if (bpf_probe_read_user(to, first, (void *)r->top))
        return 0;
    if (behind && !bpf_probe_read_user(to + first, behind, (void *)(r->top + first)))
        return PAGE;
    return first;
}

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
    u64 frames = offset + ((u64)user & 0x3ff);
    u64 memory = !settings.user_memory ? 0 : copy_memory(&s->stack, (u8 *)s->frames + frames, task);
    fill(&s->stack.head, RECORD_STACK, now, number_of(task, t), 0, blocking);
    s->stack.process = number_here(BPF_CORE_READ(task, group_leader));
    s->stack.kernel_frames = kernel / 8;
    s->stack.user_frames = user / 8;
    s->stack.memory = memory;
    s->stack.group = t->group;
    struct number_of_user maker = {};
    const struct cred *cred = BPF_CORE_READ(task, real_cred);
    bpf_core_read(&maker, sizeof(maker), &cred->euid);
    s->stack.user = maker.value;
    s->stack.unused = 0;
    s->stack.in_call = t->in_call || t->exiting || (task->flags & PF_EXITING);
    s->stack.starting = t->starting;
    s->stack.run = t->starting ? on_cpu_so_far(task, t, now) - t->exec_run : 0;
    send_copy(s, sizeof(s->stack) + frames + (memory & (2 * PAGE - 1)));
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
