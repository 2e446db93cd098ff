/* Two sides that wake each other in turn, through pipes or a futex: c/pingpong.c. */
#ifndef WHYFASTER_PINGPONG_H
#define WHYFASTER_PINGPONG_H

#include "peer.h"

struct pingpong {
    int same_cpu; /* where the plan leaves it free: both on one CPU, or on two; -1: leave it free */
    int as_process;
};

int pingpong_setup(struct run *r);
void pingpong_round(struct run *r); /* an operation is one way, half of a round trip */
int pingpong_verify(struct run *r);
void pingpong_teardown(struct run *r);

/* c/linux/futex_word.c, c/other: sleeps while the word has the value; wakes one. -1 with errno where there is none. */
int word_wait(_Atomic uint32_t *word, uint32_t value);
int word_wake(_Atomic uint32_t *word);
#endif
