/* A small library with tests: words of a text, counted and sorted. */
#ifndef WORDS_H
#define WORDS_H

#include <stddef.h>

#define MOST_WORDS 32

enum order { BY_TEXT, BY_COUNT, BY_LENGTH };

struct word {
    char text[16];
    unsigned short count;
    unsigned char length;
};

struct words {
    struct word list[MOST_WORDS];
    size_t used;
    unsigned long checksum;
};

void words_clear(struct words *words);
int words_add(struct words *words, const char *text, size_t length);
int words_read(struct words *words, const char *text);
void words_sort(struct words *words, enum order order);
const struct word *words_find(const struct words *words, const char *text);
size_t words_print(const struct words *words, char *out, size_t size);
unsigned long words_checksum(const char *text, size_t length);
int words_unused(int number);

#endif
