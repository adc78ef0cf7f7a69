#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct wagon {
    int number;
    char *cargo;
    struct wagon *behind;
};

int wagon_drop(struct wagon *w)
{
    free(w);
    return w->number; /* ruleid: flow_use_after_free */
}

void train_clear(struct wagon *first)
{
    struct wagon *w;
    for (w = first; w != NULL; w = w->behind) /* ruleid: flow_use_after_free */
        free(w);
}

static void scrap(struct wagon *w)
{
    free(w->cargo);
    free(w);
}

int wagon_scrap_and_tell(struct wagon *w, int loud)
{
    scrap(w);
    if (loud)
        printf("scrapped %d\n", w->number); /* ruleid: flow_use_after_free */
    return 0;
}

int wagon_error_path(struct wagon *w, int broken)
{
    int err = 0;
    if (broken) {
        err = -5;
        goto release;
    }
    w->number++;
    return 0;
release:
    kfree(w);
    printk("wagon %d lost\n", w->number); /* ruleid: flow_use_after_free */
    return err;
}

char *cargo_relabel(struct wagon *w, const char *text)
{
    char *old = w->cargo;
    free(w->cargo);
    w->cargo = strdup(text);
    if (strcmp(old, text) == 0) /* ruleid: flow_use_after_free */
        return NULL;
    return w->cargo;
}

void cargo_grow(char *cargo, size_t n)
{
    char *bigger = realloc(cargo, n * 2);
    if (bigger != NULL)
        cargo[0] = '#'; /* ruleid: flow_use_after_free */
    free(bigger);
}

static int
wagon_sometimes (struct wagon *w, int how)
{
  switch (how)
    {
    case 1:
      free (w);
      /* goes on */
    case 2:
      return w->number; /* ruleid: flow_use_after_free */
    default:
      return 0;
    }
}

void wagon_alias(void)
{
    struct wagon *a = calloc(1, sizeof *a), *b;
    if (!a)
        return;
    b = a;
    free(a);
    b->number = 9; /* ruleid: flow_use_after_free */
}

int wagon_loop_release(struct wagon **all, int n)
{
    struct wagon *shared = all[0];
    for (int i = 0; i < n; i++) {
        if (shared->number == i) /* ruleid: flow_use_after_free */
            free(shared);
    }
    return n;
}

/* near misses */

int wagon_keep_number(struct wagon *w)
{
    int number = w->number;
    free(w);
    return number; /* ok: flow_use_after_free */
}

void train_clear_properly(struct wagon *first)
{
    while (first) {
        struct wagon *behind = first->behind;
        free(first);
        first = behind; /* ok: flow_use_after_free */
    }
}

int wagon_either(struct wagon *w, int drop)
{
    if (drop)
        free(w);
    else
        w->number++; /* ok: flow_use_after_free */
    return drop;
}

int wagon_early_leave(struct wagon *w, int broken)
{
    if (broken) {
        scrap(w);
        return -1;
    }
    return w->number; /* ok: flow_use_after_free */
}

void wagon_replaced(struct wagon *w)
{
    free(w->cargo);
    w->cargo = malloc(16);
    if (w->cargo)
        w->cargo[0] = 0; /* ok: flow_use_after_free */
}

void wagon_only_address(struct wagon *w)
{
    free(w);
    w = NULL;
    if (w)
        w->number = 1; /* ok: flow_use_after_free */
}

int wagon_same_condition(struct wagon *w, int dead)
{
    if (dead)
        free(w);
    puts("half way");
    if (!dead)
        return w->number; /* ok: flow_use_after_free */
    return 0;
}

char *cargo_grow_right(char *cargo, size_t n)
{
    char *bigger = realloc(cargo, n * 2);
    if (bigger == NULL) {
        cargo[0] = '#'; /* ok: flow_use_after_free */
        return cargo;
    }
    return bigger;
}

int wagon_loop_and_leave(struct wagon **all, int n, int wanted)
{
    for (int i = 0; i < n; i++) {
        if (all[i]->number == wanted) { /* ok: flow_use_after_free */
            free(all[i]);
            break;
        }
    }
    return n;
}

static void scrap_and_forget(struct wagon **where)
{
    free(*where);
    *where = NULL;
}

int wagon_forgotten(struct wagon *w)
{
    scrap_and_forget(&w);
    return w ? w->number : 0; /* ok: flow_use_after_free */
}

struct node { struct node *next; char *name; struct { int on; } lamp; };

#define EACH_SAFE(x, kind, head, y) \
    for ((x) = FIRST(kind, head); ((x) != NULL) && ((y) = kind##_NEXT(x), 1); (x) = (y))
#define OFFSET(p, member) ((size_t)&(p)->member - (size_t)(p))
#define OFFSET_OF(p, member) offsetof(__typeof__(*p), member)
#define EACH(p, list) for (p = first_at(list, 0); p; p = next_at(list, OFFSET(p, lamp)))

void clear_both(struct list *list)
{
    struct node *node, *after;
    EACH_SAFE(node, pair, &list->first, after) {
        list_remove(&list->first, node); /* ok: flow_use_after_free */
        free(node->name);
        free(node);
    }
    EACH_SAFE(node, pair, &list->second, after) {
        list_remove(&list->second, node); /* ok: flow_use_after_free */
        free(node->name);
        free(node);
    }
}

void clear_by_offset(struct list *list)
{
    struct node *node = NULL;
    EACH(node, list) { /* ok: flow_use_after_free */
        free(node->name);
        free(node);
    }
}

void clear_by_offset_of(struct list *list)
{
    struct node *node;
    for (node = first_at(list, 0); node; node = next_at(list, OFFSET_OF(node, lamp))) { /* ok: flow_use_after_free */
        free(node->name);
        free(node);
    }
}

size_t offset_in_released(struct node *node)
{
    free(node->name);
    free(node);
    return OFFSET_FROM_ELSEWHERE(node, lamp); /* ok: flow_use_after_free */
}

int lamp_of_released(struct node *node)
{
    int *on = &node->lamp.on;
    free(node);
    return *on + node->lamp.on; /* ruleid: flow_use_after_free */
}

void removed_too_late(struct node *node)
{
    free(node);
    remove_lamp(&node->lamp.on); /* ruleid: flow_use_after_free */
}

static void *haul_all(void *p)
{
    int *c = p;
    int n = *c;
    free(c);
    return n ? p : NULL; /* ok: flow_use_after_free */
}
