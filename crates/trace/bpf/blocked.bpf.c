/* On what does a task of the tree block? */

#include "files.h"

static __always_inline void send_blocked(void *ctx, struct task_struct *task, struct task_state *t, u64 now, u32 next,
                                         u8 left)
{
    struct blocked_record *r = RESERVE(sizeof(*r));
    if (!r)
        return;
    u32 number = t->call & ~COMPAT;
    fill(&r->head, RECORD_BLOCKED, now, number_of(task, t), next, left);
    r->head.flags |= settings.call_times ? FLAG_SPENT : 0;
    r->spent = time_in_calls(t, now);
    r->call = t->call;
    r->in_call = t->in_call;
    /* Outside of a call a task blocks in a page fault, unless it is on its way out or stopped by a signal. */
    r->fault = !t->in_call && !t->exiting && !(task->flags & PF_EXITING) && left != LEFT_STOPPED;
    r->io = BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait);
    r->file = FILE_NONE;
    r->inode = 0;
    r->bitset = 0;
    r->unused = 0;
    bool compat = t->call & COMPAT;
    u8 of_compat = compat && number < SYSCALLS ? settings.compat[number] : COMPAT_ELSE;
    bool of_native = !compat && number < SYSCALLS && settings.descriptor[number];
    if (t->in_call && (of_native || of_compat == COMPAT_DESCRIPTOR))
        note_blocking_file(r, t, (u32)t->args[0]);
    bool lock = t->in_call && (t->call == settings.futex || of_compat == COMPAT_FUTEX);
    if (lock) {
        u32 op = t->args[1] & FUTEX_CMD_MASK;
        r->bitset = op == FUTEX_WAIT_BITSET || op == FUTEX_WAIT_REQUEUE_PI;
        lock = !r->bitset;
    }
    submit(r);
    if (settings.blocking_stacks == STACKS_OF_ALL)
        send_stack(ctx, task, t, now, 1);
    else if (settings.blocking_stacks == STACKS_OF_LOCKS && lock)
        send_lock_stack(ctx, task, t, now);
}
