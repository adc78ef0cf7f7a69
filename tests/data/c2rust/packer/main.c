#include "packer.h"
#include <stdio.h>

static int usage(void)
{
    puts("usage: packer TEXT");
    return 2;
}

int main(int argc, char **argv)
{
    unsigned char out[256];
    if (argc != 2)
        return usage();
    return pack_file((const unsigned char *)argv[1], 4, out) == 0;
}
