"""Rules of the data-flow analysis for pointers: NULL dereference, invalid release and use after free."""

from jarvis_workers.sec.rules.rule import flow_rule

RULES = (
    flow_rule(
        "flow_null_dereference",
        category="memory_mgmt",
        cwe=476,
        confidence=0.9,
        title="NULL pointer dereference",
        description="The pointer is NULL on one path, shown in the steps, and is dereferenced.",
        suggestion="Return early, or assign a valid pointer, before the dereference on this path.",
        verification="The path is reachable, and the pointer is still NULL where it is dereferenced.",
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
        title="Unchecked NULL result",
        description="The call returns NULL on failure, and its result is used without a check.",
        suggestion="Test the result before its first use, and handle the case of NULL.",
        verification="The call can fail here, and there is no check between the call and the use.",
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
        title="Use after free",
        description="The memory is released on this path and used afterwards.",
        suggestion="Release it after the last use, or set the pointer to NULL there and test it.",
        verification="The same memory is released and then used on one path.",
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
        title="Double free",
        description="The same memory is released twice on this path.",
        suggestion="Release it in one place, and set the pointer to NULL there.",
        verification="It is the same memory both times, and the pointer was not reassigned in between.",
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
        title="Free of non-heap memory",
        description="The released pointer does not come from malloc or new: it is an array, a variable or a literal.",
        suggestion="Release only memory that the matching function allocated.",
        verification="The pointer can hold the address of an array, a variable or a literal here.",
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
        title="Free of a pointer not at the start of its buffer",
        description="The pointer no longer points to the start of its memory when it is released.",
        suggestion="Store the pointer that the allocator returned, and release that one.",
        verification="The pointer is moved between the allocation and the release.",
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
        title="Mismatched allocation and release functions",
        description="Memory from one family of functions is released by another: malloc, new and new[].",
        suggestion="Use free for malloc, delete for new, and delete[] for new[].",
        verification="The allocating function does not match the function that releases the memory here.",
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
