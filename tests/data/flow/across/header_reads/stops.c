#include <string.h>

#include "wire.h"

int stops_of(line_ptr line, const octet *p)
{
    unsigned n = NEXT_SHORT(p);
    for (unsigned i = 0; i < n; i++)
        line->stops[i] = NEXT_SHORT(p); /* ruleid: flow_buffer_overflow */
    line->used = n;
    memcpy(line->stops, p, n); /* ruleid: flow_buffer_overflow */
    return 0;
}

int stops_that_fit(line_ptr line, const octet *p)
{
    unsigned n = NEXT_SHORT(p);
    if (n > sizeof line->stops / sizeof line->stops[0])
        return -1;
    for (unsigned i = 0; i < n; i++)
        line->stops[i] = NEXT_SHORT(p); /* ok: flow_buffer_overflow */
    memcpy(line->stops, p, n); /* ok: flow_buffer_overflow */
    return 0;
}

int stops_at_most(line_ptr line, const octet *p)
{
    unsigned n = NEXT_SHORT(p);
    memcpy(line->stops, p, AT_MOST(n, sizeof line->stops)); /* ok: flow_buffer_overflow */
    return 0;
}
