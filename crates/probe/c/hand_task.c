/* A task: a planted busy loop of a stated CPU time, which writes when it began and ended. */
#include "hand.h"
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int task_do(uint64_t start_ns, uint64_t length_ns, int clock, uint64_t spent_ns)
{
    struct stamped stamp = {.start_ns = start_ns};
    uint64_t began = length_ns ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : 0;

    while (length_ns && clock_ns(CLOCK_THREAD_CPUTIME_ID) - began < length_ns)
        ;
    stamp.end_ns = now_ns();
    stamp.cpu_ns = clock_ns(clock) - spent_ns;
    /* Appended in one piece, so that tasks at once do not mix. */
    if (write(hand.stamps, &stamp, sizeof stamp) == (ssize_t)sizeof stamp)
        return 0;
    if (errno == 0)
        errno = EIO;
    return -1;
}

/* --task FILE NANOSECONDS [...]: what stands behind is what engines add, such as an item. */
int task_main(int argc, char **argv)
{
    uint64_t start = now_ns();

    if (argc < 4)
        return 2;
    hand.stamps = open(argv[2], O_WRONLY | O_APPEND | O_CLOEXEC);
    if (hand.stamps < 0)
        return 1;
    return task_do(start, strtoull(argv[3], NULL, 10), CLOCK_PROCESS_CPUTIME_ID, 0) == 0 ? 0 : 1;
}
