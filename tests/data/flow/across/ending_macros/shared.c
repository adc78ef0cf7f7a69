#include <stdlib.h>
#include "all.h"

struct entry { int size; struct entry *next; };

int first(int size)
{
    struct entry *one = malloc(sizeof(*one));
    if (one == NULL)
        NO_MEMORY();
    one->size = size; /* ok: flow_null_dereference */
    return keep(one);
}

int second(int size)
{
    struct entry *one = malloc(sizeof(*one));
    if (one == NULL)
        BROKEN("no entry for %d", size);
    one->size = size; /* ok: flow_null_dereference */
    return keep(one);
}

static void leave(void)
{
    NO_MEMORY();
}

int third(int size)
{
    struct entry *one = malloc(sizeof(*one));
    if (one == NULL)
        leave();
    one->size = size; /* ok: flow_null_dereference */
    return keep(one);
}

int fourth(int size)
{
    struct entry *one = malloc(sizeof(*one));
    if (one == NULL)
        stop_all("no entry for %d", size);
    one->size = size; /* ok: flow_null_dereference */
    return keep(one);
}

int fifth(int size)
{
    struct entry *one = malloc(sizeof(*one));
    if (one == NULL)
        FLUSH();
    one->size = size; /* ruleid: flow_null_dereference */
    return keep(one);
}
