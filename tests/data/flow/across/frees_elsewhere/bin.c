#include <stdlib.h>

struct scrap { char *bytes; int n; };

void scrap_drop(struct scrap *s)
{
    free(s->bytes);
    free(s);
}

void scrap_clear(struct scrap **where)
{
    free(*where);
    *where = NULL;
}

void scrap_peek(struct scrap *s)
{
    s->n++;
}
