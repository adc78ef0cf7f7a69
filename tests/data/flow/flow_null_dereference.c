#include <linux/slab.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lamp {
    int id;
    int lit;
    struct lamp *next;
    void (*toggle)(struct lamp *self);
};

static int warn_missing(const char *what)
{
    fprintf(stderr, "no %s\n", what);
    return -1;
}

int lamp_brightness(struct lamp *lamp)
{
    if (lamp == NULL)
        warn_missing("lamp");
    return lamp->lit * 10; /* ruleid: flow_null_dereference */
}

static int probe_lamp(struct lamp *chain, int wanted)
{
	struct lamp *found = NULL;
	struct lamp *at;

	for (at = chain; at; at = at->next) {
		if (at->id == wanted) {
			found = at;
			break;
		}
	}
	if (!found)
		printk(KERN_INFO "lamp %d not found\n", wanted);
	return found->lit; /* ruleid: flow_null_dereference */
}

void
switch_lamp (struct lamp *lamp, int on)
{
  struct lamp *chosen = 0;

  switch (on)
    {
    case 0:
      chosen = lamp;
      break;
    case 1:
      chosen = lamp->next;
      break;
    default:
      break;
    }
  chosen->lit = on; /* ruleid: flow_null_dereference */
}

int lamp_and_condition(struct lamp *lamp, int force)
{
    if (lamp == NULL && lamp->lit) /* ruleid: flow_null_dereference */
        return 1;
    return force;
}

void lamp_toggle_later(struct lamp *lamp)
{
    struct lamp *copy = lamp;
    if (copy != NULL)
        copy->lit = 0;
    else
        copy->toggle(copy); /* ruleid: flow_null_dereference */
}

static void set_first(struct lamp **slot, struct lamp *value)
{
    *slot = value;
}

int lamp_through_slot(int quick)
{
    struct lamp *kept;
    set_first(&kept, NULL);
    if (quick)
        return 0;
    return kept->id; /* ruleid: flow_null_dereference */
}

size_t lamp_name_length(const char *names[], int n)
{
    const char *name = n > 4 ? names[4] : NULL;
    if (n <= 4)
        return strlen(name); /* ruleid: flow_null_dereference */
    return 0;
}

int lamp_cleaned_then_read(struct lamp *lamp)
{
    int kept = 0;
    if (lamp->id < 0)
        goto drop;
    kept = lamp->id;
    return kept;
drop:
    lamp = NULL;
    kept = lamp->id; /* ruleid: flow_null_dereference */
    return kept;
}

/* near misses */

int lamp_brightness_or_nothing(struct lamp *lamp)
{
    if (lamp == NULL)
        return warn_missing("lamp");
    return lamp->lit * 10; /* ok: flow_null_dereference */
}

int lamp_or_condition(struct lamp *lamp, int force)
{
    if (lamp == NULL || lamp->lit) /* ok: flow_null_dereference */
        return 1;
    return force;
}

static int probe_lamp_or_default(struct lamp *chain, struct lamp *fallback, int wanted)
{
	struct lamp *found = NULL;

	while (chain) {
		if (chain->id == wanted)
			found = chain;
		chain = chain->next;
	}
	if (!found)
		found = fallback;
	return found->lit; /* ok: flow_null_dereference */
}

int lamp_flagged(struct lamp *all, int count)
{
    struct lamp *best = NULL;
    int have = 0;
    for (int i = 0; i < count; i++) {
        if (all[i].lit) {
            best = &all[i];
            have = 1;
        }
    }
    if (have)
        return best->id; /* ok: flow_null_dereference */
    return -1;
}

void
switch_lamp_all_cases (struct lamp *lamp, int on)
{
  struct lamp *chosen = NULL;

  switch (on)
    {
    case 0:
      chosen = lamp;
      break;
    default:
      chosen = lamp->next;
      break;
    }
  chosen->lit = on; /* ok: flow_null_dereference */
}

#define NEED(p) do { if (!(p)) return -1; } while (0)

int lamp_needs(struct lamp *lamp)
{
    NEED(lamp);
    return lamp->id; /* ok: flow_null_dereference */
}

static void stop_everything(void)
{
    fputs("giving up\n", stderr);
    exit(3);
}

int lamp_or_stop(struct lamp *lamp)
{
    if (!lamp)
        stop_everything();
    return lamp->id; /* ok: flow_null_dereference */
}

