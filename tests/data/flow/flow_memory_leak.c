#include <stdlib.h>
#include <string.h>
#include <stdio.h>

struct ticket { char *holder; int seat; };
static struct ticket *last_ticket;

int check_seat(int seat, int limit)
{
    char *text = malloc(20); /* ruleid: flow_memory_leak */
    if (!text)
        return -1;
    if (seat > limit)
        return -2;
    text[0] = 0;
    free(text);
    return 0;
}

int print_upper(const char *s)
{
    char *copy = strdup(s); /* ruleid: flow_memory_leak */
    if (copy == NULL)
        return 1;
    for (char *c = copy; *c; c++)
        *c &= ~32;
    puts(copy);
    return 0;
}

struct ticket *make_ticket(const char *holder)
{
    struct ticket *t = malloc(sizeof *t); /* ruleid: flow_memory_leak */
    if (!t)
        return NULL;
    t->holder = strdup(holder);
    if (!t->holder)
        return NULL;
    t->seat = 0;
    return t;
}

static int prepare(struct board *b)
{
	void *shadow;
	void *copy;

	shadow = kmalloc(64, GFP_KERNEL); /* ruleid: flow_memory_leak */
	if (!shadow)
		return -ENOMEM;
	copy = kmalloc(64, GFP_KERNEL);
	if (!copy)
		goto out;
	memcpy(copy, shadow, 64);
	kfree(copy);
	kfree(shadow);
	return 0;
out:
	return -ENOMEM;
}

void
lost_by_assignment (int n)
{
  char *p = malloc (8); /* ruleid: flow_memory_leak */

  if (n)
    p = malloc (9);
  free (p);
}

int lost_in_loop(int n)
{
    char *chunk = NULL;
    for (int i = 0; i < n; i++) {
        chunk = malloc(100); /* ruleid: flow_memory_leak */
        if (!chunk)
            return -1;
        chunk[0] = (char)i;
        if (chunk[0] == 7)
            break;
    }
    return n;
}

static char *fresh_text(void)
{
    char *t = malloc(4); /* ok: flow_memory_leak */
    if (t)
        t[0] = 0;
    return t;
}

int result_dropped(int n)
{
    char *t = fresh_text(); /* ruleid: flow_memory_leak */
    if (n)
        free(t);
    return n;
}

/* near misses */

int check_seat_cleanly(int seat, int limit)
{
    int ret = 0;
    char *text = malloc(20); /* ok: flow_memory_leak */
    if (!text)
        return -1;
    if (seat > limit) {
        ret = -2;
        goto done;
    }
    text[0] = 0;
done:
    free(text);
    return ret;
}

int handed_to_global(void)
{
    struct ticket *t = malloc(sizeof *t); /* ok: flow_memory_leak */
    if (!t)
        return -1;
    t->seat = 4;
    last_ticket = t;
    return 0;
}

char *handed_to_caller(const char *a)
{
    char *copy = strdup(a); /* ok: flow_memory_leak */
    return copy;
}

int handed_by_out(char **out)
{
    char *made = malloc(9); /* ok: flow_memory_leak */
    if (!made)
        return -1;
    made[0] = 0;
    *out = made;
    return 0;
}

int handed_to_struct(struct ticket *t, const char *name)
{
    t->holder = strdup(name); /* ok: flow_memory_leak */
    if (!t->holder)
        return -1;
    return 0;
}

void registered(struct registry *r)
{
    char *key = malloc(12); /* ok: flow_memory_leak */
    if (!key)
        return;
    registry_add(r, key);
}

int only_when_made(int want)
{
    char *p = NULL;
    if (want)
        p = malloc(30); /* ok: flow_memory_leak */
    if (p)
        free(p);
    return 0;
}

void ends_the_program(void)
{
    char *p = malloc(30); /* ok: flow_memory_leak */
    if (!p)
        exit(1);
    p[0] = 'e';
    exit(p[0]);
}

static void drop_ticket(struct ticket *t)
{
    if (!t)
        return;
    free(t->holder);
    free(t);
}

