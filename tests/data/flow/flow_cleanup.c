/* Releases by the language: cleanup attributes, macros for them, and defer. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddefer.h>
#include <unistd.h>

static inline void shut(int *fd) { if (*fd >= 0) close(*fd); }
static inline void drop(void *p) { free(*(void **)p); }
static void leave(FILE **f) { if (*f) fclose(*f); }
#define tidy __attribute__((cleanup(drop)))
#define CLEAN(f) __attribute__((cleanup(f)))
void put(const char *text);

int by_attribute(const char *path)
{
    __attribute__((cleanup(leave))) FILE *f = fopen(path, "r"); /* ok: flow_handle_leak */
    if (!f)
        return -1;
    return fgetc(f);
}

int behind_the_name(int n)
{
    char *room __attribute__((cleanup(drop))) = malloc(64); /* ok: flow_memory_leak */
    if (!room)
        return -1;
    room[0] = (char)n;
    return room[0];
}

int by_macro(int n)
{
    tidy char *room = malloc(64); /* ok: flow_memory_leak */
    if (!room)
        return -1;
    room[0] = (char)n;
    return 0;
}

int by_macro_with_function(int n)
{
    CLEAN(drop) char *room = malloc(64); /* ok: flow_memory_leak */
    if (!room)
        return -1;
    room[0] = (char)n;
    return 0;
}

int by_name_of_systemd(const char *text)
{
    _cleanup_free_ char *copy = NULL, *other = NULL;
    copy = strdup(text); /* ok: flow_memory_leak */
    other = strdup(text);
    if (!copy || !other)
        return -1;
    put(copy);
    return 0;
}

int by_glib(const char *text)
{
    g_autofree char *copy = g_strdup(text); /* ok: flow_memory_leak */
    put(copy);
    return 0;
}

int by_names_of_lxc(const char *path)
{
    __do_free char *copy = NULL;
    __do_fclose FILE *f = NULL;
    call_cleaner(put_job) struct job *j = malloc(64); /* ok: flow_memory_leak */
    f = fopen(path, "r"); /* ok: flow_handle_leak */
    copy = strdup(path); /* ok: flow_memory_leak */
    if (!f || !copy || !j)
        return -1;
    return fgetc(f);
}

int by_kernel(int n)
{
    struct job *j __free(kfree) = kzalloc(64, 0); /* ok: flow_memory_leak */
    if (!j)
        return -1;
    return n;
}

char *handed_over(const char *text)
{
    _cleanup_free_ char *copy = strdup(text);
    if (!copy)
        return NULL;
    return TAKE_PTR(copy); /* ok: flow_use_after_free */
}

int in_a_loop(int n)
{
    for (int i = 0; i < n; i++) {
        tidy char *room = malloc(64); /* ok: flow_memory_leak, flow_double_free */
        if (!room)
            return -1;
        room[0] = (char)i;
    }
    return 0;
}

int deferred(void)
{
    int *n = malloc(sizeof *n); /* ok: flow_memory_leak */
    if (!n)
        return -1;
    defer free(n);
    *n = 1;
    return 0;
}

int deferred_block(const char *path)
{
    FILE *f = fopen(path, "r"); /* ok: flow_handle_leak */
    if (!f)
        return -1;
    defer { fclose(f); }
    return fgetc(f);
}

int left_before(const char *path)
{
    int *n = malloc(sizeof *n); /* ruleid: flow_memory_leak */
    FILE *f = fopen(path, "r"); /* ruleid: flow_handle_leak */
    if (!n || !f)
        return -1;
    defer free(n);
    defer fclose(f);
    *n = 1;
    return 0;
}

int deferred_and_freed(void)
{
    int *n = malloc(sizeof *n);
    if (!n)
        return -1;
    defer free(n);
    *n = 1;
    free(n); /* ruleid: flow_double_free */
    return 0;
}

int cleaned_and_freed(int k)
{
    tidy char *room = malloc(64);
    if (!room)
        return -1;
    if (k)
        free(room); /* ruleid: flow_double_free */
    return 0;
}

int freed_and_forgotten(int k)
{
    tidy char *room = malloc(64);
    if (!room)
        return -1;
    if (k) {
        free(room); /* ok: flow_double_free */
        room = NULL;
    }
    return 0;
}

char *returned_anyway(const char *text)
{
    _cleanup_free_ char *copy = strdup(text);
    if (!copy)
        return NULL;
    return copy; /* ruleid: flow_use_after_free */
}

int only_one_of_two(const char *text)
{
    _cleanup_free_ char *copy = strdup(text);
    char *other = strdup(text); /* ruleid: flow_memory_leak */
    if (!copy || !other)
        return -1;
    return copy[0] == other[0];
}
