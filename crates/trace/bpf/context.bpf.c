/* In which context does a CPU work: a soft or hard interrupt, a timer, a function of a kernel worker? */

#include "state.h"

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_begins, unsigned int number)
{
    struct cpu_state *cpu = this_cpu();
    if (cpu)
        cpu->softirq = number + 1;
    return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_ends, unsigned int number)
{
    struct cpu_state *cpu = this_cpu();
    if (cpu)
        cpu->softirq = 0;
    return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(hardirq_begins)
{
    struct cpu_state *cpu = this_cpu();
    if (cpu)
        cpu->hardirq = 1;
    return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(hardirq_ends)
{
    struct cpu_state *cpu = this_cpu();
    if (cpu)
        cpu->hardirq = 0;
    return 0;
}

/* Of all architectures alike; the local timer's own tracepoints are x86's. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(timer_begins)
{
    struct cpu_state *cpu = this_cpu();
    if (cpu)
        cpu->timer = 1;
    return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(timer_ends)
{
    struct cpu_state *cpu = this_cpu();
    if (cpu)
        cpu->timer = 0;
    return 0;
}

/* Functions whose names were told already. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 4096);
    __type(key, u64);
    __type(value, u8);
} functions SEC(".maps");

/* The kernel names its functions here whoever asks; /proc/kallsyms hides them from most users. */
static __always_inline void tell_function(u64 function, u64 now)
{
    u8 one = 1;
    if (bpf_map_lookup_elem(&functions, &function))
        return;
    struct function_record *r = RESERVE(sizeof(*r));
    if (!r)
        return;
    fill(&r->head, RECORD_FUNCTION, now, 0, 0, 0);
    r->function = function;
    if (bpf_snprintf(r->name, sizeof(r->name), "%ps", &function, sizeof(function)) < 0)
        r->name[0] = 0;
    submit(r);
    bpf_map_update_elem(&functions, &function, &one, BPF_ANY);
}

SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(work_begins, struct work_struct *work)
{
    u64 now = bpf_ktime_get_ns();
    u64 function = (u64)work->func;
    tell_function(function, now);
    struct work_record *r = RESERVE(sizeof(*r));
    if (!r)
        return 0;
    fill(&r->head, RECORD_WORK, now, (u32)bpf_get_current_pid_tgid(), 0, 0);
    r->function = function;
    submit(r);
    return 0;
}

SEC("tp_btf/workqueue_execute_end")
int BPF_PROG(work_ends)
{
    send_small(RECORD_WORK_END, bpf_ktime_get_ns(), (u32)bpf_get_current_pid_tgid(), 0, 0);
    return 0;
}
