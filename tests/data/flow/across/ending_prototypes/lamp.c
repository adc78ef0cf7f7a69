#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "report.h"

struct lamp {
    int on;
    char *name;
};
static void unsound(const char *why) __attribute__((__noreturn__));

struct lamp *complains(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        complain("no memory");
    lamp->on = 1; /* ok: flow_null_dereference */
    return lamp;
}

struct lamp *stops(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        stop_yard("no memory", 1);
    lamp->on = 1; /* ok: flow_null_dereference */
    return lamp;
}

struct lamp *gives_up(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        give_up_yard("no memory");
    lamp->on = 1; /* ok: flow_null_dereference */
    return lamp;
}

struct lamp *leaves(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        leave(1);
    lamp->on = 1; /* ok: flow_null_dereference */
    return lamp;
}

struct lamp *is_unsound(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        unsound("no memory");
    lamp->on = 1; /* ok: flow_null_dereference */
    return lamp;
}

struct lamp *raises(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        raise(SIGSEGV);
    lamp->on = 1; /* ok: flow_null_dereference */
    return lamp;
}

struct lamp *raises_harmless(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        raise(SIGUSR1);
    lamp->on = 1; /* ruleid: flow_null_dereference */
    return lamp;
}

struct lamp *notes(void)
{
    struct lamp *lamp = malloc(sizeof(*lamp));
    if (!lamp)
        note("no memory");
    lamp->on = 1; /* ruleid: flow_null_dereference */
    return lamp;
}

static void *malloc_or(size_t size, int gentle)
{
    void *made = malloc(size);
    if (!made && !gentle)
        leave(1);
    return made;
}

static void *malloc_now(size_t size)
{
    void *made = malloc_or(size, 0);
    return made;
}

struct lamp *taken(void)
{
    struct lamp *lamp = malloc_now(sizeof(*lamp));
    lamp->on = 1; /* ok: flow_unchecked_null, flow_null_dereference */
    return lamp;
}

struct lamp *taken_gently(void)
{
    struct lamp *lamp = malloc_or(sizeof(*lamp), 1);
    lamp->on = 1; /* ruleid: flow_null_dereference */
    return lamp;
}
