#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <stdint.h>

struct doc { char *head, *body; int pages; };
struct cfg { char *name; char *path; };
struct item { struct item *next; char *key; };
struct cfg *registry;
void use(const char *);

struct doc *doc_new(size_t n)
{
    struct doc *d = malloc(sizeof *d);
    if (!d)
        return NULL;
    d->head = malloc(n);
    if (!d->head) {
        free(d); /* ok: flow_memory_leak */
        return NULL;
    }
    d->body = malloc(n);
    if (!d->body) {
        free(d); /* ruleid: flow_memory_leak */
        return NULL;
    }
    return d;
}

struct doc *doc_new_rightly(size_t n)
{
    struct doc *d = malloc(sizeof *d);
    if (!d)
        return NULL;
    d->head = malloc(n);
    if (!d->head) {
        free(d);
        return NULL;
    }
    d->body = malloc(n);
    if (!d->body) {
        free(d->head);
        free(d); /* ok: flow_memory_leak */
        return NULL;
    }
    return d;
}

struct doc *doc_new_goto(const char *text)
{
    struct doc *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->head = strdup(text);
    if (!d->head)
        goto fail;
    d->body = strdup(text);
    if (!d->body)
        goto fail;
    return d;
fail:
    free(d); /* ruleid: flow_memory_leak */
    return NULL;
}

struct doc *doc_new_goto_rightly(const char *text)
{
    struct doc *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->head = strdup(text);
    if (!d->head)
        goto fail;
    d->body = strdup(text);
    if (!d->body)
        goto fail;
    return d;
fail:
    free(d->head);
    free(d->body);
    free(d); /* ok: flow_memory_leak */
    return NULL;
}

static void doc_drop(struct doc *d)
{
    free(d->head);
    free(d->body);
    free(d);
}

struct doc *doc_new_drop(const char *text)
{
    struct doc *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->head = strdup(text);
    d->body = strdup(text);
    if (!d->head || !d->body) {
        doc_drop(d); /* ok: flow_memory_leak */
        return NULL;
    }
    return d;
}

static void doc_half_drop(struct doc *d)
{
    free(d->head);
    free(d); /* ruleid: flow_memory_leak */
}

int doc_used(const char *text)
{
    struct doc *d = calloc(1, sizeof *d);
    if (!d)
        return -1;
    d->head = strdup(text);
    d->body = strdup(text);
    doc_half_drop(d);
    return 0;
}

int doc_part_kept(const char *text, char **out)
{
    struct doc *d = calloc(1, sizeof *d);
    if (!d)
        return -1;
    d->head = strdup(text);
    *out = d->head;
    free(d); /* ok: flow_memory_leak */
    return 0;
}

char *doc_part_taken(const char *text)
{
    struct doc *d = calloc(1, sizeof *d);
    char *head;
    if (!d)
        return NULL;
    d->head = strdup(text);
    head = d->head;
    free(d); /* ok: flow_memory_leak */
    return head;
}

int line_in_loop(FILE *in, int n)
{
    char *line = NULL;
    int seen = 0;
    for (int i = 0; i < n; i++) {
        line = malloc(80); /* ruleid: flow_memory_leak */
        if (!line)
            return -1;
        seen += fgets(line, 80, in) != NULL;
    }
    free(line);
    return seen;
}

int line_in_loop_rightly(FILE *in, int n)
{
    char *line = NULL;
    int seen = 0;
    for (int i = 0; i < n; i++) {
        free(line);
        line = malloc(80); /* ok: flow_memory_leak */
        if (!line)
            return -1;
        seen += fgets(line, 80, in) != NULL;
    }
    free(line);
    return seen;
}

int line_in_endless_loop(FILE *in)
{
    char *line;
    int seen = 0;
    for (;;) {
        line = malloc(80); /* ruleid: flow_memory_leak */
        if (!line)
            break;
        if (!fgets(line, 80, in)) {
            free(line);
            break;
        }
        seen++;
    }
    return seen;
}

int line_in_while(FILE *in)
{
    char *line = malloc(80); /* ruleid: flow_memory_leak */
    int seen = 0;
    while (line && fgets(line, 80, in)) {
        seen++;
        line = malloc(80); /* ruleid: flow_memory_leak */
    }
    free(line);
    return seen;
}

struct item *list_in_loop(int n)
{
    struct item *head = NULL, *one;
    for (int i = 0; i < n; i++) {
        one = malloc(sizeof *one); /* ok: flow_memory_leak */
        if (!one)
            break;
        one->key = NULL;
        one->next = head;
        head = one;
    }
    return head;
}

