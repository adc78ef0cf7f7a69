#include "words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef int compare(const struct word *, const struct word *);

static int by_text(const struct word *a, const struct word *b)
{
    return strcmp(a->text, b->text);
}

static int by_count(const struct word *a, const struct word *b)
{
    return a->count != b->count ? (int)b->count - (int)a->count : by_text(a, b);
}

static int by_length(const struct word *a, const struct word *b)
{
    return a->length != b->length ? a->length - b->length : by_text(a, b);
}

static compare *const comparisons[] = {by_text, by_count, by_length};

static int is_part(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

unsigned long words_checksum(const char *text, size_t length)
{
    unsigned int sum = 2166136261u;
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)text[i]) * 16777619u;
    return sum;
}

void words_clear(struct words *words)
{
    memset(words, 0, sizeof *words);
}

int words_add(struct words *words, const char *text, size_t length)
{
    struct word *word;
    size_t i;

    if (length >= sizeof word->text)
        return -1;
    for (i = 0; i < words->used; i++) {
        word = &words->list[i];
        if (word->length == length && memcmp(word->text, text, length) == 0)
            return ++word->count;
    }
    if (words->used == MOST_WORDS)
        return -1;
    word = &words->list[words->used++];
    memcpy(word->text, text, length);
    word->text[length] = '\0';
    word->length = (unsigned char)length;
    word->count = 1;
    words->checksum ^= words_checksum(text, length);
    return 1;
}

int words_read(struct words *words, const char *text)
{
    int found = 0;
    while (*text) {
        const char *end = text;
        while (is_part(*end))
            end++;
        if (end > text) {
            if (words_add(words, text, (size_t)(end - text)) < 0)
                return -1;
            found++;
        }
        text = *end ? end + 1 : end;
    }
    return found;
}

void words_sort(struct words *words, enum order order)
{
    compare *before = comparisons[order];
    for (size_t i = 1; i < words->used; i++) {
        struct word moved = words->list[i];
        size_t j = i;
        for (; j > 0 && before(&moved, &words->list[j - 1]) < 0; j--)
            words->list[j] = words->list[j - 1];
        words->list[j] = moved;
    }
}

const struct word *words_find(const struct words *words, const char *text)
{
    for (size_t i = 0; i < words->used; i++)
        if (strcmp(words->list[i].text, text) == 0)
            return &words->list[i];
    return NULL;
}

size_t words_print(const struct words *words, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < words->used; i++) {
        const struct word *word = &words->list[i];
        int written = snprintf(out + length, size - length, "%s%s %u", i ? ", " : "", word->text, word->count);
        if (written < 0 || (size_t)written >= size - length)
            return 0;
        length += (size_t)written;
    }
    return length;
}

int words_unused(int number)
{
    return number * 7 + 1;
}
