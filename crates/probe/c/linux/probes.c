/* The probes of what only Linux has. */
#include "worker.h"

#define LINUX(X) X(clone3) X(eventfd) X(signalfd) X(futex) X(mqueue) X(uring_msg) X(uring_futex) X(uring_eventfd) \
    X(pipe_vmsplice) X(pipe_splice)

#define DECLARE(name) extern const struct probe probe_##name;
#define REFER(name) &probe_##name,

LINUX(DECLARE)
const struct probe *const system_probes[] = {LINUX(REFER) NULL};
