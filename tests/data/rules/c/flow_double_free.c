#include <stdlib.h>
#include <string.h>

struct node {
    char *name;
    struct node *next;
};

static void drop(char *text)
{
    free(text);
}


static void show(char *text)
{
    puts(text);
}

void twice(char *text)
{
    free(text);
    free(text); /* ruleid: flow_double_free */
}

void through_another(char *text)
{
    drop(text);
    free(text); /* ruleid: flow_double_free */
}

void in_another(char *text)
{
    free(text);
    drop(text); /* ruleid: flow_double_free */
}

void in_another_twice(char *text)
{
    drop(text);
    drop(text); /* ruleid: flow_double_free */
}

void of_its_own(void)
{
    char *copy = strdup("copy");
    drop(copy);
    free(copy); /* ruleid: flow_double_free */
}

void once(char *text)
{
    drop(text); /* ok: flow_double_free */
}

void two_pointers(char *one, char *other)
{
    drop(one);
    free(other); /* ok: flow_double_free */
}

void set_anew(char *text)
{
    drop(text);
    text = strdup("new");
    free(text); /* ok: flow_double_free */
}

void set_to_nothing(char *text)
{
    free(text);
    text = NULL;
    free(text); /* ok: flow_double_free */
}

void only_shown(char *text)
{
    show(text);
    free(text); /* ok: flow_double_free */
}
