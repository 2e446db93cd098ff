/* A line of the plan, as PROTOCOL.md defines it. */
#include "worker.h"

#include <string.h>

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
    if (copy_word(line->text, sizeof line->text, text) != 0)
        return -1;
    *why = "a line is: probe NAME VARIANT [KEY=VALUE]...";
    if (!(text = next_word(text, word, sizeof word)) || strcmp(word, "probe") != 0 || !(text = next_word(text, word, sizeof word)))
        return -1;
    *why = "no probe of this name; see --list";
    if (!(line->probe = find_probe(word)))
        return -1;
    *why = "no such variant of this probe; see --list";
    if (!(text = next_word(text, word, sizeof word)) || (strcmp(word, "*") != 0 && !has_word(line->probe->variants, word)) ||
        copy_word(line->variant, sizeof line->variant, word) != 0)
        return -1;
    defaults(line);
    *why = "an option or parameter that this probe does not have, or a value that it does not take";
    while ((text = next_word(text, word, sizeof word))) {
        if (!(value = strchr(word, '=')))
            return -1;
        *value++ = 0;
        if (plan_option(line, word, value) != 0)
            return -1;
    }
    if (line->temp != WARM)
        line->pairs = 0;
    return 0;
}
