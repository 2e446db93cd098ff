/* The head that a line's records share. */
#include "worker.h"

#include <string.h>

void record_head(const char *kind, const struct line *line)
{
    static const char *const temps[] = {"warm", "cold", "first"};
    const struct param *p = line->probe->params;

    printf("%s\tname=%s\tvariant=%s\tparams=", kind, line->probe->name, line->variant);
    for (int i = 0; p && p->key; p++, i++)
        printf("%s%s=%s", i ? "," : "", p->key, line->values[i]);
    printf("\tcpu=%s\ttemp=%s\ttag=%s", line->cpu, temps[line->temp], line->tag);
}

void record_unavailable(const struct line *line, int error, const char *why)
{
    record_head("unavailable", line);
    printf("\terrno=%s\twhy=%s\n", error ? error_name(error) : "-", why);
}
