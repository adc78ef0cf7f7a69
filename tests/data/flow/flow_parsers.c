#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_AT(b, i) ((uint32_t)(b)[(i)] << 24 | (uint32_t)(b)[(i) + 1] << 16 | (b)[(i) + 2] << 8 | (b)[(i) + 3])
#define NEED(r, n) do { if ((size_t)((r)->end - (r)->at) < (n)) return -1; } while (0)
#define LESSER(a, b) ((a) < (b) ? (a) : (b))

struct reader { const uint8_t *at, *end; };
struct header { uint16_t kind, length; uint8_t name[32]; };
struct track { int count; short points[16]; char title[24]; };

static unsigned short_at(const uint8_t *p)
{
    return p[0] << 8 | p[1];
}

static int next_byte(struct reader *r)
{
    return *r->at++;
}

int points_by_first_byte(struct track *t, const unsigned char *p)
{
    short points[16];
    int n = p[0];
    for (int i = 0; i < n; i++)
        points[i] = p[i + 1]; /* ruleid: flow_buffer_overflow */
    return points[0] + t->count;
}

int points_within(struct track *t, const unsigned char *p)
{
    short points[16];
    int n = p[0];
    if (n > 16)
        return -1;
    for (int i = 0; i < n; i++)
        points[i] = p[i + 1]; /* ok: flow_buffer_overflow */
    return points[0] + t->count;
}

int points_at_most(const unsigned char *p)
{
    short points[16];
    int n = LESSER(p[0], 16);
    for (int i = 0; i < n; i++)
        points[i] = p[i + 1]; /* ok: flow_buffer_overflow */
    return points[0];
}

int points_until_full(const unsigned char *p)
{
    short points[16];
    int i;
    for (i = 0; i < p[0]; i++) {
        if (i >= 16)
            break;
        points[i] = p[i + 1]; /* ok: flow_buffer_overflow */
    }
    return points[0];
}

int points_from_file(FILE *f)
{
    int points[16], n;
    if (fread(&n, sizeof n, 1, f) != 1)
        return -1;
    for (int i = 0; i < n; i++)
        points[i] = getc(f); /* ruleid: flow_buffer_overflow */
    return points[0];
}

int points_from_file_within(FILE *f)
{
    int points[16], n;
    if (fread(&n, sizeof n, 1, f) != 1 || n < 0 || n > 16)
        return -1;
    for (int i = 0; i < n; i++)
        points[i] = getc(f); /* ok: flow_buffer_overflow */
    return points[0];
}

void title_of(struct track *t, const uint8_t *p)
{
    size_t length = p[0] | p[1] << 8;
    memcpy(t->title, p + 2, length); /* ruleid: flow_buffer_overflow */
}

void title_that_fits(struct track *t, const uint8_t *p)
{
    size_t length = p[0] | p[1] << 8;
    if (length >= sizeof(t->title))
        length = sizeof(t->title) - 1;
    memcpy(t->title, p + 2, length); /* ok: flow_buffer_overflow */
}

void title_by_reader(char *to, const uint8_t *p)
{
    uint32_t length = WORD_AT(p, 0);
    memcpy(to, p + 4, length); /* ruleid: flow_tainted_length */
}

int title_before_end(char *to, const uint8_t *p, const uint8_t *end)
{
    uint32_t length = WORD_AT(p, 0);
    if (p + 4 + length > end)
        return -1;
    memcpy(to, p + 4, length); /* ok: flow_tainted_length */
    return 0;
}

int title_of_rest(char *to, const uint8_t *p, size_t left)
{
    uint32_t length = WORD_AT(p, 0); /* ruleid: flow_buffer_overread */
    if (left - 4 < length)
        return -1;
    memcpy(to, p + 4, length); /* ok: flow_tainted_length */
    return 0;
}

int title_by_sum(char *to, const uint8_t *p, size_t at, size_t size)
{
    uint32_t length = WORD_AT(p, at);
    if (at + 4 + (size_t)length > size)
        return -1;
    memcpy(to, p + 4, length); /* ok: flow_tainted_length */
    return 0;
}

int title_checked_elsewhere(struct reader *r, char *to, int (*holds)(struct reader *, size_t))
{
    uint32_t length = WORD_AT(r->at, 0);
    if (!holds(r, length))
        return -1;
    memcpy(to, r->at, length); /* ok: flow_tainted_length */
    return 0;
}

