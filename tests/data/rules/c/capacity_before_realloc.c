int grow(struct list *l)
{
    int *items;
    l->capacity *= 2;
    items = realloc(l->items, l->capacity * sizeof *items); /* ruleid: capacity_before_realloc */
    if (items == NULL)
        return -1;
    l->items = items;
    return 0;
}

static bool reserve(struct buffer *b, size_t more) {
    char *data;
    b->size += more;
    data = (char *)realloc(b->data, b->size); /* ruleid: capacity_before_realloc */
    if (!data)
        return false;
    b->data = data;
    return true;
}

int extend(char **text, size_t *size)
{
    *size += 1024;
    char *other = realloc(*text, *size); /* ruleid: capacity_before_realloc */
    if (!other)
        return ENOMEM;
    *text = other;
    return 0;
}

static size_t allocated;
static struct item *items;

int add(struct item one)
{
    if (used == allocated) {
        allocated = allocated ? allocated * 2 : 8;
        struct item *more = realloc(items, allocated * sizeof *more); /* ruleid: capacity_before_realloc */
        if (more == NULL) {
            errno = ENOMEM;
            return -1;
        }
        items = more;
    }
    items[used++] = one;
    return 0;
}

int push(struct stack *s, void *what)
{
    if (s->used >= s->max) {
        void **p;
        s->max = s->max * 2 + 8;
        if ((p = realloc(s->all, s->max * sizeof(void *))) == NULL) /* ruleid: capacity_before_realloc */
            return -1;
        s->all = p;
    }
    s->all[s->used++] = what;
    return 0;
}

int widen(struct table *t)
{
    t->rows.count <<= 1;
    void *p = reallocarray(t->rows.all, t->rows.count, sizeof(struct row)); /* ruleid: capacity_before_realloc */
    if (!p)
        goto failed;
    t->rows.all = p;
    return 0;
failed:
    return -1;
}

void *Arena::more(size_t bytes)
{
    this->limit += bytes;
    void *p = std::realloc(this->base, this->limit); /* ruleid: capacity_before_realloc */
    if (p == nullptr)
        return nullptr;
    return this->base = p;
}

static int enlarge(struct set *set)
{
    u32 *slots;
    set->room++;
    slots = krealloc(set->slots, set->room * sizeof(u32)); /* ok: capacity_before_realloc */
    slots = krealloc(set->slots, set->room * sizeof(u32), GFP_KERNEL); /* ok: capacity_before_realloc */
    set->room += 16;
    slots = realloc(set->slots, set->room * sizeof(u32)); /* ruleid: capacity_before_realloc */
    if (!slots)
        return -ENOMEM;
    set->slots = slots;
    return 0;
}

int grow_after(struct list *l)
{
    size_t capacity = l->capacity * 2;
    int *items = realloc(l->items, capacity * sizeof *items); /* ok: capacity_before_realloc */
    if (items == NULL)
        return -1;
    l->items = items;
    l->capacity = capacity;
    return 0;
}

int restore(struct list *l)
{
    l->capacity *= 2;
    int *items = realloc(l->items, l->capacity * sizeof *items); /* ok: capacity_before_realloc */
    if (items == NULL) {
        l->capacity /= 2;
        return -1;
    }
    l->items = items;
    return 0;
}

void grow_or_die(struct list *l)
{
    l->capacity *= 2;
    int *items = realloc(l->items, l->capacity * sizeof *items); /* ok: capacity_before_realloc */
    if (items == NULL)
        abort();
    l->items = items;
}

struct list *grow_or_free(struct list *l)
{
    l->capacity *= 2;
    int *items = realloc(l->items, l->capacity * sizeof *items); /* ok: capacity_before_realloc */
    if (items == NULL) {
        list_free(l);
        return NULL;
    }
    l->items = items;
    return l;
}

char *local(FILE *f)
{
    size_t size = 64;
    char *text = malloc(size);
    size *= 2;
    char *more = realloc(text, size); /* ok: capacity_before_realloc */
    if (!more)
        return NULL;
    return more;
}

int grow_in_call(struct list *l)
{
    int *items = realloc(l->items, l->capacity * 2 * sizeof *items); /* ok: capacity_before_realloc */
    if (items == NULL)
        return -1;
    l->capacity *= 2;
    l->items = items;
    return 0;
}

int shrink(struct list *l)
{
    int *items = realloc(l->items, l->used * sizeof *items); /* ok: capacity_before_realloc */
    if (items == NULL)
        return 0;
    l->items = items;
    l->capacity = l->used;
    return 0;
}
