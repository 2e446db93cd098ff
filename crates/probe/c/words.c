/* Blank-separated words, as the probes' descriptions and the plan use them. */
#include "worker.h"

#include <string.h>

const char *next_word(const char *words, char *word, size_t room)
{
    size_t length;

    words += strspn(words, " \t\r\n");
    length = strcspn(words, " \t\r\n");
    if (length == 0)
        return NULL;
    if (length >= room)
        length = room - 1;
    memcpy(word, words, length);
    word[length] = 0;
    return words + strcspn(words, " \t\r\n");
}

int has_word(const char *words, const char *word)
{
    char found[LINE_MOST];

    while ((words = next_word(words, found, sizeof found)))
        if (strcmp(found, word) == 0)
            return 1;
    return 0;
}

/* -1 where it does not fit or is empty. */
int copy_word(char *to, size_t room, const char *from)
{
    if (strlen(from) >= room || *from == 0)
        return -1;
    strcpy(to, from);
    return 0;
}
