/* What declarations and well-known macros say goes before what names suggest. */
#include <Python.h>
#include <stdlib.h>
#include <string.h>

int block_malloc(int *mib, char **out, size_t *n);
bool text_strdup(char **out, const char *in);
void ring_realloc(struct ring *r, size_t n);
char *block_strdup(const char *in);

int by_out_parameter(int *mib)
{
    char *buf;
    size_t n;
    if (block_malloc(mib, &buf, &n) != 0) /* ok: flow_memory_leak */
        return -1;
    free(buf);
    return 0;
}

int told_by_bool(char *copy, const char *s)
{
    if (!text_strdup(copy, s)) /* ok: flow_memory_leak */
        return -1;
    return 0;
}

void grows_in_place(struct ring *r)
{
    ring_realloc(r, 64); /* ok: flow_memory_leak */
}

int named_and_declared(const char *s)
{
    char *copy = block_strdup(s); /* ruleid: flow_memory_leak */
    return copy ? copy[0] : 0;
}

PyObject *returns_by_macro(int k)
{
    char *buf = malloc(16);
    if (!buf)
        return PyErr_NoMemory();
    if (k > 3)
        goto error;
    free(buf);
    Py_RETURN_NONE;
error:
    free(buf); /* ok: flow_double_free */
    return NULL;
}

PyObject *compares(int k, int other)
{
    char *buf = malloc(16);
    if (!buf)
        return PyErr_NoMemory();
    if (k > 3)
        goto error;
    free(buf);
    Py_RETURN_RICHCOMPARE(k, other, Py_LT);
error:
    free(buf); /* ok: flow_double_free */
    return NULL;
}

int traced(int k)
{
    char *buf = malloc(16);
    if (!buf)
        return -1;
    if (k > 3)
        goto error;
    free(buf);
    YARD_TRACE_RETURN(0);
error:
    free(buf); /* ok: flow_double_free */
    return -1;
}

PyObject *kept_at_macro(int k)
{
    char *buf = malloc(16); /* ruleid: flow_memory_leak */
    if (!buf)
        return PyErr_NoMemory();
    if (k > 3)
        Py_RETURN_TRUE;
    free(buf);
    Py_RETURN_FALSE;
}

int goes_on_at_times(int k)
{
    char *buf = malloc(16);
    if (!buf)
        return -1;
    free(buf);
    RETURN_IF_ERROR(k);
    free(buf); /* ruleid: flow_double_free */
    return 0;
}
