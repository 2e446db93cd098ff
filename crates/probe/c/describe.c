/* --list: what the probes are. */
#include "worker.h"

#include <math.h>
#include <string.h>

static void bound(const char *key, double value)
{
    if (value != value)
        printf("\t%s=-", key);
    else
        printf("\t%s=%g", key, value);
}

static void describe_one(const struct probe *p)
{
    static const char *const batches[] = {"auto", "one", "param"};
    const char *slash = strstr(p->source, "c/");

    printf("probe\tname=%s\tgroup=%s\tunit=%s\texercises=%s\tneeds=%s\tportable=%d", p->name, p->group, p->unit, p->exercises, p->needs,
           p->portable);
    printf("\tvariants=%s\tmeasures=%s\tbatch=%s\tpairs=%d\tmatrix=%d\tdisturbed=%s\tsource=%s\n", p->variants, p->measures, batches[p->batch],
           p->batch == BATCH_AUTO || p->pairs, p->matrix, p->disturbed, slash ? slash : p->source);
    for (const struct param *q = p->params; q && q->key; q++)
        printf("param\tname=%s\tkey=%s\tvalues=%s\tonly=%s\tabout=%s\n", p->name, q->key, q->values, q->only ? q->only : "", q->about);
    for (const struct expect *e = p->expect; e && e->receipt; e++) {
        printf("expect\tname=%s\tvariant=%s\treceipt=%s", p->name, e->variant ? e->variant : "*", e->receipt);
        bound("least", e->least);
        bound("most", e->most);
        printf("\n");
    }
}

void describe(int hidden)
{
    const struct probe *p;

    for (size_t i = 0; (p = probe_at(i)); i++)
        if (p->hidden == hidden)
            describe_one(p);
}
