#include <stdio.h>
#include <string.h>
#include <stdlib.h>

struct view { const char *text; int *at; struct view *up; };
struct pt { int x, y; };
static const char *latest;
static int *place;
static struct view screen;
static struct view views[4];
void shown(void);

void to_static(int n)
{
    char text[12];
    snprintf(text, sizeof text, "%d", n);
    latest = text; /* ruleid: flow_stack_address */
}

void to_static_for_a_while(int n)
{
    char text[12];
    snprintf(text, sizeof text, "%d", n);
    latest = text; /* ok: flow_stack_address */
    shown();
    latest = NULL;
}

void address_to_static(int n)
{
    int local = n + 1;
    place = &local; /* ruleid: flow_stack_address */
}

void to_static_member(int n)
{
    char text[12];
    snprintf(text, sizeof text, "%d", n);
    screen.text = text; /* ruleid: flow_stack_address */
}

void to_static_element(int n)
{
    int local = n;
    views[1].at = &local; /* ruleid: flow_stack_address */
}

void to_parameter(const char **out, int n)
{
    char text[8] = { (char)('0' + n % 10) };
    *out = text; /* ruleid: flow_stack_address */
}

void address_to_parameter(int **out, int n)
{
    int local = n * 2;
    *out = &local; /* ruleid: flow_stack_address */
}

void to_member(struct view *v, int n)
{
    char text[12];
    snprintf(text, sizeof text, "%d", n);
    v->text = text; /* ruleid: flow_stack_address */
}

void to_member_by_copy(struct view *v, int n)
{
    int local = n;
    int *p = &local;
    v->at = p; /* ruleid: flow_stack_address */
}

void to_member_for_a_while(struct view *v, int n)
{
    int local = n;
    v->at = &local; /* ok: flow_stack_address */
    shown();
    v->at = NULL;
}

void to_member_and_back(struct view *v, int n)
{
    int local = n;
    int *before = v->at;
    v->at = &local; /* ok: flow_stack_address */
    shown();
    v->at = before;
}

void to_own_struct(int n)
{
    struct view v;
    int local = n;
    v.at = &local; /* ok: flow_stack_address */
    printf("%d", *v.at);
}

void static_to_parameter(const char **out, int n)
{
    static char text[12];
    snprintf(text, sizeof text, "%d", n);
    *out = text; /* ok: flow_stack_address */
}

struct pt *plain_address(void)
{
    struct pt p = { 1, 2 };
    return &p; /* ruleid: flow_stack_address */
}

int *address_of_argument(int n)
{
    return &n; /* ruleid: flow_stack_address */
}

int *address_of_member(void)
{
    struct pt p = { 1, 2 };
    return &p.y; /* ruleid: flow_stack_address */
}

int *address_by_variable(int n)
{
    int v = n;
    int *p = &v;
    return p; /* ruleid: flow_stack_address */
}

int *address_of_static(int n)
{
    static int v;
    v = n;
    return &v; /* ok: flow_stack_address */
}

int *address_of_pointed(struct pt *p)
{
    return &p->x; /* ok: flow_stack_address */
}

struct view in_struct(int n)
{
    struct view v = { 0 };
    int local = n;
    v.at = &local;
    return v; /* ruleid: flow_stack_address */
}

int inner_block(int n)
{
    int *p = NULL;
    if (n > 0) {
        int v[3] = { n, n, n };
        p = v;
    }
    return p ? p[1] : 0; /* ruleid: flow_stack_address */
}

int inner_block_used_inside(int n)
{
    int *p = NULL;
    int r = 0;
    if (n > 0) {
        int v[3] = { n, n, n };
        p = v;
        r = p[1]; /* ok: flow_stack_address */
    }
    return r;
}

int inner_variable(int n)
{
    int *p = &n;
    {
        int v = n + 1;
        p = &v;
    }
    return *p; /* ruleid: flow_stack_address */
}

int inner_variable_left(int n)
{
    int *p = &n;
    {
        int v = n + 1;
        p = &v;
        n = *p;
        p = &n;
    }
    return *p; /* ok: flow_stack_address */
}

int inner_else(int n)
{
    const char *s;
    if (n == 0) {
        s = "none";
    } else {
        char text[16];
        snprintf(text, sizeof text, "%d", n);
        s = text;
    }
    return puts(s); /* ruleid: flow_stack_address */
}

int inner_loop(const char *const *names, int n)
{
    const char *best = NULL;
    for (int i = 0; i < n; i++) {
        char low[32];
        snprintf(low, sizeof low, "%s", names[i]);
        if (!best || low[0] < 'm')
            best = low;
    }
    return best ? best[0] : 0; /* ruleid: flow_stack_address */
}

int inner_loop_by_name(const char *const *names, int n)
{
    const char *best = NULL;
    for (int i = 0; i < n; i++) {
        char low[32];
        snprintf(low, sizeof low, "%s", names[i]);
        if (!best || low[0] < 'm')
            best = names[i];
    }
    return best ? best[0] : 0; /* ok: flow_stack_address */
}

int inner_struct(int n)
{
    struct pt *p;
    switch (n) {
    case 1: {
        struct pt one = { 1, 1 };
        p = &one;
        break;
    }
    default:
        return 0;
    }
    return p->x; /* ruleid: flow_stack_address */
}
