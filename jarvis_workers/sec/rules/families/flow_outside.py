"""Rules of the data-flow analysis for unvalidated numbers and text from outside."""

from jarvis_workers.sec.rules.rule import flow_rule

RULES = (
    flow_rule(
        "flow_integer_overflow",
        category="input_validation",
        cwe=190,
        confidence=0.75,
        title="Integer overflow",
        description=(
            "Arithmetic on untrusted input, or on a value at the limit of its range, without an upper bound check."
        ),
        suggestion="Test the number against the limit of the type before the arithmetic, or use a checked builtin.",
        verification="The number can be that large here, and code relies on the result.",
        bad="""\
int area(void)
{
    int n = 0;
    if (scanf("%d", &n) != 1)
        return 0;
    return n * 16;
}
""",
        good="""\
int area(void)
{
    int n = 0;
    if (scanf("%d", &n) != 1 || n < 0 || n > 1000)
        return 0;
    return n * 16;
}
""",
    ),
    flow_rule(
        "flow_integer_underflow",
        category="input_validation",
        cwe=191,
        confidence=0.72,
        title="Integer underflow",
        description=(
            "Arithmetic on untrusted input, or on a value at the limit of its range, without a lower bound check."
        ),
        suggestion="Test the number against the limit of the type before the arithmetic.",
        verification="The number can be that small here, and code relies on the result.",
        bad="""\
int left(void)
{
    int n = 0;
    if (scanf("%d", &n) != 1)
        return 0;
    return n - 1;
}
""",
        good="""\
int left(void)
{
    int n = 0;
    if (scanf("%d", &n) != 1 || n < 1 || n > 1000)
        return 0;
    return n - 1;
}
""",
    ),
    flow_rule(
        "flow_tainted_size",
        category="input_validation",
        cwe=789,
        confidence=0.72,
        title="Tainted allocation size",
        description="Untrusted input determines how much memory is allocated, without an upper bound.",
        suggestion="Compare the number with a limit before the allocation.",
        verification="The number is untrusted input, and nothing limits it on this path.",
        bad="""\
char *room(void)
{
    size_t n = 0;
    if (scanf("%zu", &n) != 1)
        return NULL;
    return malloc(n);
}
""",
        good="""\
char *room(void)
{
    size_t n = 0;
    if (scanf("%zu", &n) != 1 || n > 4096)
        return NULL;
    return malloc(n);
}
""",
        supersedes=("alloc_size_overflow",),
    ),
    flow_rule(
        "flow_tainted_length",
        category="buffer_overflow",
        cwe=805,
        confidence=0.8,
        title="Tainted copy length",
        description="Untrusted input determines how much is copied or filled, without a bound.",
        suggestion="Compare the number, as an unsigned value, with the size of the buffer before the copy.",
        verification="The length is untrusted input, and nothing limits it on this path.",
        bad="""\
void take(int s, const char *packet, char *out)
{
    int n = 0;
    recv(s, &n, sizeof n, 0);
    memcpy(out, packet, n);
}
""",
        good="""\
void take(int s, const char *packet, char *out)
{
    int n = 0;
    recv(s, &n, sizeof n, 0);
    if (n < 0 || n > 64)
        return;
    memcpy(out, packet, n);
}
""",
        supersedes=("boundary_funcs",),
    ),
    flow_rule(
        "flow_command_injection",
        category="input_validation",
        cwe=78,
        confidence=0.88,
        title="Command injection",
        description="Untrusted input becomes part of a command that is executed.",
        suggestion="Run the program with exec and an argument vector, and accept only values of an allowlist.",
        verification="An attacker can control which command runs.",
        bad="""\
void list(void)
{
    char name[64], line[128];
    if (fgets(name, sizeof name, stdin) == NULL)
        return;
    snprintf(line, sizeof line, "ls %s", name);
    system(line);
}
""",
        good="""\
void list(void)
{
    char line[128];
    snprintf(line, sizeof line, "ls %s", "/var/log");
    system(line);
}
""",
        supersedes=("command_execution",),
    ),
    flow_rule(
        "flow_path_traversal",
        category="input_validation",
        cwe=22,
        confidence=0.68,
        title="Path traversal",
        description="Untrusted input names the file that is opened.",
        suggestion="Resolve the path, and check that it stays below its base directory.",
        verification="An attacker can name a file that they must not access.",
        bad="""\
FILE *pick(int s)
{
    char name[64];
    recv(s, name, sizeof name, 0);
    return fopen(name, "r");
}
""",
        good="""\
FILE *pick(void)
{
    char name[64];
    strcpy(name, "/etc/app.conf");
    return fopen(name, "r");
}
""",
    ),
    flow_rule(
        "flow_format_string",
        category="input_validation",
        cwe=134,
        confidence=0.9,
        title="Format string injection",
        description="Untrusted input is used as the format of a printing function.",
        suggestion='Print it with "%s".',
        verification="An attacker can control the format.",
        bad="""\
void echo(void)
{
    char line[64];
    if (fgets(line, sizeof line, stdin) != NULL)
        printf(line);
}
""",
        good="""\
void echo(void)
{
    char line[64];
    if (fgets(line, sizeof line, stdin) != NULL)
        printf("%s", line);
}
""",
        supersedes=("format_string",),
    ),
    flow_rule(
        "flow_sql_injection",
        category="input_validation",
        cwe=89,
        confidence=0.85,
        title="SQL injection",
        description="Untrusted input becomes part of an SQL statement.",
        suggestion="Prepare the statement with placeholders, and bind the data.",
        verification="An attacker can change the statement.",
        bad="""\
void drop(struct sqlite3 *db)
{
    char q[128];
    const char *key = getenv("KEY");
    if (key == NULL)
        return;
    snprintf(q, sizeof q, "DELETE FROM t WHERE k='%s'", key);
    sqlite3_exec(db, q, 0, 0, 0);
}
""",
        good="""\
void drop(struct sqlite3 *db)
{
    sqlite3_exec(db, "DELETE FROM t", 0, 0, 0);
}
""",
    ),
    flow_rule(
        "flow_divide_by_zero",
        category="error_handling",
        cwe=369,
        confidence=0.8,
        title="Division by zero",
        description="The divisor is 0 on one path, or is untrusted input without a check.",
        suggestion="Test the divisor before the division.",
        verification="The divisor can be 0 here.",
        bad="""\
int share(int total)
{
    int n = 0;
    if (scanf("%d", &n) != 1)
        return 0;
    return total / n;
}
""",
        good="""\
int share(int total)
{
    int n = 0;
    if (scanf("%d", &n) != 1 || n == 0)
        return 0;
    return total / n;
}
""",
    ),
)
