#include <stdlib.h>
void finish(char *p);

int far_away(char *p)
{
    finish(p);
    return p[0]; /* ok: flow_use_after_free */
}
