#include <stdlib.h>
/* embedded: fixed-width types, a small heap */
uint8_t *frame_new(uint16_t n)
{
    uint8_t *frame = pvPortMalloc(n);          /* ruleid: malloc_no_null_check */
    frame[0] = 0x7e;
    return frame;
}

uint8_t *frame_copy(const uint8_t *from, uint16_t n)
{
    uint8_t *frame = (uint8_t *) malloc(       /* ruleid: malloc_no_null_check */
        n);
    memcpy(frame, from, n);
    return frame;
}

int fill(struct box *box, size_t n)
{
    box->names = calloc(n, sizeof *box->names);   /* ruleid: malloc_no_null_check */
    box->names[0] = strdup("first");              /* ok: malloc_no_null_check */
    *(int *) malloc(4) = 1;                       /* ruleid: malloc_no_null_check */
    strcpy(malloc(n), "text");                    /* ruleid: malloc_no_null_check */
    struct box *more = realloc(box, n);           /* ruleid: malloc_no_null_check */
    (more)->names = NULL;
    struct box *next = malloc(sizeof(*next));     /* ok: malloc_no_null_check */
    if (next == NULL)
        return -1;
    next->names = NULL;
    return 0;
}

static int probe(struct device *dev)
{
    struct priv *priv, *a, *b, *c, *d;
    char *name;

    priv = kzalloc(sizeof(*priv), GFP_KERNEL);    /* ruleid: malloc_no_null_check */
    priv->dev = dev;
    a = kmalloc(8, GFP_KERNEL | __GFP_NOFAIL);    /* ok: malloc_no_null_check */
    a->dev = dev;
    b = kmalloc(sizeof(*b), GFP_KERNEL);          /* ok: malloc_no_null_check */
    c = kmalloc(sizeof(*c), GFP_KERNEL);          /* ok: malloc_no_null_check */
    if (!b || !c)
        goto fail;
    c->dev = dev;
    if ((d = kmalloc(8, GFP_KERNEL)) == NULL)     /* ok: malloc_no_null_check */
        return -ENOMEM;
    d->dev = dev;
    dev->name = name = kstrdup("x", GFP_KERNEL);  /* ok: malloc_no_null_check */
    if (!dev->name)
        goto fail;
    name[0] = 0;
    name = kasprintf(GFP_KERNEL, "%d", 1);        /* ok: malloc_no_null_check */
    if (WARN_ON(!name))
        return -ENOMEM;
    name[0] = 0;
    return 0;
fail:
    return -ENOMEM;
}

char *give(size_t n)
{
    char *p = malloc(n);                          /* ok: malloc_no_null_check */
    char *q = xmalloc(n);                         /* ok: malloc_no_null_check */
    char *r;
    q[0] = 0;
    CHECK_ALLOC(p);
    p[0] = 0;
    r = malloc(n);                                /* ok: malloc_no_null_check */
    assert(r);
    r[0] = 0;
    r = n ? malloc(n) : NULL;                     /* ok: malloc_no_null_check */
    free(r);
    return malloc(n);                             /* ok: malloc_no_null_check */
}

static struct entry *enter(struct table *table, const char *name)
{
    struct entry *entry = malloc(sizeof *entry);  /* ok: malloc_no_null_check */
    struct entry *held = NULL;
    char *copy = strdup(name);                    /* ruleid: malloc_no_null_check */
    char *shown = strdup(name);                   /* ok: malloc_no_null_check */
    char *late = strdup(name);                    /* ok: malloc_no_null_check */
    debug("%p\n", shown);
    held = entry;
    if (!held)
        return NULL;
    entry->next = table->first;
    set_name(entry, copy);
    set_other(entry, late);
    if (late == NULL)
        return NULL;
    table->first = table->last = malloc(4);       /* ok: malloc_no_null_check */
    if (!table->first)
        return NULL;
    table->last->next = NULL;
    if (fill(table->buf = malloc(9)))             /* ok: malloc_no_null_check */
        return NULL;
    return entry;
}

#if defined(__cplusplus)
static int grow(Buffer &buffer)
{
    auto *bytes = new (std::nothrow) char[64];    /* ruleid: malloc_no_null_check */
    bytes[0] = 0;
    auto *more = new (std::nothrow) char[64];     /* ok: malloc_no_null_check */
    if (!more)
        return -1;
    more[0] = 0;
    auto *thrown = new char[64];                  /* ok: malloc_no_null_check */
    thrown[0] = 0;
    return put(std::nothrow);                     /* ok: malloc_no_null_check */
}
#endif

int planes(struct scaler *s, size_t n)
{
    char *row;
    s->base[0] = malloc(n);                        /* ok: malloc_no_null_check */
    s->base[1] = malloc(n);                        /* ok: malloc_no_null_check */
    s->rows = &s->base[0][1];
    s->last = &s->base[1][1];
    if (!s->base[0] || !s->base[1])
        return -1;
    if (NULL == (row = malloc(n)))                 /* ok: malloc_no_null_check */
        return -1;
    row[0] = 0;
    return 0;
}

int widget_row(struct widget_grid *grid, int row, size_t width)
{
    int *cells;
    cells = calloc(width, sizeof(int)); /* ok: malloc_no_null_check */
    grid->rows[row] = cells;
    if (grid->rows[row] == NULL)
        return -1;
    cells[0] = 1;
    return 0;
}

int widget_row_of_another(struct widget_grid *grid, int row, size_t width)
{
    int *cells;
    cells = calloc(width, sizeof(int)); /* ruleid: malloc_no_null_check */
    grid->rows[row] = cells;
    if (grid->rows[row + 1] == NULL)
        return -1;
    cells[0] = 1;
    return 0;
}
