#include <stdlib.h>
#include <string.h>

struct crate {
    char *name;
    unsigned char *bytes;
    size_t n;
};

int crate_load(struct crate *c, int failed)
{
    if (failed)
        free(c->bytes);
    c->n = 0;
    free(c->bytes); /* ruleid: flow_double_free */
    return failed;
}

char *pick_name(const char *a, int strict)
{
    char *copy = strdup(a);
    if (!copy)
        return NULL;
    if (strict && copy[0] == '-') {
        free(copy);
        goto fail;
    }
    return copy;
fail:
    free(copy); /* ruleid: flow_double_free */
    return NULL;
}

static void crate_wipe(struct crate *c)
{
    free(c->name);
    free(c->bytes); /* ruleid: flow_double_free */
}

void crate_end(struct crate *c)
{
    free(c->bytes);
    crate_wipe(c);
}

int retry_send(int tries)
{
    unsigned char *packet = malloc(64);
    if (packet == NULL)
        return -1;
    while (tries-- > 0) {
        send_empty(tries);
        free(packet); /* ruleid: flow_double_free */
    }
    return 0;
}

void
two_names (void)
{
  char *first = malloc (10);
  char *second = first;

  free (first);
  free (second); /* ruleid: flow_double_free */
}

static int setup_device(struct device *dev)
{
	void *regs = kmalloc(128, GFP_KERNEL);
	int ret;

	if (!regs)
		return -ENOMEM;
	ret = start_device(dev);
	if (ret) {
		kfree(regs);
		goto err_free;
	}
	dev->regs = regs;
	return 0;
err_free:
	kfree(regs); /* ruleid: flow_double_free */
	return ret;
}

void by_switch(char *p, int how)
{
    switch (how) {
    case 'a':
        free(p);
    case 'b':
        free(p); /* ruleid: flow_double_free */
        break;
    }
}

#define DROP(x) free(x)

void by_macro(size_t n)
{
    int *numbers = malloc(n * sizeof *numbers);
    DROP(numbers);
    DROP(numbers); /* ruleid: flow_double_free */
}

/* near misses */

int crate_load_and_clear(struct crate *c, int failed)
{
    if (failed) {
        free(c->bytes);
        c->bytes = NULL;
    }
    free(c->bytes); /* ok: flow_double_free */
    return failed;
}

char *pick_name_once(const char *a, int strict)
{
    char *copy = strdup(a);
    if (copy && strict && copy[0] == '-') {
        free(copy);
        return NULL;
    }
    free(copy); /* ok: flow_double_free */
    return NULL;
}

void crate_fields(struct crate *c)
{
    free(c->name);
    free(c->bytes); /* ok: flow_double_free */
    free(c); /* ok: flow_double_free */
}

int retry_with_new(int tries)
{
    while (tries-- > 0) {
        char *packet = malloc(64);
        if (!packet)
            continue;
        packet[0] = 1;
        free(packet); /* ok: flow_double_free */
    }
    return 0;
}

void by_switch_with_breaks(char *p, int how)
{
    switch (how) {
    case 'a':
        free(p);
        break;
    case 'b':
        free(p); /* ok: flow_double_free */
        break;
    }
}

void all_of_them(char **list, int n)
{
    for (int i = 0; i < n; ++i)
        free(list[i]); /* ok: flow_double_free */
    free(list); /* ok: flow_double_free */
}

void freed_flag(char *p, int early)
{
    int gone = 0;
    if (early) {
        free(p);
        gone = 1;
    }
    if (!gone)
        free(p); /* ok: flow_double_free */
}

#define DROP_AND_CLEAR(x) do { free(x); (x) = NULL; } while (0)

void by_clearing_macro(size_t n)
{
    int *numbers = malloc(n * sizeof *numbers);
    DROP_AND_CLEAR(numbers);
    DROP_AND_CLEAR(numbers); /* ok: flow_double_free */
}

void list_destroy(struct node *head)
{
    struct node *at = head;
    while (at != NULL) {
        struct node *dead = at;
        at = at->next;
        free(dead); /* ok: flow_double_free */
    }
}

struct rope {
    char *knots;
    int count;
};

struct rigging {
    struct rope fore, main, aft;
    struct rope *spare;
};

#define cut_rope(rope) free((rope)->knots)

static void unrig(struct rigging *rigging)
{
    cut_rope(&rigging->fore);
    cut_rope(&rigging->main); /* ok: flow_double_free */
    cut_rope(&rigging->aft); /* ok: flow_double_free */
    free(rigging);
}

struct rigging *rig(int fails)
{
    struct rigging *rigging = calloc(1, sizeof(*rigging));
    if (rigging == NULL)
        return NULL;
    if (fails) {
        unrig(rigging);
        return NULL;
    }
    return rigging;
}

static void unrig_fore(struct rigging *rigging)
{
    cut_rope(&rigging->fore);
    cut_rope(&rigging->main);
    cut_rope(&rigging->fore); /* ruleid: flow_double_free */
    free(rigging);
}

struct rigging *rig_fore(int fails)
{
    struct rigging *rigging = calloc(1, sizeof(*rigging));
    if (rigging == NULL)
        return NULL;
    if (fails) {
        unrig_fore(rigging);
        return NULL;
    }
    return rigging;
}

struct berth {
    char *boat, *owner;
};

struct quay {
    void *first;
};

void hash_quay_iterate(struct quay *quay, struct berth *berth);
int hash_quay_iter_next(struct berth *berth);
int hash_quay_print(struct berth *berth);

void clear_quay(struct quay *quay)
{
    struct berth berth;
    char *name = strdup("quay");
    free(name);
    for (hash_quay_iterate(quay, &berth); hash_quay_iter_next(&berth);) {
        free(berth.boat); /* ok: flow_double_free */
        free(berth.owner); /* ok: flow_double_free */
    }
}

void clear_berth(struct quay *quay)
{
    struct berth berth;
    hash_quay_iterate(quay, &berth);
    free(berth.boat);
    hash_quay_print(&berth);
    free(berth.boat); /* ruleid: flow_double_free */
}

int shut(const char *name)
{
    int result, fd = open(name, 0);
    do {
        result = close(fd); /* ok: flow_double_free */
    } while (result < 0 && errno == EINTR);
    return result;
}

int shut_again(const char *name)
{
    int fd = open(name, 0);
    int result = close(fd);
    if (result < 0 && errno == EINTR)
        close(fd); /* ruleid: flow_double_free */
    return result;
}

int shut_forever(const char *name)
{
    int result, fd = open(name, 0);
    do {
        result = close(fd); /* ruleid: flow_double_free */
    } while (result < 0);
    return result;
}

struct shelf { char *label; };
struct shelves { int first, count; struct shelf *all; };

int frees_other_elements(struct shelves *one)
{
    for (int i = one->first; i < one->count; i++)
        free(one->all[i].label); /* ok: flow_double_free */
    return grow_realloc(one);
}

int frees_the_same_element(struct shelves *one, int i)
{
    for (int n = one->first; n < one->count; n++)
        free(one->all[i].label); /* ruleid: flow_double_free */
    return grow_realloc(one);
}
