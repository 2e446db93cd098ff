/* One turn of a ping-pong, by either side: a message through a pair of pipes, or a futex word that says whose turn it is. */
#include "pingpong.h"

#include <unistd.h>

struct pingpong_state pingpong;

int pingpong_move(int from, int to)
{
    char bytes[64] = {0};
    int whole = 1;

    if (from >= 0 && read(from, bytes, pingpong.message) != (ssize_t)pingpong.message)
        whole = 0;
    if (to >= 0 && write(to, bytes, pingpong.message) != (ssize_t)pingpong.message)
        whole = 0;
    pingpong.failed |= !whole;
    return whole;
}

/* Waits until it is this side's turn, and gives the turn to the other. */
void pingpong_take_turn(struct shared *s, uint32_t mine)
{
    while (atomic_load(&s->word) != mine)
        if (word_wait(&s->word, !mine) != 0 && errno != EAGAIN && errno != EINTR)
            pingpong.failed = 1;
    atomic_store(&s->word, !mine);
    word_wake(&s->word);
}

void pingpong_answer_pipe(struct shared *s)
{
    uint64_t answered = 0;

    for (uint64_t i = 0; i < s->ops; i++)
        answered += (uint64_t)pingpong_move(pingpong.forth[0], pingpong.back[1]);
    s->moved += answered;
}

void pingpong_answer_word(struct shared *s)
{
    uint64_t answered = 0;

    for (; answered < s->ops; answered++)
        pingpong_take_turn(s, 1);
    s->moved += answered;
}
