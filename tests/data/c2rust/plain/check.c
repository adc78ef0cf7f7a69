#include "words.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "FAILED: %s\n", what);
        failures++;
    }
}

int main(void)
{
    struct words words;
    char out[200];
    FILE *log;

    words_clear(&words);
    check(words_read(&words, "the cat, the dog and the bird_1") == 7, "words");
    check(words.used == 5, "used");
    check(words_find(&words, "the")->count == 3, "count");
    check(words_find(&words, "fish") == NULL, "absent");
    check(words_add(&words, "a word that is too long", 23) == -1, "long");
    words_sort(&words, BY_COUNT);
    check(words_print(&words, out, sizeof out) > 0, "print");
    check(strcmp(out, "the 3, and 1, bird_1 1, cat 1, dog 1") == 0, out);
    words_sort(&words, BY_LENGTH);
    check(strcmp(words.list[4].text, "bird_1") == 0, "length");
    words_sort(&words, BY_TEXT);
    check(strcmp(words.list[0].text, "and") == 0, "text");
    check(words_print(&words, out, 8) == 0, "no room");
    check(words_checksum("a", 1) == 0xe40c292cu, "checksum");
    log = fopen("check.log", "a");
    check(log != NULL, "log");
    if (log) {
        fprintf(log, "%d\n", failures);
        fclose(log);
    }
    return failures != 0;
}
