/* The file that the process probes start. */
#include "scratch.h"
#include "process.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include("dynamic_target.inc")
#define HAVE_DYNAMIC 1
#endif
#endif

const char *self_path;

static int write_dynamic(struct run *r)
{
#ifdef HAVE_DYNAMIC
    static const unsigned char bytes[] = {
#include "dynamic_target.inc"
    };
    return scratch_file(r, "target", bytes, sizeof bytes, 0700);
#else
    return unavailable(r, 0, "the worker was built without the dynamic target");
#endif
}

static int write_static(struct run *r)
{
    char *bytes = malloc(64u << 20);
    int file = self_path ? open(self_path, O_RDONLY | O_CLOEXEC) : -1, failed = -1;
    size_t length = 0;
    ssize_t n = -1;

    if (bytes && file >= 0)
        while ((n = read(file, bytes + length, (64u << 20) - length)) > 0)
            length += (size_t)n;
    if (n == 0)
        failed = scratch_file(r, "target", bytes, length, 0700);
    else
        unavailable(r, errno, "the worker cannot read its own file");
    free(bytes);
    if (file >= 0)
        close(file);
    return failed;
}

int target_make(struct run *r, char **path)
{
    static char absolute[1100];

    if (scratch_enter(r) != 0 || (is_variant(r, "dynamic") ? write_dynamic(r) : write_static(r)) != 0)
        return -1;
    snprintf(absolute, sizeof absolute, "%s/target", scratch_path());
    *path = absolute;
    if (strcmp(param_text(r, "path"), "search") != 0 && param_size(r, "misses") == 0)
        return 0;
    *path = (char *)"target";
    return target_path(r);
}
