#include <stdlib.h>
void medium_put(char *p);

int put_and_look(char *p)
{
    medium_put(p);
    return p[0]; /* ok: flow_use_after_free */
}

void put_and_free(char *p)
{
    medium_put(p);
    free(p); /* ok: flow_double_free */
}

void free_and_look(char *p)
{
    free(p);
    p[0] = 1; /* ruleid: flow_use_after_free */
}
