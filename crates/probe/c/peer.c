/* The other side, a thread or a process. Between rounds it looks at the shared page, politely. A process whose parent died is ended by
 * the system or by the guard, which ends the whole group. */
#include "peer.h"
#include "worker.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct run *run;
static void (*body)(struct shared *);
static pthread_t thread;
static pid_t process;

static void *live(void *shared)
{
    peer_live(run, shared, body);
    return NULL;
}

/* Its waits for a CPU count too: a thread's are found by the number that it tells. */
static void joins(struct run *r, struct shared *s)
{
    while (!atomic_load(&s->begun))
        peer_look_again(r);
    takes_part(r, s->task);
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
        if ((error = pthread_create(&thread, NULL, live, s)) != 0)
            return unavailable(r, error, "a thread");
    } else if ((process = fork()) == 0) {
        die_with_parent(SIGKILL);
        live(s);
        _exit(0);
    } else if (process < 0) {
        return unavailable(r, errno, "a process");
    }
    joins(r, s);
    return 0;
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
        peer_look_again(run);
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
