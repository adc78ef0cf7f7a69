"""Rows of `dataflow` for what a path leaves undone: memory not released, a file not closed, a value not set."""

from jarvis_workers.sec.rules.rule import flow_rule

__all__ = ["RULES"]

RULES = (
    flow_rule(
        "flow_memory_leak",
        category="memory_mgmt",
        cwe=401,
        confidence=0.8,
        title="memory is lost on a path",
        description="On one path the function ends, nobody else knows the memory, and it was not released.",
        suggestion="Release it on the way out of every path; one exit with a label makes that easy to check.",
        verification="Can the path be taken, and did nobody take the memory over?",
        bad="""\
int copy(size_t n, size_t limit)
{
    char *p = malloc(n);
    if (p == NULL || n > limit)
        return -1;
    free(p);
    return 0;
}
""",
        good="""\
int copy(size_t n, size_t limit)
{
    char *p = malloc(n);
    if (p == NULL)
        return -1;
    free(p);
    return 0;
}
""",
        supersedes=("error_path_leak",),
    ),
    flow_rule(
        "flow_handle_leak",
        category="resource_leak",
        cwe=775,
        confidence=0.8,
        title="file or descriptor stays open on a path",
        description="On one path the function ends, nobody else knows the file or descriptor, and it was not closed.",
        suggestion="Close it on the way out of every path.",
        verification="Can the path be taken, and did nobody take the handle over?",
        bad="""\
int first(const char *name, int wanted)
{
    FILE *f = fopen(name, "r");
    if (f == NULL || !wanted)
        return -1;
    fclose(f);
    return 0;
}
""",
        good="""\
int first(const char *name)
{
    FILE *f = fopen(name, "r");
    if (f == NULL)
        return -1;
    fclose(f);
    return 0;
}
""",
        supersedes=("error_path_leak",),
    ),
    flow_rule(
        "flow_uninitialized",
        category="memory_mgmt",
        cwe=457,
        confidence=0.85,
        title="value is used before it is set",
        description="On one path the variable, or part of the memory, is used and was never given a value.",
        suggestion="Give it a value where it is declared, or on every path before the use.",
        verification="Can the path be taken without an assignment?",
        bad="""\
int size_of(int known)
{
    int size;
    if (known)
        size = 4;
    return size * 2;
}
""",
        good="""\
int size_of(int known)
{
    int size = 0;
    if (known)
        size = 4;
    return size * 2;
}
""",
        supersedes=("uninitialized_ptr_use",),
    ),
)
