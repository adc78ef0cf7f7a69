#include <stdlib.h>

typedef struct { char *digits; int used; } number;

int number_begin(number *one)
{
    one->digits = calloc(32, 1);
    if (one->digits == NULL)
        return 1;
    one->used = 0;
    return 0;
}
