#ifndef MAILBOX_H
#define MAILBOX_H

#include <stddef.h>

struct letter {
    char from[32];
    char *text;
    size_t length;
};

struct letter *read_letter(const char *line);
void drop_letter(struct letter *letter);
void log_large(const struct letter *letter);

#endif
