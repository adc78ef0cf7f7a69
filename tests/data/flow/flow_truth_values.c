#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PRESENT(p) ((p) != NULL)

struct tank { bool ready; char *water; };
enum fill { FULL, EMPTY };

static bool is_absent(const void *p) { return p == NULL; }
static bool is_present(const void *p) { return p ? true : false; }
static int has_water(const void *p)
{
    if (!p)
        return 0;
    return 1;
}
static enum fill tank_fill(char **out)
{
    *out = malloc(8);
    return *out ? FULL : EMPTY;
}

int flag_by_comparison(const char *path)
{
    FILE *f = fopen(path, "r");
    bool is_open = f != NULL;
    int c;
    if (!is_open)
        return -1;
    c = getc(f); /* ok: flow_unchecked_null */
    fclose(f);
    return c;
}

int flag_by_ternary(void)
{
    char *water = malloc(8);
    int rc = water == NULL ? -1 : 0;
    if (rc < 0)
        goto out;
    water[0] = 1; /* ok: flow_unchecked_null */
out:
    free(water);
    return rc;
}

int flag_in_a_branch(void)
{
    char *water = malloc(8);
    bool failed = false;
    if (water == NULL)
        failed = true;
    if (failed)
        return -1;
    water[0] = 1; /* ok: flow_unchecked_null */
    free(water);
    return 0;
}

int flag_of_two(void)
{
    char *hot = malloc(8), *cold = malloc(9);
    int ok = 1, missing = 0;
    ok &= hot != NULL;
    ok &= cold != NULL;
    missing |= !cold;
    if (ok && !missing)
        hot[0] = cold[0] = 1; /* ok: flow_unchecked_null */
    free(hot);
    free(cold);
    return ok;
}

int flag_in_a_struct(struct tank *t)
{
    t->water = malloc(10);
    t->ready = t->water != NULL;
    if (!t->ready)
        return -1;
    t->water[0] = 1; /* ok: flow_unchecked_null */
    return 0;
}

int flag_of_a_descriptor(const char *path)
{
    int fd = open(path, O_RDONLY);
    bool is_open = fd >= 0;
    char c = 0;
    if (!is_open)
        return -1; /* ok: flow_handle_leak */
    if (read(fd, &c, 1) != 1)
        c = 0;
    close(fd);
    return c;
}

char *predicate(int n)
{
    char *water = malloc(8);
    if (is_absent(water))
        return NULL;
    *water = n; /* ok: flow_unchecked_null */
    return water;
}

char *predicate_behind_another_test(int n)
{
    char *water = malloc(8);
    if (n > 2 && has_water(water))
        *water = n; /* ok: flow_unchecked_null */
    if (n < 1 || !is_present(water))
        return water;
    *water = n; /* ok: flow_unchecked_null */
    return water;
}

char *predicate_in_a_flag(int n)
{
    char *water = malloc(8);
    bool have = PRESENT(water), still = has_water(water);
    if (have && still)
        *water = n; /* ok: flow_unchecked_null */
    return water;
}

int status_of_an_output(void)
{
    char *water;
    if (tank_fill(&water) != FULL)
        return -1;
    water[0] = 1; /* ok: flow_unchecked_null */
    free(water);
    return 0;
}

int flag_that_only_prints(void)
{
    char *water = malloc(8);
    bool ok = water != NULL;
    if (!ok)
        puts("dry");
    water[0] = 1; /* ruleid: flow_null_dereference */
    free(water);
    return 0;
}

int flag_the_wrong_way(void)
{
    char *water = malloc(8);
    bool ok = water != NULL;
    if (!ok)
        water[0] = 1; /* ruleid: flow_null_dereference */
    free(water);
    return 0;
}

char *predicate_the_wrong_way(int n)
{
    char *water = malloc(8);
    if (n || has_water(water))
        *water = n; /* ruleid: flow_unchecked_null */
    return water;
}

int flag_of_one_of_two(void)
{
    char *hot = malloc(8), *cold = malloc(9);
    bool ok = hot || cold;
    if (ok)
        hot[0] = 3; /* ruleid: flow_null_dereference */
    free(hot);
    free(cold);
    return 0;
}
