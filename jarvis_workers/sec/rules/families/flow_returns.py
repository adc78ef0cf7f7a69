"""Rows of `dataflow` for what a function returns."""

from jarvis_workers.sec.rules.rule import flow_rule

__all__ = ["RULES"]

RULES = (
    flow_rule(
        "flow_stack_address",
        category="memory_mgmt",
        cwe=562,
        confidence=0.88,
        title="address of a local variable is returned",
        description="The function returns a pointer to memory of its own, which is gone when it ends.",
        suggestion="Return a copy, or let the caller give the memory.",
        verification="Does the pointer that is returned point into the function's own variables?",
        bad="""\
char *name_of(void)
{
    char name[16];
    strcpy(name, "abc");
    return name;
}
""",
        good="""\
char *name_of(void)
{
    static char name[16];
    strcpy(name, "abc");
    return name;
}
""",
    ),
)
