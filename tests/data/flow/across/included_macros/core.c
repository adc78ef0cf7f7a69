#include <stdlib.h>
#include <string.h>
#include "core.h"

char *copied(const char *text)
{
    char *s;
    size_t n = strlen(text);
    memory_alloc(s, char *, n + 1, "copied");
    memcpy(s, text, n + 1);
    return s; /* ok: flow_memory_leak */
}

int forgotten(const char *text, int most)
{
    char *s;
    memory_alloc(s, char *, 100, "forgotten"); /* ruleid: flow_memory_leak */
    strncpy(s, text, 99);
    return s[0] > most;
}

int reused(char *s, const char *text)
{
    free(s);
    memory_alloc(s, char *, 100, "reused");
    s[0] = text[0]; /* ok: flow_use_after_free */
    return keep(s);
}

int pointers(int most)
{
    char **list;
    memory_alloc(list, char **, 4 * sizeof(char *), "pointers");
    list[3] = NULL; /* ok: flow_buffer_overflow */
    list[4] = NULL; /* ruleid: flow_buffer_overflow */
    return keep(list);
}
