/* A program that replaces itself N times in a row, and the proof that it does. */
#include "process.h"
#include "target.h"

#include <stdio.h>
#include <unistd.h>

#ifdef __APPLE__
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#endif

#define TOLD_MOST 256 /* less than any pipe holds (_POSIX_PIPE_BUF is 512) */

pid_t chain_start(char *path, const char *how, uint64_t ops)
{
    char left[24];
    char *argv[] = {path, (char *)how, left, NULL};
    pid_t pid;

    snprintf(left, sizeof left, "%llu", (unsigned long long)ops - 1);
    pid = vfork();
    if (pid == 0) {
        execvp(path, argv);
        _exit(127);
    }
    return pid;
}

/* Every program of the chain tells that it ran; no time is looked at, as a busy machine may hold up any of them. */
int chain_is_whole(struct run *r, char *path)
{
    uint64_t wanted = r->ops < TOLD_MOST ? r->ops : TOLD_MOST;
    char told[TOLD_MOST + 1];
    ssize_t ran;
    pid_t pid;

    if (open_stamps(r) != 0)
        return refute(r, "no pipe to count the programs by");
    pid = chain_start(path, TARGET_TOLD, wanted);
    close(STAMP_FD);
    if (pid > 0)
        reap(pid, NULL);
    ran = read(spawned.stamps, told, sizeof told);
    close(spawned.stamps);
    return ran != (ssize_t)wanted ? refute(r, "the chain did not run as many programs as it is long") : 0;
}
