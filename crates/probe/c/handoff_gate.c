/* Between rounds the receiver sleeps at a gate, so that it is in nobody's way. */
#include "oneway.h"

struct oneway oneway;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;

void gate_open(unsigned command)
{
    pthread_mutex_lock(&gate);
    atomic_store(&oneway.command, command);
    pthread_cond_signal(&opened);
    pthread_mutex_unlock(&gate);
}

/* In a counted run sleeping would be counted. */
void gate_sleep(unsigned until)
{
    while (oneway.run->counting && atomic_load(&oneway.command) < until)
        relax();
    pthread_mutex_lock(&gate);
    while (atomic_load(&oneway.command) < until)
        pthread_cond_wait(&opened, &gate);
    pthread_mutex_unlock(&gate);
}

/* In a counted run yields would be counted; an awake receiver that yields would not be running. */
void oneway_await(atomic_uint *flag, unsigned value)
{
    while (atomic_load(flag) != value)
        if (!oneway.run->counting && is_variant(oneway.run, "asleep"))
            sched_yield();
        else
            relax();
}

/* Receipts take microseconds, which would be in the other side's time where both may be on one CPU. Elsewhere nobody waits for them. */
void oneway_let_read(atomic_uint *other)
{
    if (oneway.run->cpu[0] == oneway.run->cpu[1])
        oneway_await(other, oneway.sequence);
}
