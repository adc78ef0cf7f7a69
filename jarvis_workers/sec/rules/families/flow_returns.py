"""Rules of the data-flow analysis for return values."""

from jarvis_workers.sec.rules.rule import flow_rule

RULES = (
    flow_rule(
        "flow_stack_address",
        category="memory_mgmt",
        cwe=562,
        confidence=0.88,
        title="Return of a stack address",
        description="The function returns a pointer to its own local memory, which is invalid after the return.",
        suggestion="Return a copy, or let the caller provide the memory.",
        verification="The returned pointer points into a local variable of the function.",
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
