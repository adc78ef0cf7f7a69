#include <stddef.h>

struct node {
    unsigned weight;
    int count;
};

struct method {
    const char *name;
    size_t (*pack)(const unsigned char *in, size_t length, unsigned char *out);
};

extern const struct method methods[2];

unsigned crc32_of(const unsigned char *in, size_t length);
unsigned adler_of(const unsigned char *in, size_t length);
size_t store_block(const unsigned char *in, size_t length, unsigned char *out);
size_t deflate_block(const unsigned char *in, size_t length, unsigned char *out);
size_t pack_file(const unsigned char *in, size_t length, unsigned char *out);
void package_merge(struct node *nodes, int count, int limit);
int min_of(int a, int b);
