#include <alloca.h>
#define SLOTS 32
void *alloca(size_t n);                                    /* ok: alloca_unbounded */
#define ON_STACK(type, count) ((type *)alloca(sizeof(type) * (count))) /* ruleid: alloca_unbounded */

int stack(const char *name, size_t n, struct request *r)
{
    char *a = alloca(strlen(name) + 1);                    /* ruleid: alloca_unbounded */
    char *b = (char *)alloca(n);                           /* ruleid: alloca_unbounded */
    char *c = __builtin_alloca(r->length * 2);             /* ruleid: alloca_unbounded */
    char *d = strdupa(name);                               /* ruleid: alloca_unbounded */
    char *e = _alloca(                                     /* ruleid: alloca_unbounded */
        atoi(name));
    char *f = alloca(64);                                  /* ok: alloca_unbounded */
    char *g = alloca(SLOTS * sizeof(struct slot));         /* ok: alloca_unbounded */
    struct slot *h = alloca(sizeof(*h));                   /* ok: alloca_unbounded */
    char *i = strdupa("constant");                         /* ok: alloca_unbounded */
    char *j = malloc(n);                                   /* ok: alloca_unbounded */
    pool->alloca(n);                                       /* ok: alloca_unbounded */
    return use(a, b, c, d, e, f, g, h, i, j);
}
