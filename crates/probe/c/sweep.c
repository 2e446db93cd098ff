/* The worker's own plans. --all: every variant of every probe. --sweep adds every other value of every parameter, one at a time
 * (memory of the parent with both kinds of pages); placements; pairs of CPUs. */
#include "worker.h"

#include <string.h>

#define MATRIX_MOST 16 /* CPUs of a matrix: 120 pairs */

static int add(struct plan *plan, const struct probe *probe, const char *variant, long batches, const char *key, const char *value)
{
    char text[LINE_MOST];
    const char *why;

    snprintf(text, sizeof text, "probe %s %s batches=%ld %s=%s", probe->name, variant, batches, key, value);
    return plan_add(plan, text, &why);
}

static int add_pairs(struct plan *plan, const struct probe *probe, long batches)
{
    const int *cpus;
    int count = allowed_cpus(&cpus), failed = 0;
    char pair[32];

    for (int i = 0; i < count && i < MATRIX_MOST; i++)
        for (int j = i + 1; j < count && j < MATRIX_MOST; j++) {
            snprintf(pair, sizeof pair, "%d,%d", cpus[i], cpus[j]);
            failed |= add(plan, probe, "*", batches, "cpu", pair);
        }
    return failed;
}

/* Huge pages show their worth by how much memory stands on them: so with every size of it. */
static int add_pages(struct plan *plan, const struct probe *probe, long batches, const char *pages)
{
    const struct param *p = probe->params;
    char size[64], both[160];
    int failed = 0;

    while (p->key && strcmp(p->key, "rss") != 0)
        p++;
    for (const char *sizes = p->key ? p->values : ""; (sizes = next_word(sizes, size, sizeof size));) {
        snprintf(both, sizeof both, "%s rss=%s", pages, size);
        failed |= strcmp(size, "0") != 0 && add(plan, probe, "*", batches, "pages", both);
    }
    return failed;
}

static int sweep_probe(struct plan *plan, const struct probe *probe, long batches)
{
    char value[64];
    int failed = 0;

    for (const struct param *p = probe->params; p && p->key; p++) {
        const char *values = next_word(p->values, value, sizeof value);
        while (values && (values = next_word(values, value, sizeof value)))
            failed |= strcmp(p->key, "pages") == 0 ? add_pages(plan, probe, batches, value)
                                                   : add(plan, probe, p->only ? p->only : "*", batches, p->key, value);
    }
    if (strcmp(probe->group, "thread") == 0 || strcmp(probe->group, "pipe") == 0)
        failed |= add(plan, probe, "*", batches, "cpu", "same") | add(plan, probe, "*", batches, "cpu", "other");
    return probe->matrix ? failed | add_pairs(plan, probe, batches) : failed;
}

int plan_own(struct plan *plan, int sweep, long batches)
{
    char text[LINE_MOST];
    const struct probe *probe;
    const char *why;

    for (size_t i = 0; (probe = probe_at(i)); i++) {
        if (probe->hidden)
            continue;
        snprintf(text, sizeof text, "probe %s * batches=%ld", probe->name, batches);
        if (plan_add(plan, text, &why) != 0 || (sweep && sweep_probe(plan, probe, batches) != 0))
            return -1;
    }
    return 0;
}
