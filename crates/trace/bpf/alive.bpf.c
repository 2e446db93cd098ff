/* Who of the tree is still there when the observation ends, and in which call? */

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
    u64 now = bpf_ktime_get_ns();
    struct end_record r = {};
    if (!t->based) {
        read_totals(&t->base, task);
        t->based = 1;
    }
    if (t->in_call && settings.call_times) {
        if (t->place == PLACE_BLOCKED)
            t->blocked += now - t->since;
        else if (t->place == PLACE_RUNNABLE)
            t->runnable += now - t->since;
    }
    count_unfinished(task, t, now);
    fill(&r.head, RECORD_END, now, t->task, 0, 0);
    r.process = task->tgid;
    r.alive = 1;
    totals_since(&r.totals, task, t, t->place == PLACE_RUNNING ? run_now(t, now) : task->se.sum_exec_runtime);
    t->mode = MODE_GONE;
    bpf_seq_write(seq, &r, sizeof(r));
    return 0;
}
