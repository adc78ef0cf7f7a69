"""Rules of the data-flow analysis for omissions: memory leaks, unclosed files and uninitialized values."""

from jarvis_workers.sec.rules.rule import flow_rule

RULES = (
    flow_rule(
        "flow_memory_leak",
        category="memory_mgmt",
        cwe=401,
        confidence=0.8,
        title="Memory leak",
        description="On one path the function ends, no other reference to the memory remains, and it was not released.",
        suggestion="Release it on every exit path; a single exit with a cleanup label is easy to check.",
        verification="The path is reachable, and no other code takes ownership of the memory.",
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
        title="File or descriptor leak",
        description=(
            "On one path the function ends, no other reference to the file or descriptor remains, and it is still open."
        ),
        suggestion="Close it on every exit path.",
        verification="The path is reachable, and no other code takes ownership of the handle.",
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
        title="Use of an uninitialized value",
        description="On one path the variable, or part of the memory, is used before any value is assigned.",
        suggestion="Initialize it where it is declared, or on every path before the use.",
        verification="The path is reachable without an assignment.",
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
