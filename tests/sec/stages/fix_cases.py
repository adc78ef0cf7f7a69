"""Small vulnerable programs of several classes, each with a right patch and a patch that leaves the defect."""

from typing import NamedTuple


class FixCase(NamedTuple):
    """
    ""A program, the rule and the line of its defect, and what a right and a cosmetic patch put in place of a text."""

    pattern: str
    evidence: str
    text: str
    right: str
    wrong: str
    source: str

    @property
    def suffix(self) -> str:
        return "rs" if "fn " in self.source else "c"


CASES = {
    "unbounded read": FixCase(
        "unsafe_api",
        "gets(line);",
        "    gets(line);\n",
        "    if (!fgets(line, sizeof line, stdin))\n        return 1;\n",
        "    line[0] = 0;\n    gets(line);\n",
        "#include <stdio.h>\nint main(void)\n{\n    char line[16];\n    gets(line);\n    return line[0];\n}\n",
    ),
    "unbounded print": FixCase(
        "unsafe_api",
        'sprintf(line, "hello %s", name);',
        "    sprintf(line,",
        "    snprintf(line, sizeof line,",
        "    line[31] = 0;\n    sprintf(line,",
        "#include <stdio.h>\nvoid hello(const char *name)\n{\n    char line[32];\n"
        '    sprintf(line, "hello %s", name);\n'
        "    puts(line);\n}\n",
    ),
    "format string": FixCase(
        "format_string",
        "printf(text);",
        "printf(text);",
        'printf("%s", text);',
        "printf((text));",
        "#include <stdio.h>\nvoid say(const char *text)\n{\n    printf(text);\n}\n",
    ),
    "scanf without width": FixCase(
        "scanf_no_width",
        'if (scanf("%s", name) != 1)',
        '"%s"',
        '"%15s"',
        '" %s"',
        "#include <stdio.h>\nint main(void)\n{\n    char name[16];\n"
        '    if (scanf("%s", name) != 1)\n        return 1;\n'
        "    puts(name);\n    return 0;\n}\n",
    ),
    "tainted length": FixCase(
        "flow_tainted_length",
        "memcpy(out, in, n);",
        "    memcpy(",
        "    if (n < 0 || (size_t)n > sizeof out)\n        return 1;\n    memcpy(",
        "    if (n < 0)\n        return 1;\n    memcpy(",
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void)\n{\n"
        "    char in[256], out[16];\n"
        "    if (!fgets(in, sizeof in, stdin))\n        return 1;\n    int n = (int)strtol(in, 0, 10);\n"
        "    memcpy(out, in, n);\n    return out[0];\n}\n",
    ),
    "over-read": FixCase(
        "flow_buffer_overread",
        "return table[at];",
        "    return table[at];",
        "    if (at < 0 || at >= 8)\n        return 1;\n    return table[at];",
        "    if (at < 0)\n        return 1;\n    return table[at];",
        "#include <stdio.h>\n#include <stdlib.h>\nint table[8];\nint main(void)\n{\n    char in[32];\n"
        "    if (!fgets(in, sizeof in, stdin))\n        return 1;\n    int at = (int)strtol(in, 0, 10);\n"
        "    return table[at];\n}\n",
    ),
    "off by one": FixCase(
        "flow_buffer_overflow",
        "a[i] = i;",
        "i <= 8",
        "i < 8",
        "i <= 7 + 1",
        "#include <stdio.h>\nint main(void)\n{\n    int a[8];\n    for (int i = 0; i <= 8; i++)\n        a[i] = i;\n"
        "    return a[0];\n}\n",
    ),
    "double free": FixCase(
        "flow_double_free",
        "free(p);",
        '        puts("early");\n        free(p);\n',
        '        puts("early");\n',
        '        puts("early");\n        free(p);\n        puts("again");\n',
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n"
        "    char *p = malloc(8);\n    (void)argv;\n"
        '    if (!p)\n        return 1;\n    if (argc > 1) {\n        puts("early");\n        free(p);\n    }\n'
        "    free(p);\n    return 0;\n}\n",
    ),
    "use after free": FixCase(
        "flow_use_after_free",
        'printf("%d\\n", p[0]);',
        '    free(p);\n    printf("%d\\n", p[0]);\n',
        '    printf("%d\\n", p[0]);\n    free(p);\n',
        '    free(p);\n    fflush(stdout);\n    printf("%d\\n", p[0]);\n',
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n"
        "    char *p = malloc(8);\n    (void)argv;\n"
        '    if (!p)\n        return 1;\n    p[0] = (char)argc;\n    free(p);\n    printf("%d\\n'
        '", p[0]);\n    return 0;\n}\n',
    ),
    "null pointer": FixCase(
        "flow_unchecked_null",
        "memcpy(p, s, strlen(s) + 1);",
        "    memcpy(",
        "    if (p == NULL)\n        return NULL;\n    memcpy(",
        "    if (s == NULL)\n        return NULL;\n    memcpy(",
        "#include <stdlib.h>\n#include <string.h>\nchar *copy(const char *s)\n{\n"
        "    char *p = malloc(strlen(s) + 1);\n"
        "    memcpy(p, s, strlen(s) + 1);\n    return p;\n}\n",
    ),
    "tainted size": FixCase(
        "flow_tainted_size",
        "int *p = malloc(n * sizeof(int));",
        "    int *p",
        "    if (n > 1000)\n        return NULL;\n    int *p",
        "    if (n == 0)\n        return NULL;\n    int *p",
        "#include <stdio.h>\n#include <stdlib.h>\nint *table(void)\n{\n    char in[32];\n"
        "    if (!fgets(in, sizeof in, stdin))\n"
        "        return NULL;\n    unsigned n = (unsigned)strtoul(in, 0, 10);\n"
        "    int *p = malloc(n * sizeof(int));\n"
        "    if (!p)\n        return NULL;\n    for (unsigned i = 0; i < n; i++)\n"
        "        p[i] = 0;\n    return p;\n}\n",
    ),
    "command injection": FixCase(
        "flow_command_injection",
        "return system(line);",
        '    snprintf(line, sizeof line, "ls %s", argc > 1 ? argv[1] : ".");\n    return system(line);\n',
        '    (void)line;\n    char *words[] = {"ls", "--", argc > 1 ? argv[1] : ".", NULL};\n'
        '    return execv("/bin/ls", words);\n',
        '    snprintf(line, sizeof line, "ls -- %s", argc > 1 ? argv[1] : ".");\n    return system(line);\n',
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
        "int main(int argc, char **argv)\n{\n    char line[300];\n"
        '    snprintf(line, sizeof line, "ls %s", argc > 1 ? argv[1] : ".");\n    return system(line);\n}\n',
    ),
}
