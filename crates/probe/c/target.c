/* What a started program does: says when its first instruction of main ran, or replaces itself N times. */
#include "target.h"
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int is_target(const char *argument)
{
    return strcmp(argument, TARGET_STAMP) == 0 || strcmp(argument, TARGET_WHO) == 0 || strcmp(argument, TARGET_CHAIN) == 0 ||
           strcmp(argument, TARGET_TOLD) == 0;
}

int target_main(int argc, char **argv)
{
    uint64_t now = now_ns();
    char left[24];
    unsigned long more;

    if (strcmp(argv[1], TARGET_STAMP) == 0)
        return write(STAMP_FD, &now, sizeof now) == (ssize_t)sizeof now ? 0 : 1;
    if (strcmp(argv[1], TARGET_WHO) == 0) {
        now = (uint64_t)getpid();
        return write(STAMP_FD, &now, sizeof now) == (ssize_t)sizeof now ? 0 : 1;
    }
    if (strcmp(argv[1], TARGET_TOLD) == 0 && write(STAMP_FD, "", 1) != 1)
        return 1;
    more = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (more == 0)
        return 0;
    snprintf(left, sizeof left, "%lu", more - 1);
    argv[2] = left;
    execvp(argv[0], argv); /* argv[0] is the name that it was started by */
    return 1;
}
