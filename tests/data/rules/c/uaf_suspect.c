/* GNU and application style */
void drop(struct node *node, struct list *list, int verbose)
{
	free(node);                                    /* ruleid: uaf_suspect */
	list->size -= node->size;
	free(list->name);                              /* ok: uaf_suspect */
	list->name = strdup("none");
	puts(list->name);
}

int failing(struct job *job)
{
	if (job->state == FAILED) {
		free(job);                             /* ruleid: uaf_suspect */
		if (verbose)
			fprintf(stderr, "gone\n");
	}
	return job->code;
}

int leaving(struct job *job)
{
	if (job->state == FAILED) {
		free(job);                             /* ok: uaf_suspect */
		return -1;
	}
	if (!job->code)
		free(job->text);                       /* ok: uaf_suspect */
	else
		puts(job->text);
	return job->code;
}

void chain(struct node *first)
{
	struct node *node, *next;
	for (node = first; node; node = node->next)
		free(node);                            /* ruleid: uaf_suspect */
	for (node = first; node; node = next) {
		next = node->next;
		free(node);                            /* ok: uaf_suspect */
	}
	while (first) {
		next = first->next;
		free(first);                           /* ok: uaf_suspect */
		first = next;
	}
}

/* kernel style */
static int probe(struct device *dev)
{
	struct priv *priv = dev->priv;
	struct item *item, *tmp;
	int ret = start(priv);

	if (ret < 0) {
		kfree(priv);                           /* ruleid: uaf_suspect */
		goto out;
	}
	list_for_each_entry(item, &priv->items, list) {
		list_del(&item->list);
		kfree(item);                           /* ruleid: uaf_suspect */
	}
	list_for_each_entry_safe(item, tmp, &priv->items, list) {
		list_del(&item->list);
		kfree(item);                           /* ok: uaf_suspect */
	}
	list_for_each_entry(item, &priv->items, list) {
		if (item->id == dev->id) {
			kfree(item);                   /* ok: uaf_suspect */
			break;
		}
	}
	return 0;
out:
	dev_err(dev, "cannot start: %d\n", priv->error);
	return ret;
}

void printed(struct ctx *ctx)
{
	kfree(ctx);                                    /* ok: uaf_suspect */
	pr_debug("released %p\n", ctx);
}

char *returned(char *text, int ok)
{
	free(text);                                    /* ruleid: uaf_suspect */
	return text;
}

void wrapped(struct ctx *ctx)
{
	free(
		ctx->buffer);                          /* ok: uaf_suspect */
	free((void *) ctx /* the last owner */);       /* ruleid: uaf_suspect */
	ctx->buffer = NULL;
}

void switched(struct value *value)
{
	switch (value->type) {
	case TEXT:
		free(value->text);                     /* ok: uaf_suspect */
		break;
	case COPY:
		puts(value->text);
		break;
	}
#ifdef ONE
	free(value);                                   /* ok: uaf_suspect */
#else
	value->text = NULL;
#endif
}

void both(struct conn *conn, int bad)
{
	free(conn);                                    /* ok: uaf_suspect */
	if (bad)
		return;
	conn = make();
	conn->open = 1;
}

void reset(struct conn *conn)
{
	free(conn->buf);                               /* ok: uaf_suspect */
	init(conn);
	conn->buf[0] = 0;
}

#define FREE(p) do { free(p); (p) = NULL; } while (0) /* ok: uaf_suspect */

void last_page(struct file *file)
{
	struct page *page;
	while (1) {
		page = next_page(file);
		if (page->last)
			break;
		free(page);                            /* ok: uaf_suspect */
	}
	page->seen = 1;
}

void guarded(struct ctx *ctx, struct slot *slots, int i)
{
	free(ctx->text);                               /* ruleid: uaf_suspect */
	if (ctx->text)
		ctx->text[0] = 0;
	free(ctx->next);                               /* ok: uaf_suspect */
	ctx++;
	ctx->next->text = NULL;
	free(slots[i].text);                           /* ok: uaf_suspect */
	i++;
	slots[i].text[0] = 0;
	free(ctx->prev);                               /* ok: uaf_suspect */
	reset(&ctx);
	ctx->prev->text = NULL;
}

void told(struct ctx *ctx, char *text)
{
	free(text);                                    /* ruleid: uaf_suspect */
	printf("gone: %s\n", text);
	if (ctx->done) {
		free(ctx);                             /* ruleid: uaf_suspect */
	}
	if (ctx->open) {
		close(ctx->fd);
	}
}

static void rx(struct priv *priv, struct sk_buff *skb)
{
	struct frag *frag;
	hlist_for_each_entry(frag, &priv->frags, node)
		if (frag->seq == priv->seq)
			break;
	skb_put(skb, frag->len);
	kfree(frag);                                   /* ok: uaf_suspect */
}

void put_back(struct cache *c, struct node *v)
{
    if (v->size > MAX)
#ifdef RELEASE
        RELEASE(v);
#else
        free(v);                                   /* ok: uaf_suspect */
#endif
    else {
        v->next = c->first;
        c->first = v;
    }
}

int grow_set(struct set *set)
{
    struct set larger;

    copy(&larger, set);
    free(set->table);                              /* ok: uaf_suspect */
    *set = larger;
    set->table[1] = 2;
    free(set->table);                              /* ruleid: uaf_suspect */
    set->table[1] = 3;
    return 0;
}

static NORETURN void leave(int);
void stop(const char *text) __attribute__((noreturn));
#define FAIL(text) do { report(text); return -1; } while (0)
#define FAIL_IF(text) do { if (text) return -1; } while (0)

int read_options(struct options *options, char *given)
{
    struct entry *entry = take(options);

    if (!given) {
        free(entry);                               /* ok: uaf_suspect */
        FAIL("nothing given");
    }
    if (!*given) {
        free(entry);                               /* ok: uaf_suspect */
        leave(1);
    }
    if (*given == '-') {
        free(entry);                               /* ok: uaf_suspect */
        stop("no option");
    }
    if (*given == '+') {
        free(entry);                               /* ruleid: uaf_suspect */
        FAIL_IF(given[1]);
    }
    entry->text = given;
    return 0;
}