int title_needed(struct reader *r, char *to)
{
    uint32_t length = WORD_AT(r->at, 0);
    NEED(r, length);
    memcpy(to, r->at, length); /* ok: flow_tainted_length */
    return 0;
}

int point_by_index(const uint8_t *p)
{
    static const int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    return table[short_at(p)]; /* ruleid: flow_buffer_overread */
}

int point_by_masked_index(const uint8_t *p)
{
    static const int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    return table[short_at(p) & 7]; /* ok: flow_buffer_overread */
}

int point_by_macro(const uint8_t *p)
{
    int table[8] = {0};
    table[WORD_AT(p, 2)]++; /* ruleid: flow_buffer_overflow, flow_buffer_overread */
    return table[0];
}

int point_of_cursor(struct reader *r)
{
    int table[100] = {0};
    int n = next_byte(r);
    return table[n]; /* ruleid: flow_buffer_overread */
}

int point_of_cursor_within(struct reader *r)
{
    int table[100] = {0};
    int n = next_byte(r);
    if (n >= 100)
        return -1;
    return table[n]; /* ok: flow_buffer_overread */
}

int byte_table(const uint8_t *p)
{
    int seen[256] = {0};
    for (int i = 0; i < 64; i++)
        seen[p[i]]++; /* ok: flow_buffer_overflow */
    return seen[0];
}

void *copied_number(const unsigned char *p)
{
    uint32_t n;
    memcpy(&n, p, sizeof n);
    n = ntohl(n);
    return malloc(n * sizeof(struct track)); /* ruleid: flow_tainted_size */
}

void *copied_number_within(const unsigned char *p)
{
    uint32_t n;
    memcpy(&n, p, sizeof n);
    n = ntohl(n);
    if (n > 1000)
        return NULL;
    return malloc(n * sizeof(struct track)); /* ok: flow_tainted_size */
}

int received(FILE *f, struct track *t)
{
    struct header h;
    if (fread(&h, sizeof h, 1, f) != 1)
        return -1;
    memcpy(t->title, h.name, h.length); /* ruleid: flow_buffer_overflow, flow_buffer_overread */
    return h.kind;
}

int received_within(FILE *f, struct track *t)
{
    struct header h;
    if (fread(&h, sizeof h, 1, f) != 1 || h.length > sizeof t->title)
        return -1;
    memcpy(t->title, h.name, h.length); /* ok: flow_buffer_overflow */
    return h.kind;
}

int read_into(FILE *f, struct header *h, char *to)
{
    if (fread(h, sizeof *h, 1, f) != 1)
        return -1;
    memcpy(to, h->name, ntohs(h->length)); /* ruleid: flow_tainted_length, flow_buffer_overread */
    return 0;
}

int kind_of(const uint8_t *p, size_t left)
{
    int seen[8] = {0};
    if (p[0] == 1 && p[1] == 2) /* ruleid: flow_buffer_overread */
        return -1;
    return left < 8 ? seen[0] : seen[1];
}

int kind_of_enough(const uint8_t *p, size_t left)
{
    int seen[8] = {0};
    if (left < 2 || (p[0] == 1 && p[1] == 2)) /* ok: flow_buffer_overread */
        return -1;
    return seen[0];
}

int kind_of_header(struct track *t, const void *data, uint16_t length)
{
    const struct header *h = data;
    t->count = h->kind; /* ruleid: flow_buffer_overread */
    return length > sizeof *h;
}

int kind_of_whole_header(struct track *t, const void *data, uint16_t length)
{
    const struct header *h = data;
    if (length < sizeof *h)
        return -1;
    memcpy(t->title, h->name, 8);
    t->count = h->kind; /* ok: flow_buffer_overread */
    return h->length;
}

int options(struct track *t, const uint8_t *p, int left)
{
    int seen[256] = {0};
    while (left > 0) {
        int size = p[1]; /* ruleid: flow_buffer_overread */
        seen[p[0]]++;
        p += size;
        left -= size; /* ruleid: flow_integer_underflow */
    }
    return seen[t->count & 255];
}

int options_within(struct track *t, const uint8_t *p, int left)
{
    int seen[256] = {0};
    while (left >= 2) {
        int size = p[1]; /* ok: flow_buffer_overread */
        if (size < 2 || size > left)
            return -1;
        seen[p[0]]++;
        p += size;
        left -= size; /* ok: flow_integer_underflow */
    }
    return seen[t->count & 255];
}

