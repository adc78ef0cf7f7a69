#include "scrap.h"
#include <stdlib.h>

int weigh_dropped(struct scrap *s)
{
    scrap_drop(s);
    return s->n; /* ruleid: flow_use_after_free */
}

void drop_twice(void)
{
    struct scrap *s = calloc(1, sizeof *s);
    if (!s)
        return;
    scrap_drop(s);
    free(s); /* ruleid: flow_double_free */
}

int weigh_kept(struct scrap *s)
{
    scrap_peek(s);
    return s->n; /* ok: flow_use_after_free */
}

void clear_twice(void)
{
    struct scrap *s = calloc(1, sizeof *s);
    scrap_clear(&s);
    free(s); /* ok: flow_double_free */
}

int made_and_dropped(void)
{
    struct scrap *s = calloc(1, sizeof *s); /* ok: flow_memory_leak */
    if (!s)
        return -1;
    scrap_drop(s);
    return 0;
}
