/* Memory that nobody has written to yet: c/fresh_memory.c. */
#ifndef WHYFASTER_FRESH_H
#define WHYFASTER_FRESH_H

#include "probe.h"

#define HUGE_PAGE (2u << 20)

/* At a huge page's boundary; huge pages where the variant is so named. NULL with errno; `start` is what to unmap, HUGE_PAGE more. */
char *fresh(struct run *r, size_t length, char **start);
/* A huge page is proved by its second 4 KiB, which must be there without a fault of their own. 1: it was none. */
int second_faults(struct run *r);
#endif
