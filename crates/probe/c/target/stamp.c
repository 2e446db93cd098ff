/* The dynamic target: as small as a program can be that is linked to the C library at its start. build.rs makes it and the worker
 * carries it. See c/target.c for the static one. */
#include "target.h"

int main(int argc, char **argv)
{
    return argc > 1 && is_target(argv[1]) ? target_main(argc, argv) : 2;
}
