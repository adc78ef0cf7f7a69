#include <stdlib.h>
#include <string.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define outer_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

struct node { struct node *next; };
struct task { struct node node; int number; };
struct job { char *name; struct node link; int state; };
struct sheet { char *text; size_t used; size_t room; };
struct card { char *note; char title[24]; int marks[4]; };
struct conn { void (*done)(struct conn *); char *host; int port; };

int copy_before_release(struct sheet *s)
{
    char *was = s->text;
    free(s->text);
    s->text = NULL;
    return was[0]; /* ruleid: flow_use_after_free */
}

int copy_before_release_set(struct sheet *s)
{
    char *was = s->text;
    free(s->text);
    was = s->text = calloc(1, 2);
    if (!was)
        return -1;
    return was[0]; /* ok: flow_use_after_free */
}

void copy_is_released(struct sheet *s)
{
    char *text = s->text;
    free(text);
    s->text[0] = 0; /* ruleid: flow_use_after_free */
}

void copy_is_released_twice(struct sheet *s)
{
    char *text = s->text;
    free(text);
    free(s->text); /* ruleid: flow_double_free */
}

void copy_is_released_once(struct sheet *s)
{
    char *text = s->text;
    s->text = NULL;
    free(text);
    free(s->text); /* ok: flow_double_free */
}

void drain_by_base(struct node *n)
{
    while (n != NULL) {
        struct task *t = (struct task *)n;
        free(t);
        n = n->next; /* ruleid: flow_use_after_free */
    }
}

void drain_by_base_rightly(struct node *n)
{
    while (n != NULL) {
        struct task *t = (struct task *)n;
        n = n->next; /* ok: flow_use_after_free */
        free(t);
    }
}

void drain_by_first_member(struct task *first)
{
    struct node *n = &first->node;
    free(first);
    if (n->next) /* ruleid: flow_use_after_free */
        abort();
}

void drain_by_member(struct node *head)
{
    for (struct node *n = head; n; n = n->next) { /* ruleid: flow_use_after_free */
        struct job *j = outer_of(n, struct job, link);
        free(j->name);
        free(j);
    }
}

void drain_by_member_rightly(struct node *head)
{
    struct node *after;
    for (struct node *n = head; n; n = after) {
        struct job *j = outer_of(n, struct job, link);
        after = n->next; /* ok: flow_use_after_free */
        free(j->name);
        free(j);
    }
}

void unlink_by_member(struct node *head, struct node **at)
{
    struct job *j = (struct job *)((char *)head - offsetof(struct job, link));
    free(j->name);
    free(j);
    *at = head->next; /* ruleid: flow_use_after_free */
}

int grown_behind_copy(struct sheet *s, int c)
{
    char *end = s->text + s->used;
    char *more = realloc(s->text, s->room * 2);
    if (more == NULL)
        return -1;
    s->text = more;
    *end = (char)c; /* ruleid: flow_use_after_free */
    return 0;
}

int grown_and_moved(struct sheet *s, int c)
{
    char *end = s->text + s->used;
    char *more = realloc(s->text, s->room * 2);
    if (more == NULL)
        return *end; /* ok: flow_use_after_free */
    s->text = more;
    end = more + s->used;
    *end = (char)c; /* ok: flow_use_after_free */
    return 0;
}

int grown_local(int n)
{
    int *v = malloc(8 * sizeof *v);
    int *first;
    int *w;
    if (!v)
        return -1;
    first = v;
    v[0] = n;
    w = realloc(v, 64 * sizeof *w);
    if (!w) {
        free(v);
        return -1;
    }
    n = *first; /* ruleid: flow_use_after_free */
    free(w);
    return n;
}

void released_after_growth(size_t n)
{
    char *a = malloc(n);
    char *b;
    if (!a)
        return;
    b = realloc(a, n + 8);
    if (b != NULL)
        free(b);
    free(a); /* ruleid: flow_double_free */
}

void released_if_not_grown(size_t n)
{
    char *a = malloc(n);
    char *b;
    if (!a)
        return;
    b = realloc(a, n + 8);
    if (b != NULL)
        free(b);
    else
        free(a); /* ok: flow_double_free */
}

const char *inner_array_returned(const char *from)
{
    struct card *c = calloc(1, sizeof *c);
    const char *title;
    if (c == NULL)
        return "";
    snprintf(c->title, sizeof c->title, "%s", from);
    title = c->title;
    free(c);
    return title; /* ruleid: flow_use_after_free */
}

int inner_array_read(struct card *c)
{
    int *marks = c->marks;
    free(c->note);
    free(c);
    return marks[1]; /* ruleid: flow_use_after_free */
}

int inner_array_read_before(struct card *c)
{
    int *marks = c->marks;
    int second = marks[1]; /* ok: flow_use_after_free */
    free(c->note);
    free(c);
    return second;
}

int inner_member(struct conn *c)
{
    int *port = &c->port;
    free(c->host);
    free(c);
    return *port; /* ruleid: flow_use_after_free */
}

static void conn_gone(struct conn *c)
{
    free(c->host);
    free(c);
}

int released_by_callback(void)
{
    struct conn *c = calloc(1, sizeof *c);
    int port;
    if (!c)
        return -1;
    c->done = conn_gone;
    c->done(c);
    port = c->port; /* ruleid: flow_use_after_free */
    return port;
}

static void drop_text(struct sheet *s)
{
    free(s->text);
}

int released_in_helper(struct sheet *s)
{
    char *t = s->text;
    drop_text(s);
    return *t; /* ruleid: flow_use_after_free */
}

int through_void(void *opaque)
{
    struct card *c = opaque;
    free(c->note);
    free(opaque);
    return c->marks[0]; /* ruleid: flow_use_after_free */
}

struct counted { size_t size; union { unknown_t all; char *p; } mem[1]; };
extern void (*give_back)(void *);

static void counted_free(void *p)
{
    if (p)
        give_back((char *)p - offsetof(struct counted, mem));
}

int released_in_front_of_its_start(int n)
{
    char *t = malloc(10);
    if (!t)
        return 1;
    t[0] = n;
    counted_free(t);
    return 0; /* ok: flow_use_after_free */
}
