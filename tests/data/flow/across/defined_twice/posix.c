#include <stdlib.h>

void medium_put(char *p)
{
    free(p);
}
