/* probe CPU PERIOD_US TURNS: on this CPU, at real-time priority where that is allowed, times a loop of TURNS turns every PERIOD_US, until
 * SIGTERM; then writes a line for each: when it began (s, CLOCK_MONOTONIC) and how long it took (ns). Nothing is allocated or written before. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define MOST 2000000

static struct probe {
    uint64_t began;
    uint64_t took;
} probes[MOST];
static volatile sig_atomic_t ended;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void end(int signal) {
    (void)signal;
    ended = 1;
}

int main(int argc, char **argv) {
    cpu_set_t set;
    struct sched_param priority = {.sched_priority = 50};
    struct sigaction action = {.sa_handler = end};
    long n = 0;
    if (argc != 4) return 2;
    CPU_ZERO(&set);
    CPU_SET(atoi(argv[1]), &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) return 1;
    sched_setscheduler(0, SCHED_FIFO, &priority);
    mlockall(MCL_CURRENT | MCL_FUTURE);
    sigaction(SIGTERM, &action, 0);
    uint64_t period = strtoull(argv[2], 0, 10) * 1000, next = now();
    for (; !ended && n < MOST; n++) {
        next += period;
        struct timespec until = {(time_t)(next / 1000000000u), (long)(next % 1000000000u)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, 0);
        long turns = atol(argv[3]);
        uint64_t began = now();
        __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(turns));
        probes[n] = (struct probe){began, now() - began};
    }
    for (long i = 0; i < n; i++) printf("%.9f %llu\n", (double)probes[i].began * 1e-9, (unsigned long long)probes[i].took);
    return 0;
}
