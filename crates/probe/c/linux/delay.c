/* How long this thread was runnable without a CPU: the second number of its schedstat (Documentation/scheduler/sched-stats.rst). */
#include "probe.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

long run_delay(const struct run *r)
{
    char text[96], *at = text;
    ssize_t length;
    int file;

    /* A counted run is not timed, and a first call wants no other before it. */
    if (r->first || r->counting || (file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) < 0)
        return -1;
    length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return -1;
    text[length] = 0;
    if (strtoull(text, &at, 10) == 0) /* a thread that runs has run: this kernel does not keep these numbers */
        return -1;
    return (long)strtoull(at, NULL, 10);
}
