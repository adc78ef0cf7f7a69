#include <stdio.h>
#include <stdlib.h>

struct stamp { int value; };

struct stamp *stamp_new(void)
{
    return malloc(sizeof(struct stamp));
}

struct stamp *stamp_must(void)
{
    struct stamp *s = malloc(sizeof *s);
    if (!s)
        abort();
    return s;
}

struct stamp *stamp_find(struct stamp *list, int n, int value)
{
    for (int i = 0; i < n; i++)
        if (list[i].value == value)
            return &list[i];
    return NULL;
}

FILE *stamp_log(void)
{
    return fopen("stamps", "a");
}
