/* Memory that nobody has written to yet: c/fresh_memory.c. */
#ifndef WHYFASTER_FRESH_H
#define WHYFASTER_FRESH_H

#include "pages.h"
#include "probe.h"

/* At a huge page's boundary; huge pages where the variant is so named. NULL with errno; `start` is what to unmap, HUGE_PAGE more. */
char *fresh(struct run *r, size_t length, char **start);
/* Huge pages are proved by their last base pages, which must be there without faults of their own: how many there were. */
long second_faults(volatile char *memory, size_t length);
#endif
