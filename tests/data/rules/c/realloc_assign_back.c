void *realloc(void *pointer, size_t size);         /* ok: realloc_assign_back */
int grow(struct list *x, size_t n)
{
    p = realloc(p, n);                             /* ruleid: realloc_assign_back */
    x->p = (char *) realloc(x->p, n * 2);          /* ruleid: realloc_assign_back */
    x->rows[i].p = realloc( x->rows[ i ].p, n);    /* ruleid: realloc_assign_back */
    if (!(p = realloc(p, n)))                      /* ruleid: realloc_assign_back */
        return -1;
    *out = realloc(*out, n);                       /* ruleid: realloc_assign_back */
    q = static_cast<char *>(std::realloc(q, n));   /* ruleid: realloc_assign_back */
    p = krealloc((void *)p, n, GFP_KERNEL);        /* ruleid: realloc_assign_back */
    r = realloc(p, n);                             /* ok: realloc_assign_back */
    heap = realloc(ap, n);                         /* ok: realloc_assign_back */
    x->p = realloc(p, n);                          /* ok: realloc_assign_back */
    *p = realloc(p, n);                            /* ok: realloc_assign_back */
    char *tmp = realloc(x->p, n);                  /* ok: realloc_assign_back */
    if (p == realloc(p, n)) return 1;              /* ok: realloc_assign_back */
    p = xrealloc(p, n);                            /* ok: realloc_assign_back */
    p = realloc(NULL, n);                          /* ok: realloc_assign_back */
    realloc(p, 0);                                 /* ok: realloc_assign_back */
}

int keep(struct list *x, size_t n)
{
    char *old = x->p;
    x->p = realloc(x->p, n);                       /* ok: realloc_assign_back */
    if (!x->p) {
        free(old);
        return -1;
    }
    this->bytes = (uint8_t *)realloc(this->bytes, n); /* ruleid: realloc_assign_back */
    return 0;
}

static void check(void *pointer)
{
    if (pointer)
        return;
    perror("memory");
    exit(1);
}

void grow_or_exit(struct list *x, size_t n, char *given)
{
    x->p = realloc(x->p, n);                       /* ok: realloc_assign_back */
    check(x->p);
    x->p = realloc(x->p, n);                       /* ok: realloc_assign_back */
    if (x->p == NULL) {
        fprintf(stderr, "memory");
        abort();
    }
    given = realloc(given, n);                     /* ok: realloc_assign_back */
    x->p = realloc(x->p, n);                       /* ruleid: realloc_assign_back */
    report(x->p);
}
