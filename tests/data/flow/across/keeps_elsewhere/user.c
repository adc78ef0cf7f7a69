#include <stdlib.h>
#include <string.h>

struct request {
    struct request *next;
    int id;
};
struct queue;
int enqueue(struct queue *queue, struct request *request);
int look_at(struct queue *queue, struct request *request);
void send_later(int *id);

void handed_over(struct queue *queue)
{
    struct request *request = calloc(1, sizeof(*request)); /* ok: flow_memory_leak */
    if (request)
        enqueue(queue, request);
}

int refused(struct queue *queue)
{
    struct request *request = calloc(1, sizeof(*request)); /* ruleid: flow_memory_leak */
    int result;
    if (!request)
        return -1;
    result = enqueue(queue, request);
    return result < 0 ? -1 : 0;
}

void only_looked_at(struct queue *queue)
{
    struct request *request = calloc(1, sizeof(*request)); /* ruleid: flow_memory_leak */
    look_at(queue, request);
}

void member_escapes(void)
{
    struct request *request = calloc(1, sizeof(*request)); /* ok: flow_memory_leak */
    if (request)
        send_later(&request->id);
}

struct holder {
    int kind;
    struct request *request;
};

struct holder in_a_struct(void)
{
    struct request *request = calloc(1, sizeof(*request)); /* ok: flow_memory_leak */
    struct holder holder = {1, request};
    return holder;
}

struct holder in_a_literal(void)
{
    struct request *request = calloc(1, sizeof(*request)); /* ok: flow_memory_leak */
    return (struct holder){1, request};
}

void in_a_struct_of_the_caller(struct holder *out)
{
    struct request *request = calloc(1, sizeof(*request)); /* ok: flow_memory_leak */
    struct holder holder = {1, request};
    *out = holder;
}

int only_a_number_of_the_struct(void)
{
    struct request *request = calloc(1, sizeof(*request)); /* ruleid: flow_memory_leak */
    struct holder holder = {1, request};
    return holder.kind;
}

void added_by_macro(struct queue *queue)
{
    struct request *request = calloc(1, sizeof(*request)); /* ok: flow_memory_leak */
    HASH_ADD_TO(queue, request);
}

unsigned hashed_by_macro(void)
{
    struct request *request = calloc(1, sizeof(*request)); /* ruleid: flow_memory_leak */
    return HASH_OF(request);
}

static void written(struct request *request)
{
    free(request);
}

void given_with_a_callback(int fd)
{
    struct request *request = calloc(1, sizeof(*request)); /* ok: flow_memory_leak */
    queue_write(fd, request, written);
}

void given_without_a_callback(int fd)
{
    struct request *request = calloc(1, sizeof(*request)); /* ruleid: flow_memory_leak */
    queue_write(fd, request, 0);
}
