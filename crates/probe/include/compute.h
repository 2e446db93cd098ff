/* For the probe of plain user code. */
#ifndef WHYFASTER_COMPUTE_H
#define WHYFASTER_COMPUTE_H

#include "probe.h"

#define CACHED 2048u /* words that stay in the first-level cache: 16 KiB */
extern uint64_t compute_words[CACHED];

/* c/compute_code.c: through more code than the first-level cache of instructions holds, as the kernel's paths go. */
uint64_t through_code(uint64_t x);
#endif
