#include <stdlib.h>
#include <string.h>

static char spare_page[256];
struct inner { int a, b; };
struct outer { struct inner in; char tag[8]; };

void release_local(int n)
{
    char line[32];
    char *p = line;
    line[0] = (char)n;
    free(p); /* ruleid: flow_bad_free */
}

void release_literal(int verbose)
{
    char *text = "quiet";
    if (verbose)
        text = "loud";
    free(text); /* ruleid: flow_bad_free */
}

void release_mixed(size_t n)
{
    char small[64];
    char *work = small;
    if (n > sizeof small)
        work = malloc(n);
    if (work)
        work[0] = 0;
    free(work); /* ruleid: flow_bad_free */
}

void
release_address (int value)
{
  int number = value;
  int *at = &number;

  free (at); /* ruleid: flow_bad_free */
}

static void put_back(void *memory)
{
    free(memory); /* ruleid: flow_bad_free */
}

void release_by_callee(void)
{
    int table[4] = {1, 2, 3, 4};
    put_back(table);
}

void release_page(void)
{
    char *page = spare_page;
    page[0] = 'p';
    free(page); /* ruleid: flow_bad_free */
}

char *grow_local(void)
{
    char start[8] = "abc";
    return realloc(start, 16); /* ruleid: flow_bad_free */
}

void release_on_error(int broken)
{
    char *name = NULL;
    if (broken) {
        name = "broken";
        goto out;
    }
    name = malloc(20);
out:
    free(name); /* ruleid: flow_bad_free */
}

/* near misses */

void release_copy(void)
{
    char line[32] = "words";
    char *p = strdup(line);
    free(p); /* ok: flow_bad_free */
}

void release_only_heap(size_t n)
{
    char small[64];
    char *work = small;
    if (n > sizeof small)
        work = malloc(n);
    if (work)
        work[0] = 0;
    if (work != small)
        free(work); /* ok: flow_bad_free */
}

void release_member(struct outer *o)
{
    char **slot = (char **)o->tag;
    free(*slot); /* ok: flow_bad_free */
    free(o);
}

void release_reassigned(void)
{
    char *p = spare_page;
    p[1] = 2;
    p = malloc(10);
    free(p); /* ok: flow_bad_free */
}

void release_elements(void)
{
    char *rows[3];
    for (int i = 0; i < 3; i++)
        rows[i] = malloc(8);
    for (int i = 0; i < 3; i++)
        free(rows[i]); /* ok: flow_bad_free */
}

static void drop_out(char **where)
{
    free(*where); /* ok: flow_bad_free */
    *where = NULL;
}

void release_out_parameter(void)
{
    char *mine = malloc(5);
    drop_out(&mine);
}

void release_null_or_heap(int want)
{
    char *p = NULL;
    if (want)
        p = malloc(3);
    free(p); /* ok: flow_bad_free */
}

void release_literal_flagged(int own)
{
    char *text = "constant";
    if (own)
        text = strdup("made");
    if (own)
        free(text); /* ok: flow_bad_free */
}

void macro_of_alloca(size_t n)
{
    char *text = (char *)ALLOCA(n);
    if (n == 0)
        return;
    free(text); /* ruleid: flow_bad_free */
}
