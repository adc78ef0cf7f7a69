#include "packer.h"
#include <string.h>

const struct method methods[2] = { { "store", store_block }, { "deflate", deflate_block } };

static unsigned hash_of(const unsigned char *in) { return in[0] * 31u + in[1]; }

static int find_match(const unsigned char *in, int length)
{
    return min_of(length, hash_of(in) & 255);
}

static size_t emit_bits(unsigned char *out, int value)
{
    *out = (unsigned char)value;
    return 1;
}

size_t store_block(const unsigned char *in, size_t length, unsigned char *out)
{
    memcpy(out, in, length);
    return length;
}

static size_t encode_lengths(unsigned char *out)
{
    struct node nodes[2] = { { 2, 0 }, { 1, 0 } };
    package_merge(nodes, 2, 15);
    return emit_bits(out, nodes[0].count);
}

size_t deflate_block(const unsigned char *in, size_t length, unsigned char *out)
{
    size_t done = encode_lengths(out);
    return done + emit_bits(out + done, find_match(in, (int)length));
}

size_t pack_file(const unsigned char *in, size_t length, unsigned char *out)
{
    size_t done = methods[length > 64].pack(in, length, out);
    return done + emit_bits(out + done, (int)crc32_of(in, length));
}
