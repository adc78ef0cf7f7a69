#include "stamp.h"
#include <stdlib.h>

int value_unchecked(void)
{
    struct stamp *s = stamp_new();
    int v;
    s->value = 4; /* ruleid: flow_unchecked_null */
    v = s->value;
    free(s);
    return v;
}

int value_lost(int quick)
{
    struct stamp *s = stamp_must(); /* ruleid: flow_memory_leak */
    if (quick)
        return 1;
    free(s);
    return 0;
}

int price_of(struct stamp *list, int n)
{
    struct stamp *s = stamp_find(list, n, 80);
    return s->value; /* ruleid: flow_null_dereference */
}

int log_left_open(int quick)
{
    FILE *f = stamp_log(); /* ruleid: flow_handle_leak */
    if (!f || quick)
        return 1;
    fclose(f);
    return 0;
}

int value_checked(void)
{
    struct stamp *s = stamp_new(); /* ok: flow_memory_leak */
    int v = 0;
    if (s)
        v = s->value = 4; /* ok: flow_unchecked_null */
    free(s);
    return v;
}

int value_certain(void)
{
    struct stamp *s = stamp_must();
    s->value = 5; /* ok: flow_unchecked_null */
    free(s);
    return 0;
}

int price_or_zero(struct stamp *list, int n)
{
    struct stamp *s = stamp_find(list, n, 80);
    return s ? s->value : 0; /* ok: flow_null_dereference */
}
