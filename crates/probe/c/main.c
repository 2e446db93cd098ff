/* The worker: plan in, raw samples out. PROTOCOL.md says all of it. */
#include "hand.h"
#include "process.h"
#include "target.h"
#include "worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where this program can be started again; NULL where it cannot be known. */
static const char *own_path(const char *zeroth)
{
    if (access("/proc/self/exe", X_OK) == 0)
        return "/proc/self/exe";
    if (access("/proc/curproc/file", X_OK) == 0)
        return "/proc/curproc/file";
    return strchr(zeroth, '/') ? realpath(zeroth, NULL) : NULL;
}

static int print_plan(const struct plan *plan)
{
    for (size_t i = 0; i < plan->used; i++)
        printf("%s\n", plan->lines[i].text);
    puts("end");
    return 0;
}

static int one(char **argv)
{
    static struct line line;
    const char *why;

    if (parse_line(argv[3], &line, &why) != 0)
        return refuse_arguments(why);
    return run_one(&line, strtoull(argv[2], NULL, 10));
}

int main(int argc, char **argv)
{
    struct plan plan = {0};
    int bare = 0, refused;

    /* First, as the time of main's first act is what these tell. */
    if (argc > 1 && is_target(argv[1]))
        return target_main(argc, argv);
    if (argc > 1 && strcmp(argv[1], HAND_TASK) == 0)
        return task_main(argc, argv);
    self_path = own_path(argv[0]);
    if (argc > 1 && strcmp(argv[1], HAND_CLIENT) == 0)
        return hand_main(argc, argv);
    if (argc == 4 && strcmp(argv[1], "--one") == 0)
        return one(argv);
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        describe(argc > 2 && strcmp(argv[2], "hidden") == 0);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    if (getpid() == 1 && (bare = become_init()) != 0)
        refused = plan_of_kernel(&plan);
    else
        refused = plan_of_arguments(&plan, argc, argv);
    if (refused && !bare)
        return refused;
    if (argc > 1 && strcmp(argv[1], "--print") == 0)
        return print_plan(&plan);
    launch_all(&plan, self_path);
    if (bare)
        power_off();
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
