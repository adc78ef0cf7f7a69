#include <stdlib.h>

void low_release(char *p)
{
    free(p);
}

char *low_make(unsigned n)
{
    return malloc(n);
}
