/* Two sides that wake each other in turn: through a pair of pipes, or by a futex word that says whose turn it is. */
#include "pingpong.h"

#include <string.h>
#include <unistd.h>

/* The first wake-up may find the other side not asleep yet; among eight round trips that is little. */
#define TRIPS_LEAST 8

static struct shared *page;
static int forth[2], back[2];
static size_t message;
static int failed;
static _Atomic uint32_t nobody; /* sleeps on it */

static void move(int from, int to)
{
    char bytes[64] = {0};

    if (from >= 0 && read(from, bytes, message) != (ssize_t)message)
        failed = 1;
    if (to >= 0 && write(to, bytes, message) != (ssize_t)message)
        failed = 1;
}

/* Waits until it is this side's turn, and gives the turn to the other. */
static void take_turn(struct shared *s, uint32_t mine)
{
    while (atomic_load(&s->word) != mine)
        if (word_wait(&s->word, !mine) != 0 && errno != EAGAIN && errno != EINTR)
            failed = 1;
    atomic_store(&s->word, !mine);
    word_wake(&s->word);
}

static void answer_pipe(struct shared *s)
{
    for (uint64_t i = 0; i < s->ops; i++)
        move(forth[0], back[1]);
    s->moved += s->ops;
}

static void answer_word(struct shared *s)
{
    for (uint64_t i = 0; i < s->ops; i++)
        take_turn(s, 1);
    s->moved += s->ops;
}

int pingpong_setup(struct run *r)
{
    const struct pingpong *p = r->probe->with;
    int by_word = is_variant(r, "futex");

    if (r->cpu[0] < 0 && p->same_cpu >= 0 && choose_pins(r, p->same_cpu ? "same" : "other") != 0)
        return -1;
    if (p->same_cpu >= 0 && p->same_cpu != r->cpu_same)
        return unavailable(r, 0, p->same_cpu ? "both sides must share a CPU for this price" : "this price needs two CPUs");
    if (pin_to(r->cpu[0]) != 0)
        return unavailable(r, errno, "the CPU refused this thread");
    message = r->probe->params ? param_size(r, "size") : 1;
    if (message < 1 || message > 64)
        return unavailable(r, 0, "size is 1 to 64");
    if (by_word && word_wake(&nobody) != 0)
        return unavailable(r, errno, "a futex");
    if (pipe(forth) != 0 || pipe(back) != 0)
        return unavailable(r, errno, "pipe");
    return peer_start(r, &page, p->as_process || is_variant(r, "processes"), by_word ? answer_word : answer_pipe);
}

void pingpong_round(struct run *r)
{
    uint64_t trips = r->ops < 2 * TRIPS_LEAST ? TRIPS_LEAST : (r->ops + 1) / 2;

    r->ops = trips * 2;
    peer_begin(r, page, trips);
    lap_begin(r);
    for (uint64_t i = 0; i < trips; i++)
        if (is_variant(r, "futex")) {
            take_turn(page, 0);
        } else {
            move(-1, forth[1]);
            move(back[0], -1);
        }
    while (is_variant(r, "futex") && atomic_load(&page->word) != 0)
        word_wait(&page->word, 1);
    lap_end(r);
    peer_end(r, page);
    if (failed)
        unavailable(r, 0, "a message was lost");
}

int pingpong_verify(struct run *r)
{
    return page->moved == 0 ? refute(r, "the other side never answered") : 0;
}

void pingpong_teardown(struct run *r)
{
    (void)r;
    peer_stop(page);
}
