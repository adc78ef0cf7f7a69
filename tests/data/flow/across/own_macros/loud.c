#include <stdlib.h>
#include <string.h>
#include "debug.h"

int loud(const char *name)
{
    char *copy = strdup(name);
    TRACE("copied %s", name); /* ruleid: flow_unchecked_null */
    free(copy);
    return 0;
}
