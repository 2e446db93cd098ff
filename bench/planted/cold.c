/* cold keep|drop FILE: throws FILE out of the page cache, or does not, then reads it whole. Plants: disk. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    static char block[1 << 16];
    ssize_t n;
    if (argc != 3) return 2;
    int file = open(argv[2], O_RDONLY);
    if (file < 0) return 1;
    /* WILLNEED of a file that is there does nothing: the call itself is in both. */
    posix_fadvise(file, 0, 0, strcmp(argv[1], "drop") == 0 ? POSIX_FADV_DONTNEED : POSIX_FADV_WILLNEED);
    while ((n = read(file, block, sizeof block)) > 0) {}
    return n != 0;
}
