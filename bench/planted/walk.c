/* walk N: reads and writes N random cells of 64 MiB, which no cache holds. Plants: memory. */
#include <stdlib.h>
int main(int argc, char **argv) {
    unsigned long n = strtoul(argv[1], 0, 10), x = 88172645463325252u, cells = 8u << 20;
    unsigned long *memory = calloc(cells, sizeof *memory);
    for (unsigned long i = 0; i < n; i++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; memory[x % cells] += x; }
    return memory[0] == 1;
}
