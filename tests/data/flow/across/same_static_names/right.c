#include <stdio.h>
#include <stdlib.h>

static void finish(char *p)
{
    p[0] = 'e';
}

int right(void)
{
    char *p = malloc(4);
    int r;
    if (!p)
        return 0;
    finish(p);
    r = p[0]; /* ok: flow_use_after_free */
    free(p); /* ok: flow_double_free */
    return r;
}
