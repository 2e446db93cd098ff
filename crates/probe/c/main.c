/* The worker: plan in, raw samples out. PROTOCOL.md says all of it. */
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

static int refuse(const char *why)
{
    printf("error\tline=-\twhy=%s\n", why);
    return 2;
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
        return refuse(why);
    return run_one(&line, strtoull(argv[2], NULL, 10));
}

/* The plan of the options; -1 if they are wrong. */
static int read_plan(struct plan *plan, int argc, char **argv)
{
    const char *option = argc > 1 ? argv[1] : "";
    long batches = argc > 2 ? strtol(argv[argc - 1], NULL, 10) : 20;
    int print = strcmp(option, "--print") == 0;
    FILE *file;

    if (argc == 1)
        return plan_read(plan, stdin);
    if (argc == 3 && strcmp(option, "--plan") == 0)
        return (file = fopen(argv[2], "r")) ? plan_read(plan, file) : refuse("the plan file cannot be read");
    if (print && (argc == 3 || argc == 4)) {
        option = argv[2];
        batches = argc == 4 ? batches : 20;
    } else if (argc > 3 || strncmp(option, "--", 2) != 0) {
        return refuse("an option that the worker does not have; see PROTOCOL.md");
    } else {
        option += 2;
    }
    if ((strcmp(option, "all") != 0 && strcmp(option, "sweep") != 0) || batches < 1)
        return refuse("an option that the worker does not have; see PROTOCOL.md");
    return plan_own(plan, option[0] == 's', batches) == 0 ? 0 : refuse("out of memory");
}

int main(int argc, char **argv)
{
    struct plan plan = {0};
    int bare = 0, refused;

    self_path = own_path(argv[0]);
    if (argc > 1 && is_target(argv[1]))
        return target_main(argc, argv);
    if (argc == 4 && strcmp(argv[1], "--one") == 0)
        return one(argv);
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        describe(argc > 2 && strcmp(argv[2], "hidden") == 0);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    if (getpid() == 1 && (bare = become_init()) != 0)
        refused = plan_of_kernel(&plan);
    else
        refused = read_plan(&plan, argc, argv);
    if (refused && !bare)
        return refused;
    if (argc > 1 && strcmp(argv[1], "--print") == 0)
        return print_plan(&plan);
    launch_all(&plan, self_path);
    if (bare)
        power_off();
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
