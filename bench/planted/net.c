/* net serve FILE: answers each byte n from a connection on 127.0.0.1 after n milliseconds; writes its port to FILE.
 * net ask PORT COUNT MS: COUNT questions, one after the other, with MS each. Plants: network. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int ask(int line, long count, unsigned char ms) {
    for (; count > 0; count--)
        if (write(line, &ms, 1) != 1 || read(line, &ms, 1) != 1) return 1;
    return 0;
}

static void answer(int line) {
    unsigned char ms;
    while (read(line, &ms, 1) == 1) {
        struct timespec wait = {0, ms * 1000000L};
        nanosleep(&wait, NULL);
        if (write(line, &ms, 1) != 1) break;
    }
    close(line);
}

int main(int argc, char **argv) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof here;
    int line = socket(AF_INET, SOCK_STREAM, 0);
    if (argc == 5) {
        here.sin_port = htons((unsigned short)atoi(argv[2]));
        if (connect(line, (struct sockaddr *)&here, size) != 0) return 1;
        return ask(line, atol(argv[3]), (unsigned char)atoi(argv[4]));
    }
    if (argc != 3 || bind(line, (struct sockaddr *)&here, size) != 0 || listen(line, 16) != 0) return 2;
    getsockname(line, (struct sockaddr *)&here, &size);
    FILE *file = fopen(argv[2], "w");
    if (file == NULL) return 1;
    fprintf(file, "%d\n", ntohs(here.sin_port));
    fclose(file);
    for (;;) answer(accept(line, NULL, NULL));
}
