/* One object from one question a file. They are compiled as one unit, so that a step of one may be a few instructions
 * within another without a call: the whole has to fit between two instructions of what is being measured.
 */
#include "state.h"

#include "startup.bpf.c"
#include "process.bpf.c"
#include "calls.bpf.c"
#include "ours.bpf.c"
#include "stacks.bpf.c"
#include "blocked.bpf.c"
#include "schedule.bpf.c"
#include "context.bpf.c"
#include "alive.bpf.c"
#include "interrupts.bpf.c"

/* bpf_snprintf is open to programs under a licence compatible with the kernel's; this one is offered under both. */
char dual_license[] SEC("license") = "Dual MIT/GPL";
