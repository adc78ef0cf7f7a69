#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void clear_32(int *a)
{
    for (int i = 0; i < 32; i++)
        a[i] = 0; /* ruleid: flow_buffer_overflow */
}

int sixteen(void)
{
    int a[16];
    clear_32(a);
    return a[3];
}

int thirty_two(void)
{
    int a[32];
    clear_32(a);
    return a[3];
}

int *one_too_many(size_t n)
{
    int *a = malloc(n * 4);
    if (!a)
        return NULL;
    for (size_t i = 0; i <= n; i++)
        a[i] = 0; /* ruleid: flow_buffer_overflow */
    return a;
}

int *just_enough(size_t n)
{
    int *a = malloc((n + 1) * sizeof(int));
    if (!a)
        return NULL;
    for (size_t i = 0; i <= n; i++)
        a[i] = 0; /* ok: flow_buffer_overflow */
    return a;
}

int *as_many(size_t n)
{
    int *a = malloc(n * sizeof *a);
    if (!a)
        return NULL;
    for (size_t i = 0; i < n; i++)
        a[i] = 0; /* ok: flow_buffer_overflow */
    return a;
}

char *terminated_behind(size_t n, const char *from)
{
    char *s = malloc(n);
    if (!s)
        return NULL;
    memcpy(s, from, n);
    s[n] = 0; /* ruleid: flow_buffer_overflow */
    return s;
}

char *terminated(size_t n, const char *from)
{
    char *s = malloc(n + 1);
    if (!s)
        return NULL;
    memcpy(s, from, n);
    s[n] = 0; /* ok: flow_buffer_overflow */
    return s;
}

char *grown_meanwhile(size_t n, const char *from)
{
    char *s = malloc(n);
    if (!s)
        return NULL;
    n = 0;
    s[n] = *from; /* ok: flow_buffer_overflow */
    return s;
}

void spelled(const char *from)
{
    char text[32];
    char *to = text;
    while ((*to++ = *from++) != 0) /* ruleid: flow_buffer_overflow */
        ;
    puts(text);
}

void spelled_within(const char *from)
{
    char text[32];
    char *to = text;
    while (*from && to < text + sizeof text - 1)
        *to++ = *from++; /* ok: flow_buffer_overflow */
    *to = 0;
    puts(text);
}

void spelled_by_index(const char *from)
{
    char text[32];
    size_t i = 0;
    while (from[i] != '\0') {
        text[i] = from[i]; /* ruleid: flow_buffer_overflow */
        i++;
    }
    text[sizeof text - 1] = 0;
    puts(text);
}

void spelled_by_index_within(const char *from)
{
    char text[32];
    size_t i;
    for (i = 0; from[i] && i < sizeof text - 1; i++)
        text[i] = from[i]; /* ok: flow_buffer_overflow */
    text[i] = 0;
    puts(text);
}

static void own_copy(char *to, const char *from)
{
    while ((*to++ = *from++)) /* ruleid: flow_buffer_overflow */
        ;
}

int label(const char *from)
{
    char text[8];
    own_copy(text, from);
    return text[0];
}

void padded(long width)
{
    char work[64];
    char *w = &work[63];
    *w-- = 0;
    while (width-- > 0)
        *w-- = '0'; /* ruleid: flow_buffer_underwrite */
    puts(w + 1);
}

void padded_within(long width)
{
    char work[64];
    char *w = &work[63];
    *w-- = 0;
    while (width-- > 0 && w >= work)
        *w-- = '0'; /* ok: flow_buffer_underwrite */
    puts(w + 1);
}

void digits(unsigned long n)
{
    char work[24];
    char *w = &work[23];
    *w = 0;
    do {
        *--w = '0' + n % 10; /* ok: flow_buffer_underwrite */
        n /= 10;
    } while (n);
    puts(w);
}

int sum_of(const uint16_t *from, int n)
{
    uint16_t copy[40];
    for (int i = 0; i < n; i++)
        copy[i] = from[i]; /* ruleid: flow_buffer_overflow */
    return copy[0];
}

int sum_of_few(const uint16_t *from, int n)
{
    uint16_t copy[40];
    if (n > 40)
        n = 40;
    for (int i = 0; i < n; i++)
        copy[i] = from[i]; /* ok: flow_buffer_overflow */
    return copy[0];
}

