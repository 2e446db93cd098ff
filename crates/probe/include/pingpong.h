/* Two sides that wake each other in turn, through pipes or a futex: c/pingpong.c. */
#ifndef WHYFASTER_PINGPONG_H
#define WHYFASTER_PINGPONG_H

#include "peer.h"

struct pingpong {
    int same_cpu; /* where the plan leaves it free: both on one CPU, or on two; -1: leave it free */
    int as_process;
};

struct pingpong_state {
    int forth[2], back[2];
    size_t message; /* bytes */
    int failed;
    uint64_t trips; /* that this side has begun; the other side counts those that it answered */
};
extern struct pingpong_state pingpong;

/* c/pingpong_turns.c */
int pingpong_move(int from, int to);                       /* reads a message, writes one; -1: does not. 1: it did */
void pingpong_take_turn(struct shared *s, uint32_t mine);  /* waits until it is this side's turn, and gives it to the other */
void pingpong_answer_pipe(struct shared *s);
void pingpong_answer_word(struct shared *s);

int pingpong_setup(struct run *r);
void pingpong_round(struct run *r); /* an operation is one way, half of a round trip */
int pingpong_verify(struct run *r);
void pingpong_teardown(struct run *r);

/* c/linux/futex_word.c, c/other: sleeps while the word has the value; wakes one. -1 with errno where there is none. */
int word_wait(_Atomic uint32_t *word, uint32_t value);
int word_wake(_Atomic uint32_t *word);
#endif
