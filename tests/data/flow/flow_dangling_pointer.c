#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct host { char *name; char *path; char *text; size_t length; struct host *next; };

int read_text(struct host *host, int in)
{
    char *text = malloc(100);
    if (!text)
        return -1;
    host->text = text;
    if (read(in, text, 100) != 100)
        goto out;
    return 0;
out:
    free(text); /* ruleid: flow_dangling_pointer */
    return -1;
}

int rename_host(struct host *host, const char *name)
{
    free(host->name); /* ruleid: flow_dangling_pointer */
    if (strlen(name) > 255)
        return -1;
    host->name = strdup(name);
    return host->name ? 0 : -1;
}

int both(struct host *host, size_t size)
{
    host->name = malloc(size);
    if (!host->name)
        return -1;
    host->path = malloc(size);
    if (!host->path) {
        free(host->name); /* ruleid: flow_dangling_pointer */
        return -1;
    }
    return 0;
}

int enlarge(struct host *host, size_t size)
{
    char *larger;
    free(host->text); /* ruleid: flow_dangling_pointer */
    if (size > 4096)
        return -1;
    larger = malloc(size);
    host->text = larger;
    return larger ? 0 : -1;
}

void shorten(struct host *host, int keep)
{
    char *text = strdup(host->path);
    if (!text)
        return;
    host->text = text;
    if (!keep)
        free(text); /* ruleid: flow_dangling_pointer */
}

int rename_safely(struct host *host, const char *name)
{
    free(host->name); /* ok: flow_dangling_pointer */
    host->name = NULL;
    if (strlen(name) > 255)
        return -1;
    host->name = strdup(name);
    return host->name ? 0 : -1;
}

void drop(struct host *host)
{
    free(host->name); /* ok: flow_dangling_pointer */
    free(host->path);
    host->length = 0;
}

void drop_all(struct host *host)
{
    while (host) {
        struct host *next = host->next;
        free(host->name); /* ok: flow_dangling_pointer */
        free(host);
        host = next;
    }
}

struct host *make(const char *name)
{
    struct host *host = calloc(1, sizeof *host);
    if (!host)
        return NULL;
    host->name = strdup(name);
    host->path = strdup(name);
    if (!host->path) {
        free(host->name); /* ok: flow_dangling_pointer */
        free(host);
        return NULL;
    }
    return host;
}

int for_a_while(const char *name)
{
    struct host host;
    host.name = strdup(name);
    if (!host.name)
        return -1;
    use(&host);
    free(host.name); /* ok: flow_dangling_pointer */
    return 0;
}

int replace(struct host *host, const char *name)
{
    char *fresh = strdup(name);
    if (!fresh)
        return -1;
    free(host->name); /* ok: flow_dangling_pointer */
    host->name = fresh;
    return 0;
}

static char *last;

int remember(const char *name)
{
    free(last); /* ruleid: flow_dangling_pointer */
    if (!*name)
        return -1;
    last = strdup(name);
    return last ? 0 : -1;
}

void take(struct host *host, char *name)
{
    free(host->name); /* ruleid: flow_dangling_pointer */
    if (!name)
        return;
    host->name = name;
}

void forget(void)
{
    free(last); /* ok: flow_dangling_pointer */
    last = NULL;
}

int main(int argc, char **argv)
{
    last = malloc(8);
    if (!last)
        return 1;
    free(last); /* ok: flow_dangling_pointer */
    return argc;
}

struct owner { struct host host; int used; };

void assign(struct host *host, const struct host *from, int same)
{
    free(host->name); /* ok: flow_dangling_pointer */
    if (same)
        host->name = NULL;
    else
        *host = *from;
}

int clear_whole(struct host *host, const char *name)
{
    host->name = strdup(name);
    if (!host->name)
        return -1;
    if (!*name) {
        free(host->name); /* ok: flow_dangling_pointer */
        *host = (struct host){0};
        return -1;
    }
    return 0;
}

int clear_inner(struct owner *owner, const char *name)
{
    struct host none = {0};
    owner->host.name = strdup(name);
    if (!owner->host.name)
        return -1;
    if (!*name) {
        free(owner->host.name); /* ok: flow_dangling_pointer */
        owner->host = none;
        return -1;
    }
    return 0;
}

int clear_another(struct owner *owner, struct owner *other, const char *name)
{
    struct host none = {0};
    owner->host.name = strdup(name);
    if (!owner->host.name)
        return -1;
    if (!*name) {
        free(owner->host.name); /* ruleid: flow_dangling_pointer */
        other->host = none;
        owner->used = 0;
        return -1;
    }
    return 0;
}
