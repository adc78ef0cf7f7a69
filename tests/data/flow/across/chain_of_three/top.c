#include <stdlib.h>
void middle_release(char *p);
char *middle_make(unsigned n);

int released_below(void)
{
    char *p = malloc(8);
    if (!p)
        return -1;
    middle_release(p);
    return p[0]; /* ruleid: flow_use_after_free */
}

void released_twice(char *p)
{
    middle_release(p);
    middle_release(p); /* ruleid: flow_double_free */
}

void made_below(void)
{
    char *p = middle_make(3);
    p[0] = 1; /* ruleid: flow_unchecked_null */
    middle_release(p);
}

int made_and_tested(void)
{
    char *p = middle_make(3); /* ok: flow_memory_leak */
    if (p == NULL)
        return -1;
    p[0] = 1; /* ok: flow_unchecked_null */
    middle_release(p);
    return 0;
}
