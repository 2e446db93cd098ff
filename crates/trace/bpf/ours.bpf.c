/* Which task of the tree is not the caller's to observe, and leaves it? */

#include "ours.h"

/* Checks the running task. Where it may not be observed, it is told as skipped, and from here on like any task outside of the
 * tree. Neither inlined nor static, so that the verifier looks at it once. */
__attribute__((noinline)) int vet(void)
{
    struct task_struct *task = bpf_get_current_task_btf();
    struct task_state *t = active(task);
    if (!t)
        return 0;
    /* Own code is the caller's to observe with the credentials that it began with. */
    bool begins = t->own_code && !t->vetted;
    u32 why = begins ? OURS : not_ours(task);
    if (!why) {
        t->own_code = begins;
        t->vetted = (u64)task->real_cred;
        return 1;
    }
    u64 now = bpf_ktime_get_ns();
    u32 number = number_of(task, t);
    if (!claim(t, MODE_SKIPPED))
        return 0;
    bool told = !claim_beginning(t);
    if (told) {
        count_unfinished(task, t, now, GOING_ON);
        count_end(task, t, false, number);
        __sync_fetch_and_add(&tree.alive, -1ull);
    }
    send_skipped(task, t, number, now, why, told);
    return 0;
}
