#include <stdlib.h>

int unknown_macro(const char *text, int most)
{
    char *s = NULL;
    memory_alloc(s, char *, 100, "unknown");
    return most; /* ok: flow_memory_leak */
}

int unknown_allocator(const char *text, int most)
{
    char *s = NULL;
    own_malloc(s, char *, 100);
    tree_alloc_malloc(s, most);
    return most; /* ok: flow_memory_leak */
}

int known_allocator(const char *text, int most)
{
    malloc(most); /* ruleid: flow_memory_leak */
    return most;
}
