struct list { struct node *first; struct node *last, *free; };  /* ok: uninitialized_ptr_use */

int greet(const char *user)
{
	char *name;                                    /* ruleid: uninitialized_ptr_use */
	char *copy;                                    /* ok: uninitialized_ptr_use */
	char *end, *line;                              /* ruleid: uninitialized_ptr_use */
	strcpy(name, user);
	copy = strdup(user);
	*line = 0;
	return strtol(copy, &end, 10);
}

static int probe(struct device *dev)
{
	struct priv *priv;                             /* ruleid: uninitialized_ptr_use */
	struct item *item;                             /* ok: uninitialized_ptr_use */
	struct item *first;                            /* ok: uninitialized_ptr_use */
	int i;

	priv->dev = dev;
	list_for_each_entry(item, &dev->items, list)
		item->dev = dev;
	for (i = 0; i < 4; i++, first = first->next)
		first = dev->first;
	return 0;
}

void fill(uint8_t n)
{
	uint8_t * bytes ;                              /* ok: uninitialized_ptr_use */
	uint8_t* more;                                 /* ruleid: uninitialized_ptr_use */
	uint16_t *words;                               /* ruleid: uninitialized_ptr_use */
	uint32_t *longs;                               /* ok: uninitialized_ptr_use */
	static uint8_t *kept;                          /* ok: uninitialized_ptr_use */
	uint8_t *sized;                                /* ok: uninitialized_ptr_use */
	more[0] = n;
	/* words = table; */
	free(words);
	if (n)
		longs = table;
	else
		longs = NULL;
	longs[0] = 1;
	kept[0] = 2;
	sized = malloc(sizeof(*sized) * sizeof sized[0]);
	if (n > 2)
		return;
	n = n *more;
}

void taken(struct iter *iter)
{
	struct entry *entry;                           /* ok: uninitialized_ptr_use */
	struct entry *other;                           /* ok: uninitialized_ptr_use */
	char **out;                                    /* ok: uninitialized_ptr_use */
	next_entry(iter, &entry);
	entry->used = 1;
	FIRST(iter, other);
	other->used = 1;
	out = names(iter);
	*out = NULL;
}

int looped(struct table *table)
{
	struct row *row;                               /* ok: uninitialized_ptr_use */
	struct row *seen;                              /* ok: uninitialized_ptr_use */
	struct row *bits;                              /* ok: uninitialized_ptr_use */
	int n = ARRAY_SIZE(bits->cells);
#ifdef SLOW
	struct row *other;                             /* ruleid: uninitialized_ptr_use */
#endif
	while (more(table)) {
		if (n++)
			n += row->count;
		row = table->rows;
	}
	if (n > 4)
		show(seen);
	bits = table->rows;
	return other->count;
}

int inner(struct table *table, int n)
{
	struct row *row;                               /* ruleid: uninitialized_ptr_use */
	struct row *unused;                            /* ok: uninitialized_ptr_use */
	struct row *(*make)(int), *made;               /* ok: uninitialized_ptr_use */
	if (n)
		table->sum = { row->count };
	made = make(n), (void) unused;
	return made == unused;
}

int through_a_macro(struct table *table)
{
	struct row *line;                              /* ok: uninitialized_ptr_use */
	GET_LINE(table);
	return line->count;
}

void show_address(const unsigned char *bytes)
{
    const struct address *address;                 /* ok: uninitialized_ptr_use */
    const struct address *other;                   /* ruleid: uninitialized_ptr_use */

#define PART(member) show_part((address->member[1] << 8) | \
    address->member[2], other->member[3])

    show_text("address");
    address = (const struct address *)bytes;
    show_number(other->number);
}

void
show_parts(struct output *output,
           const unsigned char *bytes,
           const struct address *address)          /* ok: uninitialized_ptr_use */
{
    show_number(address->number);
}
