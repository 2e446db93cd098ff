/* The pages that probes are named after. */
#ifndef WHYFASTER_PAGES_H
#define WHYFASTER_PAGES_H

#include <unistd.h>

#define SMALL_PAGE 4096u
#define HUGE_PAGE (2u << 20)

/* Kernels of arm64 may have base pages of 16 or 64 KiB; then nothing here is 4 KiB. */
#define NO_SMALL_PAGES (sysconf(_SC_PAGESIZE) == SMALL_PAGE ? NULL : "the pages of this kernel are larger than 4 KiB")
#endif
