#include "mailbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 4096

/* "NAME LENGTH TEXT", as a peer has sent it. */
struct letter *read_letter(const char *line)
{
    struct letter *letter = malloc(sizeof *letter);
    if (letter == NULL)
        return NULL;
    const char *end = strchr(line, ' ');
    if (end == NULL || (size_t)(end - line) >= sizeof letter->from) {
        free(letter);
        return NULL;
    }
    memcpy(letter->from, line, end - line);
    letter->from[end - line] = '\0';
    letter->length = atoi(end + 1);
    letter->text = malloc(letter->length + 1);
    memcpy(letter->text, end + 1, letter->length);
    letter->text[letter->length] = '\0';
    return letter;
}

void drop_letter(struct letter *letter)
{
    free(letter->text);
    if (letter->length > TEXT_MAX)
        log_large(letter);
    free(letter);
}

void log_large(const struct letter *letter)
{
    char message[64];
    sprintf(message, "large letter from %s\n", letter->from);
    printf(message);
}
