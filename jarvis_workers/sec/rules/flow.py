"""What `sec/flow` finds by following values through functions and files: rows alone, as it has the checks."""

from functools import partial

from jarvis_workers.sec.rules.rule import Rule

__all__ = ["HARMLESS", "RULES"]

# What is shown to do no harm on every path through its line, and the rules that have nothing to say there.
HARMLESS = {
    "harmless_command": ("command_execution",),
    "harmless_copy": ("boundary_funcs", "unsafe_api"),
    "harmless_format": ("format_string",),
}

_row = partial(Rule, language="c/cpp", check=None)

RULES = (
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
        "flow_buffer_overflow",
        category="buffer_overflow",
        cwe=787,
        confidence=0.88,
        title="write past the end of a buffer",
        description="More is written than the buffer holds, or at an index that is not below its size.",
        suggestion="Bound the length or index by the size of the buffer, and leave room for the terminator.",
        verification="How large is the buffer, and how much is written on this path?",
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
    _row(
        "flow_buffer_underwrite",
        category="buffer_overflow",
        cwe=124,
        confidence=0.88,
        title="write before the start of a buffer",
        description="The buffer is written at an offset below its start.",
        suggestion="Test the index or pointer against the start of the buffer first.",
        verification="Can the index or offset be negative here?",
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
    _row(
        "flow_buffer_overread",
        category="buffer_overflow",
        cwe=126,
        confidence=0.88,
        title="read past the end of a buffer",
        description="More is read than the buffer holds, or at an index that is not below its size.",
        suggestion="Bound the length or index by the size of what is read.",
        verification="How large is the buffer, and how much is read on this path?",
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
    _row(
        "flow_buffer_underread",
        category="buffer_overflow",
        cwe=127,
        confidence=0.88,
        title="read before the start of a buffer",
        description="The buffer is read at an offset below its start.",
        suggestion="Test the index or pointer against the start of the buffer first.",
        verification="Can the index or offset be negative here?",
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
    _row(
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
