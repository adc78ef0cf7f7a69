#include <stdlib.h>
#include <string.h>

struct list { char *items[8]; int count; };

int drop_first(struct list *l)
{
    char *first = l->items[0];
    free(first);
    memmove(l->items, l->items + 1, sizeof l->items - sizeof *l->items);
    l->count--;
    return first[0];
}
