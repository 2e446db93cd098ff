/* Everything of a line that comes before its first round. */
#include "worker.h"

#include <string.h>

int prepare(struct run *r, const struct line *line, volatile int *counting)
{
    memset(r, 0, sizeof *r);
    r->counting = counting;
    r->probe = line->probe;
    strcpy(r->variant, line->variant);
    memcpy(r->values, line->values, sizeof r->values);
    r->ops = line->ops > 0 ? (uint64_t)line->ops : 1;
    r->first = line->temp == FIRST;
    r->cold = line->temp == COLD;
    r->why = "setup failed";
    if (choose_pins(r, line->cpu) != 0 || take_pin(r) != 0)
        return -1;
    if (line->probe->setup && line->probe->setup(r) != 0)
        return -1;
    r->why = NULL;
    return 0;
}
