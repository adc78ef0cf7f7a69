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
