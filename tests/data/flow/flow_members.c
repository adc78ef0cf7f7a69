#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct big { long a, b, c, d; };
struct small { int id; };
struct row { size_t used; int cell[]; };
struct text { unsigned short len; char data[1]; };
struct name { char first[16]; char last[16]; };
struct pair { struct small one; struct big two; };
typedef struct packet { int type; long stamp; char body[64]; } packet_t;

struct big *size_of_pointer(void)
{
    struct big *b = malloc(sizeof(b));
    if (!b)
        return NULL;
    b->a = 1; /* ok: flow_buffer_overflow */
    b->d = 4; /* ruleid: flow_buffer_overflow */
    return b;
}

struct big *size_of_object(void)
{
    struct big *b = malloc(sizeof(*b));
    if (!b)
        return NULL;
    b->a = 1;
    b->d = 4; /* ok: flow_buffer_overflow */
    return b;
}

struct big *size_of_other(void)
{
    struct big *b = calloc(1, sizeof(struct small));
    if (!b)
        return NULL;
    b->c = 4; /* ruleid: flow_buffer_overflow */
    return b;
}

long read_of_other(void)
{
    struct big *b = calloc(1, sizeof(struct small));
    long v;
    if (!b)
        return 0;
    v = b->b; /* ruleid: flow_buffer_overread */
    free(b);
    return v;
}

packet_t *size_of_pointer_type(void)
{
    packet_t *p = malloc(sizeof(packet_t *));
    if (!p)
        return NULL;
    p->type = 1;
    p->stamp = 2; /* ruleid: flow_buffer_overflow */
    return p;
}

packet_t *size_by_typedef(void)
{
    packet_t *p = malloc(sizeof(packet_t));
    if (!p)
        return NULL;
    p->type = 1;
    p->stamp = 2; /* ok: flow_buffer_overflow */
    p->body[63] = 0; /* ok: flow_buffer_overflow */
    return p;
}

struct row *no_room_for_cells(void)
{
    struct row *r = malloc(sizeof *r);
    if (!r)
        return NULL;
    r->used = 1;
    r->cell[0] = 7; /* ruleid: flow_buffer_overflow */
    return r;
}

struct row *no_room_for_cells_in_loop(void)
{
    struct row *r = malloc(sizeof(struct row));
    if (!r)
        return NULL;
    r->used = 4;
    for (size_t i = 0; i < 4; i++)
        r->cell[i] = 0; /* ruleid: flow_buffer_overflow */
    return r;
}

struct row *room_for_cells(void)
{
    struct row *r = malloc(sizeof *r + 4 * sizeof(int));
    if (!r)
        return NULL;
    r->used = 4;
    for (size_t i = 0; i < 4; i++)
        r->cell[i] = 0; /* ok: flow_buffer_overflow */
    return r;
}

struct row *room_for_fewer_cells(void)
{
    struct row *r = malloc(sizeof *r + 4 * sizeof(int));
    if (!r)
        return NULL;
    r->used = 5;
    r->cell[4] = 0; /* ruleid: flow_buffer_overflow */
    return r;
}

struct row *bytes_for_cells(size_t n)
{
    struct row *r = malloc(sizeof *r + n);
    if (!r)
        return NULL;
    r->used = n;
    for (size_t i = 0; i < n; i++)
        r->cell[i] = 0; /* ruleid: flow_buffer_overflow */
    return r;
}

struct row *room_for_n_cells(size_t n)
{
    struct row *r = malloc(sizeof *r + n * sizeof r->cell[0]);
    if (!r)
        return NULL;
    r->used = n;
    for (size_t i = 0; i < n; i++)
        r->cell[i] = 0; /* ok: flow_buffer_overflow */
    return r;
}

struct row *room_by_offset(void)
{
    struct row *r = malloc(offsetof(struct row, cell) + 2 * sizeof(int));
    if (!r)
        return NULL;
    r->cell[1] = 0; /* ok: flow_buffer_overflow */
    return r;
}

struct row *no_room_by_offset(void)
{
    struct row *r = malloc(offsetof(struct row, cell) + 2 * sizeof(int));
    if (!r)
        return NULL;
    r->cell[2] = 0; /* ruleid: flow_buffer_overflow */
    return r;
}

struct text *room_for_text(size_t n)
{
    struct text *t = malloc(sizeof *t + n);
    if (!t)
        return NULL;
    t->data[n] = 0; /* ok: flow_buffer_overflow */
    return t;
}

struct name *half_a_name(void)
{
    struct name *n = malloc(16);
    if (!n)
        return NULL;
    n->first[0] = 0;
    n->last[0] = 0; /* ruleid: flow_buffer_overflow */
    return n;
}

struct name *whole_name(void)
{
    struct name *n = malloc(32);
    if (!n)
        return NULL;
    n->first[0] = 0;
    n->last[15] = 0; /* ok: flow_buffer_overflow */
    return n;
}

struct pair *nested_members(void)
{
    struct pair *p = malloc(sizeof(struct big));
    if (!p)
        return NULL;
    p->two.a = 1;
    p->two.d = 1; /* ruleid: flow_buffer_overflow */
    return p;
}

void fill_other(void)
{
    struct big *b = malloc(sizeof(struct small));
    if (!b)
        return;
    memset(b, 0, sizeof *b); /* ruleid: flow_buffer_overflow */
    free(b);
}

static void init_big(struct big *b)
{
    b->a = 0;
    b->b = 0; /* ruleid: flow_buffer_overflow */
    b->d = 1; /* ruleid: flow_buffer_overflow */
}

void init_in_helper(void)
{
    struct big *b = malloc(sizeof b);
    if (!b)
        return;
    init_big(b);
    free(b);
}

struct small *smaller_in_bigger(void)
{
    struct small *s = malloc(sizeof(struct big));
    if (!s)
        return NULL;
    s->id = 4; /* ok: flow_buffer_overflow */
    return s;
}

struct big *second_of_two(void)
{
    struct big *b = malloc(2 * sizeof *b);
    if (!b)
        return NULL;
    b[1].d = 1; /* ok: flow_buffer_overflow */
    return b;
}

struct big *third_of_two(void)
{
    struct big *b = malloc(2 * sizeof *b);
    if (!b)
        return NULL;
    b[2].a = 1; /* ruleid: flow_buffer_overflow */
    return b;
}