int signed_length(const char *from, char *text)
{
    char size[16];
    if (!fgets(size, sizeof size, stdin))
        return -1;
    int n = atoi(size);
    if (n > 64)
        return -1;
    memcpy(text, from, n); /* ruleid: flow_tainted_length */
    return n;
}

int unsigned_length(const char *from, char *text)
{
    char size[16];
    if (!fgets(size, sizeof size, stdin))
        return -1;
    unsigned n = atoi(size);
    if (n > 64)
        return -1;
    memcpy(text, from, n); /* ok: flow_tainted_length */
    return n;
}

int pairs_of(const unsigned char *p, const unsigned char *end)
{
    int seen[256] = {0};
    while (p < end) {
        int kind = *p++;
        seen[kind] += *p++; /* ruleid: flow_buffer_overread */
    }
    return seen[0];
}

int pairs_within(const unsigned char *p, const unsigned char *end)
{
    int seen[256] = {0};
    while (p < end) {
        int kind = *p++;
        if (p == end)
            break;
        seen[kind] += *p++; /* ok: flow_buffer_overread */
    }
    return seen[0];
}

char *unescaped(const char *text, size_t left)
{
    char *to = malloc(left + 1);
    size_t at = 0;
    if (!to)
        return NULL;
    while (left-- > 0) {
        char c = *text;
        if (c == '%' && text[1] == '0') /* ruleid: flow_buffer_overread */
            c = text[2];
        to[at++] = c;
        text++;
    }
    return to;
}

char *unescaped_within(const char *text, size_t left)
{
    char *to = malloc(left + 1);
    size_t at = 0;
    if (!to)
        return NULL;
    while (left-- > 0) {
        char c = *text;
        if (c == '%' && left > 2 && text[1] == '0') /* ok: flow_buffer_overread */
            c = text[2];
        to[at++] = c;
        text++;
    }
    return to;
}

unsigned sum_of_words(const unsigned char *p, const unsigned char *end)
{
    unsigned sum = 0, part[2] = {0};
    for (; p < end; p += 2)
        part[sum & 1] += p[0] << 8 | p[1]; /* ok: flow_buffer_overread */
    return sum + part[0];
}

int sum_of_copy(const char *from, size_t n)
{
    char text[40];
    memcpy(text, from, n); /* ruleid: flow_buffer_overflow */
    return text[0];
}

int sum_of_short_copy(const char *from, size_t n)
{
    char text[40];
    if (n > sizeof text)
        n = sizeof text;
    memcpy(text, from, n); /* ok: flow_buffer_overflow */
    return text[0];
}

int printed(const char *name)
{
    char text[40];
    int n = snprintf(text, sizeof text, "%s.txt", name);
    text[n] = '!'; /* ruleid: flow_buffer_overflow */
    return text[0];
}

int printed_within(const char *name)
{
    char text[40];
    int n = snprintf(text, sizeof text, "%s.txt", name);
    if (n < 0 || n >= (int)sizeof text)
        return -1;
    text[n] = '!'; /* ok: flow_buffer_overflow */
    return text[0];
}

char *printed_after_measuring(const char *name)
{
    int n = snprintf(NULL, 0, "%s.txt", name);
    char *text = malloc(n + 1); /* ok: flow_tainted_size */
    if (text)
        snprintf(text, n + 1, "%s.txt", name);
    return text;
}

void flushed(const char *from)
{
    char text[32];
    size_t n = 0;
    while (*from) {
        MAKE_ROOM(2);
        text[n++] = *from++; /* ok: flow_buffer_overflow */
    }
    puts(text);
}

static void *malloc_room(size_t amount)
{
    return malloc(amount);
}

int one_more_than_room(int n)
{
    char *to = malloc_room(n);
    if (!to)
        return 0;
    for (int i = 0; i <= n; i++)
        to[i] = 'x'; /* ruleid: flow_buffer_overflow */
    n = to[0];
    free(to);
    return n;
}

int room_for_one_more(int n)
{
    char *to = malloc_room(n + 1);
    if (!to)
        return 0;
    for (int i = 0; i <= n; i++)
        to[i] = 'x'; /* ok: flow_buffer_overflow */
    n = to[0];
    free(to);
    return n;
}
