#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct stop { const char *title; int zone; struct stop *next; struct stop *depot; int n; char *label; };
void die(const char *);
extern struct stop nowhere;
struct route { struct stop *here; struct stop *start; int n; };
int bad1(struct stop *stops, const char *title)
{
    struct stop *it = stops;
    while (it && strcmp(it->title, title) != 0)
        it = it->next;
    return it->zone; /* ruleid: flow_null_dereference */
}
int bad2(struct stop *stops, int k)
{
    while (stops != NULL) {
        if (stops->n == k)
            break;
        stops = stops->next;
    }
    stops->zone = 3; /* ruleid: flow_null_dereference */
    return 0;
}
int bad3(struct stop *c)
{
    if (!c)
        fprintf(stderr, "none\n");
    return c->zone; /* ruleid: flow_null_dereference */
}
int bad4(struct stop *c, int k)
{
    if (c && k > 3)
        return c->n;
    else
        return c->zone; /* ruleid: flow_null_dereference */
}
int bad5(struct stop *c, int k)
{
    int w = 0;
    if (c != NULL)
        w = c->n;
    return w + c->zone; /* ruleid: flow_null_dereference */
}
int bad6(struct stop *c)
{
    int l = c->zone; /* ruleid: flow_null_dereference */
    if (c == NULL)
        return -1;
    return l;
}
int bad7(struct stop *c)
{
    printf("%s\n", c->title); /* ruleid: flow_null_dereference */
    c->n++;
    if (c)
        c->zone = 2;
    return 0;
}
static struct stop *stop_titled(struct stop *i, const char *title)
{
    for (; i; i = i->next)
        if (!strcmp(i->title, title))
            return i;
    return NULL;
}
int bad8(struct stop *l, const char *title)
{
    struct stop *i = stop_titled(l, title);
    i->zone++; /* ruleid: flow_null_dereference */
    return 0;
}
int bad9(struct stop *l, const char *title)
{
    return stop_titled(l, title)->zone; /* ruleid: flow_null_dereference */
}
int bad10(struct route *b, int k)
{
    for (b->here = b->start; b->here; b->here = b->here->next)
        if (b->here->n == k)
            break;
    return b->here->zone; /* ruleid: flow_null_dereference */
}
static struct stop *stop_new(int n)
{
    struct stop *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    s->n = n;
    return s;
}
int bad11(struct route *b)
{
    struct stop *i = stop_new(3);
    i->next = b->start; /* ruleid: flow_null_dereference */
    b->start = i;
    return 0;
}
void bad12(struct route *b)
{
    b->start = stop_new(2);
    b->start->zone = 3; /* ruleid: flow_null_dereference */
}
int bad13(struct stop *c)
{
    if (c == NULL) {
        printf("no item\n");
    }
    if (c->zone > 3) /* ruleid: flow_null_dereference */
        return 1;
    return 0;
}
int bad14(struct route *b)
{
    if (b->here == NULL)
        puts("nothing");
    puts(b->here->title); /* ruleid: flow_null_dereference */
    return 0;
}
int bad15(struct stop *c, int k)
{
    if (!c && k)
        return -1;
    return c->zone; /* ruleid: flow_null_dereference */
}
int bad16(struct stop *c, int k)
{
    if (c == NULL && c->zone > 3) /* ruleid: flow_null_dereference */
        return -1;
    return 0;
}
int bad17(struct stop *c)
{
    if (!c || !c->next)
        puts("short");
    return c->next->n; /* ruleid: flow_null_dereference */
}
int bad18(const char *s)
{
    if (s == NULL)
        puts("none");
    return strlen(s); /* ruleid: flow_null_dereference */
}
int bad19(struct stop *c)
{
    struct stop *d = c->depot;
    int n = d->n; /* ruleid: flow_null_dereference */
    if (d != NULL)
        n += 2;
    return n;
}
int bad20(struct stop *c)
{
    struct stop *d = c ? c->depot : NULL;
    return d->n; /* ruleid: flow_null_dereference */
}
int bad21(struct stop *l, const char *title)
{
    struct stop *i;
    i = stop_titled(l, title);
    puts("found");
    strcpy(i->label, title); /* ruleid: flow_null_dereference */
    return 0;
}
static struct stop *stop_numbered(struct stop *i, int n)
{
    while (i) {
        if (i->n == n)
            return i;
        i = i->next;
    }
    return 0;
}
int bad22(struct stop *l)
{
    struct stop *i = stop_numbered(l, 3), *j = stop_numbered(l, 4);
    if (!i)
        return 0;
    return i->n + j->n; /* ruleid: flow_null_dereference */
}
int bad23(struct stop *p)
{
    do {
        p = p->next;
    } while (p && p->n != 3);
    return p->zone; /* ruleid: flow_null_dereference */
}
int ok1(struct stop *stops, const char *title)
{
    struct stop *it = stops;
    while (it && strcmp(it->title, title) != 0)
        it = it->next;
    return it ? it->zone : 0;
}
int ok2(struct stop *stops, int k)
{
    while (stops != NULL) {
        if (stops->n == k)
            break;
        stops = stops->next;
    }
    if (stops)
        stops->zone = 3;
    return 0;
}
int ok3(struct stop *c)
{
    if (!c)
        die("none\n");
    return c->zone;
}
int ok3b(struct stop *c)
{
    if (!c) {
        fprintf(stderr, "none\n");
        exit(1);
    }
    return c->zone;
}
int ok4(struct stop *c, int k)
{
    if (c && k > 3)
        return c->n;
    else if (c)
        return c->zone;
    return 0;
}
int ok5(struct stop *c, int k)
{
    int w = 0;
    if (c != NULL)
        w = c->n;
    if (k && c)
        w += c->zone;
    return w;
}
int ok6(struct stop *c)
{
    int l = c->zone;
    c = c->next;
    if (c == NULL)
        return -1;
    return l + c->n;
}
int ok7(struct stop *c)
{
    while (c) {
        c->n++;
        c = c->next;
    }
    return 0;
}
int ok8(struct stop *l, const char *title)
{
    struct stop *i = stop_titled(l, title);
    if (i)
        i->zone++;
    return 0;
}
int ok9(struct stop *l, const char *title)
{
    struct stop *i;
    return (i = stop_titled(l, title)) != NULL ? i->zone : 0;
}
int ok9b(struct stop *l, const char *title)
{
    if (!stop_titled(l, title))
        return 0;
    return stop_titled(l, title)->zone;
}
int ok10(struct route *b, int k)
{
    for (b->here = b->start; b->here; b->here = b->here->next)
        if (b->here->n == k)
            break;
    if (!b->here)
        return 0;
    return b->here->zone;
}
static struct stop *stop_or_exit(int n)
{
    struct stop *s = malloc(sizeof *s);
    if (!s)
        exit(1);
    s->n = n;
    return s;
}
int ok11(struct route *b)
{
    struct stop *i = stop_or_exit(3);
    i->next = b->start;
    b->start = i;
    return 0;
}
int ok13(struct stop *c)
{
    if (c == NULL)
        c = &nowhere;
    if (c->zone > 3)
        return 1;
    return 0;
}
int ok15(struct stop *c, int k)
{
    if (!c || k)
        return -1;
    return c->zone;
}
int ok16(struct stop *c, int k)
{
    if (c != NULL && c->zone > 3)
        return -1;
    return 0;
}
int ok17(struct stop *c)
{
    int found = 0;
    struct stop *i;
    for (i = c; i; i = i->next)
        if (i->n == 3) {
            found = 1;
            break;
        }
    if (!found)
        return -1;
    return i->n;
}
int ok18(struct stop *c)
{
    assert(c != NULL);
    return c->n;
}
int ok19(struct stop *c)
{
    struct stop *last = NULL;
    for (; c; c = c->next)
        last = c;
    if (last == NULL)
        return 0;
    return last->n;
}
int ok20(struct route *b)
{
    struct stop *i = b->start;
    if (i == NULL || i->next == NULL) {
        if (i == NULL)
            return 0;
        return i->n;
    }
    return i->next->n;
}
int ok21(struct stop *c, int count)
{
    int n = c->n;
    for (; c; c = c->next)
        n += c->n;
    return n;
}
int ok22(struct stop *head, struct stop *c)
{
    struct stop **at = &head;
    while (*at && (*at)->n < c->n)
        at = &(*at)->next;
    c->next = *at;
    *at = c;
    return 0;
}
int ok23(struct stop *p, int n)
{
    while (n > 0 && p->next) {
        p = p->next;
        n--;
    }
    return p->n;
}
int ok24(struct route *b)
{
    struct stop *i = b->start;
    int n = 0;
    if (i)
        n = i->n;
    b->n = n;
    while (i && i->n == n) {
        i = i->next;
    }
    return i == NULL;
}
int ok25(struct stop *p)
{
    free(p->label);
    p = NULL;
    if (!p)
        return 1;
    return 0;
}
#define SAFE_FREE(p) do { if (p) free(p); (p) = NULL; } while (0)
int ok26(struct stop *p)
{
    p->label[0] = 1;
    SAFE_FREE(p->label);
    SAFE_FREE(p);
    return 0;
}
