"""Rules of the data-flow analysis for out-of-bounds accesses."""

from jarvis_workers.sec.rules.rule import flow_rule

RULES = (
    flow_rule(
        "flow_buffer_overflow",
        category="buffer_overflow",
        cwe=787,
        confidence=0.88,
        title="Buffer overflow (out-of-bounds write)",
        description="More bytes are written than the buffer holds, or the index is not below its size.",
        suggestion="Limit the length or index to the size of the buffer, and leave room for the terminator.",
        verification="The amount written on this path exceeds the size of the buffer.",
        bad="""\
void name_it(void)
{
    char name[8];
    strcpy(name, "too long for it");
    puts(name);
}
""",
        good="""\
void name_it(void)
{
    char name[16];
    strcpy(name, "fits well");
    puts(name);
}
""",
        supersedes=("unsafe_api", "boundary_funcs", "strncpy_no_nul"),
    ),
    flow_rule(
        "flow_buffer_underwrite",
        category="buffer_overflow",
        cwe=124,
        confidence=0.88,
        title="Buffer underwrite",
        description="The write is at an offset before the start of the buffer.",
        suggestion="Test the index or pointer against the start of the buffer first.",
        verification="The index or offset can be negative here.",
        bad="""\
void mark(void)
{
    char buffer[16];
    char *p = buffer - 4;
    p[0] = 1;
}
""",
        good="""\
void mark(void)
{
    char buffer[16];
    char *p = buffer;
    p[0] = 1;
}
""",
        supersedes=("boundary_funcs",),
    ),
    flow_rule(
        "flow_buffer_overread",
        category="buffer_overflow",
        cwe=126,
        confidence=0.88,
        title="Buffer over-read (out-of-bounds read)",
        description="More bytes are read than the buffer holds, or the index is not below its size.",
        suggestion="Limit the length or index to the size of the buffer that is read.",
        verification="The amount read on this path exceeds the size of the buffer.",
        bad="""\
int sum_of(void)
{
    static int table[4] = {1, 2, 3, 4};
    int sum = 0;
    for (int i = 0; i <= 4; i++)
        sum += table[i];
    return sum;
}
""",
        good="""\
int sum_of(void)
{
    static int table[4] = {1, 2, 3, 4};
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += table[i];
    return sum;
}
""",
        supersedes=("boundary_funcs",),
    ),
    flow_rule(
        "flow_buffer_underread",
        category="buffer_overflow",
        cwe=127,
        confidence=0.88,
        title="Buffer under-read",
        description="The read is at an offset before the start of the buffer.",
        suggestion="Test the index or pointer against the start of the buffer first.",
        verification="The index or offset can be negative here.",
        bad="""\
int pick(const char *text)
{
    static int table[8] = {1};
    int index = 0;
    if (sscanf(text, "%d", &index) != 1)
        scanf("%d", &index);
    if (index < 8)
        return table[index];
    return 0;
}
""",
        good="""\
int pick(const char *text)
{
    static int table[8] = {1};
    int index = 0;
    if (sscanf(text, "%d", &index) != 1)
        scanf("%d", &index);
    if (index >= 0 && index < 8)
        return table[index];
    return 0;
}
""",
    ),
)