void mixed(uint8_t *to, const uint8_t *from, int stride)
{
    uint8_t row[8];
    for (int i = 0; i < 8; i++)
        row[i] = from[0] + from[i * stride]; /* ok: flow_buffer_overread */
    memcpy(to, row, sizeof row);
}

int number_of_text(const char *line, size_t size)
{
    char first[4];
    if (size < 4)
        return -1;
    memcpy(first, line, 4);
    return first[0] + (int)strtol(line, NULL, 10); /* ruleid: flow_buffer_overread */
}

int number_of_copy(const char *line, size_t size)
{
    char number[8];
    if (size < 4 || size >= sizeof number)
        return -1;
    memcpy(number, line, size);
    number[size] = 0;
    return (int)strtol(number, NULL, 10); /* ok: flow_buffer_overread */
}

int room_left(char *to, const char *from, unsigned (*count)(const char *), size_t used)
{
    char line[64];
    unsigned n = count(from);
    if (used < 64 - n) { /* ruleid: flow_integer_underflow */
        memcpy(line + used, from, n);
        return line[0];
    }
    return to[0];
}

int room_left_for_few(char *to, const char *from, unsigned (*count)(const char *), size_t used)
{
    char line[64];
    unsigned n = count(from);
    if (n > 64)
        return -1;
    if (used < 64 - n) { /* ok: flow_integer_underflow */
        memcpy(line + used, from, n);
        return line[0];
    }
    return to[0];
}

int resized(FILE *f, char **block)
{
    int n;
    char *more;
    if (fread(&n, sizeof n, 1, f) != 1 || n > 4096)
        return -1;
    more = realloc(*block, n); /* ok: flow_double_free */
    if (more == NULL)
        return -1;
    *block = more;
    return n;
}

int resized_to_any(FILE *f, char **block)
{
    int n;
    char *more;
    if (fread(&n, sizeof n, 1, f) != 1)
        return -1;
    n = ntohl(n);
    more = realloc(*block, n); /* ruleid: flow_double_free, flow_tainted_size */
    if (more == NULL)
        return -1;
    *block = more;
    return n;
}

int resized_if_any(FILE *f, char **block)
{
    int n;
    char *more = NULL;
    if (fread(&n, sizeof n, 1, f) != 1)
        return -1;
    if (n) {
        n = ntohl(n);
        more = realloc(*block, n); /* ok: flow_double_free */ /* ruleid: flow_tainted_size */
    }
    if (more == NULL)
        return -1;
    *block = more;
    return n;
}

void title_of_overlay(struct track *t, const void *data, uint16_t length)
{
    const struct header *h = data;
    if (length < sizeof *h)
        return;
    memcpy(t->title, h->name, h->length); /* ruleid: flow_buffer_overflow, flow_buffer_overread */
}

void title_of_whole_overlay(struct track *t, const void *data, uint16_t length)
{
    const struct header *h = data;
    if (length < sizeof *h || h->length > sizeof t->title)
        return;
    memcpy(t->title, h->name, h->length); /* ok: flow_buffer_overflow */
}

void title_in_network_order(struct track *t, const struct header *h)
{
    memcpy(t->title, h->name, ntohs(h->length)); /* ruleid: flow_buffer_overflow, flow_buffer_overread */
}

int header_copied(const unsigned char *data, size_t size)
{
    struct header h;
    memcpy(&h, data, sizeof h); /* ruleid: flow_buffer_overread */
    return size > sizeof h ? ntohs(h.kind) : -1;
}

int header_copied_if_there(const unsigned char *data, size_t size)
{
    struct header h;
    if (size < sizeof h)
        return -1;
    memcpy(&h, data, sizeof h); /* ok: flow_buffer_overread */
    return ntohs(h.kind);
}

/* Sums in comparisons that wrap around. */
int part_of_file(const uint8_t *file, size_t size, uint8_t *to)
{
    if (size < 8)
        return -1;
    uint32_t offset = WORD_AT(file, 0), length = WORD_AT(file, 4);
    if (offset + length > size) /* ruleid: flow_integer_overflow */
        return -1;
    memcpy(to, file + offset, length);
    return 0;
}

int part_by_reader(const uint8_t *file, uint32_t size, uint32_t at)
{
    uint32_t length = get_be32(file + at);
    if (size < at + length + 4) /* ruleid: flow_integer_overflow */
        return -1;
    return checksum(file + at + 4, length);
}

int part_in_64_bits(const uint8_t *file, uint32_t size, uint32_t at)
{
    uint32_t length = get_be32(file + at);
    if (size < (uint64_t)at + length + 4) /* ok: flow_integer_overflow */
        return -1;
    return checksum(file + at + 4, length);
}

