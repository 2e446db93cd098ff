/* touch PAGES ROUNDS: writes once to each of PAGES fresh pages, ROUNDS times over. The same number of writes to few pages
 * many times makes few page faults, to many pages once many. Plants: page_faults. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = strtoul(argv[1], NULL, 10) * page;
    volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    /* One fault a page, whatever the machine does with huge pages. */
    madvise((void *)memory, size, MADV_NOHUGEPAGE);
    for (long left = atol(argv[2]); left > 0; left--)
        for (size_t at = 0; at < size; at += page) memory[at] = 1;
    return 0;
}
