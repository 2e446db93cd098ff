/* What stands behind the variant in a line of the plan: KEY=VALUE, options of the worker and parameters of the probe. */
#include "worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int number(const char *text, long least, long most, long *value)
{
    char *end;

    errno = 0;
    *value = strtol(text, &end, 10);
    return errno == 0 && end != text && *end == 0 && *value >= least && *value <= most ? 0 : -1;
}

static int flag(const char *text, int *value)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return -1;
    *value = text[0] == '1';
    return 0;
}

/* A size or a word that stands in the parameter's list, or any number where the list is of numbers. */
static int parameter(struct line *line, const char *key, const char *value)
{
    const struct param *p = line->probe->params;

    for (int i = 0; p && p->key; p++, i++) {
        if (strcmp(p->key, key) != 0)
            continue;
        if (!has_word(p->values, value) && !(value[0] >= '0' && value[0] <= '9' && p->values[0] >= '0' && p->values[0] <= '9'))
            return -1;
        return copy_word(line->values[i], sizeof line->values[i], value);
    }
    return -1;
}

static int temperature(const char *text, enum temp *temp)
{
    static const char *const names[] = {"warm", "cold", "first"};

    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *temp = (enum temp)i;
            return 0;
        }
    return -1;
}

/* Sets what KEY=VALUE says; -1: the probe has no such key, or the key no such value. */
int plan_option(struct line *line, const char *key, const char *value)
{
    if (strcmp(key, "batches") == 0)
        return number(value, 1, 1000000, &line->batches);
    if (strcmp(key, "ops") == 0)
        return strcmp(value, "auto") == 0 ? (line->ops = 0, 0) : number(value, 1, 1000000000, &line->ops);
    if (strcmp(key, "pairs") == 0)
        return flag(value, &line->pairs);
    if (strcmp(key, "count") == 0)
        return flag(value, &line->count);
    if (strcmp(key, "temp") == 0)
        return temperature(value, &line->temp);
    if (strcmp(key, "cpu") == 0)
        return copy_word(line->cpu, sizeof line->cpu, value);
    if (strcmp(key, "tag") == 0)
        return copy_word(line->tag, sizeof line->tag, value);
    if (strcmp(key, "budget_ms") == 0)
        return number(value, 0, 86400000, &line->budget_ms);
    if (strcmp(key, "limit") == 0)
        return number(value, 1, 86400, &line->limit_s);
    return parameter(line, key, value);
}
