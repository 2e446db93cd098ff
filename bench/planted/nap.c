/* nap COUNT MS: sleeps COUNT times MS milliseconds. Plants: sleep. */
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long ms = atol(argv[2]);
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
    for (long i = 0; i < atol(argv[1]); i++) nanosleep(&wait, NULL);
    return 0;
}
