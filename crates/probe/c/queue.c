/* A queue of events under a mutex, with a condition for those who sleep on it. */
#include "handoff.h"

int queue_open(struct queue *q, struct run *r)
{
    int error = pthread_mutex_init(&q->lock, NULL);

    if (error == 0)
        error = pthread_cond_init(&q->filled, NULL);
    q->head = q->count = 0;
    return error ? unavailable(r, error, "mutex and condition") : 0;
}

static int append(struct queue *q, uint64_t event)
{
    if (q->count == EVENTS_MOST) {
        errno = ENOSPC;
        return -1;
    }
    q->items[(q->head + q->count++) % EVENTS_MOST] = event;
    return 0;
}

int queue_push(struct queue *q, uint64_t event)
{
    int failed;

    pthread_mutex_lock(&q->lock);
    failed = append(q, event);
    pthread_mutex_unlock(&q->lock);
    return failed;
}

int queue_push_signal(struct queue *q, uint64_t event)
{
    int failed;

    pthread_mutex_lock(&q->lock);
    failed = append(q, event);
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
    return failed;
}

int queue_wait_one(struct queue *q, uint64_t *event)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->filled, &q->lock);
    *event = q->items[q->head];
    q->head = (q->head + 1) % EVENTS_MOST;
    q->count--;
    pthread_mutex_unlock(&q->lock);
    return 1;
}

int queue_take(struct queue *q, uint64_t *events, int most)
{
    int taken = 0;

    pthread_mutex_lock(&q->lock);
    for (; taken < most && q->count > 0; q->count--) {
        events[taken++] = q->items[q->head];
        q->head = (q->head + 1) % EVENTS_MOST;
    }
    pthread_mutex_unlock(&q->lock);
    return taken;
}