int part_by_long_literal(const uint8_t *file, size_t size)
{
    if (size < 4)
        return -1;
    uint32_t length = get_be32(file);
    if (length + 4UL > size || 4ull + length > size) /* ok: flow_integer_overflow */
        return -1;
    return checksum(file + 4, length);
}

int part_by_unsigned_literal(const uint8_t *file, size_t size)
{
    if (size < 4)
        return -1;
    uint32_t length = get_be32(file);
    if (length + 4U > size) /* ruleid: flow_integer_overflow */
        return -1;
    return checksum(file + 4, length);
}

int part_of_limited_length(const uint8_t *file, uint32_t size, uint32_t at)
{
    uint32_t length = get_be32(file + at);
    if (length > size || at + length > size) /* ok: flow_integer_overflow */
        return -1;
    return checksum(file + at, length);
}

int part_of_short_length(const uint8_t *file, uint32_t size, uint32_t at)
{
    if (size < 2)
        return -1;
    uint32_t length = file[0] << 8 | file[1];
    if (at + length > size) /* ok: flow_integer_overflow */
        return -1;
    return checksum(file + at, length);
}

/* Comparisons that exclude a wrap, or reject what wrapped. */
int part_tested_for_wrap(const uint8_t *file, uint32_t size)
{
    uint32_t offset = get_be32(file), length = get_be32(file + 4);
    if (offset + length < offset || length + offset > size) /* ok: flow_integer_overflow */
        return -1;
    return checksum(file + offset, length);
}

int part_tested_first(const uint8_t *file, uint32_t size)
{
    uint32_t offset = get_be32(file), length = get_be32(file + 4);
    if (length >= offset + length) /* ok: flow_integer_overflow */
        return -1;
    if (offset + length > size) /* ok: flow_integer_overflow */
        return -1;
    return checksum(file + offset, length);
}

int part_of_tested_sum(const uint8_t *file, uint32_t size)
{
    uint32_t offset = get_be32(file), length = get_be32(file + 4);
    if (offset + 4 < offset || offset + length > size) /* ruleid: flow_integer_overflow */
        return -1;
    return checksum(file + offset, length);
}

int part_behind_header(const uint8_t *file, uint32_t start)
{
    uint32_t offset = get_be32(file);
    if (offset + 4 < 20 || start > offset + 8) { /* ok: flow_integer_overflow */
        complain("inside the header");
        return -1;
    }
    return 0;
}

int part_if_it_fits(const uint8_t *file, uint32_t size)
{
    uint32_t length = get_be32(file);
    if (length + 4 <= size) /* ruleid: flow_integer_overflow */
        return checksum(file + 4, length);
    return -1;
}

int part_of_record(const uint8_t *file, uint8_t *record)
{
    uint32_t length = get_be32(file);
    if (length + 4 > 64) /* ruleid: flow_integer_overflow */
        return -1;
    memcpy(record, file, length + 4);
    return 0;
}

/* Lengths of 32 bits in a signed variable, and of 24 bits. */
int signed_length(const uint8_t *p, uint8_t *to)
{
    int length = ntohl(*(const uint32_t *)p);
    if (length > 64)
        return -1;
    memcpy(to, p + 4, length); /* ruleid: flow_tainted_length */
    return 0;
}

int signed_length_above_0(const uint8_t *p, uint8_t *to)
{
    int length = ntohl(*(const uint32_t *)p);
    if (length < 0 || length > 64)
        return -1;
    memcpy(to, p + 4, length); /* ok: flow_tainted_length */
    return 0;
}

int signed_length_and_size(const uint8_t *p, uint8_t *out)
{
    char to[64];
    int length = ntohl(*(const uint32_t *)p);
    if (length > sizeof to)
        return -1;
    memcpy(to, p + 4, length); /* ok: flow_tainted_length */
    memcpy(out, to, sizeof to);
    return 0;
}

int signed_length_and_signed_size(const uint8_t *p, uint8_t *out)
{
    char to[64];
    int length = ntohl(*(const uint32_t *)p);
    if (length > (int)sizeof to)
        return -1;
    memcpy(to, p + 4, length); /* ruleid: flow_tainted_length */
    memcpy(out, to, sizeof to);
    return 0;
}

int signed_length_as_size(const uint8_t *p, uint8_t *to, size_t size)
{
    int length = get_be32(p);
    if (size < 4 || size - 4 < (size_t)length || length > 64)
        return -1;
    memcpy(to, p + 4, length); /* ok: flow_tainted_length */
    return 0;
}

