#include <stdio.h>
#include <stdlib.h>

#include "picture.h"

int main(void)
{
    static unsigned char data[4096];
    struct picture picture;
    size_t size = fread(data, 1, sizeof data, stdin);

    if (picture_read(&picture, data, size) != 0)
        return 1;
    printf("%u\n", picture_brightness(&picture));
    free(picture.pixels);
    return 0;
}
