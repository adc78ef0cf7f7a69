#include <stdlib.h>
struct tree { struct tree *left, *right; char *word; };
void tree_free(struct tree *t);
void down(struct tree *t, int n);

void up(struct tree *t, int n)
{
    if (n > 0)
        down(t, n - 1);
    else
        t->word = NULL;
}

char *word_of_dead_tree(struct tree *t)
{
    if (!t)
        return NULL;
    tree_free(t);
    return t->word; /* ruleid: flow_use_after_free */
}

void tree_once(void)
{
    struct tree *t = calloc(1, sizeof *t); /* ok: flow_memory_leak */
    if (!t)
        return;
    up(t, 0);
    tree_free(t); /* ok: flow_double_free */
}
