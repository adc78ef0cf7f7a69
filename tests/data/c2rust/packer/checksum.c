#include "packer.h"

static unsigned table[256];

static void make_table(void)
{
    for (unsigned i = 0; i < 256; i++) {
        unsigned value = i;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? 0xedb88320u ^ (value >> 1) : value >> 1;
        table[i] = value;
    }
}

unsigned crc32_of(const unsigned char *in, size_t length)
{
    unsigned sum = 0xffffffffu;
    if (!table[1])
        make_table();
    while (length--)
        sum = table[(sum ^ *in++) & 255] ^ (sum >> 8);
    return ~sum;
}

static unsigned add_mod(unsigned a, unsigned b) { return (a + b) % 65521; }

unsigned adler_of(const unsigned char *in, size_t length)
{
    unsigned a = 1, b = 0;
    while (length--)
        b = add_mod(b, a = add_mod(a, *in++));
    return b << 16 | a;
}
