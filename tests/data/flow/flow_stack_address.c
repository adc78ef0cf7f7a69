#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point { int x, y; };
static char shared[32];

char *number_text(int n)
{
    char text[16];
    snprintf(text, sizeof text, "%d", n);
    return text; /* ruleid: flow_stack_address */
}

struct point *origin(void)
{
    struct point p = {0, 0};
    return &p; /* ruleid: flow_stack_address */
}

const char *
skip_dash (void)
{
  char word[10] = "-word";
  char *p = word;

  if (*p == '-')
    p++;
  return p; /* ruleid: flow_stack_address */
}

int *chosen(int first)
{
    int a = 1, b = 2;
    int *p = &b;
    if (first)
        p = &a;
    return p; /* ruleid: flow_stack_address */
}

char *sometimes(int own)
{
    char local[8] = "x";
    if (own)
        return strdup(local);
    return local; /* ruleid: flow_stack_address */
}

int *address_of_parameter(int n)
{
    return &n; /* ruleid: flow_stack_address */
}

static char *same(char *p)
{
    return p;
}

char *by_helper(void)
{
    char name[4] = "abc";
    return same(name); /* ruleid: flow_stack_address */
}

/* near misses */

char *kept_text(int n)
{
    static char text[16];
    snprintf(text, sizeof text, "%d", n);
    return text; /* ok: flow_stack_address */
}

char *global_text(void)
{
    char *p = shared;
    return p; /* ok: flow_stack_address */
}

struct point by_value(void)
{
    struct point p = {1, 2};
    return p; /* ok: flow_stack_address */
}

char *heap_copy(void)
{
    char text[8] = "seven";
    return strdup(text); /* ok: flow_stack_address */
}

int first_value(void)
{
    int v[4] = {4, 3, 2, 1};
    int *p = v;
    return *p + v[1]; /* ok: flow_stack_address */
}

const char *literal(int n)
{
    const char *names[] = {"none", "one"};
    return names[n == 1]; /* ok: flow_stack_address */
}

char *element_of_local_array(void)
{
    char *slots[2] = {shared, NULL};
    return slots[0]; /* ok: flow_stack_address */
}

struct point *callers(struct point *p)
{
    struct point *q = p;
    q->x = 0;
    return q; /* ok: flow_stack_address */
}
