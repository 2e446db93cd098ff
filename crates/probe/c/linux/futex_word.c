/* A word to sleep on, shared between processes. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "pingpong.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

int word_wait(_Atomic uint32_t *word, uint32_t value)
{
    return syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0) == 0 ? 0 : -1;
}

int word_wake(_Atomic uint32_t *word)
{
    return syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0) >= 0 ? 0 : -1;
}
