#ifndef PICTURE_H
#define PICTURE_H

#include <stddef.h>

struct picture {
    unsigned width, height;
    unsigned char *pixels;
};

int picture_read(struct picture *picture, const unsigned char *data, size_t size);
unsigned picture_brightness(const struct picture *picture);

#endif
