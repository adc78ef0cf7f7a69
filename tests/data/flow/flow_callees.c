#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct field { const char *name; int value; };
struct form { struct field fields[8]; int count; };

static struct field *get(struct form *f, const char *key)
{
    for (int i = 0; i < f->count; i++)
        if (!strcmp(f->fields[i].name, key))
            return &f->fields[i];
    return NULL;
}

static const int *least(const int *a, size_t n)
{
    const int *best = a;
    if (n == 0)
        return NULL;
    for (size_t i = 1; i < n; i++)
        if (a[i] < *best)
            best = a + i;
    return best;
}

static struct field *first(struct form *f)
{
    if (f->count == 0)
        abort();
    return &f->fields[0];
}

int value_of(struct form *f, const char *key)
{
    return get(f, key)->value; /* ruleid: flow_null_dereference */
}

int value_or_none(struct form *f, const char *key)
{
    struct field *found = get(f, key);
    if (!found)
        return -1;
    return found->value; /* ok: flow_null_dereference */
}

int value_of_found(struct form *f, const char *key)
{
    struct field *found = get(f, key);
    return found->value; /* ruleid: flow_null_dereference */
}

int value_if_there(struct form *f, const char *key)
{
    return get(f, key) ? get(f, key)->value : 0; /* ok: flow_null_dereference */
}

int value_of_first(struct form *f)
{
    return first(f)->value; /* ok: flow_null_dereference */
}

int least_of(const int *a, size_t n)
{
    return *least(a, n); /* ruleid: flow_null_dereference */
}

int least_of_some(const int *a, size_t n)
{
    if (n == 0)
        return 0;
    return *least(a, n); /* ok: flow_null_dereference */
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 1;
    FILE *f = fopen(argv[1], "r"); /* ruleid: flow_path_traversal */
    if (!f)
        return 1;
    fclose(f);
    return 0;
}

static int value_in(struct field *one)
{
    return one->value; /* ok: flow_null_dereference */
}

int value_handed_on(struct form *f, const char *key)
{
    int n = first(f)->value;
    struct field *found = get(f, key);
    return n + value_in(found); /* ok: flow_null_dereference */
}
