/* Five ways to hand n events to a thread, as plainly as one writes them; prints the nanoseconds of each run.
 *
 * Usage: article cond|pipe_cond|pipe|pipe_cached|newthread N RUNS [PAUSE]
 * The clock runs from the first event to the end of the receiver; for newthread, until the last thread was made. PAUSE: microseconds
 * that the receiver is given to start before the clock does. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void **queue;
static size_t head, tail, num;
static int ends[2];
static uint64_t pause_us;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void *cond_receiver(void *unused)
{
    for (size_t i = 0; i < num; i++) {
        pthread_mutex_lock(&mutex);
        while (head == tail)
            pthread_cond_wait(&cond, &mutex);
        head++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *wake_receiver(void *unused)
{
    char bytes[1024];

    for (size_t left = num; left > 0;) {
        if (read(ends[0], bytes, sizeof bytes) <= 0)
            die("read");
        pthread_mutex_lock(&mutex);
        left -= tail - head;
        head = tail;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *read_receiver(void *batch)
{
    char events[1024 * sizeof(void *)];
    size_t room = batch ? sizeof events : sizeof(void *);

    for (size_t left = num * sizeof(void *); left > 0;) {
        ssize_t got = read(ends[0], events, room);
        if (got <= 0)
            die("read");
        left -= (size_t)got;
    }
    return NULL;
}

static void *nothing(void *unused)
{
    return unused;
}

static void hand_over(const char *way, void *event)
{
    if (strcmp(way, "cond") == 0 || strcmp(way, "pipe_cond") == 0) {
        pthread_mutex_lock(&mutex);
        queue[tail++] = event;
        if (way[0] == 'c')
            pthread_cond_signal(&cond);
        pthread_mutex_unlock(&mutex);
    }
    if (strcmp(way, "pipe_cond") == 0 && write(ends[1], "", 1) != 1)
        die("write");
    if ((strcmp(way, "pipe") == 0 || strcmp(way, "pipe_cached") == 0) && write(ends[1], &event, sizeof event) != sizeof event)
        die("write");
}

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t threads(void)
{
    pthread_attr_t detached;
    pthread_t thread;

    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    uint64_t began = now();
    for (size_t i = 0; i < num; i++)
        if (pthread_create(&thread, &detached, nothing, NULL) != 0)
            die("pthread_create");
    return now() - began;
}

static uint64_t run(const char *way)
{
    void *(*receiver)(void *) = way[0] == 'c' ? cond_receiver : strcmp(way, "pipe_cond") == 0 ? wake_receiver : read_receiver;
    pthread_t thread;

    if (strcmp(way, "newthread") == 0)
        return threads();
    head = tail = 0;
    if (pthread_create(&thread, NULL, receiver, strcmp(way, "pipe_cached") == 0 ? &num : NULL) != 0)
        die("pthread_create");
    for (uint64_t made = now(); now() - made < pause_us * 1000;)
        ;
    uint64_t began = now();
    for (size_t i = 0; i < num; i++)
        hand_over(way, &num);
    pthread_join(thread, NULL);
    return now() - began;
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5)
        return fprintf(stderr, "usage: article WAY N RUNS [PAUSE]\n"), 2;
    pause_us = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
    num = strtoul(argv[2], NULL, 10);
    queue = calloc(num, sizeof *queue);
    for (long left = strtol(argv[3], NULL, 10); left > 0; left--) {
        if (pipe(ends) != 0)
            die("pipe");
        printf("%llu\n", (unsigned long long)run(argv[1]));
        /* A pipe for each run: bytes that woke nobody must not wake the next one. */
        close(ends[0]);
        close(ends[1]);
        /* The detached threads end in their own time. */
        usleep(strcmp(argv[1], "newthread") == 0 ? 2000 : 0);
    }
    return 0;
}
