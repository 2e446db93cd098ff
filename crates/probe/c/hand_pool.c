/* A pool of threads that take tasks from a queue under a mutex. */
#include "hand.h"
#include "probe.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
/* Tasks of one burst are alike, so the queue is their number. */
static uint64_t queued, undone, length_ns;
static int wrong;

static void *work(void *nothing)
{
    uint64_t spent = clock_ns(CLOCK_THREAD_CPUTIME_ID);

    for (;;) {
        uint64_t length;
        int failed;

        pthread_mutex_lock(&lock);
        while (queued == 0)
            pthread_cond_wait(&filled, &lock);
        queued--;
        length = length_ns;
        pthread_mutex_unlock(&lock);
        failed = task_do(now_ns(), length, CLOCK_THREAD_CPUTIME_ID, spent) != 0 ? errno : 0;
        spent = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        pthread_mutex_lock(&lock);
        wrong = failed ? failed : wrong;
        if (--undone == 0)
            pthread_cond_signal(&emptied);
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

static int pool_open(void)
{
    for (int i = 0; i < hand.workers; i++) {
        pthread_t thread;

        errno = pthread_create(&thread, NULL, work, NULL);
        if (errno)
            return -1;
    }
    return 0;
}

static int pool_burst(const struct burst *b)
{
    for (uint64_t i = 0; i < b->tasks; i++) {
        pthread_mutex_lock(&lock);
        length_ns = b->length_ns;
        queued++;
        undone++;
        pthread_cond_signal(&filled);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    while (undone)
        pthread_cond_wait(&emptied, &lock);
    errno = wrong;
    pthread_mutex_unlock(&lock);
    return errno ? -1 : 0;
}

const struct mechanism hand_pool = {.name = "pool", .open = pool_open, .burst = pool_burst};
