#include "packer.h"
#include <stdlib.h>

int min_of(int a, int b) { return a < b ? a : b; }

static int compare_nodes(const void *a, const void *b)
{
    unsigned one = ((const struct node *)a)->weight, other = ((const struct node *)b)->weight;
    return (one > other) - (one < other);
}

static void init_nodes(struct node *nodes, int count)
{
    for (int i = 0; i < count; i++)
        nodes[i].count = 1;
}

void package_merge(struct node *nodes, int count, int limit)
{
    qsort(nodes, count, sizeof *nodes, compare_nodes);
    init_nodes(nodes, min_of(count, limit));
}
