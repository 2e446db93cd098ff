/* spin N: N turns of a loop in user code; nothing else. Plants: compute. */
#include <stdlib.h>

#include "compute.h"

int main(int argc, char **argv) {
    compute(argc > 1 ? strtoul(argv[1], NULL, 10) : 0);
    return 0;
}
