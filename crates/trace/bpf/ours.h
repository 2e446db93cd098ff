/* May the caller observe a task? The capabilities that let a program be loaded are those of whyfaster's file, and not of
 * whoever executes it: so a caller without CAP_SYS_PTRACE observes what the kernel would let it look into without any
 * (PTRACE_MODE_READ_REALCREDS, the check of perf_event_open(2); __ptrace_may_access() in kernel/ptrace.c).
 */
#pragma once

#include "state.h"

static __always_inline bool is_dumpable(struct task_struct *task)
{
    if (bpf_core_field_exists(task->exec_state))
        return task->exec_state->dumpable == TASK_DUMPABLE_OWNER;
    struct mm_struct *mm = task->mm;
    /* It is on its way out, and has no memory any more. */
    if (!mm)
        return true;
    struct mm_struct___since_6_18 *later = (void *)mm;
    if (bpf_core_field_exists(later->flags))
        return (later->flags.words[0] & DUMPABLE_MASK) == DUMPABLE_BY_OWNER;
    /* A kernel that keeps it elsewhere tells nothing, and nothing of a task is shown then. */
    return bpf_core_field_exists(mm->flags) && (mm->flags & DUMPABLE_MASK) == DUMPABLE_BY_OWNER;
}

/* The first check of a task, or one after its credentials changed: eleven reads of the kernel's memory. */
static __always_inline u32 not_ours(struct task_struct *task)
{
    const struct cred *cred = task->real_cred;
    struct number_of_user ids[6] = {}, owner = {};
    struct set_of_capabilities has = {};
    struct user_namespace *namespace = 0;
    int level = 0;
    bpf_core_read(&namespace, sizeof(namespace), &cred->user_ns);
    bpf_core_read(&level, sizeof(level), &namespace->level);
    bpf_core_read(&owner, sizeof(owner), &namespace->owner);
    if (level == 1 && owner.value == settings.uid)
        /* Whoever made a namespace has all capabilities in it: cap_capable() in security/commoncap.c. Deeper ones are not
         * looked into. */
        return is_dumpable(task) ? OURS : NOT_DUMPABLE;
    if (level)
        return OF_OTHER_NAMESPACE;
    bpf_core_read(&ids[0], sizeof(ids[0]), &cred->uid);
    bpf_core_read(&ids[1], sizeof(ids[1]), &cred->euid);
    bpf_core_read(&ids[2], sizeof(ids[2]), &cred->suid);
    bpf_core_read(&ids[3], sizeof(ids[3]), &cred->gid);
    bpf_core_read(&ids[4], sizeof(ids[4]), &cred->egid);
    bpf_core_read(&ids[5], sizeof(ids[5]), &cred->sgid);
    bpf_core_read(&has, sizeof(has), &cred->cap_permitted);
    if (ids[0].value != settings.uid || ids[1].value != settings.uid || ids[2].value != settings.uid ||
        ids[3].value != settings.gid || ids[4].value != settings.gid || ids[5].value != settings.gid)
        return OF_OTHER_USER;
    if (has.bits & settings.lacks)
        return MORE_CAPABLE;
    return is_dumpable(task) ? OURS : NOT_DUMPABLE;
}

/* Whether a followed task is as it was when it was checked: credentials never change in place. An exec exchanges them a while before it
 * is seen, so what it brings is checked even where own code began it. */
static __always_inline bool still_ours(struct task_struct *task, struct task_state *t)
{
    if (!settings.restricted)
        return true;
    return t->vetted == (u64)task->real_cred && (t->own_code || is_dumpable(task));
}

static __always_inline void send_skipped(struct task_struct *task, struct task_state *t, u32 number, u64 now, u32 why,
                                         bool told)
{
    __sync_fetch_and_add(&tree.skipped, 1);
    if (!t->based)
        read_totals(&t->base, task);
    struct skipped_record *r = RESERVE(sizeof(*r));
    if (!r)
        return;
    fill(&r->head, RECORD_SKIPPED, now, number, told, why);
    r->process = task->tgid;
    r->unused = 0;
    copy_name(r->name, task);
    totals_since(&r->totals, task, t, run_so_far(task, t, now));
    submit(r);
}

/* Defined below what it needs. */
int vet(void);

/* Whether the running task, which is followed, is the caller's to observe; if not, it is followed no more. */
static __always_inline bool ours(struct task_struct *task, struct task_state *t)
{
    return still_ours(task, t) || vet();
}
