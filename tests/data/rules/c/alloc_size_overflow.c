#include <stdlib.h>
void *malloc(size_t n);                                    /* ok: alloc_size_overflow */

struct pixel *image(int width, int height, size_t count)
{
    struct pixel *a = malloc(width * height * 4);          /* ruleid: alloc_size_overflow */
    struct pixel *b = (struct pixel *)malloc((size_t)width * height); /* ruleid: alloc_size_overflow */
    struct pixel *c = malloc(count * sizeof(struct pixel)); /* ruleid: alloc_size_overflow */
    struct pixel *d = calloc(count, sizeof(*d));           /* ok: alloc_size_overflow */
    struct pixel *e = malloc(sizeof(*e));                  /* ok: alloc_size_overflow */
    struct pixel *f = malloc(64 * sizeof(struct pixel));   /* ok: alloc_size_overflow */
    struct pixel *g = malloc(ROWS * COLUMNS);              /* ok: alloc_size_overflow */
    struct pixel *h = reallocarray(a, count, sizeof(*h));  /* ok: alloc_size_overflow */
    return pick(a, b, c, d, e, f, g, h);
}

char *text(const char *name, const char *argument, uint8_t small)
{
    int n = atoi(argument);
    char *a = malloc(n * sizeof(char *));                  /* ruleid: alloc_size_overflow */
    char *b = malloc(strlen(name) + 1);                    /* ok: alloc_size_overflow */
    char *c = malloc(small * 16);                          /* ok: alloc_size_overflow */
    arena->malloc(n * n);                                  /* ok: alloc_size_overflow */
    return join(a, b, c);
}

static int load(struct header *h, size_t given)
{
	u32 len = le32_to_cpu(h->length);
	u32 rows = be32_to_cpu(h->rows);
	void *a = kmalloc(sizeof(*h) + len, GFP_KERNEL);       /* ruleid: alloc_size_overflow */
	void *b = krealloc(a, rows * h->stride, GFP_KERNEL);   /* ruleid: alloc_size_overflow */
	void *c;

	if (given > LIMIT / sizeof(struct row))
		return -EINVAL;
	c = kmalloc(given * sizeof(struct row), GFP_KERNEL);   /* ok: alloc_size_overflow */
	c = kmalloc_array(rows, sizeof(struct row), GFP_KERNEL); /* ok: alloc_size_overflow */
	return use(a, b, c);
}


char *doubled(const struct set *set, const char *word)
{
    size_t length = strlen(word);
    char *a = malloc(2 * set->buffer_size);                /* ruleid: alloc_size_overflow */
    char *b = malloc(length * 2);                          /* ruleid: alloc_size_overflow */
    char *c = malloc(length + 2);                          /* ok: alloc_size_overflow */
    char *d = malloc(length * 4 / 3 + 4);                  /* ruleid: alloc_size_overflow */
    char *e = malloc(length / 2 + 4);                      /* ok: alloc_size_overflow */
    if (set->rows > SIZE_MAX / 2)
        return NULL;
    return join(a, b, c, malloc(set->rows * 2));           /* ok: alloc_size_overflow */
}

char *doubled_within(const char *word)
{
    size_t length = strlen(word);
    if (length > SIZE_MAX / 2)
        return NULL;
    return malloc(length * 2);                             /* ok: alloc_size_overflow */
}