void table_in_loop(char **table, int n)
{
    char *one = NULL;
    for (int i = 0; i < n; i++) {
        one = strdup("x"); /* ok: flow_memory_leak */
        table[i] = one;
    }
}

int member_twice(const char *a, const char *b)
{
    struct cfg c = { 0 };
    c.name = strdup(a); /* ruleid: flow_memory_leak */
    c.name = strdup(b);
    free(c.name);
    return 0;
}

int member_once_each(const char *a, const char *b)
{
    struct cfg c = { 0 };
    c.name = strdup(a); /* ok: flow_memory_leak */
    c.path = strdup(b);
    free(c.name);
    free(c.path);
    return 0;
}

static int cfg_set(struct cfg *c, const char *name)
{
    c->name = strdup(name); /* ruleid: flow_memory_leak */
    return c->name ? 0 : -1;
}

int cfg_set_twice(void)
{
    struct cfg c = { 0 };
    cfg_set(&c, "one");
    cfg_set(&c, "two");
    free(c.name);
    return 0;
}

static int cfg_reset(struct cfg *c, const char *name)
{
    free(c->name);
    c->name = strdup(name); /* ok: flow_memory_leak */
    return c->name ? 0 : -1;
}

int cfg_reset_twice(void)
{
    struct cfg c = { 0 };
    cfg_reset(&c, "one");
    cfg_reset(&c, "two");
    free(c.name);
    return 0;
}

int variable_overwritten(const char *a)
{
    char *t = strdup(a); /* ruleid: flow_memory_leak */
    if (!t)
        return -1;
    t = strdup("other");
    free(t);
    return 0;
}

int member_of_heap(const char *a)
{
    struct cfg *c = calloc(1, sizeof *c);
    if (!c)
        return -1;
    c->name = strdup(a); /* ruleid: flow_memory_leak */
    c->name = strdup("b");
    free(c->name);
    free(c);
    return 0;
}

int member_escapes(const char *a)
{
    struct cfg *c = calloc(1, sizeof *c);
    if (!c)
        return -1;
    c->name = strdup(a); /* ok: flow_memory_leak */
    registry = c;
    return 0;
}

int member_forgotten(const char *a)
{
    struct cfg c = { 0 };
    c.name = strdup(a); /* ruleid: flow_memory_leak */
    if (!c.name)
        return -1;
    use(a);
    return 0;
}

/* numbers */

int tagged_and_lost(int flag)
{
    void *p = malloc(16);
    uintptr_t word;
    if (!p)
        return -1;
    word = (uintptr_t)p | (flag & 1);
    return (int)(word & 1); /* ruleid: flow_memory_leak */
}

int tagged_and_released(int flag)
{
    void *p = malloc(16); /* ok: flow_memory_leak */
    uintptr_t word;
    if (!p)
        return -1;
    word = (uintptr_t)p | (flag & 1);
    free((void *)(word & ~(uintptr_t)1)); /* ok: flow_offset_free */
    return flag;
}

int number_and_lost(void)
{
    unsigned long n = (unsigned long)malloc(32);
    if (!n)
        return -1;
    return n % 16 == 0; /* ruleid: flow_memory_leak */
}

uintptr_t number_returned(void)
{
    uintptr_t n = (uintptr_t)malloc(32); /* ok: flow_memory_leak */
    return n | 1;
}

int tagged_used_after(int flag)
{
    int *p = malloc(sizeof *p);
    uintptr_t word;
    if (!p)
        return -1;
    *p = flag;
    word = (uintptr_t)p | 1;
    free(p);
    return *(int *)(word & ~(uintptr_t)1); /* ruleid: flow_use_after_free */
}

int tagged_twice(int flag)
{
    int *p = malloc(sizeof *p);
    uintptr_t word;
    if (!p)
        return -1;
    *p = flag;
    word = (uintptr_t)p;
    word |= 2;
    word ^= 2;
    free((int *)word);
    free(p); /* ruleid: flow_double_free */
    return 0;
}

void tagged_kept(uintptr_t *slot)
{
    void *p = malloc(8); /* ok: flow_memory_leak */
    *slot = (uintptr_t)p | 1;
}

struct measured { size_t size; union { long number; void *pointer; } mem[1]; };

void *measured_get(size_t wanted)
{
    struct measured *block = malloc(sizeof(struct measured) + wanted);
    if (block)
        block->size = wanted;
    return block ? block->mem : NULL; /* ok: flow_memory_leak */
}