int released_by_helper(const char *name)
{
    struct ticket *t = calloc(1, sizeof *t); /* ok: flow_memory_leak */
    if (!t)
        return -1;
    t->holder = strdup(name); /* ok: flow_memory_leak */
    drop_ticket(t);
    return 0;
}

int flush_left(int seat, int limit)
{
char *text = malloc(20); /* ok: flow_memory_leak */
if (seat > limit)
{
free(text);
return -2;
}
free(text);
return 0;
}

struct key { char *name; int number; };

int number_by_name(struct table *table, const char *text)
{
    struct key wanted, *found;
    wanted.name = strdup(text); /* ok: flow_memory_leak */
    if (wanted.name == NULL)
        return 0;
    wanted.number = 0;
    found = table_find(table, &wanted);
    free(wanted.name);
    return found != NULL ? found->number : 0;
}

int read_a_line(FILE *f)
{
    int n = 100;
    char *line = malloc(n); /* ok: flow_memory_leak */
    if (!line)
        return -1;
    if (!yard_fgets(&line, &n, f))
        n = 0;
    free(line);
    return n;
}

struct span { int *first, *last; };

static struct span span_of(int *one)
{
    struct span s = {one, one};
    return s;
}

struct span kept_in_a_struct(void)
{
    int *one = malloc(sizeof *one); /* ok: flow_memory_leak */
    if (!one)
        abort();
    *one = 0;
    return span_of(one);
}

typedef struct pool pool_t;
void *pool_calloc(pool_t *pool, size_t size);
void *plain_calloc(int kind, size_t size);

int from_pool(pool_t *pool, int n)
{
    char *name = pool_calloc(pool, 20);
    if (!name)
        return -1;
    name[0] = 'a';
    return n; /* ok: flow_memory_leak */
}

int from_elsewhere(int kind, int n)
{
    char *name = plain_calloc(kind, 20); /* ruleid: flow_memory_leak */
    if (!name)
        return -1;
    name[0] = 'a';
    return n;
}

int replaced_environment(int n)
{
    extern char **environ;
    char **made = calloc(n, sizeof(char *));
    if (!made)
        return -1;
    environ = made;
    return n; /* ok: flow_memory_leak */
}

struct line_list { char *lines; size_t width; };
void *new_element(struct line_list *list);

static void add_line(struct line_list *list, const void *line)
{
    void *room = new_element(list);
    memcpy(room, line, list->width);
}

void keep_line(struct line_list *list, const char *text)
{
    char *line = strdup(text);
    if (line == NULL)
        return;
    add_line(list, &line);
    list->width++; /* ok: flow_memory_leak */
}

int copied_to_a_variable(const char *text)
{
    char *line = strdup(text), *copy; /* ruleid: flow_memory_leak */
    if (line == NULL)
        return -1;
    memcpy(&copy, &line, sizeof(copy));
    return copy[0];
}

int whole_of_parts(const char *text)
{
    char *part = strdup(text);
    int result = PART_OKAY;
    if (result == WHOLE_SUCCESS) {
        free(part);
        return 0;
    }
    return result; /* ok: flow_memory_leak */
}

int part_of_parts(const char *text)
{
    char *part = strdup(text); /* ruleid: flow_memory_leak */
    int result = PART_OKAY;
    if (result == PART_SUCCESS) {
        free(part);
        return 0;
    }
    return result;
}

#if !(defined _WIN32 && !defined __CYGWIN__)
static char *ask_name(const char *prompt)
{
    static char answer[80];
    return answer;
}
#else
static char *ask_name(const char *prompt)
{
    char answer[80];
    return strdup(answer);
}
#endif

int asks_for_a_name(const char *prompt, int most)
{
    char *name = ask_name(prompt);
    return name != NULL && name[0] > most; /* ok: flow_memory_leak */
}

char *only_pad(void)
{
    static char *pad;
    if (!pad)
        pad = malloc(16);
    return pad;
}

int pad_of_its_own(int n)
{
    char *pad;
    pad = malloc(n + 1); /* ruleid: flow_memory_leak */
    if (!pad)
        return -1;
    pad[0] = 0;
    if (n > 5)
        return 1;
    free(pad);
    return 0;
}
