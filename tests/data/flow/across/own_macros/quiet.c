#include <stdlib.h>
#include <string.h>

#define TRACE(...)

int quiet(const char *name)
{
    char *copy = strdup(name);
    TRACE("copied %s", name); /* ok: flow_unchecked_null */
    free(copy);
    return 0;
}
