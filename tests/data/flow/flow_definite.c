#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opt { int depth; int width; char *name; };
struct box { struct opt in; int n; };
struct vec { int x, y; };
extern void note(const char *, ...);
extern int work(int);
extern void fill(struct opt *);

int heap_field(int depth)
{
    struct opt *o = malloc(sizeof *o);
    int a;
    if (!o)
        return -1;
    o->depth = depth;
    a = o->width; /* ruleid: flow_uninitialized */
    free(o);
    return a;
}

int heap_field_set(int depth)
{
    struct opt *o = malloc(sizeof *o);
    int a;
    if (!o)
        return -1;
    o->depth = depth;
    o->width = 2;
    a = o->width; /* ok: flow_uninitialized */
    free(o);
    return a;
}

int heap_field_zero(int depth)
{
    struct opt *o = calloc(1, sizeof *o);
    int a;
    if (!o)
        return -1;
    o->depth = depth;
    a = o->width; /* ok: flow_uninitialized */
    free(o);
    return a;
}

int heap_field_memset(int depth)
{
    struct opt *o = malloc(sizeof *o);
    int a;
    if (!o)
        return -1;
    memset(o, 0, sizeof *o);
    o->depth = depth;
    a = o->width; /* ok: flow_uninitialized */
    free(o);
    return a;
}

int heap_field_filled(int depth)
{
    struct opt *o = malloc(sizeof *o);
    int a;
    if (!o)
        return -1;
    o->depth = depth;
    fill(o);
    a = o->width; /* ok: flow_uninitialized */
    free(o);
    return a;
}

int heap_field_on_a_path(int depth)
{
    struct opt *o = malloc(sizeof *o);
    int a;
    if (!o)
        return -1;
    o->depth = depth;
    if (depth > 4)
        o->width = 1;
    a = o->width; /* ruleid: flow_uninitialized */
    free(o);
    return a;
}

int heap_pointer_field(int depth)
{
    struct opt *o = malloc(sizeof *o);
    if (!o)
        return -1;
    o->depth = depth;
    o->width = depth;
    free(o->name); /* ruleid: flow_uninitialized */
    free(o);
    return 0;
}

int heap_tested_field(void)
{
    struct opt *o = malloc(sizeof *o);
    int r = 0;
    if (!o)
        return -1;
    o->width = 1;
    if (o->depth > 2) /* ruleid: flow_uninitialized */
        r = 1;
    free(o);
    return r;
}

int heap_nested_field(const struct opt *from)
{
    struct box *b = malloc(sizeof *b);
    int a;
    if (!b)
        return -1;
    b->in = *from;
    a = b->in.width; /* ok: flow_uninitialized */
    free(b);
    return a;
}

int heap_copied(const struct opt *from)
{
    struct opt *o = malloc(sizeof *o);
    int a;
    if (!o)
        return -1;
    *o = *from;
    a = o->width; /* ok: flow_uninitialized */
    free(o);
    return a;
}

static struct opt *opt_new(int depth)
{
    struct opt *o = malloc(sizeof *o);
    if (o)
        o->depth = depth;
    return o;
}

int heap_by_constructor(void)
{
    struct opt *o = opt_new(2);
    int a;
    if (!o)
        return -1;
    a = o->width; /* ruleid: flow_uninitialized */
    free(o);
    return a;
}

int heap_counter(struct opt *p)
{
    int left = 0;
    int *done = malloc(sizeof(int) * (size_t)p->depth);
    if (!done)
        return -1;
    note("%d", p->depth);
    for (int i = 0; i < p->depth; i++)
        if (!done[i]) /* ruleid: flow_uninitialized */
            left++;
    free(done);
    return left;
}

int heap_counter_filled(struct opt *p)
{
    int left = 0;
    int *done = malloc(sizeof(int) * (size_t)p->depth);
    if (!done)
        return -1;
    for (int i = 0; i < p->depth; i++)
        done[i] = 0;
    for (int i = 0; i < p->depth; i++)
        if (!done[i]) /* ok: flow_uninitialized */
            left++;
    free(done);
    return left;
}

