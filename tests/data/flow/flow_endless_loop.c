#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct chunk { uint16_t kind; uint16_t size; };

int options(const uint8_t *at, size_t left)
{
    while (left >= 2) {
        uint8_t length = at[1];
        if (length > left)
            return -1;
        option(at[0], at + 2);
        at += length;
        left -= length; /* ruleid: flow_endless_loop */
    }
    return 0;
}

int options_to(const unsigned char *at, const unsigned char *end)
{
    while (at + 2 <= end) {
        int length = at[1];
        option(at[0], at + 2);
        at += length; /* ruleid: flow_endless_loop */
    }
    return 0;
}

int chain(const uint8_t *packet, int size)
{
    int at = 0;
    while (at + 4 <= size) {
        uint16_t next = packet[at + 2] << 8 | packet[at + 3];
        header(packet + at);
        at += next; /* ruleid: flow_endless_loop */
    }
    return at;
}

int overlays(const uint8_t *at, size_t left)
{
    while (left >= sizeof(struct chunk)) {
        const struct chunk *one = (const struct chunk *)at;
        unsigned size = ntohs(one->size);
        if (size > left)
            return -1;
        at += size;
        left -= size; /* ruleid: flow_endless_loop */
    }
    return 0;
}

int skip_all(const uint8_t *at, unsigned left)
{
    for (;;) {
        unsigned length;
        if (left < 4)
            break;
        length = (unsigned)at[2] << 8 | at[3];
        at += length;
        left -= length; /* ruleid: flow_endless_loop */
    }
    return 0;
}

int header_counts(const uint8_t *at, size_t left)
{
    while (left >= 2) {
        uint8_t length = at[1];
        if (length < 2 || length > left)
            return -1;
        option(at[0], at + 2);
        at += length;
        left -= length; /* ok: flow_endless_loop */
    }
    return 0;
}

int with_header(const uint8_t *at, size_t left)
{
    while (left >= 2) {
        uint8_t length = at[1];
        if (length > left - 2)
            return -1;
        at += length + 2;
        left -= length + 2; /* ok: flow_endless_loop */
    }
    return 0;
}

int ends_at_zero(const uint8_t *at, size_t left)
{
    while (left >= 2) {
        uint8_t length = at[1];
        if (length == 0 || length > left)
            break;
        at += length;
        left -= length; /* ok: flow_endless_loop */
    }
    return 0;
}

int also_counts(const uint8_t *at, const uint8_t *end)
{
    while (at + 2 <= end) {
        uint8_t length = at[1];
        at += 2;
        at += length; /* ok: flow_endless_loop */
    }
    return 0;
}

int until_done(const uint8_t *at, const uint8_t *end)
{
    int done = 0;
    while (at + 2 <= end && !done) {
        uint8_t length = at[1];
        if (length == 0)
            done = 1;
        at += length; /* ok: flow_endless_loop */
    }
    return 0;
}

int moved_by_callee(const uint8_t *at, const uint8_t *end)
{
    while (at + 2 <= end) {
        uint8_t length = at[1];
        option_at(&at);
        at += length; /* ok: flow_endless_loop */
    }
    return 0;
}

int chunks(FILE *in, long end)
{
    long at = 0;
    for (; at < end;) {
        struct chunk one;
        if (fread(&one, sizeof one, 1, in) != 1)
            return -1;
        at += one.size; /* ok: flow_endless_loop */
    }
    return 0;
}

void swap_chunks(unsigned char *at, unsigned left)
{
    while (left >= sizeof(struct chunk)) {
        struct chunk *one = (struct chunk *)at;
        unsigned size = one->size;
        if (size % 4)
            size += 4 - size % 4;
        if (size > left)
            return;
        left -= size; /* ruleid: flow_endless_loop */
        at += size;
    }
}

static int is_valid(int length) { return length > 0; }

int with_helper(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        int l = p[i];
        if (!is_valid(l))
            return -1;
        i += l; /* ok: flow_endless_loop */
    }
    return 0;
}

int with_unknown_check(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        int l = p[i];
        if (check_length(l))
            return -1;
        i += l; /* ok: flow_endless_loop */
    }
    return 0;
}

int checks_the_option(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        if (check_option(p + i, n - i) < 0)
            return -1;
        i += p[i]; /* ok: flow_endless_loop */
    }
    return 0;
}

int handles_the_option(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        if (memcmp(p + i, "end", 3) == 0 || option(p[i], p + i))
            return -1;
        i += p[i + 1]; /* ruleid: flow_endless_loop */
    }
    return 0;
}

int ends_in_the_head(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] != 0)
        i += p[i]; /* ok: flow_endless_loop */
    return 0;
}

int zero_is_a_case(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint8_t l = p[i];
        switch (l) {
        case 0:
            return -1;
        default:
            break;
        }
        i += l; /* ok: flow_endless_loop */
    }
    return 0;
}

int zero_is_the_only_case(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint8_t l = p[i];
        switch (l) {
        case 0:
            return -1;
        }
        i += l; /* ok: flow_endless_loop */
    }
    return 0;
}

int zero_is_with_the_default(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint8_t l = p[i];
        switch (l) {
        case 1:
            return -1;
        case 0:
        default:
            break;
        }
        i += l; /* ruleid: flow_endless_loop */
    }
    return 0;
}

int counts_the_turns(const uint8_t *p, size_t n)
{
    size_t i = 0;
    int count = 0;
    while (i < n) {
        if (++count > 100)
            break;
        i += p[i]; /* ok: flow_endless_loop */
    }
    return 0;
}

int at_least_one(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n)
        i += p[i] ? p[i] : 1; /* ok: flow_endless_loop */
    return 0;
}

int one_of_two_lengths(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i + 2 < n) {
        unsigned l = p[i] & 0x80 ? p[i + 2] : p[i + 1];
        i += l; /* ruleid: flow_endless_loop */
    }
    return 0;
}

int tested_behind_the_step(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint8_t l = p[i];
        i += l; /* ok: flow_endless_loop */
        if (l == 0)
            break;
    }
    return 0;
}

int limited_behind_the_step(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint8_t l = p[i];
        i += l; /* ruleid: flow_endless_loop */
        if (l > 64)
            break;
    }
    return 0;
}

int compared_with_its_position(const uint8_t *p, size_t n)
{
    size_t i = 0, before;
    while (i < n) {
        before = i;
        i += p[i]; /* ok: flow_endless_loop */
        if (i <= before)
            return -1;
    }
    return 0;
}

int only_ends_at_the_end(const uint8_t *p, const uint8_t *end)
{
    while (p + 2 <= end) {
        const uint8_t *one = p;
        if (one + one[1] > end)
            return -1;
        option(one[0], one + 2);
        p += one[1]; /* ruleid: flow_endless_loop */
    }
    return 0;
}

int options_of_powers(const uint8_t *p, size_t size)
{
    size_t at = 0;
    int count = 0;
    while (at < size) {
        unsigned length = 1u << (p[at] & 7);
        at += length; /* ok: flow_endless_loop */
        count++;
    }
    return count;
}