size_t lamp_size_only(void)
{
    struct lamp *none = NULL;
    return sizeof(none->lit) + sizeof *none; /* ok: flow_null_dereference */
}

int lamp_first_of_two(struct lamp *left, struct lamp *right)
{
    struct lamp *use = left ? left : right;
    if (!left && !right)
        return 0;
    return use->lit; /* ok: flow_null_dereference */
}

int lamp_error_exit(struct lamp *lamp)
{
    int err = 0;
    if (!lamp) {
        err = -22;
        goto out;
    }
    lamp->lit = 1; /* ok: flow_null_dereference */
out:
    return err;
}

int lamp_measured(const struct lamp *lamp)
{
    char *text = NULL;
    int length = snprintf(text, 0, "%d", lamp->id); /* ok: flow_null_dereference */
    text = malloc(length + 1);
    if (text)
        snprintf(text, length + 1, "%d", lamp->id);
    free(text);
    return length;
}

int lamp_printed(const struct lamp *lamp)
{
    char *text = NULL;
    return snprintf(text, 8, "%d", lamp->id); /* ruleid: flow_null_dereference */
}

int lamp_compared_with_itself(struct lamp **first, struct lamp *lamp, int any)
{
    struct lamp *other = NULL;
    int id = lamp->id;
    free(strdup("lamp"));
    if (any)
        other = *first;
    if (other == lamp)
        return other->id; /* ok: flow_null_dereference */
    return id;
}

static int lamp_make(struct lamp **out)
{
    *out = malloc(sizeof(**out));
    if (*out == NULL)
        return YARD_ENOMEM;
    return 0;
}

int lamp_made_or_error(void)
{
    struct lamp *lamp;
    char *label = strdup("lamp");
    int err = lamp_make(&lamp);
    free(label);
    if (err)
        return err;
    lamp->id = 1; /* ok: flow_null_dereference */
    free(lamp);
    return 0;
}

static int lamp_make_quietly(struct lamp **out)
{
    *out = malloc(sizeof(**out));
    if (*out == NULL)
        return YARD_SUCCESS;
    return 0;
}

int lamp_made_quietly(void)
{
    struct lamp *lamp;
    char *label = strdup("lamp");
    int err = lamp_make_quietly(&lamp);
    free(label);
    if (err)
        return err;
    lamp->id = 1; /* ruleid: flow_null_dereference */
    free(lamp);
    return 0;
}

int lamp_shadowed_in_loop(struct lamp *first)
{
    struct lamp *lamp = first;
    char *label = strdup("lamp");
    int id = lamp->id;
    for (struct lamp *lamp = first->next; lamp; lamp = lamp->next)
        id += lamp->id;
    free(label);
    return id + lamp->id; /* ok: flow_null_dereference */
}

int lamp_not_shadowed_in_loop(struct lamp *first)
{
    struct lamp *lamp;
    char *label = strdup("lamp");
    int id = 0;
    for (lamp = first->next; lamp; lamp = lamp->next)
        id += lamp->id;
    free(label);
    return id + lamp->id; /* ruleid: flow_null_dereference */
}

#define NEXT_BYTE() (have ? 0 : (have = refill(file, &next)), have ? (have--, (int)(*next++)) : -1)

int first_byte(int file)
{
    unsigned char *next = NULL;
    unsigned have = 0;
    char *label = strdup("byte");
    free(label);
    return NEXT_BYTE(); /* ok: flow_null_dereference */
}

#ifdef LAMP_BUILD_TINY
#include "tiny.h"
#else
#define lamp_no_room() abort ()
#define lamp_no_light() puts ("dark")
#endif

struct lamp *lamp_or_end(int id)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (lamp == NULL)
        lamp_no_room();
    lamp->id = id; /* ok: flow_null_dereference */
    return lamp;
}

struct lamp *lamp_or_dark(int id)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (lamp == NULL)
        lamp_no_light();
    lamp->id = id; /* ruleid: flow_null_dereference */
    return lamp;
}

#define OCTET_OF(bits, n) ((bits)[(n) >> 3])

char *lamp_switches(int n)
{
    return calloc(1, (size_t)(&OCTET_OF((char *)0, n + 1))); /* ok: flow_null_dereference */
}

char *lamp_after_id(void)
{
    return malloc((size_t)&((struct lamp *)NULL)->id); /* ok: flow_null_dereference */
}

int lamp_switch_of_none(void)
{
    free(calloc(1, 1));
    return OCTET_OF((char *)0, 8); /* ruleid: flow_null_dereference */
}
