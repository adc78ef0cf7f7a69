#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct item {
    int count;
    struct item *next;
    char *name;
    char text[32];
};

int of_number(FILE *in)
{
    uint64_t address;
    if (fread(&address, sizeof address, 1, in) != 1)
        return -1;
    struct item *item = (struct item *)(uintptr_t)address;
    return item->count; /* ruleid: flow_untrusted_pointer */
}

int of_member(int s)
{
    struct item item;
    if (recv(s, &item, sizeof item, 0) != sizeof item)
        return -1;
    return item.next->count; /* ruleid: flow_untrusted_pointer */
}

int of_memory(FILE *in)
{
    struct item *item = malloc(sizeof *item);
    int count;
    if (item == NULL)
        return -1;
    if (fread(item, sizeof *item, 1, in) != 1) {
        free(item);
        return -1;
    }
    count = item->next->count; /* ruleid: flow_untrusted_pointer */
    free(item);
    return count;
}

int of_buffer(int s)
{
    char packet[256];
    struct item *item = (struct item *)packet;
    if (recv(s, packet, sizeof packet, 0) < (ssize_t)sizeof *item)
        return -1;
    return item->name[0]; /* ruleid: flow_untrusted_pointer */
}

int of_text(FILE *in)
{
    int *where;
    if (fscanf(in, "%p", &where) != 1)
        return -1;
    return *where; /* ruleid: flow_untrusted_pointer */
}

int of_descriptor(int fd, int value)
{
    uint64_t address;
    if (read(fd, &address, sizeof address) != sizeof address)
        return -1;
    *(int *)(uintptr_t)address = value; /* ruleid: flow_untrusted_pointer */
    return 0;
}

int of_variable(FILE *in)
{
    char *text;
    if (fread(&text, sizeof text, 1, in) != 1)
        return -1;
    return text[0]; /* ruleid: flow_untrusted_pointer */
}

int of_text_number(void)
{
    char line[64];
    if (fgets(line, sizeof line, stdin) == NULL)
        return -1;
    unsigned long number = strtoul(line, NULL, 16);
    const unsigned char *byte = (const unsigned char *)number;
    return *byte; /* ruleid: flow_untrusted_pointer */
}

int copied_there(int s, const char *answer, size_t n)
{
    struct item item;
    if (recv(s, &item, sizeof item, 0) != sizeof item)
        return -1;
    memcpy(item.name, answer, n); /* ruleid: flow_untrusted_pointer */
    return 0;
}

long of_user(void *dev, const void *user)
{
    struct item request;
    if (copy_from_user(&request, user, sizeof(request)))
        return -14;
    return request.next->count; /* ruleid: flow_untrusted_pointer */
}

int of_index(FILE *in, struct item *items, size_t count)
{
    uint64_t index;
    if (fread(&index, sizeof index, 1, in) != 1 || index >= count)
        return -1;
    return items[index].count; /* ok: flow_untrusted_pointer */
}

int replaced(FILE *in)
{
    struct item item;
    if (fread(&item, sizeof item, 1, in) != 1)
        return -1;
    item.name = item.text;
    return item.name[0]; /* ok: flow_untrusted_pointer */
}

int in_range(FILE *in, const char *memory, size_t size)
{
    uint64_t address;
    if (fread(&address, sizeof address, 1, in) != 1)
        return -1;
    const char *at = (const char *)(uintptr_t)address;
    if (at < memory || at >= memory + size)
        return -1;
    return *at; /* ok: flow_untrusted_pointer */
}

int number_in_range(FILE *in)
{
    uint64_t address;
    if (fread(&address, sizeof address, 1, in) != 1)
        return -1;
    if (address < 0x10000 || address >= 0x20000)
        return -1;
    return *(const unsigned char *)(uintptr_t)address; /* ok: flow_untrusted_pointer */
}

int judged(FILE *in)
{
    struct item item;
    if (fread(&item, sizeof item, 1, in) != 1 || !is_mapped(item.next))
        return -1;
    return item.next->count; /* ok: flow_untrusted_pointer */
}

/* A thread of the program itself wrote the pointer into the pipe. */
int of_pipe(int fd)
{
    struct item *item;
    if (read(fd, &item, sizeof item) != sizeof item)
        return -1;
    return item->count; /* ok: flow_untrusted_pointer */
}

int of_element(FILE *in, const char *text)
{
    uint32_t offset;
    if (fread(&offset, sizeof offset, 1, in) != 1)
        return -1;
    const char *at = text + offset;
    return at[0]; /* ok: flow_untrusted_pointer */
}

int of_line(FILE *in)
{
    char line[64];
    char *end;
    if (fgets(line, sizeof line, in) == NULL)
        return -1;
    end = strchr(line, ' ');
    if (end == NULL)
        return -1;
    return end[1]; /* ok: flow_untrusted_pointer */
}

int of_tail(FILE *in, struct item *first)
{
    struct item *item = malloc(sizeof *item);
    int count;
    if (item == NULL)
        return -1;
    item->next = first;
    if (fread(item->text, sizeof item->text, 1, in) != 1) {
        free(item);
        return -1;
    }
    count = item->next->count; /* ok: flow_untrusted_pointer */
    free(item);
    return count;
}

long of_copied_user(void *dev, const void *user)
{
    struct item request;
    char name[32];
    if (copy_from_user(&request, user, sizeof(request)))
        return -14;
    if (copy_from_user(name, request.name, sizeof(name))) /* ok: flow_untrusted_pointer */
        return -14;
    return name[0];
}

int of_known(FILE *in)
{
    struct item item;
    if (fread(&item, sizeof item, 1, in) != 1)
        return -1;
    item.next = NULL;
    if (item.next)
        return item.next->count; /* ok: flow_untrusted_pointer */
    return item.count;
}

int of_environment(void)
{
    const char *text = getenv("LIST");
    if (text == NULL)
        return -1;
    while (*text == ' ') /* ok: flow_untrusted_pointer */
        text++;
    return *text;
}

struct list {
    struct item items[8];
};

int of_other_field(FILE *in, struct list *list, int i)
{
    if (fread(&list->items[i].count, sizeof(int), 1, in) != 1)
        return -1;
    return list->items[i].next->count; /* ok: flow_untrusted_pointer */
}

int of_read_pointer(FILE *in, struct item *item)
{
    struct item *to = item;
    if (fread(&to, 1, sizeof(to), in) != sizeof(to))
        return -1;
    return to->count; /* ruleid: flow_untrusted_pointer */
}

int of_field(FILE *in, struct item *next)
{
    struct item *item = calloc(1, sizeof *item);
    int count = 0;
    if (item == NULL)
        return -1;
    if (fread(&item->count, sizeof item->count, 1, in) == 1 && item->name)
        count = item->name[0]; /* ok: flow_untrusted_pointer */
    free(item);
    return count;
}
