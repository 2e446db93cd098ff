/* Switching and waking: two processes that wake each other in turn, on one CPU or on two. The calls that wake and sleep are in it.
 * On two CPUs a futex would not do: the other side has answered before this one has fallen asleep. */
#include "pingpong.h"

const struct probe probe_switch = {
    .name = "switch",
    .group = "cpu",
    .unit = "one switch",
    .exercises = "two processes in turn on one CPU: wake, sleep, switch",
    .needs = "a CPU to pin to",
    .source = __FILE__,
    .portable = 1,
    .variants = "pipe futex",
    .measures = "time",
    .batch = BATCH_AUTO,
    .disturbed = "",
    .expect = (const struct expect[]){{NULL, "switches", 0.8, NAN}, END},
    .with = &(const struct pingpong){.same_cpu = 1, .as_process = 1},
    .setup = pingpong_setup,
    .round = pingpong_round,
    .verify = pingpong_verify,
    .teardown = pingpong_teardown,
};

const struct probe probe_wakeup = {
    .name = "wakeup",
    .group = "cpu",
    .unit = "one wake-up",
    .exercises = "two processes in turn on two CPUs: wake the other, sleep",
    .needs = "two CPUs to pin to",
    .source = __FILE__,
    .portable = 1,
    .variants = "pipe",
    .measures = "time",
    .batch = BATCH_AUTO,
    .disturbed = "mig delay",
    .expect = (const struct expect[]){{NULL, "voluntary", 0.5, NAN}, END},
    .with = &(const struct pingpong){.same_cpu = 0, .as_process = 1},
    .setup = pingpong_setup,
    .round = pingpong_round,
    .verify = pingpong_verify,
    .teardown = pingpong_teardown,
};
