#include <stdlib.h>
#include <string.h>

int name_score(const char *name, int *result);
int other_score(const char *name, int *result);

int rated(const char *name)
{
    int result;
    char *copy = strdup(name);
    if (!copy)
        return 0;
    name_score(copy, &result);
    free(copy);
    return result; /* ok: flow_uninitialized */
}

int not_rated(const char *name)
{
    int result;
    char *copy = strdup(name);
    if (!copy)
        return 0;
    other_score(copy, &result);
    free(copy);
    return result; /* ruleid: flow_uninitialized */
}
