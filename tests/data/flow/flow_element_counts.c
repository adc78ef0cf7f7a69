#include <stdlib.h>
struct conf { int max; int *tab; char **names; int count; int size; double *rows; };
struct conf *make(int max)
{
	struct conf *c = calloc(1, sizeof *c);
	if (!c)
		return 0;
	c->tab = calloc(max, sizeof *c->tab);
	if (!c->tab) {
		free(c);
		return 0;
	}
	c->max = max;
	return c;
}
int grow(struct conf *c, int n)
{
	c->size = n + 1;
	c->names = malloc((n + 1) * sizeof *c->names);
	c->count = n;
	c->rows = malloc(sizeof(double) * c->size);
	return c->names != 0 && c->rows != 0;
}
int open_id(struct conf *c, int id)
{
	if (id < 0 || id > c->max)
		return -1;
	return c->tab[id]; /* ruleid: flow_buffer_overread */
}
int limited_id(struct conf *c, int id)
{
	if (id < 0 || id >= c->max)
		return -1;
	return c->tab[id];
}
int open_set(struct conf *c, int id, int to)
{
	if (id <= c->max)
		c->tab[id] = to; /* ruleid: flow_buffer_overflow */
	return 0;
}
int open_loop(struct conf *c)
{
	int i, sum = 0;
	for (i = 0; i <= c->max; i++)
		sum += c->tab[i]; /* ruleid: flow_buffer_overread */
	return sum;
}
int limited_loop(struct conf *c)
{
	int i, sum = 0;
	for (i = 0; i < c->max; i++)
		sum += c->tab[i];
	return sum;
}
char *limited_more(struct conf *c, int id)
{
	if (id < 0 || id > c->count)
		return 0;
	return c->names[id];
}
double open_rows(struct conf *c, int id)
{
	if (id < 0 || id > c->size)
		return 0;
	return c->rows[id]; /* ruleid: flow_buffer_overread */
}
int limited_else(struct conf *c, int id)
{
	if (id > c->max)
		return -1;
	if (id == c->max)
		return 0;
	return c->tab[id];
}

