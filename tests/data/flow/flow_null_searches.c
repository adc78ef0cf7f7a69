#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct berth { int key; struct berth *next, *prev, *left, *right; char *s; int len; };
void fail(const char *) __attribute__((noreturn));
struct quay { struct berth *root; struct berth *head, *tail; struct berth *slots[16]; int count; };
static struct berth *berth_of(struct quay *t, int k)
{
    struct berth *p = t->root;
    while (p != NULL && p->key != k)
        p = k < p->key ? p->left : p->right;
    return p;
}
static struct berth *berth_long(struct quay *t, int len)
{
    struct berth *found = NULL, *p;
    for (p = t->head; p; p = p->next)
        if (p->len == len) {
            found = p;
            break;
        }
    return found;
}
int g1(struct quay *t, int k) { struct berth *p = berth_of(t, k);
    return p->len; /* ruleid: flow_null_dereference */ }
int g3(struct quay *t, int k) { struct berth *p = berth_long(t, k);
    return p->key; /* ruleid: flow_null_dereference */ }
int g5(struct berth *p)
{
    struct berth *q = p->next;
    while (q && q->key != 3)
        q = q->next;
    q->len++; /* ruleid: flow_null_dereference */
    return 0;
}
int g6(struct berth *p, struct berth *q)
{
    if (p == NULL && q == NULL)
        return 0;
    return p->key; /* ruleid: flow_null_dereference */
}
int g9(struct berth *p)
{
    p->key = 1; /* ruleid: flow_null_dereference */
    if (p != NULL && p->next)
        p->len = 2;
    return 0;
}
int g10(char *s)
{
    size_t n = strlen(s); /* ruleid: flow_null_dereference */
    if (s == NULL)
        return 0;
    return n;
}
int g11(char *s)
{
    char c = *s; /* ruleid: flow_null_dereference */
    if (!s)
        return 0;
    return c;
}
int g12(int *v, int i)
{
    int x = v[i]; /* ruleid: flow_null_dereference */
    if (v == NULL)
        return 0;
    return x;
}
int g14(struct quay *t)
{
    if (!t->head)
        t->count = 0;
    t->head->prev = NULL; /* ruleid: flow_null_dereference */
    return 0;
}
void g20(struct quay *t, int k)
{
    struct berth *victim = NULL;
    for (int i = 0; i < t->count; i++)
        if (t->slots[i] && t->slots[i]->key == k)
            victim = t->slots[i];
    victim->len = 0; /* ruleid: flow_null_dereference */
}
int g21(struct berth *p)
{
    if (p != NULL)
        goto go;
    puts("null");
go:
    return p->key; /* ruleid: flow_null_dereference */
}
static struct berth *berth_of_or_die(struct quay *t, int k)
{
    struct berth *p = berth_of(t, k);
    if (!p)
        fail("none");
    return p;
}
int ok1(struct quay *t, int k) { struct berth *p = berth_of_or_die(t, k); return p->len; }
int ok1b(struct quay *t, int k) { struct berth *p = berth_of(t, k); return p ? p->len : 0; }
int ok1c(struct quay *t, int k) { struct berth *p; if ((p = berth_of(t, k)) == NULL) return 0; return p->len; }
static struct berth *self(struct berth *p) { if (!p) return NULL; return p; }
int ok2(struct berth *p) { int k = p->key; struct berth *q = self(p); return q->len + k; }
int ok3(struct quay *t, int k) { struct berth *p = berth_of(t, k); if (!p) { p = calloc(1, sizeof *p); if (!p) return 0; t->root = p; } p->len = 3; return 0; }
int ok5(struct berth *p)
{
    struct berth *q = p->next;
    while (q && q->key != 3)
        q = q->next;
    if (!q)
        return 0;
    q->len++;
    return 0;
}
int ok6(struct berth *p, struct berth *q)
{
    if (p == NULL || q == NULL)
        return 0;
    return p->key;
}
int ok6b(struct berth *p, struct berth *q)
{
    if (p == NULL && q == NULL)
        return 0;
    if (p == NULL)
        return q->key;
    return p->key;
}
int ok7(struct berth *p)
{
    if (p == NULL) {
        puts("null");
        return 0;
    } else {
        puts("fine");
    }
    return p->key;
}
int ok9(struct berth *p)
{
    p->key = 1;
    p = p->next;
    if (p != NULL && p->next)
        p->len = 2;
    return 0;
}
int ok10(char *s)
{
    size_t n = s ? strlen(s) : 0;
    if (s == NULL)
        return 0;
    return n;
}
int ok11(char *s)
{
    char c;
    if (!s || !(c = *s))
        return 0;
    return c;
}
int ok13(struct berth *p)
{
    int k = p ? p->key : 0;
    if (k == 0)
        return 0;
    return k + p->len;
}
int ok14(struct quay *t)
{
    if (!t->head) {
        t->head = t->tail;
        if (!t->head)
            return 0;
    }
    t->head->prev = NULL;
    return 0;
}
int ok15(struct quay *t, int k)
{
    struct berth *p;
    if (t->tail == NULL || t->tail->key < k)
        return 0;
    for (p = t->head; p->key < k; p = p->next)
        ;
    p->prev = NULL;
    return 0;
}
int ok17(struct quay *t, int k)
{
    struct berth *p = berth_of(t, k), *q = berth_of(t, k + 1);
    if (p == NULL || q == NULL) {
        puts("missing");
        goto out;
    }
    return p->key + q->key;
out:
    return 0;
}
int ok18(char *buf)
{
    char *p = strchr(buf, ':');
    if (p == NULL)
        p = buf + strlen(buf);
    *p = 0;
    return 0;
}
void ok20(struct quay *t, int k)
{
    struct berth *victim = NULL;
    for (int i = 0; i < t->count; i++)
        if (t->slots[i] && t->slots[i]->key == k)
            victim = t->slots[i];
    if (victim != NULL)
        victim->len = 0;
}
void ok21(struct quay *t)
{
    struct berth *p = t->head, *last = NULL;
    if (!p)
        return;
    while (p) {
        last = p;
        p = p->next;
    }
    last->next = t->tail;
}
void ok22(struct quay *t, struct berth *p)
{
    if (p->prev)
        p->prev->next = p->next;
    else
        t->head = p->next;
    if (p->next)
        p->next->prev = p->prev;
    else
        t->tail = p->prev;
}
void ok23(struct quay *t, struct berth *p)
{
    p->next = NULL;
    if (t->tail)
        t->tail->next = p;
    else
        t->head = p;
    t->tail = p;
}
int ok24(struct berth *a, struct berth *b)
{
    while (a && b) {
        if (a->key != b->key)
            return 0;
        a = a->next;
        b = b->next;
    }
    return a == b;
}
int ok25(struct berth *p, int k)
{
    for (; p; p = p->next)
        if (p->key == k)
            return p->len;
    return -1;
}
int ok26(struct quay *t, int have)
{
    struct berth *p = NULL;
    if (have)
        p = t->head;
    if (have && p->key)
        return p->len;
    return 0;
}
static void visit(struct berth *p) { if (!p) return; visit(p->left); visit(p->right); p->len = 0; }
void ok27(struct quay *t) { visit(t->root); t->root->len = 1; }
int ok28(struct berth *p) { int r = p->len; do { r += p->key; } while ((p = p->next)); return r; }
