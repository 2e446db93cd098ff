/* When was a key of the terminal pressed that interrupts the tree? */

#include "state.h"

#define SIGINT 2
#define SIGQUIT 3
/* In place of what a sender would say: the kernel itself sends it, as it does for the terminal (SEND_SIG_PRIV in
 * include/linux/sched/signal.h). */
#define BY_KERNEL 1
#define DELIVERED 0 /* TRACE_SIGNAL_DELIVERED in include/trace/events/signal.h; anything else is ignored or pending already */
/* One key goes to all of the group, one after another. */
#define ONE_KEY_NS 50000000

/* The kernel passes here just behind the wake-up (__send_signal_locked), with interrupts off in between: a few
 * microseconds, and this is far more. What the tree did within it counts as done after the key. */
#define BEHIND_WAKE_UP_NS 100000

SEC("tp_btf/signal_generate")
int BPF_PROG(signal_sent, int number, u64 by, struct task_struct *task, int group, int result)
{
    if ((number != SIGINT && number != SIGQUIT) || by != BY_KERNEL || result != DELIVERED || !active(task))
        return 0;
    u64 now = bpf_ktime_get_ns();
    if (now - tree.interrupted > ONE_KEY_NS)
        tree.interrupted = now - BEHIND_WAKE_UP_NS;
    return 0;
}
