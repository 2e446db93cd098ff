/* locks KIND N FILE...: one worker for each FILE. A worker takes its lock, makes N turns of a loop, lets go. Workers with the
 * same lock wait for each other, others run side by side.
 * KIND flock: processes with flock(2) of FILE. KIND mutex: threads with a mutex, one for each name. Plants: lock. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compute.h"

enum { MOST = 16 };
static pthread_mutex_t mutexes[MOST];
static unsigned long turns;
static char **names;

static void *thread(void *place) {
    long mine = (long)place, lock = 0;
    while (strcmp(names[lock], names[mine]) != 0) lock++;
    pthread_mutex_lock(&mutexes[lock]);
    compute(turns);
    pthread_mutex_unlock(&mutexes[lock]);
    return NULL;
}

static int process(const char *name) {
    int file = open(name, O_RDWR | O_CREAT, 0666);
    if (file < 0 || flock(file, LOCK_EX) != 0) return 1;
    compute(turns);
    return 0;
}

int main(int argc, char **argv) {
    pthread_t threads[MOST];
    int count = argc - 3, status = 0, bad = 0;
    if (count < 1 || count > MOST) return 2;
    turns = strtoul(argv[2], NULL, 10);
    names = argv + 3;
    for (long i = 0; i < count; i++) {
        if (strcmp(argv[1], "mutex") == 0) {
            pthread_mutex_init(&mutexes[i], NULL);
        } else if (fork() == 0) {
            _exit(process(names[i]));
        }
    }
    if (strcmp(argv[1], "mutex") != 0) {
        while (wait(&status) > 0) bad |= status;
        return bad != 0;
    }
    for (long i = 0; i < count; i++) bad |= pthread_create(&threads[i], NULL, thread, (void *)i);
    for (long i = 0; i < count; i++) bad |= pthread_join(threads[i], NULL);
    return bad != 0;
}
