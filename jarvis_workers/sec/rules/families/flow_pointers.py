"""Rows of `dataflow` for pointers: NULL, and memory that is released wrongly or used after that."""

from jarvis_workers.sec.rules.rule import flow_rule

__all__ = ["RULES"]

RULES = (
    flow_rule(
        "flow_null_dereference",
        category="memory_mgmt",
        cwe=476,
        confidence=0.9,
        title="NULL is used on a path",
        description="On one path, which the steps show, the pointer is NULL and is used.",
        suggestion="Leave the function, or give the pointer a value, before it is used on this path.",
        verification="Can the path be taken, and is the pointer still NULL where it is used?",
        bad="""\
int count_of(struct list *p)
{
    if (p == NULL)
        report_missing();
    return p->count;
}
""",
        good="""\
int count_of(struct list *p)
{
    if (p == NULL)
        return 0;
    return p->count;
}
""",
        supersedes=("possible_null_deref",),
    ),
    flow_rule(
        "flow_unchecked_null",
        category="error_handling",
        cwe=690,
        confidence=0.88,
        title="result that may be NULL is used untested",
        description="The call returns NULL when it fails, and its result is used with no test on the way.",
        suggestion="Test the result before its first use, and decide what happens when there is none.",
        verification="Can the call fail here, and is there no test between it and the use?",
        bad="""\
char *blank(size_t n)
{
    char *p = malloc(n);
    p[0] = ' ';
    return p;
}
""",
        good="""\
char *blank(size_t n)
{
    char *p = malloc(n);
    if (p != NULL)
        p[0] = ' ';
    return p;
}
""",
        supersedes=("malloc_no_null_check", "possible_null_deref"),
    ),
    flow_rule(
        "flow_use_after_free",
        category="memory_mgmt",
        cwe=416,
        confidence=0.9,
        title="memory is used after its release",
        description="The memory is released on this path and used afterwards.",
        suggestion="Release it after the last use, or set the pointer to NULL there and test it.",
        verification="Is the same memory released and used on one path?",
        bad="""\
struct node *drop(struct node *node)
{
    free(node);
    return node->next;
}
""",
        good="""\
struct node *drop(struct node *node)
{
    struct node *next = node->next;
    free(node);
    return next;
}
""",
        supersedes=("uaf_suspect",),
    ),
    flow_rule(
        "flow_double_free",
        category="memory_mgmt",
        cwe=415,
        confidence=0.9,
        title="memory is released twice",
        description="The same memory is released twice on this path.",
        suggestion="Release it in one place, and set the pointer to NULL there.",
        verification="Is it the same memory both times, and was nothing assigned in between?",
        bad="""\
void end(char *text, int failed)
{
    if (failed)
        free(text);
    free(text);
}
""",
        good="""\
void end(char *text, int failed)
{
    if (failed) {
        free(text);
        text = NULL;
    }
    free(text);
}
""",
        supersedes=("double_free_and_free_non_heap", "uaf_suspect"),
    ),
    flow_rule(
        "flow_bad_free",
        category="memory_mgmt",
        cwe=590,
        confidence=0.9,
        title="memory that is not from the heap is released",
        description="What is released was not made by malloc or new: it is an array, a variable or a literal.",
        suggestion="Release only what the matching function made.",
        verification="Can the pointer hold the address of an array, a variable or a literal here?",
        bad="""\
void name_it(void)
{
    char name[16];
    char *p = name;
    free(p);
}
""",
        good="""\
void name_it(void)
{
    char *p = malloc(16);
    free(p);
}
""",
        supersedes=("double_free_and_free_non_heap",),
    ),
    flow_rule(
        "flow_offset_free",
        category="memory_mgmt",
        cwe=761,
        confidence=0.88,
        title="pointer is moved before its release",
        description="The pointer no longer points to the start of its memory when it is released.",
        suggestion="Keep the pointer that was returned, and release that one.",
        verification="Is the pointer moved between where it is made and where it is released?",
        bad="""\
void skip(const char *from)
{
    char *p = strdup(from);
    if (p == NULL)
        return;
    p++;
    puts(p);
    free(p);
}
""",
        good="""\
void skip(const char *from)
{
    char *p = strdup(from);
    if (p == NULL)
        return;
    puts(p + 1);
    free(p);
}
""",
    ),
    flow_rule(
        "flow_mismatched_free",
        category="memory_mgmt",
        cwe=762,
        confidence=0.9,
        title="released by the wrong function",
        description="What one family of functions makes is released by another: malloc, new and new[].",
        suggestion="Use free for malloc, delete for new, and delete[] for new[].",
        verification="Which function made the memory that is released here?",
        bad="""\
void f()
{
    int *p = new int[8];
    free(p);
}
""",
        good="""\
void f()
{
    int *p = new int[8];
    delete[] p;
}
""",
        supersedes=("malloc_free_mismatch",),
    ),
)
