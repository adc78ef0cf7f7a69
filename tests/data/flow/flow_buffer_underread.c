#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int before(void)
{
    int v[4] = {1, 2, 3, 4};
    int *p = v - 1;
    return *p; /* ruleid: flow_buffer_underread */
}

int only_upper_bound(void)
{
    int prices[8] = {0};
    char text[12];
    if (fgets(text, sizeof text, stdin) == NULL)
        return 0;
    int which = atoi(text);
    if (which < 8)
        return prices[which]; /* ruleid: flow_buffer_underread */
    return 0;
}

int
previous_of_first (void)
{
  char word[6] = "abcde";
  int i, same = 0;

  for (i = 0; i < 5; i++)
    same += word[i] == word[i - 1]; /* ruleid: flow_buffer_underread */
  return same;
}

static int back(const short *row, int by)
{
	return row[-by]; /* ruleid: flow_buffer_underread */
}

int step_back(void)
{
	short row[3] = {1, 2, 3};

	return back(row, 2);
}

int minus_constant(int on)
{
    unsigned char key[16] = {0};
    int at = 2;
    if (on)
        at -= 5;
    return key[at]; /* ruleid: flow_buffer_underread */
}

void copy_from_before(unsigned char *to)
{
    unsigned char area[32] = {0};
    unsigned char *from = area;
    from -= 16;
    memcpy(to, from, 8); /* ruleid: flow_buffer_underread */
}

/* near misses */

int inside(void)
{
    int v[4] = {1, 2, 3, 4};
    int *p = v + 2;
    return p[-1]; /* ok: flow_buffer_underread */
}

int both_bounds(void)
{
    int prices[8] = {0};
    char text[12];
    if (fgets(text, sizeof text, stdin) == NULL)
        return 0;
    int which = atoi(text);
    if (which >= 0 && which < 8)
        return prices[which]; /* ok: flow_buffer_underread */
    return 0;
}

int previous_of_second(void)
{
    char word[6] = "abcde";
    int same = 0;
    for (int i = 1; i < 5; i++)
        same += word[i] == word[i - 1]; /* ok: flow_buffer_underread */
    return same;
}

int last_tested(void)
{
    char line[64];
    if (!fgets(line, sizeof line, stdin))
        return 0;
    size_t n = strlen(line);
    if (n && line[n - 1] == '\n') /* ok: flow_buffer_underread */
        return 1;
    return 0;
}

int downwards(void)
{
    int v[5] = {5, 4, 3, 2, 1}, sum = 0;
    int i = 5;
    while (i > 0)
        sum += v[--i]; /* ok: flow_buffer_underread */
    return sum;
}

int clamped(void)
{
    int prices[8] = {0};
    char text[12];
    if (fgets(text, sizeof text, stdin) == NULL)
        return 0;
    int which = atoi(text);
    if (which < 0)
        which = 0;
    if (which > 7)
        which = 7;
    return prices[which]; /* ok: flow_buffer_underread */
}

struct text { char *s; size_t length; };

static void realloc_text(struct text *to, const char *from, size_t n)
{
    to->s = realloc(to->s, to->length + n + 1);
    if (!to->s)
        abort();
    memcpy(to->s + to->length, from, n);
    to->length += n;
    to->s[to->length] = '\0';
}

#define COPY_TEXT(to, from) ((to)->length = 0, realloc_text((to), (from), 4))

int ends_with_slash(const char *from)
{
    struct text name = {NULL, 0};
    int is_directory;
    COPY_TEXT(&name, from);
    is_directory = name.s[name.length - 1] == '/'; /* ok: flow_buffer_underread */
    free(name.s);
    return is_directory;
}

int empty_ends_with_slash(const char *from)
{
    struct text name = {NULL, 0};
    int is_directory;
    realloc_text(&name, from, 4), name.length = 0;
    is_directory = name.s[name.length - 1] == '/'; /* ruleid: flow_buffer_underread */
    free(name.s);
    return is_directory;
}

int yyparse(void)
{
    int yyvsa[200], *yyvsp = yyvsa, value = 0;
    memset(yyvsa, 0, sizeof yyvsa);
    switch (next_rule()) {
    case 2:
        value = yyvsp[-1]; /* ok: flow_buffer_underread */
        break;
    }
    return value;
}

int value_before_its_stack(void)
{
    int values[200], *top = values, value = 0;
    memset(values, 0, sizeof values);
    switch (next_rule()) {
    case 2:
        value = top[-1]; /* ruleid: flow_buffer_underread */
        break;
    }
    return value;
}
