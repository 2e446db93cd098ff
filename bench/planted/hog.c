/* hog CPU FIFO: waits for a line in FIFO and then computes on CPU for that many milliseconds, again and again.
 * hog CPU MS: computes on CPU for MS milliseconds. hog CPU: until it is ended. Plants: cpu_contention, misplacement, share. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void busy(double ms) {
    for (double end = now() + ms; now() < end;) {}
}

int main(int argc, char **argv) {
    char text[64];
    cpu_set_t set;
    if (argc < 2) return 2;
    CPU_ZERO(&set);
    CPU_SET(atoi(argv[1]), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) return 1;
    if (argc == 2)
        for (;;) busy(1e3);
    if (argv[2][0] != '/') {
        busy(atof(argv[2]));
        return 0;
    }
    /* Opened for writing too, so that it never ends. */
    int fifo = open(argv[2], O_RDWR);
    if (fifo < 0) return 1;
    for (ssize_t n; (n = read(fifo, text, sizeof text - 1)) > 0;) {
        text[n] = 0;
        busy(atof(text));
    }
    return 1;
}
