typedef unsigned char u8;
static char table[64];

int close_all(struct file *f, char *name)
{
	char line[80];
	char *copy = strdup(name);
	char *alias;

	free(line);                                    /* ruleid: double_free_and_free_non_heap */
	free(&line);                                   /* ruleid: double_free_and_free_non_heap */
	free(table);                                   /* ruleid: double_free_and_free_non_heap */
	free("text");                                  /* ruleid: double_free_and_free_non_heap */
	alias = (char *) alloca(10);
	free(alias);                                   /* ruleid: double_free_and_free_non_heap */
	free(copy + 1);                                /* ruleid: double_free_and_free_non_heap */
	free(copy);                                    /* ok: double_free_and_free_non_heap */
	free(f->names[0]);                             /* ok: double_free_and_free_non_heap */
	free(&f->names[0]);                            /* ok: double_free_and_free_non_heap */
	free(NULL);                                    /* ok: double_free_and_free_non_heap */
	return 0;
}

int parse(const char *input)
{
	char *text = malloc(100);

	if (!text)
		return -1;
	while (*text == ' ')
		text++;
	free(text);                                    /* ruleid: double_free_and_free_non_heap */
	return 0;
}

/* kernel: an error path that runs into the common one */
static int setup(struct dev *dev)
{
	u8 *buf = kmalloc(64, GFP_KERNEL);
	int ret;

	if (!buf)
		return -ENOMEM;
	ret = send(dev, buf);
	if (ret) {
		kfree(buf);                            /* ruleid: double_free_and_free_non_heap */
		goto out;
	}
	ret = receive(dev, buf);
	if (ret) {
		kfree(buf);                            /* ok: double_free_and_free_non_heap */
		return ret;
	}
	if (dev->twice) {
		kfree(buf);                            /* ok: double_free_and_free_non_heap */
		buf = NULL;
		goto out;
	}
out:
	kfree(buf);                                    /* ok: double_free_and_free_non_heap */
	return ret;
}

void twice(struct pair *pair, int failed)
{
	free(pair->first);                             /* ruleid: double_free_and_free_non_heap */
	log_it(failed);
	free(pair->first);                             /* ok: double_free_and_free_non_heap */
	if (failed) {
		free(pair->second);                    /* ok: double_free_and_free_non_heap */
	} else {
		free(pair->second);                    /* ok: double_free_and_free_non_heap */
	}
	free(pair->third);                             /* ok: double_free_and_free_non_heap */
	pair = pair->next;
	free(pair->third);                             /* ok: double_free_and_free_non_heap */
}

void both_leave(char *text, int plain)
{
	if (broken(text))
		goto err;
	free(text);                                    /* ok: double_free_and_free_non_heap */
	if (plain)
		return;
	else
		exit(1);
err:
	free(text);                                    /* ok: double_free_and_free_non_heap */
}

void stepped(struct item *items)
{
	struct item *all = malloc(9 * sizeof *all), *item = all;
	for (; item->name; item++)
		free(item->name);                      /* ok: double_free_and_free_non_heap */
	free(all);                                     /* ok: double_free_and_free_non_heap */
}

void mixed(struct state *state, size_t n)
{
	char small[64], *text = small, *line;

	if (n > sizeof small)
		text = malloc(n);
	line = small;
	if (n > 80)
		line = malloc(n);
	free(line);                                    /* ruleid: double_free_and_free_non_heap */
	if (text != small)
		free(text);                            /* ok: double_free_and_free_non_heap */
	free(&state->inner);                           /* ruleid: double_free_and_free_non_heap */
	free(state->a), state->a = NULL;               /* ok: double_free_and_free_non_heap */
	free(state->a);                                /* ok: double_free_and_free_non_heap */
	if (state->b) {
		free(state->b);                        /* ok: double_free_and_free_non_heap */
		state = state->next;
	}
	free(state->b);                                /* ok: double_free_and_free_non_heap */
	for (;;) {
		line = next(state);
		if (!line)
			break;
		free(line);                            /* ok: double_free_and_free_non_heap */
	}
	free(line);                                    /* ok: double_free_and_free_non_heap */
}

void counted(struct ctx *ctx, char *text)
{
	char *all = strdup(text), *start = all;

	++ctx->uses;
	free(ctx);                                     /* ok: double_free_and_free_non_heap */
	++start;
	free(start);                                   /* ruleid: double_free_and_free_non_heap */
	free(all);                                     /* ok: double_free_and_free_non_heap */
}

int grow(struct numbers *in)
{
	char fixed[24], *room = fixed, *other = fixed;
	int size = sizeof(fixed), needed;

	while ((needed = next_size(in)) > 0) {
		if (needed > size) {
			if (room != fixed)
				free(room);                    /* ok: double_free_and_free_non_heap */
			size = needed + 32;
			room = malloc(size);
			if (!room)
				return -1;
		}
		read_one(in, room, needed);
		if (other != NULL)
			free(other);                           /* ruleid: double_free_and_free_non_heap */
	}
	if (room != fixed)
		free(room);                                    /* ok: double_free_and_free_non_heap */
	return 0;
}

#define STATE (*(struct state *) shared_block)
#ifdef BUILT_IN
static const struct layout layouts[] = { { 1 }, { 2 } };
#else
static struct layout *layouts = NULL;
#endif

void clean_up(void)
{
	struct state own;
	free(&STATE);                                  /* ok: double_free_and_free_non_heap */
	free(&own);                                    /* ruleid: double_free_and_free_non_heap */
	free(layouts);                                 /* ok: double_free_and_free_non_heap */
}

int in_one_build(const char *text)
{
#if (ON_HEAP)
    struct state *state = malloc(sizeof(struct state));
    if (state == NULL)
        return 0;
#else
    struct state body;
    struct state *state = &body;
#endif
    int result = run(state, text);
#if (ON_HEAP)
    free(state);                                   /* ok: double_free_and_free_non_heap */
#endif
    return result;
}

int describe(struct buffer *buffer, int kind)
{
    char *text;
    int error;

    text = format(kind);
    if ((error = put(buffer, text)) != 0) {
        free(text);                                /* ok: double_free_and_free_non_heap */
        fatal_with(error, "put");
    }
    free(text);                                    /* ok: double_free_and_free_non_heap */
    return 0;
}

void warn(const char *text, size_t size)
{
    wchar_t *wide = NULL;
    int is_allocated = 0;

    for (;;) {
        if (size < 100)
            wide = alloca(size);
        else {
            if (!is_allocated)
                wide = NULL;
            wchar_t *larger = realloc(wide, size);
            if (larger == NULL) {
                free(wide);                        /* ok: double_free_and_free_non_heap */
                return;
            }
            wide = larger;
            is_allocated = 1;
        }
        size *= 2;
    }
}

void read_pairs(struct reader *reader)
{
    struct pair first[8];
    struct pair *pairs = first;
    int is_larger = 0;

    while (next_pair(reader))
        GROW(pairs, reader->count, is_larger);
    if (is_larger)
        free(pairs);                               /* ok: double_free_and_free_non_heap */
}
