/* Whether this program was linked statically: then the kernel started it without an interpreter (AT_BASE of getauxval(3)). */
#include "worker.h"

#include <sys/auxv.h>

int linked_statically(void)
{
    return getauxval(AT_BASE) == 0;
}
