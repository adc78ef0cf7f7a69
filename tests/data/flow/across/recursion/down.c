#include <stdlib.h>
struct tree { struct tree *left, *right; char *word; };
void up(struct tree *t, int n);

void tree_free(struct tree *t)
{
    if (!t)
        return;
    tree_free(t->left);
    tree_free(t->right);
    free(t->word);
    free(t);
}

void down(struct tree *t, int n)
{
    if (n > 0)
        up(t, n - 1);
    else
        free(t);
}

int endless(int n)
{
    return endless(n);
}
