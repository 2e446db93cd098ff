/* Another thread: on another CPU, where it wants the same mutex all the time, or asleep. */
#include "rival.h"
#include "peer.h"

#include <unistd.h>

pthread_mutex_t contested = PTHREAD_MUTEX_INITIALIZER;
static struct shared *page;
static _Atomic int begun;

static void *sleeper(void *nothing)
{
    atomic_store(&begun, 1);
    for (;;)
        pause();
    return nothing;
}

/* glibc locks without an atomic operation as long as a process has one thread (sysdeps/nptl/libc_single_threaded.h). It ends with the process. */
int rival_asleep(struct run *r)
{
    pthread_t thread;
    int error;

    atomic_store(&begun, 0); /* a run that is counted is a fork of one that had its thread */
    error = pthread_create(&thread, NULL, sleeper, NULL);
    if (error)
        return unavailable(r, error, "a thread");
    while (!atomic_load(&begun))
        peer_look_again(r);
    return 0;
}

/* Goes on as long as the measured side does. One that is quick may lock twice before the rival comes back. */
static void rival(struct shared *s)
{
    uint64_t before = atomic_load(&s->moved);

    while (atomic_load(&s->moved) == before) {
        pthread_mutex_lock(&contested);
        atomic_store(&s->word, 1);
        pthread_mutex_unlock(&contested);
    }
}

int rival_start(struct run *r)
{
    if (r->cpu[0] < 0 && choose_pins(r, "other") != 0)
        return -1;
    if (r->cpu_same)
        return unavailable(r, 0, "this price needs two CPUs");
    return take_pin(r) != 0 ? -1 : peer_start(r, &page, 0, rival);
}

/* Returns when it has had the mutex once. */
void rival_begins(struct run *r)
{
    atomic_store(&page->word, 0);
    peer_begin(r, page, 0);
    while (!atomic_load(&page->word))
        relax();
}

void rival_ends(struct run *r)
{
    atomic_fetch_add(&page->moved, 1);
    peer_end(r, page);
}

void rival_stop(void)
{
    peer_stop(page);
}
