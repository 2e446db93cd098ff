/* The receiver of a one-way hand-over. asleep: it waits before the event is sent; awake: it asks for it as soon as it was sent. */
#include "oneway.h"

static void receive_one(const struct handoff *how, unsigned now)
{
    struct side before = look(oneway.run);
    uint64_t event = 0;
    int n;

    atomic_store(&oneway.ready, now);
    oneway_await(&oneway.go, now);
    if (is_variant(oneway.run, "asleep"))
        before = look(oneway.run); /* waiting for `go` is no part of it */
    do
        n = how->receive(&event, 1);
    while (n == 0 || (n < 0 && errno == EINTR));
    oneway.arrived = now_ns();
    atomic_store(&oneway.came, now);
    oneway_let_read(&oneway.sent);
    oneway.saw = since(oneway.run, before);
    oneway.got = event;
    if (n < 0)
        tally.error = errno;
    atomic_store(&oneway.done, now);
}

void *oneway_receiver(void *how)
{
    pin_to(oneway.run->cpu[1]);
    for (unsigned now = 1;; now++) {
        gate_sleep(now);
        if (atomic_load(&oneway.command) == GATE_END)
            return NULL;
        receive_one(how, now);
    }
}
