/* F_SETPIPE_SZ: above /proc/sys/fs/pipe-max-size only with CAP_SYS_RESOURCE (fcntl(2)). */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "stream.h"

#include <fcntl.h>

int set_pipe_size(int pipe, int bytes)
{
    return fcntl(pipe, F_SETPIPE_SZ, bytes);
}
