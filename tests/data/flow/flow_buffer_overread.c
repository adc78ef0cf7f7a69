#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int primes[5] = {2, 3, 5, 7, 11};

int sum_one_too_many(void)
{
    int table[4] = {1, 2, 3, 4}, sum = 0, i;
    for (i = 0; i <= 4; i++)
        sum += table[i]; /* ruleid: flow_buffer_overread */
    return sum;
}

int sixth_prime(void)
{
    return primes[5]; /* ruleid: flow_buffer_overread */
}

void
copy_more_than_there (unsigned char *to)
{
  unsigned char from[8] = { 0 };

  memcpy (to, from, 12); /* ruleid: flow_buffer_overread */
}

int heap_past_end(void)
{
    int r = 0;
    short *v = calloc(6, sizeof *v);
    if (v)
        r = v[6]; /* ruleid: flow_buffer_overread */
    free(v);
    return r;
}

static int pick(const char *from, int at)
{
    return from[at]; /* ruleid: flow_buffer_overread */
}

int pick_behind(void)
{
    char word[4] = {'a', 'b', 'c', 'd'};
    return pick(word, 4);
}

int index_from_outside(void)
{
    int slots[16] = {0};
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return 0;
    int slot = atoi(text);
    if (slot < 0)
        return 0;
    return slots[slot]; /* ruleid: flow_buffer_overread */
}

int tested_against_wrong_bound(int at)
{
    char small[8] = "seven77";
    if (at >= 8 && at < 16)
        return small[at]; /* ruleid: flow_buffer_overread */
    return 0;
}

/* near misses */

int sum_all(void)
{
    int table[4] = {1, 2, 3, 4}, sum = 0;
    for (unsigned i = 0; i < sizeof table / sizeof table[0]; i++)
        sum += table[i]; /* ok: flow_buffer_overread */
    return sum;
}

int fifth_prime(void)
{
    return primes[4]; /* ok: flow_buffer_overread */
}

void
copy_what_is_there (unsigned char *to)
{
  unsigned char from[8] = { 0 };

  memcpy (to, from, sizeof from); /* ok: flow_buffer_overread */
}

int one_past_address(void)
{
    int v[3] = {1, 2, 3}, sum = 0;
    for (int *p = v; p != &v[3]; p++) /* ok: flow_buffer_overread */
        sum += *p;
    return sum;
}

int index_within(void)
{
    int slots[16] = {0};
    char text[16];
    if (!fgets(text, sizeof text, stdin))
        return 0;
    int slot = atoi(text);
    if (slot < 0 || slot > 15)
        return 0;
    return slots[slot]; /* ok: flow_buffer_overread */
}

int with_sentinel(int wanted)
{
    int at = 0;
    const int codes[] = {4, 8, 15, -1};
    while (codes[at] != -1 && codes[at] != wanted) /* ok: flow_buffer_overread */
        at++;
    return at;
}

int wrapped_index(unsigned n)
{
    const char *days[7] = {"a", "b", "c", "d", "e", "f", "g"};
    return days[n % 7][0]; /* ok: flow_buffer_overread */
}

int by_enum(void)
{
    enum { RED, GREEN, BLUE, COLORS };
    int weights[COLORS] = {1, 2, 3};
    return weights[BLUE]; /* ok: flow_buffer_overread */
}

static char *copy_of(const unsigned char *text)
{
    const unsigned char *p = text;
    while (*p != 0)
        p++; /* ok: flow_buffer_overread */
    return strndup((const char *)text, (size_t)(p - text));
}

char *copy_of_empty(void)
{
    char *other = strdup("other");
    free(other);
    return copy_of((const unsigned char *)""); /* ok: flow_buffer_overread */
}

int first_word_of_empty(void)
{
    const char *text = "";
    char *other = strdup("other");
    int i = 0;
    free(other);
    while (isspace(text[i])) {
        if (text[i] == '\n')
            puts("line");
        i++;
        if (text[i] == '#') /* ok: flow_buffer_overread */
            return 0;
    }
    return i;
}

int behind_word(int far)
{
    const char *text = "ab";
    char first[4] = {0};
    if (text[1] == 'b')
        first[0] = text[4]; /* ruleid: flow_buffer_overread */
    else
        first[0] = text[5]; /* ok: flow_buffer_overread */
    return first[far & 3];
}

static void copy_into(char *to, const char *from, int room)
{
    if (room > 1)
        do {
            if ((*to++ = *from++) == '\0')
                break;
        } while (--room);
    if (room == 0)
        while (*from++) /* ok: flow_buffer_overread */
            ;
}

int name_after_use(void)
{
    char name[8];
    const char *slash = "/";
    register_name(slash);
    copy_into(name, slash, sizeof(name)); /* ok: flow_buffer_overread */
    return name[0];
}

int letters_after_slash(void)
{
    char name[8] = "";
    const char *s = "/ab";
    if (*s++ == '/')
        name[0] = *s; /* ok: flow_buffer_overread */
    while (*s++) /* ok: flow_buffer_overread */
        name[1]++;
    return name[1];
}

/* Text that may fill its buffer. */
int length_of_full(int in)
{
    char text[128];
    if (read(in, text, sizeof(text)) <= 0)
        return -1;
    return strlen(text); /* ruleid: flow_buffer_overread */
}

int number_in_full(FILE *in)
{
    char text[16];
    fread(text, 1, 16, in);
    return strtol(text, NULL, 10); /* ruleid: flow_buffer_overread */
}

int length_of_ended(int in)
{
    char text[128];
    ssize_t n = read(in, text, sizeof(text));
    if (n <= 0)
        return -1;
    text[n - 1] = 0;
    return strlen(text); /* ok: flow_buffer_overread */
}

