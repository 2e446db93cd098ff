/* spin N: N turns of a loop in user code; nothing else. Plants: compute. */
#include <stdlib.h>

int main(int argc, char **argv) {
    volatile unsigned long sink = 0;
    for (unsigned long left = argc > 1 ? strtoul(argv[1], NULL, 10) : 0; left > 0; left--)
        sink += left;
    return 0;
}
