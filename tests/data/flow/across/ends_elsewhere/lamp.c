#include <stdlib.h>
#include <string.h>

struct lamp {
    int on;
    char *name;
};
void *take(size_t size);
void *try_to_take(size_t size);
void *mem_alloc(size_t size);
void *mem_alloc_unguarded(size_t size);
void *mem_alloc_loudly(size_t size);
void *mem_alloc_tidily(size_t size);

struct lamp *checked_inside(void)
{
    struct lamp *lamp = take(sizeof(*lamp));
    lamp->on = 1; /* ok: flow_unchecked_null, flow_null_dereference */
    lamp->name = strdup("lamp");
    return lamp;
}

struct lamp *not_checked_inside(void)
{
    struct lamp *lamp = try_to_take(sizeof(*lamp));
    lamp->on = 1; /* ruleid: flow_null_dereference */
    lamp->name = strdup("lamp");
    return lamp;
}

static struct lamp *alloc_first(void)
{
    struct lamp *lamp = mem_alloc(sizeof(*lamp));
    lamp->on = 1;
    return lamp;
}

static struct lamp *alloc_second(void)
{
    struct lamp *lamp = alloc_first();
    lamp->on = 2;
    return lamp;
}

static struct lamp *alloc_third(void)
{
    struct lamp *lamp = alloc_second();
    lamp->on = 3;
    return lamp;
}

struct lamp *five_deep(void)
{
    struct lamp *lamp = alloc_third();
    lamp->on = 4; /* ok: flow_unchecked_null, flow_null_dereference */
    lamp->name = strdup("lamp");
    return lamp;
}

static struct lamp *alloc_unguarded(void)
{
    struct lamp *lamp = mem_alloc_unguarded(sizeof(*lamp));
    lamp->on = 1; /* ruleid: flow_unchecked_null */
    return lamp;
}

struct lamp *one_deep(void)
{
    struct lamp *lamp = alloc_unguarded();
    lamp->on = 4;
    lamp->name = strdup("lamp");
    return lamp;
}

static struct lamp *alloc_loudly_first(void)
{
    struct lamp *lamp = mem_alloc_loudly(sizeof(*lamp));
    lamp->on = 1;
    return lamp;
}

static struct lamp *alloc_loudly_second(void)
{
    struct lamp *lamp = alloc_loudly_first();
    lamp->on = 2;
    return lamp;
}

static struct lamp *alloc_loudly_third(void)
{
    struct lamp *lamp = alloc_loudly_second();
    lamp->on = 3;
    return lamp;
}

struct lamp *ends_at_length(void)
{
    struct lamp *lamp = alloc_loudly_third();
    lamp->on = 1; /* ok: flow_unchecked_null, flow_null_dereference */
    lamp->name = strdup("lamp");
    return lamp;
}

struct lamp *tidies_at_length(void)
{
    struct lamp *lamp = mem_alloc_tidily(sizeof(*lamp));
    lamp->on = 1; /* ruleid: flow_null_dereference */
    lamp->name = strdup("lamp");
    return lamp;
}
