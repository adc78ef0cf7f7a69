"""Rows of `dataflow` for numbers and text from outside that nothing has tested."""

from jarvis_workers.sec.rules.rule import flow_rule

__all__ = ["RULES"]

RULES = (
    flow_rule(
        "flow_integer_overflow",
        category="input_validation",
        cwe=190,
        confidence=0.75,
        title="number grows beyond its type",
        description="A number from outside, or at the end of its range, grows by arithmetic with no test of its bound.",
        suggestion="Test the number against the limit of the type before the arithmetic, or use a checked builtin.",
        verification="Can the number be so large here, and does anything rely on the result?",
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
        title="number falls below its type",
        description="A number from outside, or at the end of its range, shrinks with no test of its bound.",
        suggestion="Test the number against the limit of the type before the arithmetic.",
        verification="Can the number be so small here, and does anything rely on the result?",
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
        title="allocation of a size from outside",
        description="A number from outside decides how much memory is taken, with no upper bound.",
        suggestion="Compare the number with a limit before the allocation.",
        verification="Where does the number come from, and what is its greatest value here?",
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
        title="copy of a length from outside",
        description="A number from outside decides how much is copied or filled, with no bound.",
        suggestion="Compare the number with the size of the buffer, as an unsigned number, before the copy.",
        verification="Where does the length come from, and what bounds it?",
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
        title="command that holds data from outside",
        description="Data from outside becomes part of a command that is run.",
        suggestion="Run the program by exec with an argument vector, and accept only what a list allows.",
        verification="Can who sends the data choose what is run?",
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
        title="path that holds data from outside",
        description="Data from outside names the file that is opened.",
        suggestion="Resolve the path and test that it stays below the directory it belongs to.",
        verification="Can who sends the data name a file that is not meant for them?",
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
        title="format that holds data from outside",
        description="Data from outside is the format of a printing function.",
        suggestion='Print it with "%s".',
        verification="Can who sends the data choose the format?",
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
        title="SQL that holds data from outside",
        description="Data from outside becomes part of an SQL statement.",
        suggestion="Prepare the statement with placeholders, and bind the data.",
        verification="Can who sends the data change the statement?",
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
        title="division by zero on a path",
        description="The divisor is 0 on one path, or comes from outside and is not tested.",
        suggestion="Test the divisor before the division.",
        verification="Can the divisor be 0 here?",
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