int heap_counter_memset(struct opt *p)
{
    int left = 0;
    int *done = malloc(sizeof(int) * (size_t)p->depth);
    if (!done)
        return -1;
    memset(done, 0, sizeof(int) * (size_t)p->depth);
    for (int i = 0; i < p->depth; i++)
        if (!done[i]) /* ok: flow_uninitialized */
            left++;
    free(done);
    return left;
}

int heap_sum(size_t n)
{
    int *v = malloc(n * sizeof *v);
    int sum = 0;
    if (!v)
        return -1;
    for (size_t i = 0; i < n; i++)
        sum += v[i]; /* ruleid: flow_uninitialized */
    free(v);
    return sum;
}

int local_field(int x)
{
    struct vec v;
    v.x = x;
    return v.x + v.y; /* ruleid: flow_uninitialized */
}

int local_field_on_a_path(int x)
{
    struct vec v;
    v.x = x;
    if (x > 3)
        v.y = 2;
    return v.x + v.y; /* ruleid: flow_uninitialized */
}

int local_fields(int x)
{
    struct vec v;
    v.x = x;
    v.y = x;
    return v.x + v.y; /* ok: flow_uninitialized */
}

int local_copied_whole(const struct vec *from)
{
    struct vec v;
    v = *from;
    return v.x + v.y; /* ok: flow_uninitialized */
}

int local_memset(void)
{
    struct vec v;
    memset(&v, 0, sizeof v);
    return v.x + v.y; /* ok: flow_uninitialized */
}

int local_scanned(const char *s)
{
    struct vec v;
    if (sscanf(s, "%d,%d", &v.x, &v.y) != 2)
        return -1;
    return v.x + v.y; /* ok: flow_uninitialized */
}

static int parse(const char *s, int *out)
{
    if (!s || *s < '0')
        return -1;
    *out = *s - '0';
    return 0;
}

int out_ignored(const char *s)
{
    int v;
    parse(s, &v);
    return v * 2; /* ruleid: flow_uninitialized */
}

int out_tested(const char *s)
{
    int v;
    if (parse(s, &v) < 0)
        return -1;
    return v * 2; /* ok: flow_uninitialized */
}

int out_tested_and_used(const char *s)
{
    int v;
    if (parse(s, &v) < 0)
        note("bad");
    return v * 2; /* ruleid: flow_uninitialized */
}

int out_begun(const char *s)
{
    int v = 0;
    parse(s, &v);
    return v * 2; /* ok: flow_uninitialized */
}

int out_void(const char *s)
{
    int v;
    (void)parse(s, &v);
    return v + 1; /* ruleid: flow_uninitialized */
}

int switch_without_default(int k)
{
    int v;
    switch (k) {
    case 1:
        v = 4;
        break;
    case 2:
        v = 9;
        break;
    }
    return v; /* ruleid: flow_uninitialized */
}

int switch_with_default(int k)
{
    int v;
    switch (k) {
    case 1:
        v = 4;
        break;
    default:
        v = 9;
        break;
    }
    return v; /* ok: flow_uninitialized */
}

int switch_that_leaves(int k)
{
    int v;
    switch (k) {
    case 1:
        v = 4;
        break;
    default:
        return -1;
    }
    return v; /* ok: flow_uninitialized */
}

int switch_case_forgets(int k)
{
    int v;
    switch (k) {
    case 1:
        v = 4;
        break;
    case 2:
        note("two");
        break;
    default:
        v = 9;
    }
    return v; /* ruleid: flow_uninitialized */
}

int if_without_else(int k)
{
    int v;
    if (k > 2)
        v = k;
    return v; /* ruleid: flow_uninitialized */
}

int if_with_else(int k)
{
    int v;
    if (k > 2)
        v = k;
    else
        v = 0;
    return v; /* ok: flow_uninitialized */
}

int if_else_if(int k)
{
    int v;
    if (k > 2)
        v = k;
    else if (k < 0)
        v = 0;
    return v; /* ruleid: flow_uninitialized */
}
