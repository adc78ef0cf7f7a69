#include <stdlib.h>

struct request {
    struct request *next;
    int id;
};
struct queue {
    struct request *first;
    int closed;
};

int enqueue(struct queue *queue, struct request *request)
{
    if (queue->closed)
        return -1;
    request->next = queue->first;
    queue->first = request;
    return 0;
}

int look_at(struct queue *queue, struct request *request)
{
    if (queue->closed || !request)
        return -1;
    return request->id;
}
