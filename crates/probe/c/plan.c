/* A line of the plan, as PROTOCOL.md defines it. */
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

static int copy(char *to, size_t room, const char *from)
{
    if (strlen(from) >= room || *from == 0)
        return -1;
    strcpy(to, from);
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
        return copy(line->values[i], sizeof line->values[i], value);
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

static int option(struct line *line, const char *key, const char *value)
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
        return copy(line->cpu, sizeof line->cpu, value);
    if (strcmp(key, "tag") == 0)
        return copy(line->tag, sizeof line->tag, value);
    if (strcmp(key, "budget_ms") == 0)
        return number(value, 0, 86400000, &line->budget_ms);
    if (strcmp(key, "limit") == 0)
        return number(value, 1, 86400, &line->limit_s);
    return parameter(line, key, value);
}

/* What a line says that leaves all else unsaid. */
static void defaults(struct line *line)
{
    const struct param *p = line->probe->params;

    line->batches = 20;
    line->ops = line->budget_ms = 0;
    line->pairs = line->probe->batch == BATCH_AUTO || line->probe->pairs;
    line->count = 1;
    line->temp = WARM;
    line->limit_s = 60;
    strcpy(line->cpu, "free");
    line->tag[0] = 0;
    for (int i = 0; p && p->key; p++, i++)
        next_word(p->values, line->values[i], sizeof line->values[i]);
}

int parse_line(const char *text, struct line *line, const char **why)
{
    char word[256], *value;

    memset(line, 0, sizeof *line);
    *why = "longer than a line may be";
    if (copy(line->text, sizeof line->text, text) != 0)
        return -1;
    *why = "a line is: probe NAME VARIANT [KEY=VALUE]...";
    if (!(text = next_word(text, word, sizeof word)) || strcmp(word, "probe") != 0 || !(text = next_word(text, word, sizeof word)))
        return -1;
    *why = "no probe of this name; see --list";
    if (!(line->probe = find_probe(word)))
        return -1;
    *why = "no such variant of this probe; see --list";
    if (!(text = next_word(text, word, sizeof word)) || (strcmp(word, "*") != 0 && !has_word(line->probe->variants, word)) ||
        copy(line->variant, sizeof line->variant, word) != 0)
        return -1;
    defaults(line);
    *why = "an option or parameter that this probe does not have, or a value that it does not take";
    while ((text = next_word(text, word, sizeof word))) {
        if (!(value = strchr(word, '=')))
            return -1;
        *value++ = 0;
        if (option(line, word, value) != 0)
            return -1;
    }
    if (line->temp != WARM)
        line->pairs = 0;
    return 0;
}
