#include <stdlib.h>
#include <string.h>

int name_check(const char *name);
int name_length(const char *name);

char *refused(const char *name)
{
    char *copy;
    if (!name || strlen(name) > 0) {
        if (name_check(name) != 0)
            return NULL;
    }
    copy = malloc(strlen(name) + 1); /* ok: flow_null_dereference */
    if (copy)
        strcpy(copy, name);
    return copy;
}

char *accepted(const char *name)
{
    char *copy;
    if (!name || strlen(name) > 0) {
        if (name_length(name) != 0)
            return NULL;
    }
    copy = malloc(strlen(name) + 1); /* ruleid: flow_null_dereference */
    if (copy)
        strcpy(copy, name);
    return copy;
}
