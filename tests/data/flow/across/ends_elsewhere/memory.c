#include <stdarg.h>
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

struct page {
    struct page *next;
    char *lock;
    int changed, lines;
};
extern struct page *page;
void drop_lock(const char *lock);
void save_page(const char *lock);

void end_loudly(const char *text, ...)
{
    struct page *first = page;
    static int times = 0;
    va_list args;

    if (++times > 1)
        exit(11);
    va_start(args, text);
    vfprintf(stderr, text, args);
    va_end(args);
    while (page) {
        if (page->lock)
            drop_lock(page->lock);
        if (page->changed && page->lock)
            save_page(page->lock);
        if (page->lines)
            fprintf(stderr, "%d lines\n", page->lines);
        page = page->next;
        if (page == first)
            break;
    }
    exit(1);
    return;
}

void tidy(const char *text, ...)
{
    struct page *first = page;
    static int times = 0;
    va_list args;

    if (++times > 1)
        exit(11);
    va_start(args, text);
    vfprintf(stderr, text, args);
    va_end(args);
    while (page) {
        if (page->lock)
            drop_lock(page->lock);
        if (page->changed && page->lock)
            save_page(page->lock);
        if (page->lines)
            fprintf(stderr, "%d lines\n", page->lines);
        page = page->next;
        if (page == first)
            break;
    }
}

void *mem_alloc_loudly(size_t size)
{
    void *p = malloc(size);
    if (p == NULL)
        end_loudly("no memory for %zu bytes", size);
    return p;
}

void *mem_alloc_tidily(size_t size)
{
    void *p = malloc(size);
    if (p == NULL)
        tidy("no memory for %zu bytes", size);
    return p;
}
