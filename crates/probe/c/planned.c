/* Whole plans, line by line. */
#include "worker.h"

#include <stdlib.h>
#include <string.h>

static int add_one(struct plan *plan, const char *text, const char **why)
{
    if (plan->used == plan->room) {
        size_t room = plan->room ? plan->room * 2 : 64;
        struct line *lines = realloc(plan->lines, room * sizeof *lines);
        *why = "out of memory";
        if (!lines)
            return -1;
        plan->lines = lines;
        plan->room = room;
    }
    if (parse_line(text, &plan->lines[plan->used], why) != 0)
        return -1;
    plan->used++;
    return 0;
}

/* Adds a line; one with the variant `*` becomes one line a variant. */
int plan_add(struct plan *plan, const char *text, const char **why)
{
    const char *variants, *rest;
    char variant[32], line[LINE_MOST + 64];

    if (add_one(plan, text, why) != 0)
        return -1;
    if (strcmp(plan->lines[plan->used - 1].variant, "*") != 0)
        return 0;
    variants = plan->lines[--plan->used].probe->variants;
    rest = strstr(text, " *");
    if (!rest)
        return -1;
    while ((variants = next_word(variants, variant, sizeof variant))) {
        snprintf(line, sizeof line, "%.*s %s%s", (int)(rest - text), text, variant, rest + 2);
        if (add_one(plan, line, why) != 0)
            return -1;
    }
    return 0;
}

int plan_read(struct plan *plan, FILE *from)
{
    char text[LINE_MOST];
    const char *why;

    for (long at = 1; fgets(text, sizeof text, from); at++) {
        size_t length = strcspn(text, "\r\n");
        int whole = text[length] != 0 || feof(from);
        text[length] = 0;
        if (whole && strcmp(text, "end") == 0)
            break;
        if (whole && (text[0] == '#' || strspn(text, " \t") == length))
            continue;
        why = "longer than a line may be";
        if (whole && plan_add(plan, text, &why) == 0)
            continue;
        printf("error\tline=%ld\twhy=%s\n", at, why);
        return 2;
    }
    return 0;
}
