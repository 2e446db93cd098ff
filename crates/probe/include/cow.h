/* The parent's first touch of pages that it shares with a child: c/cow.c, and a liar that only reads them: c/lies_process.c. */
#ifndef WHYFASTER_COW_H
#define WHYFASTER_COW_H

#include "process.h"

struct toucher {
    void (*touch)(volatile char *memory, size_t length);
};

int cow_setup(struct run *r);
void cow_round(struct run *r);
int cow_verify(struct run *r);

#define COW_TRAITS                                                                                                                           \
    .unit = "one first write to a page after fork", .needs = "memory", .source = __FILE__, .portable = 1, .variants = "parent",               \
    .measures = "time", .batch = BATCH_PARAM, .disturbed = "inv delay",                                                                       \
    .params = (const struct param[]){{"rss", "64M 256M 1G", "memory that the parent has touched", NULL},                                      \
                                     {"pages", "4k huge", "of what pages that memory is", NULL},                                              \
                                     END},                                                                                               \
    .expect = (const struct expect[]){{NULL, "voluntary", 0, 0}, END}, .setup = cow_setup, .round = cow_round,                   \
    .verify = cow_verify
#endif
