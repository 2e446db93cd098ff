/* The other side, a thread or a process. Between rounds it looks at the shared page, politely. A process whose parent died is ended by
 * the launcher, which ends the whole group. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "peer.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct run *run;
static void (*body)(struct shared *);
static pthread_t thread;
static pid_t process;

uint64_t thread_cpu_ns(void)
{
    struct timespec t = {0, 0};

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* In a counted run yields would be counted. */
static void look_again(void)
{
    if (run->counting)
        relax();
    else
        sched_yield();
}

static void one_round(struct shared *s)
{
    long vol = 0, inv = 0, vol_after = 0, inv_after = 0;
    uint64_t cpu = run->counting ? 0 : thread_cpu_ns();
    int told = run->counting ? -1 : thread_switches(&vol, &inv);

    body(s);
    if (told == 0)
        told = thread_switches(&vol_after, &inv_after);
    s->vol = told == 0 ? vol_after - vol : -1;
    s->inv = told == 0 ? inv_after - inv : -1;
    s->cpu_ns = run->counting ? 0 : thread_cpu_ns() - cpu;
}

static void *live(void *argument)
{
    struct shared *s = argument;

    pin_to(run->cpu[1]);
    for (uint64_t next = 1;; next++) {
        while (atomic_load(&s->round) < next && !atomic_load(&s->stop))
            look_again();
        if (atomic_load(&s->stop))
            return NULL;
        one_round(s);
        atomic_store(&s->done, next);
    }
}

int peer_start(struct run *r, struct shared **shared, int as_process, void (*round)(struct shared *))
{
    struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANON, -1, 0);
    int error;

    if (s == MAP_FAILED)
        return unavailable(r, errno, "a shared page");
    *shared = s;
    run = r;
    body = round;
    process = -1;
    if (!as_process) {
        error = pthread_create(&thread, NULL, live, s);
        return error ? unavailable(r, error, "a thread") : 0;
    }
    process = fork();
    if (process == 0) {
        live(s);
        _exit(0);
    }
    return process < 0 ? unavailable(r, errno, "a process") : 0;
}

void peer_begin(const struct run *r, struct shared *s, uint64_t ops)
{
    (void)r;
    s->ops = ops;
    atomic_fetch_add(&s->round, 1);
}

/* Threads' switches are in the process's own receipt already; a process's are not. */
void peer_end(struct run *r, struct shared *s)
{
    while (atomic_load(&s->done) != atomic_load(&s->round))
        look_again();
    if (process > 0) {
        r->vol = r->vol < 0 || s->vol < 0 ? -1 : r->vol + s->vol;
        r->inv = r->inv < 0 || s->inv < 0 ? -1 : r->inv + s->inv;
    }
}

void peer_stop(struct shared *s)
{
    atomic_store(&s->stop, 1);
    if (process > 0)
        waitpid(process, NULL, 0);
    else if (process < 0)
        pthread_join(thread, NULL);
}
