/* Which CPUs the two sides of a run get. */
#include "worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_allowed(int cpu, const int *cpus, int count)
{
    for (int i = 0; i < count; i++)
        if (cpus[i] == cpu)
            return 1;
    return 0;
}

/* "A" or "A,B", of CPUs that the worker may use. */
static int parse(const char *text, const int *cpus, int count, int pins[2])
{
    char *end;
    long first = strtol(text, &end, 10), second = first;

    if (end == text)
        return -1;
    if (*end == ',') {
        text = end + 1;
        second = strtol(text, &end, 10);
        if (end == text)
            return -1;
    }
    if (*end != 0 || !is_allowed((int)first, cpus, count) || !is_allowed((int)second, cpus, count))
        return -1;
    pins[0] = (int)first;
    pins[1] = (int)second;
    return 0;
}

/* The first one of another core, where there is one: threads of one core share more than two CPUs do. */
static int other_than_first(const int *cpus, int count)
{
    for (int i = 1; i < count; i++)
        if (!share_core(cpus[0], cpus[i]))
            return cpus[i];
    return cpus[1];
}

/* Whoever takes the other side's pin later can no longer say no: so it is tried here. */
int take_pin(struct run *r)
{
    return pin_to(r->cpu[1]) || pin_to(r->cpu[0]) ? unavailable(r, errno, "this thread may not be pinned to that CPU") : 0;
}

int choose_pins(struct run *r, const char *text)
{
    const int *cpus;
    int count = allowed_cpus(&cpus);

    r->cpu[0] = r->cpu[1] = -1;
    r->cpu_same = count == 1;
    if (strcmp(text, "free") == 0)
        return 0;
    if (count == 0)
        return unavailable(r, 0, "this system lets no thread choose its CPU");
    if (strcmp(text, "same") == 0) {
        r->cpu[0] = r->cpu[1] = cpus[0];
    } else if (strcmp(text, "other") == 0) {
        if (count < 2)
            return unavailable(r, 0, "only one CPU may be used here");
        r->cpu[0] = cpus[0];
        r->cpu[1] = other_than_first(cpus, count);
    } else if (parse(text, cpus, count, r->cpu) != 0) {
        return unavailable(r, 0, "not CPUs that may be used here");
    }
    r->cpu_same = r->cpu[0] == r->cpu[1];
    return 0;
}
