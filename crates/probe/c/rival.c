/* A thread on another CPU that wants the same mutex all the time. */
#include "rival.h"
#include "peer.h"

pthread_mutex_t contested = PTHREAD_MUTEX_INITIALIZER;
static struct shared *page;

/* Goes on as long as the measured side does, so that every one of its operations meets a rival. */
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
    if (pin_to(r->cpu[0]) != 0)
        return unavailable(r, errno, "the CPU refused this thread");
    return peer_start(r, &page, 0, rival);
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
