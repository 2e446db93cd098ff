/* Many events: `burst` sends n as fast as it can to a thread made before, and waits for its end, all timed; `flow` keeps at most
 * `depth` events in flight. */
#include "handoff.h"

#include <stdatomic.h>

static struct run *run;
static uint64_t expected;
static _Atomic uint64_t taken;
static long receiver_delay;
static uint64_t receiver_looked; /* nanoseconds that reading it took */

static void *receiver(void *argument)
{
    const struct handoff *how = argument;
    uint64_t events[1024], left = expected, sum = 0;

    pin_to(run->cpu[1]);
    while (left > 0) {
        int n = how->receive(events, 1024);
        if (n < 0 && errno != EINTR) {
            tally.error = errno;
            atomic_store(&taken, UINT64_MAX / 2);
            return NULL;
        }
        for (int i = 0; i < n; i++)
            sum += events[i];
        left -= n > 0 ? (uint64_t)n : 0;
        if (n > 0)
            atomic_fetch_add(&taken, (uint64_t)n);
    }
    tally.received = sum;
    receiver_delay = delay_at_end(run, run->lap_start, &receiver_looked);
    return NULL;
}

/* A queue of the kernel that is full is tried again. One that held nothing before is not full: the system takes no event at all. */
static void send_all(struct run *r, const struct handoff *how, uint64_t depth)
{
    unsigned turns = 0;

    for (uint64_t i = 1; i <= r->ops; i++) {
        int empty = 0;
        while (depth && i - 1 - atomic_load(&taken) >= depth && atomic_load(&taken) < r->ops)
            spin_politely(r, &turns);
        while (how->send(i) != 0) {
            if (errno != EAGAIN || empty) {
                tally.error = tally.error ? tally.error : errno; /* the receiver's own says more */
                return;
            }
            empty = atomic_load(&taken) >= i - 1;
            spin_politely(r, &turns);
        }
    }
}

void many_round(struct run *r)
{
    const struct handoff *how = r->probe->with;
    uint64_t depth = is_variant(r, "flow") ? param_size(r, "depth") : 0;
    int error;

    run = r;
    expected = r->ops;
    atomic_store(&taken, 0);
    if ((error = pthread_create(&handoff_receiver, NULL, receiver, (void *)how)) != 0) {
        unavailable(r, error, "a thread");
        return;
    }
    lap_begin(r);
    send_all(r, how, depth);
    if (tally.error) /* the receiver would wait for ever */
        return;
    pthread_join(handoff_receiver, NULL);
    lap_end(r);
    tally.sent = r->ops * (r->ops + 1) / 2;
    r->ns[2] = r->ns[0] - (double)receiver_looked;
    r->delay = together(r->delay, at_most(receiver_delay, (uint64_t)r->ns[2])); /* it may have waited before the clock ran */
    r->ns[0] = -1;
}