int length_of_shorter(int in)
{
    char text[128] = "";
    if (read(in, text, sizeof(text) - 1) <= 0)
        return -1;
    return strlen(text); /* ok: flow_buffer_overread */
}

int length_of_judged(int in)
{
    char text[128];
    if (read(in, text, sizeof(text)) <= 0)
        return -1;
    terminate(text);
    return strlen(text); /* ok: flow_buffer_overread */
}

unsigned long length_of_tested(int in)
{
    char text[64];
    ssize_t n = read(in, text, sizeof text);
    if (n < 1 || text[n - 1] != '\0')
        return 0;
    return strlen(text); /* ok: flow_buffer_overread */
}

unsigned long length_of_whole(int in)
{
    char text[64];
    if (read(in, text, sizeof text) != sizeof text || text[63])
        return 0;
    return strlen(text); /* ok: flow_buffer_overread */
}

unsigned long length_of_searched(int in)
{
    char text[64];
    ssize_t n = read(in, text, sizeof text);
    if (n <= 0 || memchr(text, 0, n) == NULL)
        return 0;
    return strlen(text); /* ok: flow_buffer_overread */
}

unsigned long length_of_limited(int in)
{
    char text[64];
    if (read(in, text, sizeof text) <= 0 || strnlen(text, sizeof text) == sizeof text)
        return 0;
    return strlen(text); /* ok: flow_buffer_overread */
}

unsigned long length_of_same(int in)
{
    char text[64];
    if (read(in, text, sizeof text) <= 0 || memcmp(text, "abc", 4) != 0)
        return 0;
    return strlen(text); /* ok: flow_buffer_overread */
}

unsigned long length_of_marked(int in)
{
    char text[64];
    if (read(in, text, sizeof text) <= 0 || memcmp(text, "abc", 3) != 0)
        return 0;
    return strlen(text); /* ruleid: flow_buffer_overread */
}

unsigned long length_behind_loop(int in)
{
    char text[64];
    int i;
    if (read(in, text, sizeof text) <= 0)
        return 0;
    for (i = 0; i < 64; i++)
        if (text[i] == 0)
            return strlen(text); /* ok: flow_buffer_overread */
    return 0;
}

unsigned long length_of_any(int in)
{
    char text[64];
    if (read(in, text, sizeof text) <= 0 || text[0] == '\0')
        return 0;
    return strlen(text); /* ruleid: flow_buffer_overread */
}

/* Reads before the comparison with the end. */
const char *behind_spaces(const char *at, const char *end)
{
    free(malloc(1));
    while (*at == ' ' && at < end) /* ruleid: flow_buffer_overread */
        at++;
    return at;
}

size_t line_length(const char *text, size_t size)
{
    size_t i = 0;
    free(malloc(1));
    while (text[i] != '\n' && i < size) /* ruleid: flow_buffer_overread */
        i++;
    return i;
}

const char *behind_spaces_in_order(const char *at, const char *end)
{
    free(malloc(1));
    while (at < end && *at == ' ') /* ok: flow_buffer_overread */
        at++;
    return at;
}

const char *end_of_text(const char *at, const char *end)
{
    free(malloc(1));
    while (*at != 0 && at < end) /* ok: flow_buffer_overread */
        at++;
    return at;
}

const char *back_to_slash(const char *at, const char *start)
{
    free(malloc(1));
    while (*at != '/' && at > start) /* ok: flow_buffer_overread */
        at--;
    return at;
}

static const int steps_up[4] = {2, 3, 5, 7};

int bucket(const unsigned char *text, size_t size)
{
    int i = 0;
    while (steps_up[i] < text[0] && i < 3) /* ok: flow_buffer_overread */
        i++;
    return i;
}

int bucket_too_far(const unsigned char *text, size_t size)
{
    int i = 0;
    while (steps_up[i] < text[0] && i < 4) /* ruleid: flow_buffer_overread */
        i++;
    return i;
}

int digits_inside(const char *in)
{
    char text[12];
    const char *at = text, *end = text + 11;
    int i = 0;
    strncpy(text, in, 11);
    text[11] = 0;
    while (text[i] != ',' && i < 11) /* ok: flow_buffer_overread */
        i++;
    while (*at == ' ' && at < end) /* ok: flow_buffer_overread */
        at++;
    return i;
}

int digits_too_far(const char *in)
{
    char text[12];
    int i = 0;
    memcpy(text, in, 12);
    while (text[i] != ',' && i < 12) /* ruleid: flow_buffer_overread */
        i++;
    return i;
}

void copy_text(const unsigned char *text, size_t size, char *out)
{
    size_t i = 0;
    free(malloc(1));
    while ((out[i] = text[i]) && i < size - 1) /* ok: flow_buffer_overread */
        i++;
    out[i] = 0;
}

int length_of_line(const unsigned char *text, size_t size)
{
    size_t i = 0;
    free(malloc(1));
    while (text[i] && text[i] != '\n' && i < size) /* ok: flow_buffer_overread */
        i++;
    return i;
}

int length_of_negated(const unsigned char *text)
{
    int i = 0;
    free(malloc(1));
    while (!(text[i] == 0) && i < 20) /* ok: flow_buffer_overread */
        i++;
    return i;
}

struct name { const char *name; };

int names_in(const struct name *table, int most)
{
    int i = 0;
    free(malloc(1));
    while (table[i].name && i < most) /* ok: flow_buffer_overread */
        i++;
    return i;
}

int spaces_behind_first(const unsigned char *text, int size)
{
    int i = 1;
    free(malloc(1));
    while (i > 0 && text[i] == ' ' && i < size) /* ruleid: flow_buffer_overread */
        i++;
    return i;
}
