#include <stdio.h>
#include <stdlib.h>
#include "check.h"

struct lamp {
    int on;
    struct lamp *next;
};

int held_by_check(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    CHECK(lamp != NULL);
    lamp->on = 1; /* ok: flow_unchecked_null */
    free(lamp);
    return 0;
}

int held_by_comparison(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    SAME_NO_NULL(lamp);
    lamp->on = 1; /* ok: flow_unchecked_null */
    free(lamp);
    return 0;
}

int only_noted(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    NOTE(lamp != NULL);
    lamp->on = 1; /* ruleid: flow_null_dereference */
    free(lamp);
    return 0;
}

int held_by_condition(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (EMPTY(lamp))
        return 1;
    lamp->on = 1; /* ok: flow_unchecked_null */
    free(lamp);
    return 0;
}

int wrong_way_round(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!EMPTY(lamp))
        free(lamp);
    else
        lamp->on = 1; /* ruleid: flow_null_dereference */
    return 0;
}

int held_by_choice(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    OR_LEAVE(lamp);
    lamp->on = 1; /* ok: flow_unchecked_null */
    free(lamp);
    return 0;
}

int held_by_unknown_assertion(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    YARD_ASSERT_NOT_NULL(lamp);
    lamp->on = 1; /* ok: flow_unchecked_null */
    free(lamp);
    return 0;
}

int unknown_and_no_assertion(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    YARD_LIGHT(lamp);
    lamp->on = 1; /* ruleid: flow_unchecked_null */
    free(lamp);
    return 0;
}

int dropped_once(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    DROP(lamp);
    free(lamp); /* ok: flow_double_free */
    return 0;
}

int dropped_and_used(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    DROP(lamp);
    return lamp->on; /* ruleid: flow_null_dereference */
}

void drop_all(struct lamp *first)
{
    struct lamp *lamp, *after;
    ALL(first, lamp, after) {
        lamp->on = 0; /* ok: flow_null_dereference, flow_use_after_free */
        DROP(lamp);
    }
}

void drop_unknown(struct lamp *first)
{
    struct lamp *lamp, *after;
    YARD_EACH(first, lamp, after) {
        lamp->on = 0; /* ok: flow_null_dereference, flow_use_after_free */
        DROP(lamp);
    }
}

void drop_too_early(struct lamp *first)
{
    struct lamp *lamp, *after;
    ALL(first, lamp, after) {
        DROP(lamp);
        lamp->on = 0; /* ruleid: flow_null_dereference */
    }
}

int tested_by_the_macro(struct lamp *lamp)
{
    int on = 0;
    DROP_IF_ANY(lamp->next);
    on = lamp->next->on; /* ok: flow_null_dereference */
    lamp->next = malloc(sizeof(*lamp));
    return on;
}

int tested_by_hand(struct lamp *lamp)
{
    int on = 0;
    if (lamp->next)
        on = 1;
    on += lamp->next->on; /* ruleid: flow_null_dereference */
    lamp->next = malloc(sizeof(*lamp));
    return on;
}