int signed_length_and_unsigned_literal(const uint8_t *p, uint8_t *to)
{
    int length = get_be32(p);
    if (64u >= length)
        memcpy(to, p + 4, length); /* ok: flow_tainted_length */
    return 0;
}

int signed_length_and_narrow_limit(const uint8_t *p, uint8_t *to, uint16_t limit)
{
    int length = get_be32(p);
    if (limit > 64 || length > limit)
        return -1;
    memcpy(to, p + 4, length); /* ruleid: flow_tainted_length */
    return 0;
}

int signed_short_length(const uint8_t *p, uint8_t *to)
{
    int length = ntohs(*(const uint16_t *)p);
    if (length > 64)
        return -1;
    memcpy(to, p + 2, length); /* ok: flow_tainted_length */
    return 0;
}

void length_in_three_bytes(const uint8_t *p, uint8_t *to)
{
    unsigned length = p[0] << 16 | p[1] << 8 | p[2];
    memcpy(to, p + 3, length); /* ruleid: flow_tainted_length */
}

/* Numbers from outside in a signed variable, converted to unsigned types. */
static const short classes[256], powers[16], squares[65536];

int class_of(const uint8_t *p, size_t size)
{
    char c = p[0];
    return classes[(unsigned char)c]; /* ok: flow_buffer_overread */
}

int class_of_signed(const uint8_t *p, size_t size)
{
    char c = p[0];
    return classes[c]; /* ruleid: flow_buffer_overread */
}

int class_of_part(const uint8_t *p)
{
    int v = get_be32(p);
    return classes[(uint8_t)v] + classes[(uint8_t)(v >> 8)]; /* ok: flow_buffer_overread */
}

int square_of_short(const uint8_t *p, size_t size)
{
    int16_t v = p[0] << 8 | p[1];
    return squares[(uint16_t)v]; /* ok: flow_buffer_overread */
}

int power_of_upper_bits(const uint8_t *p)
{
    int v = get_be32(p);
    return powers[(unsigned)v >> 28]; /* ok: flow_buffer_overread */
}

int power_within(const uint8_t *p)
{
    int v = get_be32(p);
    if ((unsigned)v >= 16)
        return -1;
    return powers[v]; /* ok: flow_buffer_underread */
}

int power_of_unsigned(const uint8_t *p)
{
    int v = get_be32(p);
    unsigned u = v;
    if (u > 15)
        return -1;
    return powers[u]; /* ok: flow_buffer_underread */
}

int power_within_signed(const uint8_t *p)
{
    int v = get_be32(p);
    if (v >= 16)
        return -1;
    return powers[v]; /* ruleid: flow_buffer_underread */
}

/* Limits that leave room for one element too many. */
int add_point(struct track *t, short point)
{
    if (t->count > 16)
        return -1;
    t->points[t->count++] = point; /* ruleid: flow_buffer_overflow */
    return 0;
}

short point_at(const struct track *t, unsigned i)
{
    return i <= 16 ? t->points[i] : 0; /* ruleid: flow_buffer_overread */
}

int add_point_if_room(struct track *t, short point)
{
    if (t->count >= 16)
        return -1;
    t->points[t->count++] = point; /* ok: flow_buffer_overflow */
    return 0;
}

int sum_of_parts(const uint8_t *p, size_t size)
{
    uint32_t at = 0, total = 0;
    while (at + 2 <= size) {
        uint32_t part = p[at] << 8 | p[at + 1];
        if (total + part > 4096) /* ok: flow_integer_overflow */
            return -1;
        total += part;
        at += 2;
    }
    return total;
}

/* A length that a call sets on another path. */
void append_of_callee(struct track *t, unsigned at, const char *from, int longer)
{
    char title[24];
    unsigned length = 8;
    memset(title, 0, sizeof(title));
    if (longer)
        measure(from, &length);
    if (at < 24 - length) /* ruleid: flow_integer_underflow */
        memcpy(title + at, from, length);
    show(title);
}

void append_of_callee_limited(struct track *t, unsigned at, const char *from, int longer)
{
    char title[24];
    unsigned length = 8;
    memset(title, 0, sizeof(title));
    if (longer)
        measure(from, &length);
    if (length > 24)
        return;
    if (at < 24 - length) /* ok: flow_integer_underflow */
        memcpy(title + at, from, length);
    show(title);
}
