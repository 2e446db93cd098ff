/* Waiting for a descriptor and for a signal at once: select, poll, epoll. */
#ifndef WHYFASTER_WAITER_H
#define WHYFASTER_WAITER_H

#include "handoff.h"

#include <signal.h>

struct waiter {
    const char *name;
    int (*open)(int file);                /* 0, or -1 with errno */
    int (*wait)(const sigset_t *during);  /* 1: readable; 0: interrupted; -1 with errno. The mask holds while it sleeps; may be NULL */
    void (*close)(void);
};

extern const struct waiter wait_select, wait_poll;
extern const struct waiter *const system_waiter; /* epoll, or NULL */

/* Opens the waiter that the parameter `wait` names on the reading end of the pipe. */
int waiter_open(struct run *r, const struct waiter **waiter);

#define WAIT_PARAM                                                                                                                           \
    {"wait", "select poll epoll", "what the receiver sleeps in", NULL}
#define WAITING_TRAITS                                                                                                                       \
    HANDOFF_TRAITS, .params = (const struct param[]){WAIT_PARAM, HANDOFF_PARAMS, END}
#define WAITING_HANDOFF                                                                                                                      \
    WAITING_TRAITS, .expect = (const struct expect[]){SLEEPS_WHEN_ASLEEP}
#endif
