/* Two sides that wake each other in turn: through a pair of pipes, or by a futex word that says whose turn it is. */
#include "pingpong.h"

#include <unistd.h>

/* The first wake-up may find the other side not asleep yet; among eight round trips that is little. */
#define TRIPS_LEAST 8

static struct shared *page;
static _Atomic uint32_t nobody; /* sleeps on it */

int pingpong_setup(struct run *r)
{
    const struct pingpong *p = r->probe->with;
    int by_word = is_variant(r, "futex");

    if (r->cpu[0] < 0 && p->same_cpu >= 0 && choose_pins(r, p->same_cpu ? "same" : "other") != 0)
        return -1;
    if (p->same_cpu >= 0 && p->same_cpu != r->cpu_same)
        return unavailable(r, 0, p->same_cpu ? "both sides must share a CPU for this price" : "this price needs two CPUs");
    if (take_pin(r) != 0)
        return -1;
    pingpong.message = r->probe->params ? param_size(r, "size") : 1;
    if (pingpong.message < 1 || pingpong.message > 64)
        return unavailable(r, 0, "size is 1 to 64");
    if (by_word && word_wake(&nobody) != 0)
        return unavailable(r, errno, "a futex");
    if (pipe(pingpong.forth) != 0 || pipe(pingpong.back) != 0)
        return unavailable(r, errno, "pipe");
    return peer_start(r, &page, p->as_process || is_variant(r, "processes"), by_word ? pingpong_answer_word : pingpong_answer_pipe);
}

void pingpong_round(struct run *r)
{
    uint64_t trips = r->ops < 2 * TRIPS_LEAST ? TRIPS_LEAST : (r->ops + 1) / 2;

    r->ops = trips * 2;
    pingpong.trips += trips;
    peer_begin(r, page, trips);
    lap_begin(r);
    for (uint64_t i = 0; i < trips; i++)
        if (is_variant(r, "futex")) {
            pingpong_take_turn(page, 0);
        } else {
            pingpong_move(-1, pingpong.forth[1]);
            pingpong_move(pingpong.back[0], -1);
        }
    while (is_variant(r, "futex") && atomic_load(&page->word) != 0)
        word_wait(&page->word, 1);
    lap_end(r);
    peer_end(r, page);
    if (pingpong.failed)
        unavailable(r, 0, "a message was lost");
}

int pingpong_verify(struct run *r)
{
    return page->moved != pingpong.trips ? refute(r, "the other side answered another number of messages") : 0;
}

void pingpong_teardown(struct run *r)
{
    (void)r;
    peer_stop(page);
}
