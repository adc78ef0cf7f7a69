#include <stdio.h>
#include <stdlib.h>

static void exhausted(void)
{
    fprintf(stderr, "no memory\n");
    abort();
}

static void warn(void)
{
    fprintf(stderr, "no memory\n");
}

void *take(size_t size)
{
    void *p = malloc(size);
    if (!p)
        exhausted();
    return p;
}

void *try_to_take(size_t size)
{
    void *p = malloc(size);
    if (!p)
        warn();
    return p;
}

void *mem_alloc(size_t size)
{
    void *p = malloc(size);
    if (!p)
        exhausted();
    return p;
}

void *mem_alloc_unguarded(size_t size)
{
    return malloc(size);
}
