#include <stdlib.h>

static void finish(char *p)
{
    free(p);
}

int left(void)
{
    char *p = malloc(4);
    if (!p)
        return 0;
    finish(p);
    return p[0]; /* ruleid: flow_use_after_free */
}
