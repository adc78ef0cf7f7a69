#include <stdlib.h>
#include <string.h>

#include "picture.h"

#define HEADER 8

static unsigned number(const unsigned char *at)
{
    return (unsigned)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

/* Width, height, and pixels of one byte; rows that are missing stay black. */
int picture_read(struct picture *picture, const unsigned char *data, size_t size)
{
    unsigned room;

    if (size < HEADER)
        return -1;
    picture->width = number(data);
    picture->height = number(data + 4);
    room = picture->width * picture->height;
    picture->pixels = calloc(room ? room : 1, 1);
    if (picture->pixels == NULL)
        return -1;
    memcpy(picture->pixels, data + HEADER, size - HEADER);
    return 0;
}

unsigned picture_brightness(const struct picture *picture)
{
    unsigned long sum = 0;
    unsigned x, y;

    for (y = 0; y < picture->height; y++)
        for (x = 0; x < picture->width; x++)
            sum += picture->pixels[(size_t)y * picture->width + x];
    return (unsigned)(sum / (picture->width * picture->height));
}
