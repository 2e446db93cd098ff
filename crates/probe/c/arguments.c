/* The plan that the worker was started with. */
#include "worker.h"

#include <stdlib.h>
#include <string.h>

int refuse_arguments(const char *why)
{
    printf("error\tline=-\twhy=%s\n", why);
    return 2;
}

int plan_of_arguments(struct plan *plan, int argc, char **argv)
{
    const char *option = argc > 1 ? argv[1] : "";
    long batches = argc > 2 ? strtol(argv[argc - 1], NULL, 10) : 20;
    int print = strcmp(option, "--print") == 0;
    FILE *file;

    if (argc == 1)
        return plan_read(plan, stdin);
    if (argc == 3 && strcmp(option, "--plan") == 0)
        return (file = fopen(argv[2], "r")) ? plan_read(plan, file) : refuse_arguments("the plan file cannot be read");
    if (print && (argc == 3 || argc == 4)) {
        option = argv[2];
        batches = argc == 4 ? batches : 20;
    } else if (argc > 3 || strncmp(option, "--", 2) != 0) {
        return refuse_arguments("an option that the worker does not have; see PROTOCOL.md");
    } else {
        option += 2;
    }
    if ((strcmp(option, "all") != 0 && strcmp(option, "sweep") != 0) || batches < 1)
        return refuse_arguments("an option that the worker does not have; see PROTOCOL.md");
    return plan_own(plan, option[0] == 's', batches) == 0 ? 0 : refuse_arguments("out of memory");
}
