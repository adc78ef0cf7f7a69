#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int skip_blanks(const char *from)
{
    char *p = strdup(from);
    if (!p)
        return -1;
    while (*p == ' ')
        p++;
    int full = *p != 0;
    free(p); /* ruleid: flow_offset_free */
    return full;
}

void fill_backwards(size_t n)
{
    unsigned char *at = malloc(32);
    if (at == NULL)
        return;
    at += 4;
    at[0] = (unsigned char)n;
    free(at); /* ruleid: flow_offset_free */
}

void
behind_header (void)
{
  char *block = malloc (40);
  char *body;

  if (!block)
    return;
  body = block + 8;
  body[0] = 'b';
  free (body); /* ruleid: flow_offset_free */
}

int sum_up(int n)
{
    int *numbers = calloc(8, sizeof(int));
    int sum = 0;
    if (!numbers)
        return 0;
    for (int i = 0; i < 8; i++)
        sum += *numbers++;
    free(numbers); /* ruleid: flow_offset_free */
    return sum + n;
}

static void give_back(char *what)
{
    free(what); /* ruleid: flow_offset_free */
}

void cut_prefix(void)
{
    char *word = malloc(12);
    if (!word)
        return;
    strcpy(word, "x-word");
    give_back(word + 2);
}

void middle_of_array(void)
{
    long *row = malloc(10 * sizeof *row);
    if (!row)
        return;
    row[0] = 0;
    free(&row[3]); /* ruleid: flow_offset_free */
}

/* near misses */

int skip_blanks_by_copy(const char *from)
{
    char *p = strdup(from), *at;
    if (!p)
        return -1;
    for (at = p; isspace((unsigned char)*at); at++)
        ;
    int full = *at != 0;
    free(p); /* ok: flow_offset_free */
    return full;
}

void there_and_back(void)
{
    char *p = malloc(16);
    if (!p)
        return;
    p += 4;
    p[0] = 1;
    p -= 4;
    free(p); /* ok: flow_offset_free */
}

int sum_by_index(void)
{
    int *numbers = calloc(8, sizeof(int));
    int sum = 0;
    if (!numbers)
        return 0;
    for (int i = 0; i < 8; i++)
        sum += numbers[i];
    free(numbers); /* ok: flow_offset_free */
    return sum;
}

void first_element(void)
{
    long *row = malloc(10 * sizeof *row);
    if (!row)
        return;
    row[0] = 0;
    free(&row[0]); /* ok: flow_offset_free */
}

void moved_then_replaced(void)
{
    char *p = malloc(16), *kept = p;
    if (!p)
        return;
    p++;
    p[0] = 0;
    free(kept); /* ok: flow_offset_free */
    p = malloc(4);
    free(p); /* ok: flow_offset_free */
}

void counted_but_not_moved(void)
{
    char *p = calloc(16, 1);
    int n = 0;
    if (!p)
        return;
    n++;
    (*p)++;
    p[n]++;
    free(p); /* ok: flow_offset_free */
}

int words_of(char *line)
{
    int count = 1;
    char **words = malloc(sizeof(*words)), *word, *rest;
    if (!words)
        return 0;
    for (word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        words = realloc(words, ++count * sizeof(*words));
        if (!words)
            return 0;
    }
    free(words); /* ok: flow_offset_free */
    return count;
}

int words_passed(char *line)
{
    int count = 1;
    char *copy = strdup(line);
    if (!copy)
        return 0;
    while (count < line[0]) {
        count++;
        copy++;
    }
    free(copy); /* ruleid: flow_offset_free */
    return count;
}

int rotated_rows(const char *a, int n)
{
    int *first = malloc(n * sizeof(*first)), *second = malloc(n * sizeof(*second));
    int i, last;
    if (!first || !second)
        abort();
    for (i = 0; i < n; i++) {
        int *spare = first;
        first = second;
        second = spare;
        second[0] = a[i];
    }
    last = second[0];
    free(first); /* ok: flow_offset_free */
    free(second); /* ok: flow_offset_free */
    return last;
}

int renewed_name(char *const *names, int n)
{
    size_t room = 30;
    char *name = malloc(room);
    int i;
    if (!name)
        return 1;
    for (i = 0; i < n; i++) {
        if (strlen(names[i]) >= room) {
            free(name);
            room = strlen(names[i]) + 20;
            name = malloc(room);
            if (!name)
                return 1;
        }
        strcpy(name, names[i]);
        puts(name);
    }
    free(name); /* ok: flow_offset_free */
    return 0;
}

int skipped_names(int n)
{
    char *names = strdup("a b c d");
    int i;
    if (!names)
        return 1;
    for (i = 0; i < n; i++)
        names += 2;
    puts(names);
    free(names); /* ruleid: flow_offset_free */
    return 0;
}
