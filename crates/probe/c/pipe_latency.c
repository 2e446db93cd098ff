/* A message through one pipe and the answer through another; an operation is one way. */
#include "pingpong.h"

const struct probe probe_pipe_latency = {
    .name = "pipe_latency",
    .group = "pipe",
    .unit = "one message one way",
    .exercises = "a write that wakes, a read that sleeps",
    .needs = "nothing",
    .source = __FILE__,
    .portable = 1,
    .variants = "threads processes",
    .measures = "time",
    .batch = BATCH_AUTO,
    .disturbed = "",
    .params = (const struct param[]){{"size", "1 8", "bytes of a message", NULL}, END},
    .expect = (const struct expect[]){{NULL, "syscalls", 1.5, 2.5}, END},
    .with = &(const struct pingpong){.same_cpu = -1},
    .setup = pingpong_setup,
    .round = pingpong_round,
    .verify = pingpong_verify,
    .teardown = pingpong_teardown,
};
