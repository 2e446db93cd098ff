/* Who makes whom, which programs begin, and under which name? */

#include "files.h"
#include "forks.h"
#include "ours.h"

struct exec_and_path {
    struct exec_record exec;
    char path[PATH_BYTES];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct exec_and_path);
} exec_scratch SEC(".maps");

static __always_inline void send_allowed(u64 now, struct task_struct *task, u32 number)
{
    u32 words = settings.mask_words;
    struct allowed_record *r = RESERVE(sizeof(*r) + words * 8);
    if (!r)
        return;
    fill(&r->head, RECORD_ALLOWED, now, number, 0, 0);
    r->words = words;
    bpf_probe_read_kernel(r + 1, words * 8, &task->cpus_mask);
    submit(r);
}

/* Runs before the child is woken for the first time, so nothing of it is missed. */
SEC("tp_btf/sched_process_fork")
int BPF_PROG(task_made, struct task_struct *parent, struct task_struct *child)
{
    struct task_state *p = state_of(parent);
    if (!p || (p->mode != MODE_ACTIVE && p->mode != MODE_TOOL))
        return 0;
    struct task_state *c = bpf_task_storage_get(&tasks, child, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (!c) {
        if (p->mode == MODE_ACTIVE)
            LOST(storage);
        return 0;
    }
    c->mode = p->mode;
    if (p->mode != MODE_ACTIVE)
        return 0;
    u64 now = bpf_ktime_get_ns();
    bool thread = child->tgid == parent->tgid;
    c->task = child->pid;
    c->forked = thread ? p->forked : FORKED;
    c->group = thread ? p->group : 0;
    if (BPF_CORE_READ(child, files) == BPF_CORE_READ(parent, files)) {
        c->shares = p->shares = 1;
    } else if (!p->shares) {
        c->kinds = p->kinds;
        c->low_file_numbers = p->low_file_numbers;
        c->high_file_numbers = p->high_file_numbers;
    }
    c->based = 1;
    c->announced = 1;
    /* It begins with a copy of them. */
    bool vetted = p->vetted == (u64)BPF_CORE_READ(parent, real_cred);
    c->vetted = vetted ? (u64)BPF_CORE_READ(child, real_cred) : 0;
    c->own_code = vetted && p->own_code;
    c->place = PLACE_BLOCKED; /* until it is woken for the first time */
    c->since = now;
    c->mask = mask_of(child);
    __sync_fetch_and_add(&tree.alive, 1);
    __sync_fetch_and_add(thread ? &tree.threads : &tree.forks, 1);
    if (settings.call_times && p->place != PLACE_RUNNING)
        heal(parent, p, now);
    if (!thread && p->forked == FORKED)
        lives_on();
    send_fork(now, child, number_of(parent, p), p);
    return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(program_begins, struct task_struct *task, int former, struct linux_binprm *program)
{
    u32 zero = 0;
    u64 now = bpf_ktime_get_ns();
    struct task_state *t = state_of(task);
    if (!t || t->mode != MODE_ACTIVE) {
        if (settings.scheduling)
            send_name(now, task, task->pid, kind_of(task, t));
        return 0;
    }
    if (former != task->pid) {
        /* The task that was the first one is gone, but not the process. */
        __sync_fetch_and_add(&tree.exits, -1ull);
        /* It came to this CPU under its former number, and no switch is missing when it leaves under its new one. */
        struct cpu_state *cpu = this_cpu();
        if (cpu && cpu->next == (u32)former)
            cpu->next = task->pid;
    }
    /* Its memory is another one, and its credentials may be: those of the file's owner, with a setuid bit. */
    t->vetted = 0;
    t->own_code = 0;
    if (!ours(task, t))
        return 0;
    if (settings.call_times && t->place != PLACE_RUNNING)
        heal(task, t, now); /* or the exec's end counts as off-CPU what this counts as running */
    /* Its calls count for the new program from now on, and so does the exec itself. */
    t->forked = NOT_FORKED;
    t->group = 0;
    t->task = task->pid;
    /* Some descriptors were closed, and it shares them with nobody any more. */
    forget_files(t);
    t->shares = 0;
    bool is_first = __sync_fetch_and_add(&tree.execs, 1) == 0;
    struct exec_and_path *s = bpf_map_lookup_elem(&exec_scratch, &zero);
    if (!s)
        return 0;
    fill(&s->exec.head, RECORD_EXEC, now, task->pid, former, 0);
    copy_name(s->exec.name, task);
    look_up_pipes(&s->exec.pipes, task);
    totals_since(&s->exec.so_far, task, t, run_so_far(task, t, now));
    if (t->in_call && settings.call_times)
        s->exec.so_far.call_run += now - t->began - t->blocked - t->runnable;
    begin_startup(task, t, on_cpu_so_far(task, t, now), s->exec.so_far.call_run);
    s->exec.interpreter[0] = 0;
    if (program->interp != program->filename)
        bpf_probe_read_kernel_str(s->exec.interpreter, INTERPRETER_BYTES, program->interp);
    long n = bpf_probe_read_kernel_str(s->path, PATH_BYTES, program->filename);
    if (n <= 0)
        LOST(string);
    n = n > 1 ? n - 1 : 0;
    s->exec.path_bytes = n;
    note_home(t, s->path);
    if (!send_copy(s, sizeof(s->exec) + (n & (PATH_BYTES - 1))) && is_first)
        keep_first_exec(&s->exec);
    return 0;
}

/* A task that is killed outside of any call runs in the kernel from here to its end. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(task_exits, struct task_struct *task)
{
    struct task_state *t = active(task);
    if (!t)
        return 0;
    if (t->starting)
        end_startup(task, t, bpf_ktime_get_ns());
    if (t->forked == FORKED && has_run(task, t) > OWN_WORK_AT_END_NS)
        lives_on();
    if (!t->in_call && settings.call_times) {
        t->exiting = 1;
        t->began = bpf_ktime_get_ns();
        t->blocked = 0;
        t->runnable = 0;
    }
    return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(task_renamed, struct task_struct *task, const char *name)
{
    struct task_state *t = active(task);
    if (!t)
        return 0;
    struct name_record *r = RESERVE(sizeof(*r));
    if (!r)
        return 0;
    fill(&r->head, RECORD_NAME, bpf_ktime_get_ns(), number_of(task, t), 0, KIND_TREE);
    r->process = task->tgid;
    r->unused = 0;
    __builtin_memset(r->name, 0, NAME_BYTES);
    bpf_probe_read_kernel_str(r->name, NAME_BYTES, name);
    submit(r);
    return 0;
}
