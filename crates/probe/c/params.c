/* What a probe asks about its run: variant and parameters; and how it says no. */
#include "probe.h"

#include <stdlib.h>
#include <string.h>

const char *param_text(const struct run *r, const char *key)
{
    const struct param *p = r->probe->params;

    for (int i = 0; p && p->key; p++, i++)
        if (strcmp(p->key, key) == 0)
            return r->values[i];
    return "";
}

/* 64K, 64M, 1G; plain numbers otherwise. */
uint64_t param_size(const struct run *r, const char *key)
{
    char *end;
    uint64_t value = strtoull(param_text(r, key), &end, 10);

    switch (*end) {
    case 'G':
        value *= 1024; /* fall through */
    case 'M':
        value *= 1024; /* fall through */
    case 'K':
        value *= 1024;
    }
    return value;
}

int is_variant(const struct run *r, const char *variant)
{
    return strcmp(r->variant, variant) == 0;
}

int unavailable(struct run *r, int error, const char *why)
{
    r->error = error;
    r->why = why;
    return -1;
}

int refute(struct run *r, const char *why)
{
    r->why = why;
    return -1;
}
