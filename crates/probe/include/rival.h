/* A thread on another CPU that wants the same mutex all the time, or one that sleeps: c/rival.c. */
#ifndef WHYFASTER_RIVAL_H
#define WHYFASTER_RIVAL_H

#include "probe.h"

#include <pthread.h>

extern pthread_mutex_t contested;

int rival_asleep(struct run *r);
int rival_start(struct run *r);
void rival_begins(struct run *r);
void rival_ends(struct run *r);
void rival_stop(void);
#endif
