#include <stdlib.h>
#include "yard.h"

struct lamp {
    int on;
};

struct lamp *fails(struct yard *yard)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        yard->fail(yard, "no memory");
    lamp->on = 1; /* ok: flow_unchecked_null, flow_null_dereference */
    return lamp;
}

struct lamp *fails_through_star(struct yard *yard)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        (*yard->fail)(yard, "no memory");
    lamp->on = 1; /* ok: flow_unchecked_null, flow_null_dereference */
    return lamp;
}

struct lamp *stops(struct yard *yard)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        yard->stop(yard, NULL);
    lamp->on = 1; /* ok: flow_unchecked_null, flow_null_dereference */
    return lamp;
}

struct lamp *gives_up(struct yard *yard)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        yard->give_up("no memory");
    lamp->on = 1; /* ok: flow_unchecked_null, flow_null_dereference */
    return lamp;
}

struct lamp *gives_up_by_variable(struct yard *yard)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    give_up_t give_up = yard->give_up;
    if (!lamp)
        give_up("no memory");
    lamp->on = 1; /* ok: flow_unchecked_null, flow_null_dereference */
    return lamp;
}

struct lamp *warns(struct yard *yard)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        yard->warn(yard, "no memory");
    lamp->on = 1; /* ruleid: flow_null_dereference */
    return lamp;
}

struct lamp *warns_through_star(struct yard *yard)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        (*yard->warn)(yard, "no memory");
    lamp->on = 1; /* ruleid: flow_null_dereference */
    return lamp;
}

struct lamp *notes(struct yard *yard)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        yard->note("no memory");
    lamp->on = 1; /* ruleid: flow_null_dereference */
    return lamp;
}

static void fail_by_pointer(struct yard *yard)
{
    yard->warn(yard, "no memory");
    (*yard->fail)(yard, "no memory");
}

struct lamp *fails_deeper(struct yard *yard)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        fail_by_pointer(yard);
    lamp->on = 1; /* ok: flow_unchecked_null, flow_null_dereference */
    return lamp;
}

struct lamp *in_ruin(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        on_ruin("no memory");
    lamp->on = 1; /* ok: flow_unchecked_null, flow_null_dereference */
    return lamp;
}

struct lamp *in_rain(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        on_rain("no memory");
    lamp->on = 1; /* ruleid: flow_null_dereference */
    return lamp;
}
