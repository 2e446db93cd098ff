/* stage source|sink BLOCKS N: BLOCKS blocks of 4 KiB with N turns of a loop for each. A source writes them to standard
 * output, a sink reads them from standard input. Plants: overlap, misplacement. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compute.h"

static int whole(int source, char *block, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = source ? write(1, block + done, size - done) : read(0, block + done, size - done);
        if (n <= 0) return 0;
        done += (size_t)n;
    }
    return 1;
}

int main(int argc, char **argv) {
    static char block[4096];
    if (argc != 4) return 2;
    unsigned long turns = strtoul(argv[3], NULL, 10);
    int source = strcmp(argv[1], "source") == 0;
    for (long left = atol(argv[2]); left > 0; left--) {
        if (!source && !whole(0, block, sizeof block)) return 1;
        compute(turns);
        if (source && !whole(1, block, sizeof block)) return 1;
    }
    return 0;
}
